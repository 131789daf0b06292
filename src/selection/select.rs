use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    depth::Depth,
    form::{Definition, Form, form_tokens},
    gates::Gates,
    options::SelectionOptions,
    reason::{Exclusion, Inclusion},
};
use crate::{
    catalog::{Catalog, ExposedName, ToolEntry},
    id::ToolId,
    retrieval::{Filter, Hit, Origin, Ranking, Tier},
    tokens::CountCache,
};

/// The tools that are offered, and those that are not.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Selection {
    /// Pinned tools by id, then ranked ones by rank.
    pub tools: Vec<SelectedTool>,
    /// Filtered tools by id, then pinned and unknown ones, then ranked ones by rank; each tool once.
    /// Tools that were not ranked at all are not listed.
    pub excluded: Vec<ExcludedTool>,
    /// What the offered definitions cost together; never above the budget.
    pub tokens: usize,
    /// How likely it is that any tool fits, 0 to 1 ([`Ranking::confidence`]); `None` if that is not known.
    pub confidence: Option<f32>,
}

/// A tool that is offered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SelectedTool {
    /// The tool.
    pub id: ToolId,
    /// What the model calls it.
    pub exposed: ExposedName,
    /// What of it is shown.
    pub definition: Definition,
    /// How much of it is shown.
    pub form: Form,
    /// What that costs.
    pub tokens: usize,
    /// Its score in the ranking; 0 if it was not ranked.
    pub score: f32,
    /// Its place in the ranking; `None` if it was not ranked.
    pub rank: Option<usize>,
    /// Why it is offered.
    pub reason: Inclusion,
    /// Which part of the query brought it; the query itself if it was not ranked.
    pub origin: Origin,
}

/// A tool that is not offered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExcludedTool {
    /// The tool's server, or the pin's server pattern.
    pub server: Arc<str>,
    /// The tool's name, or the pin's name pattern.
    pub name: Arc<str>,
    /// Why not.
    pub reason: Exclusion,
}

/// Selects tools: pinned ones first, then by rank, within all limits of `options`.
///
/// `filter` is applied again, so that a ranking made with another filter lets nothing through.
pub fn select(
    catalog: &Catalog,
    ranking: &Ranking,
    filter: &Filter,
    options: &SelectionOptions,
    counts: &CountCache,
) -> Selection {
    let mut chosen = Chosen::new(options, counts);
    let mut excluded = Vec::new();
    // Each tool is decided once, however many pins match it and however often a ranking names it.
    let mut decided = BTreeSet::new();
    if !filter.is_empty() {
        for entry in catalog.tools() {
            if let Some(why) = filter.exclusion(entry) {
                decided.insert(&entry.id);
                excluded.push(ExcludedTool::new(&entry.id, Exclusion::Filtered(why)));
            }
        }
    }
    let mut hits: BTreeMap<&ToolId, &Hit> = BTreeMap::new();
    for hit in &ranking.hits {
        hits.entry(&hit.tool).or_insert(hit);
    }
    for pin in &options.pins {
        let mut known = false;
        for entry in catalog.tools().iter().filter(|entry| pin.matches(&entry.id)) {
            known = true;
            if decided.insert(&entry.id)
                && let Err(reason) = chosen.take(entry, hits.get(&entry.id).copied(), Inclusion::Pinned, Form::NameOnly)
            {
                excluded.push(ExcludedTool::new(&entry.id, reason));
            }
        }
        if !known {
            let (server, name) = pin.as_str().split_once('/').unwrap_or((pin.as_str(), "*"));
            let (server, name) = (server.into(), name.into());
            excluded.push(ExcludedTool { server, name, reason: Exclusion::Unknown });
        }
    }
    let mut candidates = Vec::with_capacity(ranking.hits.len());
    for hit in ranking.hits.iter().filter(|hit| decided.insert(&hit.tool)) {
        match catalog.tool(&hit.tool) {
            Some(entry) => candidates.push((hit, entry)),
            // The ranking was made from another snapshot.
            None => excluded.push(ExcludedTool::new(&hit.tool, Exclusion::Unknown)),
        }
    }
    chosen.by_rank(catalog, &candidates, ranking.confidence, &mut excluded);
    Selection { tokens: chosen.tokens, tools: chosen.tools, excluded, confidence: ranking.confidence }
}

struct Chosen<'a> {
    options: &'a SelectionOptions,
    counts: &'a CountCache,
    tools: Vec<SelectedTool>,
    ranked: usize,
    tokens: usize,
}

impl<'a> Chosen<'a> {
    fn new(options: &'a SelectionOptions, counts: &'a CountCache) -> Self {
        Self { options, counts, tools: Vec::new(), ranked: 0, tokens: 0 }
    }

    /// Takes candidates by rank: first those that no gate holds back, then whoever is left.
    fn by_rank(
        &mut self,
        catalog: &Catalog,
        candidates: &[(&Hit, &Arc<ToolEntry>)],
        confidence: Option<f32>,
        excluded: &mut Vec<ExcludedTool>,
    ) {
        let options = self.options;
        let depth = Depth::new(catalog, candidates, options);
        let named = candidates.first().is_some_and(|(hit, _)| hit.tier == Tier::Named);
        let unsure = confidence.is_some_and(|confidence| confidence < options.min_confidence) && !named;
        let mut reasons: Vec<Option<Exclusion>> = vec![None; candidates.len()];
        let mut waiting = Vec::new();
        let mut last = 0;
        let mut gates = Gates::new(catalog, options);
        for (i, (hit, entry)) in candidates.iter().enumerate() {
            reasons[i] = if unsure {
                Some(Exclusion::Confidence)
            } else if depth.is_behind(i, hit, entry) {
                Some(Exclusion::Depth)
            } else if self.ranked >= options.top {
                Some(Exclusion::Top)
            } else if let Some(gate) = gates.hold_back(entry) {
                waiting.push((i, gate));
                None
            } else {
                let taken = self.take_ranked(i, hit, entry);
                if taken.is_ok() {
                    last = i;
                    gates.let_through(entry);
                }
                taken.err()
            };
        }
        for (i, gate) in waiting {
            let (hit, entry) = candidates[i];
            reasons[i] = if self.ranked < options.top {
                self.take_ranked(i, hit, entry).err()
            } else if i < last {
                // Tools that are worth less have the places.
                Some(gate)
            } else {
                Some(Exclusion::Top)
            };
        }
        let left_out = candidates.iter().zip(reasons);
        excluded.extend(left_out.filter_map(|((hit, _), reason)| Some(ExcludedTool::new(&hit.tool, reason?))));
        self.tools.sort_by(|a, b| place(a).cmp(&place(b)));
    }

    /// Takes the candidate at `place`. A name alone is worth its tokens for the likeliest tools
    /// only: of the others a model should see how they are called, or nothing.
    fn take_ranked(&mut self, place: usize, hit: &Hit, entry: &ToolEntry) -> Result<(), Exclusion> {
        let (reason, smallest) = match hit.tier {
            Tier::Named => (Inclusion::Named, Form::NameOnly),
            Tier::Scored if hit.origin == Origin::Recent => (Inclusion::Recent, Form::NameOnly),
            Tier::Scored if place < self.options.min => (Inclusion::Matched(strongest(hit)), Form::NameOnly),
            Tier::Scored => (Inclusion::Matched(strongest(hit)), Form::MinimalSchema),
        };
        self.take(entry, Some(hit), reason, smallest)?;
        self.ranked += 1;
        Ok(())
    }

    /// Takes a tool in the largest form that fits, down to `smallest`.
    fn take(
        &mut self,
        entry: &ToolEntry,
        hit: Option<&Hit>,
        reason: Inclusion,
        smallest: Form,
    ) -> Result<(), Exclusion> {
        if self.tools.len() >= self.options.provider_cap {
            return Err(Exclusion::ProviderCap);
        }
        let left = self.options.budget.tokens().saturating_sub(self.tokens);
        let mut least = usize::MAX;
        for form in Form::ALL.into_iter().filter(|form| *form <= smallest) {
            let tokens = form_tokens(entry, form, self.counts);
            // A form that saves nothing only says less.
            if tokens >= least {
                continue;
            }
            least = tokens;
            if tokens <= left {
                self.tokens += tokens;
                self.tools.push(SelectedTool {
                    id: entry.id.clone(),
                    exposed: entry.exposed.clone(),
                    definition: Definition::of(&entry.tool, form),
                    form,
                    tokens,
                    score: hit.map_or(0.0, |hit| hit.score),
                    rank: hit.map(|hit| hit.rank),
                    reason,
                    origin: hit.map_or(Origin::Query, |hit| hit.origin),
                });
                return Ok(());
            }
        }
        Err(Exclusion::Budget(left))
    }
}

impl ExcludedTool {
    fn new(id: &ToolId, reason: Exclusion) -> Self {
        Self { server: id.server.shared(), name: Arc::clone(&id.name), reason }
    }
}

/// Pinned tools by id, then ranked ones by rank.
fn place(tool: &SelectedTool) -> (bool, Option<usize>, &ToolId) {
    let pinned = tool.reason == Inclusion::Pinned;
    (!pinned, tool.rank.filter(|_| !pinned), &tool.id)
}

/// The two fields that gave most to a score; equal ones by name. Where no word was met: the
/// channels that found the tool.
fn strongest(hit: &Hit) -> Vec<&'static str> {
    if hit.fields.is_empty() {
        return hit.channels.keys().copied().collect();
    }
    let mut fields: Vec<_> = hit.fields.iter().filter(|(_, score)| **score > 0.0).collect();
    fields.sort_by(|a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
    fields.into_iter().take(2).map(|(name, _)| *name).collect()
}
