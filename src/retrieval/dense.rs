use std::{any::Any, fmt, sync::Arc};

use super::{Channel, Filter, Hit, Ranking, Retriever, ToolIndex, confidence::Signals, top::top};
use crate::{
    Result,
    catalog::Catalog,
    index::{Channel as DenseChannel, DenseIndex, DenseOptions, Embedder, passes},
};

/// Dense search: cosine between the vector of the request and those of all tools.
///
/// It finds tools whose text shares no word with the request. Alone it misses names and rare
/// words, and fails with its embedder: over the sets that were measured, [`Hybrid`](super::Hybrid)
/// is better by 10 points of NDCG@10.
///
/// ```
/// use proem::{
///     catalog::Catalog,
///     id::ServerId,
///     index::CallbackEmbedder,
///     protocol::Tool,
///     retrieval::{Dense, Filter, Retriever},
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
/// let index = Dense::new(topics).index(&catalog, None)?;
/// let ranking = index.search(&"will it rain?".into(), &Filter::new(), 5)?;
/// assert_eq!(ranking.hits[0].tool.to_string(), "sky/forecast");
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dense {
    channel: Arc<DenseChannel>,
}

impl Dense {
    /// With [`DenseOptions::default`].
    pub fn new(embedder: impl Embedder + 'static) -> Self {
        Self::shared(Arc::new(embedder))
    }

    /// With an embedder that others hold too.
    pub fn shared(embedder: Arc<dyn Embedder>) -> Self {
        Self { channel: Arc::new(DenseChannel::new(embedder, DenseOptions::default())) }
    }

    /// Sets how tools are embedded and vectors kept.
    #[must_use]
    pub fn with_options(self, options: DenseOptions) -> Self {
        Self { channel: Arc::new(DenseChannel::new(Arc::clone(&self.channel.embedder), options)) }
    }

    /// The index, not yet behind the trait.
    pub(super) fn build(&self, catalog: &Catalog, previous: Option<&DenseIndex>) -> DenseIndex {
        DenseIndex::build(catalog, &self.channel, previous)
    }
}

impl Retriever for Dense {
    fn name(&self) -> &str {
        "dense"
    }

    fn embedder(&self) -> Option<&str> {
        Some(self.channel.embedder.identity())
    }

    /// Never fails: tools that could not be embedded are not ranked, and each ranking says so in
    /// [`Ranking::channels`].
    fn index(&self, catalog: &Catalog, previous: Option<&Arc<dyn ToolIndex>>) -> Result<Arc<dyn ToolIndex>> {
        let previous = previous.and_then(|previous| {
            let previous: &dyn Any = &**previous;
            previous.downcast_ref::<DenseToolIndex>()
        });
        Ok(Arc::new(DenseToolIndex { vectors: self.build(catalog, previous.map(|previous| &previous.vectors)) }))
    }
}

struct DenseToolIndex {
    vectors: DenseIndex,
}

impl ToolIndex for DenseToolIndex {
    fn catalog(&self) -> &Catalog {
        self.vectors.catalog()
    }

    /// Fails with [`Error::Embedder`](crate::Error::Embedder) if the query cannot be embedded.
    fn search_text(&self, text: &str, filter: &Filter, limit: usize) -> Result<Ranking> {
        let tools = self.vectors.catalog().tools();
        let allowed: Option<Vec<bool>> =
            (!filter.is_empty()).then(|| tools.iter().map(|entry| filter.passes(entry)).collect());
        let passes = |at: usize| passes(allowed.as_deref(), at);
        let cosines = self.vectors.search(text, passes)?;
        let held = (0..).zip(&cosines.scores).map(|(at, score)| (at, *score));
        let held = held.filter(|(at, _)| self.vectors.holds(*at as usize) && passes(*at as usize));
        // A query of which nothing is known finds nothing.
        let best = if cosines.confidence > 0.0 || cosines.range.1 > 0.0 { top(held, limit) } else { Vec::new() };
        let hits = best.into_iter().zip(1..);
        Ok(Ranking {
            coverage: cosines.range.1.clamp(0.0, 1.0),
            confidence: Signals { lead: cosines.lead, known: cosines.confidence, ..Signals::default() }.of_vectors(),
            hits: hits
                .filter_map(|((at, score), rank)| Some(Hit::new(tools.get(at as usize)?.id.clone(), score, rank)))
                .collect(),
            channels: vec![Channel::new("dense", 1.0).with_trouble(self.vectors.note())],
            ..Ranking::default()
        })
    }

    fn may_block(&self) -> bool {
        self.vectors.may_block()
    }

    fn wants_reindex(&self) -> bool {
        self.vectors.wants_reindex()
    }
}

impl fmt::Debug for DenseToolIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DenseToolIndex").field(&self.vectors).finish()
    }
}

#[cfg(test)]
pub(super) mod tests;
