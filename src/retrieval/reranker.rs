use std::{collections::HashSet, fmt};

use super::{Hit, Query, Ranking, Tier};
use crate::{catalog::Catalog, client::BoxFuture, error::BoxError};

/// Orders the best hits again, for example with a cross-encoder.
///
/// Never required: where it fails, or takes too long, the ranking stays as it is. Tools that the
/// request names come first in any case.
pub trait Reranker: fmt::Debug + Send + Sync {
    /// A short name for notes.
    fn name(&self) -> &str;

    /// The places in `candidates`, best first, counted from 0. Places that are none, or come
    /// again, are ignored; candidates that are left out follow in their old order.
    fn rerank<'a>(
        &'a self,
        query: &'a Query,
        candidates: &'a [Candidate],
    ) -> BoxFuture<'a, std::result::Result<Vec<usize>, BoxError>>;

    /// How many of the best hits are ordered again. Default: 50. What a turn offers is hardly ever
    /// found below, and each candidate costs a model's time.
    fn depth(&self) -> usize {
        50
    }
}

/// A hit with its text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// The hit.
    pub hit: Hit,
    /// The tool's name and description, as its server sends them: untrusted, at most
    /// [`Self::MAX_CHARS`] characters.
    pub text: String,
}

impl Candidate {
    /// The longest text: more than cross-encoders read.
    pub const MAX_CHARS: usize = 4_096;

    /// A candidate for a reranker that is tried on its own.
    pub fn new(hit: Hit, text: impl Into<String>) -> Self {
        Self { hit, text: text.into() }
    }
}

/// The best scored hits, with their texts.
pub(crate) fn candidates(catalog: &Catalog, ranking: &Ranking, depth: usize) -> Vec<Candidate> {
    let scored = ranking.hits.iter().filter(|hit| hit.tier == Tier::Scored).take(depth);
    let text = |hit: &Hit| {
        let description = catalog.tool(&hit.tool).and_then(|entry| entry.tool.description.as_deref());
        let text = format!("{}: {}", hit.tool.name, description.unwrap_or_default());
        text.chars().take(Candidate::MAX_CHARS).collect()
    };
    scored.map(|hit| Candidate { hit: hit.clone(), text: text(hit) }).collect()
}

/// Puts candidates into another order. The scores stay where they are, so that a place is worth
/// what it was and a selection cuts at the same depth.
pub(crate) fn reorder(ranking: &Ranking, candidates: Vec<Candidate>, order: &[usize]) -> Ranking {
    let mut seen = HashSet::new();
    let places = order.iter().copied().chain(0..candidates.len());
    let places = places.filter(|place| *place < candidates.len() && seen.insert(*place));
    let reordered: Vec<Hit> = places.filter_map(|place| candidates.get(place)).map(|c| c.hit.clone()).collect();
    let mut reranked = ranking.clone();
    let scored = reranked.hits.iter_mut().filter(|hit| hit.tier == Tier::Scored);
    for (place, hit) in scored.zip(reordered) {
        *place = Hit { rank: place.rank, score: place.score, ..hit };
    }
    reranked
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        id::{ServerId, ToolId},
        protocol::Tool,
    };

    fn ranking(count: usize) -> (Catalog, Ranking) {
        let server = ServerId::new("s").unwrap();
        let tools = (0..count).map(|at| format!("t{at:02}"));
        let catalog = tools.clone().fold(Catalog::builder(), |builder, name| {
            builder.tool(server.clone(), Tool::new(name, "é".repeat(2 * Candidate::MAX_CHARS)))
        });
        let mut ranking = Ranking::default();
        for (at, name) in tools.enumerate() {
            let mut hit = Hit::new(ToolId::new(server.clone(), name), 20.0 - at as f32, at + 1);
            hit.tier = if at == 0 { Tier::Named } else { Tier::Scored };
            ranking.hits.push(hit);
        }
        (catalog.build(), ranking)
    }

    #[test]
    fn candidates_are_the_best_scored_hits_with_bounded_texts() {
        let (catalog, ranking) = ranking(9);
        let candidates = candidates(&catalog, &ranking, 3);
        assert_eq!(candidates.iter().map(|c| &*c.hit.tool.name).collect::<Vec<_>>(), ["t01", "t02", "t03"]);
        assert!(candidates[0].text.starts_with("t01: é"));
        assert!(candidates.iter().all(|candidate| candidate.text.chars().count() == Candidate::MAX_CHARS));
    }

    proptest! {
        #[test]
        fn any_order_keeps_every_tool_and_every_score(order in prop::collection::vec(0..12_usize, 0..12), depth in 0..10_usize) {
            let (catalog, ranking) = ranking(8);
            let candidates = candidates(&catalog, &ranking, depth);
            let count = candidates.len();
            let first = order.iter().find(|place| **place < count).copied();
            let reranked = reorder(&ranking, candidates, &order);
            let names = |ranking: &Ranking| ranking.hits.iter().map(|hit| hit.tool.clone()).collect::<HashSet<_>>();
            prop_assert_eq!(names(&reranked), names(&ranking));
            for (old, new) in ranking.hits.iter().zip(&reranked.hits) {
                prop_assert_eq!((old.rank, old.score, old.tier), (new.rank, new.score, new.tier));
            }
            prop_assert_eq!(&reranked.hits[0], &ranking.hits[0], "what is named stays first");
            if let Some(first) = first {
                prop_assert_eq!(&reranked.hits[1].tool, &ranking.hits[1 + first].tool);
            }
        }
    }
}
