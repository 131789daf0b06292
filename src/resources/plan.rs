use std::{cmp::Ordering, collections::BTreeSet};

use super::{
    estimate::{estimated_tokens, is_picture},
    exclusion::{ExcludedResource, ResourceExclusion},
    governance::{Decision, Governance},
    knapsack::{Item, Room, best},
    options::ResourceOptions,
    relevance::Relevance,
    select::{ResourceSelection, SelectedResource},
    value::{ResourceValue, is_required},
    versions::outdated,
};
use crate::{
    catalog::{Catalog, ResourceEntry},
    id::ResourceId,
    protocol::Resource,
    templates::matching,
};

/// What the delimiters of an attachment cost, with its server, URI, title and type.
const DELIMITERS: usize = 40;

/// The least that a text is trimmed to, in tokens: less says nothing.
pub(super) const LEAST_TRIMMED: usize = 100;

/// Spends the budgets, step by step; each step leaves alone what an earlier one has settled.
pub(super) struct Planner<'a> {
    catalog: &'a Catalog,
    governance: &'a Governance,
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

/// A resource that the model may see. Small, since there may be thousands.
pub(super) struct Candidate<'a> {
    /// Its place in the catalog.
    at: usize,
    entry: &'a ResourceEntry,
    value: ResourceValue,
    /// What the host's rules say, if there are any.
    decision: Option<Box<Decision>>,
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
    pub(super) fn new(catalog: &'a Catalog, governance: &'a Governance, options: &'a ResourceOptions) -> Self {
        Self {
            catalog,
            governance,
            options,
            selection: ResourceSelection::default(),
            fates: catalog.resources().iter().map(|_| Fate::Open).collect(),
            unlisted: Vec::new(),
            bytes_left: options.max_bytes,
        }
    }

    /// Those that the model may see and that may be worth it, in the order of the catalog.
    pub(super) fn candidates(&mut self, relevance: Option<&Relevance>) -> Vec<Candidate<'a>> {
        let catalog = self.catalog;
        let mut candidates = Vec::new();
        for (at, entry) in catalog.resources().iter().enumerate() {
            match self.candidate(at, entry, relevance) {
                Ok(candidate) => candidates.push(candidate),
                Err(reason) => self.fates[at] = Fate::Excluded(reason),
            }
        }
        candidates
    }

    fn candidate(
        &self,
        at: usize,
        entry: &'a ResourceEntry,
        relevance: Option<&Relevance>,
    ) -> Result<Candidate<'a>, ResourceExclusion> {
        let decision = self.decide(&entry.id, &entry.resource);
        self.admits(decision.as_deref(), &entry.resource)?;
        // What is required or picked needs no relevance.
        let exempt = is_required(self.catalog, entry) || self.options.pins.contains(&entry.id);
        let related = relevance.map(|relevance| relevance.value(&entry.id));
        if let (Some(relevance), Some(value), false) = (relevance, related, exempt) {
            self.relates(relevance, value)?;
        }
        let value = ResourceValue::new(self.catalog, entry, related, self.options.now);
        Ok(Candidate { at, entry, value, decision })
    }

    fn decide(&self, id: &ResourceId, resource: &Resource) -> Option<Box<Decision>> {
        let decide = || Box::new(self.governance.decide(id, resource.mime_type.as_deref()));
        (!self.governance.is_empty()).then(decide)
    }

    fn admits(&self, decision: Option<&Decision>, resource: &Resource) -> Result<(), ResourceExclusion> {
        let hints = &resource.annotations;
        if !decision.map_or_else(|| hints.for_model(), |decision| decision.for_model(hints)) {
            return Err(ResourceExclusion::Audience);
        }
        let permitted = decision.map_or(Ok(()), |decision| decision.permits(&self.options.destination));
        permitted.map_err(ResourceExclusion::Refused)
    }

    /// Whether a resource has enough to do with the request.
    fn relates(&self, relevance: &Relevance, value: f64) -> Result<(), ResourceExclusion> {
        let ResourceOptions { min_relevance, min_share, min_confidence, .. } = *self.options;
        match relevance.confidence() {
            _ if value < min_relevance.max(min_share * relevance.best()) => {
                Err(ResourceExclusion::Irrelevant { relevance: value })
            }
            Some(confidence) if confidence < min_confidence => Err(ResourceExclusion::Unlikely { confidence }),
            _ => Ok(()),
        }
    }

    /// What a person or the host picked, in that order. Where it does not all fit as a whole, each has
    /// its share of the budget at least, so that the first does not push out the others.
    pub(super) fn pinned(&mut self, candidates: &[Candidate<'_>]) {
        let mut seen = BTreeSet::new();
        let pins: Vec<&ResourceId> = self.options.pins.iter().filter(|id| seen.insert(*id)).collect();
        let catalog = self.catalog;
        let whole = |id: &ResourceId| catalog.resource(id).map_or(0, |entry| whole(&entry.resource));
        let mut later = pins.iter().map(|id| whole(id)).fold(0, usize::saturating_add);
        for (i, id) in pins.iter().enumerate() {
            later = later.saturating_sub(whole(id));
            let limit = self.left().saturating_sub(later).max(self.left() / (pins.len() - i));
            match catalog.resources().binary_search_by(|entry| entry.id.cmp(id)) {
                Ok(at) => {
                    if let Ok(found) = candidates.binary_search_by_key(&at, |candidate| candidate.at) {
                        self.take(&candidates[found], true, limit);
                    }
                }
                Err(_) => {
                    if let Err(reason) = self.pin_unlisted(id, limit) {
                        self.unlisted.push(ExcludedResource { id: (*id).clone(), reason });
                    }
                }
            }
        }
    }

    /// A link that a tool gave, or what a template stands for: no list has it, and it can be read.
    fn pin_unlisted(&mut self, id: &ResourceId, limit: usize) -> Result<(), ResourceExclusion> {
        if self.catalog.server(&id.server).is_none() {
            return Err(ResourceExclusion::Unknown);
        }
        let resource = self.as_listed(id);
        let decision = self.decide(id, &resource);
        self.admits(decision.as_deref(), &resource)?;
        let plan = self.plan(&resource, decision.as_deref(), limit)?;
        let selected = selected(id, &resource, ResourceValue::default(), decision.as_deref(), plan.tokens);
        self.select(SelectedResource { pinned: true, ..selected }, plan);
        Ok(())
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

    /// What its server requires. Those that fit as a whole come first, so that a long one does not
    /// push out the others.
    pub(super) fn required(&mut self, candidates: &[Candidate<'_>]) {
        let most = self.options.top.saturating_mul(4);
        let mut required: Vec<_> = self.open(candidates).filter(|candidate| candidate.value.required).collect();
        required.sort_by(|a, b| a.best_first(b));
        let (mut taken, mut too_long) = (0, Vec::new());
        for candidate in required {
            if taken >= most {
                self.fates[candidate.at] = Fate::Excluded(ResourceExclusion::Top);
            } else if whole(&candidate.entry.resource) > self.left() {
                too_long.push(candidate);
            } else {
                taken += usize::from(self.take(candidate, false, self.left()));
            }
        }
        for candidate in too_long {
            self.take(candidate, false, self.left().min(self.half()));
        }
    }

    /// Takes those out that have a newer version, whatever became of that: a version that is not
    /// relevant enough is no reason for an older one.
    pub(super) fn outdated(&mut self, candidates: &[Candidate<'_>], request: &str) {
        if self.options.older_versions {
            return;
        }
        let mut outdated = outdated(self.catalog.resources().iter().map(|entry| &**entry), request);
        if outdated.is_empty() {
            return;
        }
        for candidate in candidates {
            if let (Fate::Open, Some(newest)) = (&self.fates[candidate.at], outdated.remove(&candidate.entry.id)) {
                self.fates[candidate.at] = Fate::Excluded(ResourceExclusion::Outdated { newest });
            }
        }
    }

    /// The best of the rest that there is room for.
    pub(super) fn others(&mut self, candidates: &[Candidate<'_>]) {
        let mut items = Vec::new();
        let mut planned = Vec::new();
        let mut rest = Vec::new();
        for candidate in self.open(candidates) {
            let resource = &candidate.entry.resource;
            let cut = whole(resource) > self.left() && self.trims(resource);
            let limit = if cut { self.left().min(self.half()) } else { self.left() };
            match self.plan(resource, candidate.decision.as_deref(), limit) {
                Ok(plan) => {
                    let shown = plan.tokens as f64 / plan.whole.max(1) as f64;
                    let value = candidate.value.total() * (0.5 + 0.5 * shown);
                    items.push(Item { value, tokens: plan.tokens, bytes: plan.bytes });
                    planned.push((candidate, plan));
                }
                Err(reason) => rest.push((candidate, Some(reason))),
            }
        }
        let chosen = best(&items, Room { items: self.options.top, tokens: self.left(), bytes: self.bytes_left });
        for &i in &chosen {
            let (candidate, plan) = planned[i];
            self.select(candidate.selected(plan.tokens), plan);
            self.fates[candidate.at] = Fate::Selected;
        }
        let left = planned.into_iter().map(|(candidate, _)| (candidate, None));
        rest.extend(left.filter(|(candidate, _)| matches!(self.fates[candidate.at], Fate::Open)));
        self.rest(rest, chosen.len());
    }

    /// What is left of the budget may hold the beginning of one that is too long for it.
    fn rest(&mut self, mut rest: Vec<(&Candidate<'_>, Option<ResourceExclusion>)>, mut count: usize) {
        if count < self.options.top {
            rest.sort_by(|a, b| a.0.best_first(b.0));
        }
        for (candidate, reason) in rest {
            if count >= self.options.top {
                self.fates[candidate.at] = Fate::Excluded(reason.unwrap_or(ResourceExclusion::Top));
            } else if let Some(reason) = reason {
                self.leave(candidate, reason);
            } else {
                match self.plan(&candidate.entry.resource, candidate.decision.as_deref(), self.left()) {
                    Ok(plan) => {
                        count += 1;
                        self.select(candidate.selected(plan.tokens), plan);
                        self.fates[candidate.at] = Fate::Selected;
                    }
                    Err(reason) => self.leave(candidate, reason),
                }
            }
        }
    }

    /// Leaves one out, unless others turn out to cost less.
    fn leave(&mut self, candidate: &Candidate<'_>, reason: ResourceExclusion) {
        let resource = &candidate.entry.resource;
        let may_fit = matches!(reason, ResourceExclusion::Budget { .. });
        if may_fit && self.selection.reserve.len() < self.options.top.saturating_mul(4) {
            self.selection.reserve.push(candidate.selected(whole(resource)));
        }
        self.fates[candidate.at] = Fate::Excluded(reason);
    }

    pub(super) fn finish(mut self) -> ResourceSelection {
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

    fn open<'b>(&self, candidates: &'b [Candidate<'b>]) -> impl Iterator<Item = &'b Candidate<'b>> {
        candidates.iter().filter(|candidate| matches!(self.fates[candidate.at], Fate::Open))
    }

    fn left(&self) -> usize {
        self.options.budget.tokens() - self.selection.estimated_tokens
    }

    /// What one text that is too long may take, so that there is room for others.
    fn half(&self) -> usize {
        self.options.budget.tokens() / 2
    }

    fn trims(&self, resource: &Resource) -> bool {
        self.options.trim && !is_picture(resource)
    }

    /// Selects one if it fits, and says so.
    fn take(&mut self, candidate: &Candidate<'_>, pinned: bool, limit: usize) -> bool {
        let fate = match self.plan(&candidate.entry.resource, candidate.decision.as_deref(), limit) {
            Ok(plan) => {
                self.select(SelectedResource { pinned, ..candidate.selected(plan.tokens) }, plan);
                Fate::Selected
            }
            Err(ResourceExclusion::Budget { tokens, left }) if candidate.value.required => {
                Fate::Excluded(ResourceExclusion::RequiredDoesNotFit { tokens, left })
            }
            Err(reason) => Fate::Excluded(reason),
        };
        self.fates[candidate.at] = fate;
        matches!(self.fates[candidate.at], Fate::Selected)
    }

    fn plan(&self, resource: &Resource, decision: Option<&Decision>, limit: usize) -> Result<Plan, ResourceExclusion> {
        let whole = whole(resource);
        let limit = limit.min(decision.and_then(|decision| decision.max_tokens).unwrap_or(usize::MAX));
        let tokens = match whole <= limit {
            true => whole,
            false if self.trims(resource) && limit >= LEAST_TRIMMED + DELIMITERS => limit,
            false => return Err(ResourceExclusion::Budget { tokens: whole, left: limit }),
        };
        let size = resource.size.unwrap_or_else(|| (whole as u64).saturating_mul(4));
        let most = decision.and_then(|decision| decision.max_bytes).unwrap_or(usize::MAX);
        let read = most.min(self.options.reading.bytes) as u64;
        if size > read {
            return Err(ResourceExclusion::Bytes { bytes: size, left: read });
        }
        // A picture is sent as base64; of a text that is trimmed only what is left of it.
        let bytes = match is_picture(resource) {
            true => size.div_ceil(3).saturating_mul(4),
            false => size.min((tokens as u64).saturating_mul(4)),
        };
        if bytes > self.bytes_left {
            return Err(ResourceExclusion::Bytes { bytes, left: self.bytes_left });
        }
        Ok(Plan { tokens, whole, bytes })
    }

    fn select(&mut self, selected: SelectedResource, plan: Plan) {
        self.selection.estimated_tokens += plan.tokens;
        self.bytes_left -= plan.bytes;
        self.selection.resources.push(selected);
    }
}

impl Candidate<'_> {
    fn best_first(&self, other: &Self) -> Ordering {
        let by_value = other.value.total().total_cmp(&self.value.total());
        by_value.then_with(|| self.at.cmp(&other.at))
    }

    fn selected(&self, tokens: usize) -> SelectedResource {
        selected(&self.entry.id, &self.entry.resource, self.value, self.decision.as_deref(), tokens)
    }
}

fn selected(
    id: &ResourceId,
    resource: &Resource,
    value: ResourceValue,
    decision: Option<&Decision>,
    tokens: usize,
) -> SelectedResource {
    SelectedResource {
        id: id.clone(),
        label: resource.label().to_owned(),
        mime_type: resource.mime_type.clone(),
        estimated_tokens: tokens,
        sized: resource.size.is_some(),
        value,
        decision: decision.cloned().unwrap_or_default(),
        pinned: false,
    }
}

/// What a resource is estimated to cost if nothing is trimmed.
fn whole(resource: &Resource) -> usize {
    estimated_tokens(resource).saturating_add(DELIMITERS)
}
