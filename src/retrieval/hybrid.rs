use std::{any::Any, collections::BTreeMap, fmt, sync::Arc};

use super::{
    Channel, Dense, Filter, Hit, Origin, Ranking, Retriever, Tier, ToolIndex,
    fusion::{Fusion, Scores},
    lexical::{Lexical, LexicalToolIndex, Scan},
    top::top,
};
use crate::{
    Error, Result,
    catalog::Catalog,
    index::{Cosines, DenseIndex, Embedder},
};

/// Lexical and dense search together, and before all scores the tools that the request names.
///
/// Each channel counts by its weight in the [`Fusion`], and by what it knows of the query: the
/// dense one by how much of the text its embedder [covers](Embedder::covers) and by whether its
/// scores differ at all, the lexical one by how much of the query its best tool holds. A channel
/// that knows nothing changes nothing.
///
/// An embedder that fails costs the dense channel, never the turn: tools are then ranked by words
/// alone, and [`Ranking::channels`] says why. It is not asked again for a while
/// ([`DenseOptions::with_retry_after`](crate::index::DenseOptions::with_retry_after)).
///
/// ```
/// use proem::{
///     catalog::Catalog,
///     id::ServerId,
///     index::CallbackEmbedder,
///     protocol::Tool,
///     retrieval::{Filter, Hybrid, Retriever},
/// };
///
/// // Stands for a model: is it about money, is it about weather?
/// let topics = CallbackEmbedder::new("topics/1", 2, |texts, _kind| {
///     let about = |text: &str, words: [&str; 2]| words.iter().any(|word| text.contains(word)) as u8 as f32;
///     Ok(texts.iter().map(|text| vec![about(text, ["refund", "money"]), about(text, ["rain", "weather"])]).collect())
/// });
/// let catalog = Catalog::builder()
///     .tool(ServerId::new("shop")?, Tool::new("refund", "Undo a payment"))
///     .tool(ServerId::new("sky")?, Tool::new("forecast", "The weather of tomorrow"))
///     .build();
/// let index = Hybrid::new(topics).index(&catalog, None)?;
///
/// // No word in common.
/// let ranking = index.search(&"will it rain?".into(), &Filter::new(), 5)?;
/// assert_eq!(ranking.hits[0].tool.to_string(), "sky/forecast");
/// assert_eq!(ranking.hits[0].channels["dense"], 1.0);
///
/// // Named.
/// let ranking = index.search(&"what does `refund` say about rain?".into(), &Filter::new(), 5)?;
/// assert_eq!(ranking.hits[0].tool.to_string(), "shop/refund");
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hybrid {
    lexical: Lexical,
    dense: Dense,
    fusion: Fusion,
}

impl Hybrid {
    /// Lexical search beside this embedder, all with their defaults.
    pub fn new(embedder: impl Embedder + 'static) -> Self {
        Self::of(Lexical::new(), Dense::new(embedder))
    }

    /// Of two retrievers that were set up before.
    pub fn of(lexical: Lexical, dense: Dense) -> Self {
        Self { lexical, dense, fusion: Fusion::default() }
    }

    /// Sets how scores become one. Default [`Fusion::default`].
    #[must_use]
    pub fn with_fusion(mut self, fusion: Fusion) -> Self {
        self.fusion = fusion;
        self
    }
}

impl Retriever for Hybrid {
    fn name(&self) -> &str {
        "hybrid"
    }

    /// Fails only where [`Lexical`] does.
    fn index(&self, catalog: &Catalog, previous: Option<&Arc<dyn ToolIndex>>) -> Result<Arc<dyn ToolIndex>> {
        let previous = previous.and_then(|previous| {
            let previous: &dyn Any = &**previous;
            previous.downcast_ref::<HybridToolIndex>()
        });
        Ok(Arc::new(HybridToolIndex {
            lexical: self.lexical.index(catalog, previous.map(|previous| &previous.lexical))?,
            dense: self.dense.build(catalog, previous.map(|previous| &previous.dense)),
            fusion: self.fusion,
        }))
    }
}

struct HybridToolIndex {
    lexical: Arc<dyn ToolIndex>,
    dense: DenseIndex,
    fusion: Fusion,
}

impl HybridToolIndex {
    fn lexical(&self) -> Result<&LexicalToolIndex> {
        let index: &dyn Any = &*self.lexical;
        index.downcast_ref().ok_or_else(|| Error::Index { reason: "no lexical index".into(), source: None })
    }

    /// What the dense channel says, and what did not work.
    fn compare(&self, text: &str, allowed: Option<&[bool]>) -> (Scores, f32, Option<String>) {
        let passes = |at: usize| allowed.is_none_or(|allowed| allowed.get(at).copied().unwrap_or(false));
        match self.dense.search(text, passes) {
            Ok(Cosines { scores, confidence, range }) => {
                let held = (0..scores.len()).map(|at| self.dense.holds(at) && passes(at)).collect();
                (Scores { values: scores, held, range }, confidence, self.dense.note())
            }
            Err(error) => {
                let tools = self.dense.catalog().tools().len();
                let none = Scores { values: vec![0.0; tools], held: vec![false; tools], range: (0.0, 0.0) };
                (none, 0.0, Some(error.to_string()))
            }
        }
    }
}

/// From this share of the query on that the best tool holds, by the rarity of its terms, words
/// count in full. Below it they have met by chance, as one English word in a Chinese request does.
const CLEAR_COVERAGE: f32 = 0.2;

impl ToolIndex for HybridToolIndex {
    fn catalog(&self) -> &Catalog {
        self.dense.catalog()
    }

    fn search_text(&self, text: &str, filter: &Filter, limit: usize) -> Result<Ranking> {
        let Scan { scored, named, allowed } = self.lexical()?.scan(text, filter)?;
        let words = scored.all()?;
        let most = top((0..).zip(words.iter().copied()), 1);
        let covered = match most.first() {
            Some((at, score)) if *score > 0.0 => scored.explain(&[*at])?.first().map_or(0.0, |best| best.coverage),
            _ => 0.0,
        };
        let held: Vec<bool> = words.iter().map(|score| *score > 0.0).collect();
        let range = (0.0, most.first().map_or(0.0, |(_, score)| *score));
        let lexical = Scores { values: words, held, range };
        let (dense, confidence, trouble) = self.compare(text, allowed.as_deref());
        let shares = self.fusion.shares((covered / CLEAR_COVERAGE).clamp(0.0, 1.0), confidence);

        let mut fused = self.fusion.fuse(&lexical, &dense, shares);
        // Both are in the order of positions.
        let of_named = |at: u32| fused.binary_search_by_key(&at, |(at, _)| *at).map_or(0.0, |i| fused[i].1);
        let first = top(named.iter().map(|at| (*at, of_named(*at))), limit);
        fused.retain(|(at, _)| named.binary_search(at).is_err());
        let rest = top(fused, limit.saturating_sub(first.len()));
        let first = first.into_iter().map(|(at, score)| (at, score, Tier::Named));
        let order: Vec<_> = first.chain(rest.into_iter().map(|(at, score)| (at, score, Tier::Scored))).collect();

        let positions: Vec<u32> = order.iter().map(|(at, ..)| *at).collect();
        let explained = scored.explain(&positions)?;
        let own = |scores: &Scores, at: u32| {
            let held = scores.held.get(at as usize).copied().unwrap_or(false);
            if held { scores.values.get(at as usize).copied() } else { None }
        };
        let cosine = positions.first().and_then(|at| own(&dense, *at)).unwrap_or(0.0);
        let coverage = explained.first().map_or(0.0, |best| best.coverage).max(cosine.min(1.0));
        let tools = self.dense.catalog().tools();
        let hits = order.into_iter().zip(explained).zip(1..).filter_map(|(((at, score, tier), explained), rank)| {
            let channels = [(LEXICAL, own(&lexical, at)), (DENSE, own(&dense, at))];
            let channels: BTreeMap<_, _> =
                channels.into_iter().filter_map(|(name, score)| Some((name, score?))).collect();
            let tool = tools.get(at as usize)?.id.clone();
            Some(Hit { tool, score, rank, tier, fields: explained.fields, channels, origin: Origin::Query })
        });
        Ok(Ranking {
            hits: hits.collect(),
            coverage,
            channels: vec![Channel::new(LEXICAL, shares.0), Channel::new(DENSE, shares.1).with_trouble(trouble)],
            ..Ranking::default()
        })
    }

    fn may_block(&self) -> bool {
        self.dense.may_block()
    }

    fn wants_reindex(&self) -> bool {
        self.dense.wants_reindex()
    }
}

const LEXICAL: &str = "lexical";
const DENSE: &str = "dense";

impl fmt::Debug for HybridToolIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HybridToolIndex")
            .field("lexical", &self.lexical)
            .field("dense", &self.dense)
            .field("fusion", &self.fusion)
            .finish()
    }
}

#[cfg(test)]
mod tests;
