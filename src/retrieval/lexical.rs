use std::{
    any::Any,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use super::{Filter, Hit, Origin, Ranking, Retriever, Tier, ToolIndex, confidence::Signals, exact::NameIndex};
use crate::{
    Result,
    catalog::Catalog,
    index::{Analyzer, LexicalIndex, LexicalOptions, Roster, Scored, passes},
};

/// Lexical search: BM25F over combined fields, and before all scores the tools that the request names.
///
/// It needs no model and no network, answers in well under a millisecond over a thousand tools,
/// and hardly rewards a server for stuffing words into its descriptions. What it cannot do is
/// meet a request that shares no word with the tool that would serve it.
///
/// ```
/// use proem::{
///     catalog::Catalog,
///     id::ServerId,
///     protocol::Tool,
///     retrieval::{Filter, Lexical, Retriever},
/// };
///
/// let catalog = Catalog::builder()
///     .tool(ServerId::new("git")?, Tool::new("merge", "Merge a branch into the current one"))
///     .tool(ServerId::new("mail")?, Tool::new("send_mail", "Send an e-mail"))
///     .build();
/// let index = Lexical::new().index(&catalog, None)?;
/// let ranking = index.search(&"merge the release branch".into(), &Filter::new(), 5)?;
/// assert_eq!(ranking.hits[0].tool.to_string(), "git/merge");
/// assert_eq!(ranking.hits.len(), 1);
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lexical {
    options: LexicalOptions,
}

impl Lexical {
    /// With [`LexicalOptions::default`].
    pub fn new() -> Self {
        Self::default()
    }

    /// With other options.
    pub fn with_options(options: LexicalOptions) -> Self {
        Self { options }
    }

    /// What turns text into terms.
    pub(super) fn analyzer(&self) -> Analyzer {
        self.options.analyzer()
    }
}

impl Retriever for Lexical {
    fn name(&self) -> &str {
        "lexical"
    }

    fn index(&self, catalog: &Catalog, previous: Option<&Arc<dyn ToolIndex>>) -> Result<Arc<dyn ToolIndex>> {
        let earlier = previous.and_then(|index| {
            let any: &dyn Any = &**index;
            Some((index, any.downcast_ref::<LexicalToolIndex>()?))
        });
        let Some((same, earlier)) = earlier else {
            let roster = Roster::new(catalog);
            let postings = LexicalIndex::new(&roster, &self.options)?;
            let names = Arc::new(NameIndex::new(&roster));
            return Ok(Arc::new(LexicalToolIndex { roster, postings, names, last_filter: Mutex::default() }));
        };
        if earlier.roster.catalog().digest() == catalog.digest() && *earlier.postings.options() == self.options {
            return Ok(Arc::clone(same));
        }
        let (roster, carried) = Roster::after(&earlier.roster, catalog);
        let postings = LexicalIndex::after(&earlier.postings, &roster, &carried, &self.options)?;
        let names = NameIndex::after(&earlier.names, &roster, &carried);
        Ok(Arc::new(LexicalToolIndex { roster, postings, names, last_filter: Mutex::default() }))
    }
}

pub(super) struct LexicalToolIndex {
    roster: Roster,
    postings: LexicalIndex,
    names: Arc<NameIndex>,
    /// What the last filter without predicates let pass: hosts filter by the same rules turn after
    /// turn, and a look at every tool can take longer than the search.
    last_filter: Mutex<Option<(Filter, Arc<[bool]>)>>,
}

/// What a text finds, before anything is ordered.
pub(super) struct Scan<'a> {
    pub(super) scored: Scored<'a>,
    /// The positions of the tools that it names, in order.
    pub(super) named: Vec<u32>,
    /// By position: whether the tool may be seen. `None` for all.
    pub(super) allowed: Option<Arc<[bool]>>,
}

impl LexicalToolIndex {
    /// Searches for a text; the conditions of `filter` are asked once.
    pub(super) fn scan(&self, text: &str, filter: &Filter) -> Result<Scan<'_>> {
        let allowed = self.allowed(filter);
        let scored = self.postings.score(text, allowed.clone())?;
        let passes = |position: u32| passes(allowed.as_deref(), position as usize);
        let named = self.names.named(self.roster.catalog(), text, passes);
        Ok(Scan { scored, named, allowed })
    }

    /// By position in the catalog: whether the filter lets the tool pass. `None` for all.
    fn allowed(&self, filter: &Filter) -> Option<Arc<[bool]>> {
        if filter.is_empty() {
            return None;
        }
        // A panic of another thread cannot leave the pair half written.
        let last = || self.last_filter.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, allowed)) = last().as_ref().filter(|(last, _)| last.always_equals(filter)) {
            return Some(Arc::clone(allowed));
        }
        let allowed: Arc<[bool]> = filter.allowed(&self.roster).into();
        if filter.always_equals(filter) {
            *last() = Some((filter.clone(), Arc::clone(&allowed)));
        }
        Some(allowed)
    }
}

impl ToolIndex for LexicalToolIndex {
    fn catalog(&self) -> &Catalog {
        self.roster.catalog()
    }

    fn search_text(&self, text: &str, filter: &Filter, limit: usize) -> Result<Ranking> {
        let tools = self.roster.catalog().tools();
        let Scan { scored, named, .. } = self.scan(text, filter)?;
        let mut named: Vec<(u32, f32)> =
            named.into_iter().map(|position| (position, scored.score_of(position))).collect();
        named.sort_by(|(a, a_score), (b, b_score)| b_score.total_cmp(a_score).then(a.cmp(b)));
        named.truncate(limit);
        let mut order: Vec<(u32, f32, Tier)> = named.iter().map(|(at, score)| (*at, *score, Tier::Named)).collect();
        let top = scored.top(limit)?.into_iter().filter(|(at, _)| named.iter().all(|(named, _)| named != at));
        order.extend(top.map(|(at, score)| (at, score, Tier::Scored)));
        order.truncate(limit);
        let positions: Vec<u32> = order.iter().map(|(at, ..)| *at).collect();
        let explained = scored.explain(&positions)?;
        let coverage = explained.first().map_or(0.0, |best| best.coverage);
        let words = order.iter().map(|(_, score, _)| *score).fold(0.0, f32::max);
        let signals =
            Signals { named: !named.is_empty(), words: scored.in_rarest(words), coverage, ..Signals::default() };
        let hits = order.into_iter().zip(explained).zip(1..).map(|(((at, score, tier), explained), rank)| Hit {
            tool: tools[at as usize].id.clone(),
            score,
            rank,
            tier,
            fields: explained.fields,
            channels: BTreeMap::new(),
            origin: Origin::Query,
            used_with: None,
        });
        Ok(Ranking { hits: hits.collect(), coverage, confidence: Some(signals.of_words()), ..Ranking::default() })
    }
}

impl fmt::Debug for LexicalToolIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LexicalToolIndex").field("catalog", self.roster.catalog()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
