use std::{cmp::Ordering, collections::BTreeSet};

use super::{
    estimate::{estimated_tokens, is_picture},
    exclusion::{ExcludedResource, ResourceExclusion},
    governance::{Decision, Governance},
    knapsack::{Item, Room, best},
    options::ResourceOptions,
    rank::{RankedResource, best_first},
    relevance::Relevance,
    value::ResourceValue,
    versions::outdated,
};
use crate::{catalog::Catalog, id::ResourceId, protocol::Resource, templates::matching, tokens::TokenBudget};

/// The resources that are to be read, and those that are not, before anything is read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ResourceSelection {
    /// Pinned ones in the order given, then required ones, then by value.
    pub resources: Vec<SelectedResource>,
    /// The rest, by server and URI; nothing if there is no budget and nothing was picked.
    pub excluded: Vec<ExcludedResource>,
    /// What the selected ones are estimated to cost; never above the budget.
    pub estimated_tokens: usize,
    /// Of the excluded ones those whose server gives no size, which may fit after all if the selected
    /// ones cost less than estimated: best first, at most [`ResourceOptions::top`].
    pub reserve: Vec<SelectedResource>,
}

/// A resource that is to be read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SelectedResource {
    /// The resource.
    pub id: ResourceId,
    /// What a person should read: title, else name, else the URI.
    pub label: String,
    /// The MIME type that its server lists.
    pub mime_type: Option<String>,
    /// What it is estimated to cost, delimiters included; what a longer text is to be trimmed to.
    pub estimated_tokens: usize,
    /// What it is worth.
    pub value: ResourceValue,
    /// What the host's rules say.
    pub decision: Decision,
    /// A person or the host picked it.
    pub pinned: bool,
}

impl SelectedResource {
    /// Why it is attached, in words.
    pub fn reason(&self) -> String {
        let ResourceValue { required, relevance, priority, recency } = self.value;
        match relevance {
            _ if self.pinned => "picked".to_owned(),
            _ if required => "required (priority 1)".to_owned(),
            Some(relevance) => format!("relevance {relevance:.2}, priority {priority:.2}, recency {recency:.2}"),
            None => format!("priority {priority:.2}, recency {recency:.2}"),
        }
    }
}

/// What the delimiters of an attachment cost, with its server, URI, title and type.
const DELIMITERS: usize = 40;

/// The least that a text is trimmed to, in tokens: less says nothing.
pub(super) const LEAST_TRIMMED: usize = 100;

/// Selects what is to be read, on estimates: pinned ones, then required ones, then those whose
/// value together is the greatest that the budgets allow, less 5 % at most.
///
/// `relevance` is how much the resources have to do with the request; `None` where nothing was asked.
pub fn select(
    catalog: &Catalog,
    governance: &Governance,
    relevance: Option<&Relevance>,
    request: &str,
    options: &ResourceOptions,
) -> ResourceSelection {
    // What every turn asks for unless its host attaches.
    if options.budget == TokenBudget::ZERO && options.pins.is_empty() {
        return ResourceSelection::default();
    }
    let mut planner = Planner::new(catalog, options);
    let mut ranked = planner.visible(governance, relevance);
    planner.pinned(governance, &ranked);
    ranked.retain(|(at, _)| planner.open(*at));
    planner.required(&mut ranked);
    planner.unfit(&mut ranked, relevance, request);
    planner.others(&ranked);
    planner.finish()
}

/// A resource by its place in the catalog.
type Placed = (usize, RankedResource);

struct Planner<'a> {
    catalog: &'a Catalog,
    options: &'a ResourceOptions,
    selection: ResourceSelection,
    /// What became of each resource of the catalog.
    fates: Vec<Fate>,
    /// Of picks that no server lists.
    unlisted: Vec<ExcludedResource>,
    bytes_left: u64,
}

enum Fate {
    Open,
    Selected,
    Excluded(ResourceExclusion),
}

/// What a resource is planned to cost.
#[derive(Clone, Copy)]
struct Plan {
    tokens: usize,
    /// What it would cost as a whole.
    whole: usize,
    bytes: u64,
}

impl<'a> Planner<'a> {
    fn new(catalog: &'a Catalog, options: &'a ResourceOptions) -> Self {
        Self {
            catalog,
            options,
            selection: ResourceSelection::default(),
            fates: catalog.resources().iter().map(|_| Fate::Open).collect(),
            unlisted: Vec::new(),
            bytes_left: options.max_bytes,
        }
    }

    /// Those that the model may see, best first.
    fn visible(&mut self, governance: &Governance, relevance: Option<&Relevance>) -> Vec<Placed> {
        let mut ranked = Vec::new();
        for (at, entry) in self.catalog.resources().iter().enumerate() {
            let decision = governance.decide(&entry.id, entry.resource.mime_type.as_deref());
            match self.admits(&decision, &entry.resource) {
                Ok(()) => {
                    ranked.push((at, RankedResource::new(self.catalog, entry, decision, relevance, self.options)))
                }
                Err(reason) => self.fates[at] = Fate::Excluded(reason),
            }
        }
        ranked.sort_by(|a, b| best_first(&a.1, &b.1));
        ranked
    }

    fn admits(&self, decision: &Decision, resource: &Resource) -> Result<(), ResourceExclusion> {
        if !decision.for_model(&resource.annotations) {
            return Err(ResourceExclusion::Audience);
        }
        decision.permits(&self.options.destination).map_err(ResourceExclusion::Refused)
    }

    /// What a person or the host picked, in that order. Where it does not all fit as a whole, each has
    /// its share of the budget at least, so that the first does not push out the others.
    fn pinned(&mut self, governance: &Governance, ranked: &[Placed]) {
        let mut seen = BTreeSet::new();
        let pins: Vec<&ResourceId> = self.options.pins.iter().filter(|id| seen.insert(*id)).collect();
        let catalog = self.catalog;
        let whole = |id: &ResourceId| catalog.resource(id).map_or(0, |entry| whole(&entry.resource));
        let mut later = pins.iter().map(|id| whole(id)).fold(0, usize::saturating_add);
        for (i, id) in pins.iter().enumerate() {
            later = later.saturating_sub(whole(id));
            let limit = self.left().saturating_sub(later).max(self.left() / (pins.len() - i));
            match self.catalog.resources().binary_search_by(|entry| entry.id.cmp(id)) {
                Ok(at) => {
                    if let Some((_, resource)) = ranked.iter().find(|(place, _)| *place == at) {
                        let taken = self.take(resource, true, limit);
                        self.settle(at, taken);
                    }
                }
                Err(_) => {
                    if let Err(reason) = self.pin_unlisted(governance, id, limit) {
                        self.unlisted.push(ExcludedResource { id: (*id).clone(), reason });
                    }
                }
            }
        }
    }

    /// A link that a tool gave, or what a template stands for: no list has it, and it can be read.
    fn pin_unlisted(
        &mut self,
        governance: &Governance,
        id: &ResourceId,
        limit: usize,
    ) -> Result<(), ResourceExclusion> {
        if self.catalog.server(&id.server).is_none() {
            return Err(ResourceExclusion::Unknown);
        }
        let resource = self.as_listed(id);
        let decision = governance.decide(id, resource.mime_type.as_deref());
        self.admits(&decision, &resource)?;
        let plan = self.plan(&resource, &decision, limit, false)?;
        self.push(id.clone(), &resource, ResourceValue::default(), decision, true, plan);
        Ok(())
    }

    /// What its server requires. Those that fit as a whole come first, so that a long one does not
    /// push out the others.
    fn required(&mut self, ranked: &mut Vec<Placed>) {
        let most = self.options.top.saturating_mul(4);
        let (required, others): (Vec<_>, Vec<_>) = ranked.drain(..).partition(|(_, ranked)| ranked.value.required);
        *ranked = others;
        let (mut taken, mut too_long) = (0, Vec::new());
        for (at, resource) in &required {
            if taken >= most {
                self.fates[*at] = Fate::Excluded(ResourceExclusion::Top);
            } else if whole(&resource.entry.resource) > self.left() {
                too_long.push((*at, resource));
            } else {
                let done = self.take(resource, false, self.left());
                taken += usize::from(self.settle(*at, done));
            }
        }
        for (at, resource) in too_long {
            let done = self.take(resource, false, self.left().min(self.half()));
            self.settle(at, done);
        }
    }

    /// Takes those out that have too little to do with the request, or have a newer version.
    fn unfit(&mut self, ranked: &mut Vec<Placed>, relevance: Option<&Relevance>, request: &str) {
        ranked.retain(|(at, resource)| match self.unrelated(relevance, &resource.entry.id) {
            Some(reason) => {
                self.fates[*at] = Fate::Excluded(reason);
                false
            }
            None => true,
        });
        if self.options.older_versions {
            return;
        }
        // Whatever became of it: a version that is not relevant enough is no reason for an older one.
        let mut newest = outdated(self.catalog.resources().iter().map(|entry| &**entry), request);
        ranked.retain(|(at, resource)| match newest.remove(&resource.entry.id) {
            Some(newest) => {
                self.fates[*at] = Fate::Excluded(ResourceExclusion::Outdated { newest });
                false
            }
            None => true,
        });
    }

    /// Why a resource has too little to do with the request, if it has.
    fn unrelated(&self, relevance: Option<&Relevance>, id: &ResourceId) -> Option<ResourceExclusion> {
        let ResourceOptions { min_relevance, min_share, min_confidence, .. } = *self.options;
        let relevance = relevance?;
        let value = relevance.value(id);
        match relevance.confidence() {
            _ if value < min_relevance.max(min_share * relevance.best()) => {
                Some(ResourceExclusion::Irrelevant { relevance: value })
            }
            Some(confidence) if confidence < min_confidence => Some(ResourceExclusion::Unlikely { confidence }),
            _ => None,
        }
    }

    /// The best of the rest that there is room for.
    fn others(&mut self, ranked: &[Placed]) {
        let mut open = Vec::new();
        for (at, resource) in ranked {
            let entry = &resource.entry.resource;
            let cut = whole(entry) > self.left() && self.trims(entry);
            let limit = if cut { self.left().min(self.half()) } else { self.left() };
            match self.plan(entry, &resource.decision, limit, false) {
                Ok(plan) => open.push((*at, resource, plan)),
                Err(reason) => self.leave(*at, resource, reason),
            }
        }
        let items: Vec<Item> = open
            .iter()
            .map(|(_, resource, plan)| Item {
                value: resource.value.total() * (0.5 + 0.5 * plan.tokens as f64 / plan.whole.max(1) as f64),
                tokens: plan.tokens,
                bytes: plan.bytes,
            })
            .collect();
        let room = Room { items: self.options.top, tokens: self.left(), bytes: self.bytes_left };
        let chosen = best(&items, room);
        let mut count = chosen.len();
        for (at, resource, plan) in chosen.into_iter().map(|i| open[i]) {
            self.push_ranked(resource, false, plan);
            self.fates[at] = Fate::Selected;
        }
        for (at, resource, _) in open {
            if !self.open(at) {
                continue;
            }
            if count >= self.options.top {
                self.fates[at] = Fate::Excluded(ResourceExclusion::Top);
                continue;
            }
            // What is left may hold the beginning of one that is too long for it.
            match self.take(resource, false, self.left()) {
                Ok(()) => {
                    count += 1;
                    self.fates[at] = Fate::Selected;
                }
                Err(reason) => self.leave(at, resource, reason),
            }
        }
    }

    /// Leaves one out, for good if its size is known.
    fn leave(&mut self, at: usize, resource: &RankedResource, reason: ResourceExclusion) {
        let by_guess = matches!(reason, ResourceExclusion::Budget { .. }) && resource.entry.resource.size.is_none();
        if by_guess && self.selection.reserve.len() < self.options.top {
            let entry = &resource.entry;
            self.selection.reserve.push(SelectedResource {
                id: entry.id.clone(),
                label: entry.resource.label().to_owned(),
                mime_type: entry.resource.mime_type.clone(),
                estimated_tokens: whole(&entry.resource),
                value: resource.value,
                decision: resource.decision.clone(),
                pinned: false,
            });
        }
        self.fates[at] = Fate::Excluded(reason);
    }

    fn finish(mut self) -> ResourceSelection {
        // Those that were trimmed into the rest of the room came last.
        let place = |selected: &SelectedResource| match selected {
            SelectedResource { pinned: true, .. } => 0,
            SelectedResource { value: ResourceValue { required: true, .. }, .. } => 1,
            _ => 2,
        };
        self.selection.resources.sort_by(|a, b| {
            let by_value = || b.value.total().total_cmp(&a.value.total()).then_with(|| a.id.cmp(&b.id));
            place(a).cmp(&place(b)).then_with(|| if place(a) < 2 { Ordering::Equal } else { by_value() })
        });
        let fates = self.catalog.resources().iter().zip(self.fates).filter_map(|(entry, fate)| match fate {
            Fate::Excluded(reason) => Some(ExcludedResource { id: entry.id.clone(), reason }),
            Fate::Open | Fate::Selected => None,
        });
        self.selection.excluded = fates.collect();
        if !self.unlisted.is_empty() {
            self.selection.excluded.append(&mut self.unlisted);
            self.selection.excluded.sort_by(|a, b| a.id.cmp(&b.id));
        }
        self.selection
    }

    fn left(&self) -> usize {
        self.options.budget.tokens() - self.selection.estimated_tokens
    }

    fn open(&self, at: usize) -> bool {
        matches!(self.fates[at], Fate::Open)
    }

    fn settle(&mut self, at: usize, taken: Result<(), ResourceExclusion>) -> bool {
        let selected = taken.is_ok();
        self.fates[at] = taken.map_or_else(Fate::Excluded, |()| Fate::Selected);
        selected
    }

    fn trims(&self, resource: &Resource) -> bool {
        self.options.trim && !is_picture(resource)
    }

    fn take(&mut self, resource: &RankedResource, pinned: bool, limit: usize) -> Result<(), ResourceExclusion> {
        let plan = self.plan(&resource.entry.resource, &resource.decision, limit, resource.value.required)?;
        self.push_ranked(resource, pinned, plan);
        Ok(())
    }

    /// What one text that is too long may take, so that there is room for others.
    fn half(&self) -> usize {
        self.options.budget.tokens() / 2
    }

    fn plan(
        &self,
        resource: &Resource,
        decision: &Decision,
        limit: usize,
        required: bool,
    ) -> Result<Plan, ResourceExclusion> {
        let whole = whole(resource);
        let limit = limit.min(decision.max_tokens.unwrap_or(usize::MAX));
        let tokens = match whole <= limit {
            true => whole,
            false if self.trims(resource) && limit >= LEAST_TRIMMED + DELIMITERS => limit,
            false if required => return Err(ResourceExclusion::RequiredDoesNotFit { tokens: whole, left: limit }),
            false => return Err(ResourceExclusion::Budget { tokens: whole, left: limit }),
        };
        let size = resource.size.unwrap_or(whole as u64 * 4);
        let read = decision.max_bytes.unwrap_or(usize::MAX).min(self.options.reading.bytes) as u64;
        if size > read {
            return Err(ResourceExclusion::Bytes { bytes: size, left: read });
        }
        // A picture is sent as base64; of a text that is trimmed only what is left of it.
        let bytes = if is_picture(resource) { size.div_ceil(3) * 4 } else { size.min(tokens as u64 * 4) };
        if bytes > self.bytes_left {
            return Err(ResourceExclusion::Bytes { bytes, left: self.bytes_left });
        }
        Ok(Plan { tokens, whole, bytes })
    }

    fn push_ranked(&mut self, resource: &RankedResource, pinned: bool, plan: Plan) {
        let RankedResource { entry, value, decision } = resource;
        self.push(entry.id.clone(), &entry.resource, *value, decision.clone(), pinned, plan);
    }

    fn push(
        &mut self,
        id: ResourceId,
        resource: &Resource,
        value: ResourceValue,
        decision: Decision,
        pinned: bool,
        plan: Plan,
    ) {
        self.selection.estimated_tokens += plan.tokens;
        self.bytes_left -= plan.bytes;
        self.selection.resources.push(SelectedResource {
            id,
            label: resource.label().to_owned(),
            mime_type: resource.mime_type.clone(),
            estimated_tokens: plan.tokens,
            value,
            decision,
            pinned,
        });
    }

    /// What is known of a resource that no list has: what the template says that it is an instance of.
    /// Of several templates, the one that keeps it from the model is believed.
    fn as_listed(&self, id: &ResourceId) -> Resource {
        let mut resource = Resource::new(&*id.uri, &*id.uri);
        let templates = matching(self.catalog, &id.server, &id.uri);
        let told = templates.iter().map(|(entry, _)| &entry.template);
        if let Some(template) = told.clone().find(|template| !template.annotations.for_model()).or(told.clone().next())
        {
            resource.mime_type.clone_from(&template.mime_type);
            resource.annotations = template.annotations.clone();
        }
        resource
    }
}

/// What a resource is estimated to cost if nothing is trimmed.
fn whole(resource: &Resource) -> usize {
    estimated_tokens(resource).saturating_add(DELIMITERS)
}
