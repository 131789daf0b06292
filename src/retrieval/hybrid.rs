use std::{any::Any, collections::BTreeMap, fmt, sync::Arc};

use super::{
    Channel, CoUse, Dense, Filter, Hit, Origin, Ranking, Retriever, Tier, ToolIndex, Usage,
    confidence::Signals,
    evidence::{Evidence, Request, bounded, weigh},
    fusion::{Fusion, Scores},
    lexical::{Lexical, LexicalToolIndex, Scan},
    servers::ServerEvidence,
    top::top,
};
use crate::{
    Error, Result,
    catalog::{Authorization, Catalog},
    index::{Cosines, DenseIndex, Embedder, passes},
};

/// Lexical and dense search together, evidence beside them, and before all scores the tools that
/// the request names.
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
/// Evidence is added to the fused score in this order, all of it off by default: how well a tool's
/// server fits, which tools were called after requests like this one, and which are used together
/// with the best hits. Each kind has a weight against 1 for all that came before it, so that scores
/// stay within 0 to 1, and an entry in [`Ranking::channels`] and [`Hit::channels`]. None of it
/// brings a tool that the filter keeps out. It needs no embedder: see [`Hybrid::lexical`].
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
    dense: Option<Dense>,
    fusion: Fusion,
    server_weight: f32,
    usage: Option<Usage>,
    co_use: Option<CoUse>,
}

impl Hybrid {
    /// Lexical search beside this embedder, all with their defaults.
    pub fn new(embedder: impl Embedder + 'static) -> Self {
        Self::of(Lexical::new(), Dense::new(embedder))
    }

    /// Of two retrievers that were set up before.
    pub fn of(lexical: Lexical, dense: Dense) -> Self {
        Self { dense: Some(dense), ..Self::lexical(lexical) }
    }

    /// Lexical search without vectors, for the evidence that is added to it.
    pub fn lexical(lexical: Lexical) -> Self {
        Self { lexical, dense: None, fusion: Fusion::default(), server_weight: 0.0, usage: None, co_use: None }
    }

    /// Sets how scores become one. Default [`Fusion::default`].
    #[must_use]
    pub fn with_fusion(mut self, fusion: Fusion) -> Self {
        self.fusion = fusion;
        self
    }

    /// Sets what it counts, against 1 for words and vectors together, how well a tool's server
    /// fits: the words of its id and of its tools' names. Default 0.
    ///
    /// A small gain for catalogs of many servers. With words alone a weight of 0.06 changes
    /// NDCG@10 by +0.9 on StableToolBench, +0.5 on LiveMCPBench and MetaTool, +0.3 on BFCL and
    /// ToolLinkOS, -0.1 on Seal-Tools, whose requests need tools of several servers, and by -0.3 on
    /// LiveMCPBench's steps. A server that repeats the request in its descriptions or names gains
    /// nothing.
    #[must_use]
    pub fn with_server_weight(mut self, weight: f32) -> Self {
        self.server_weight = bounded(weight);
        self
    }

    /// Adds what a log of calls shows. Default nothing.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Adds tools that are used with the best hits. Default nothing.
    #[must_use]
    pub fn with_co_use(mut self, co_use: CoUse) -> Self {
        self.co_use = Some(co_use);
        self
    }

    /// All evidence that counts, in its order.
    fn evidence(&self, catalog: &Catalog, servers: Option<&Arc<ServerEvidence>>) -> Vec<Box<dyn Evidence>> {
        let servers = servers.map(|servers| Box::new(Arc::clone(servers)) as Box<dyn Evidence>);
        let usage = self.usage.as_ref().map(|usage| Box::new(usage.index(catalog)) as Box<dyn Evidence>);
        let co_use = self.co_use.as_ref().map(|co_use| Box::new(co_use.index(catalog)) as Box<dyn Evidence>);
        [servers, usage, co_use].into_iter().flatten().filter(|evidence| evidence.weight() > 0.0).collect()
    }
}

impl Retriever for Hybrid {
    fn name(&self) -> &str {
        "hybrid"
    }

    fn embedder(&self) -> Option<&str> {
        self.dense.as_ref().and_then(Dense::embedder)
    }

    /// Fails only where [`Lexical`] does.
    fn index(&self, catalog: &Catalog, previous: Option<&Arc<dyn ToolIndex>>) -> Result<Arc<dyn ToolIndex>> {
        let previous = previous.and_then(|previous| {
            let previous: &dyn Any = &**previous;
            previous.downcast_ref::<HybridToolIndex>()
        });
        let servers = (self.server_weight > 0.0).then(|| {
            let previous = previous.and_then(|previous| previous.servers.as_deref());
            Arc::new(ServerEvidence::new(catalog, self.lexical.analyzer(), self.server_weight, previous))
        });
        let vectors = |dense: &Dense| dense.build(catalog, previous.and_then(|previous| previous.dense.as_ref()));
        Ok(Arc::new(HybridToolIndex {
            lexical: self.lexical.index(catalog, previous.map(|previous| &previous.lexical))?,
            dense: self.dense.as_ref().map(vectors),
            fusion: self.fusion,
            evidence: self.evidence(catalog, servers.as_ref()),
            servers,
        }))
    }

    /// Whose log it uses.
    fn authorization(&self) -> Option<&Authorization> {
        self.usage.as_ref().map(Usage::authorization)
    }
}

struct HybridToolIndex {
    lexical: Arc<dyn ToolIndex>,
    dense: Option<DenseIndex>,
    fusion: Fusion,
    /// In its order; empty by default.
    evidence: Vec<Box<dyn Evidence>>,
    /// Once more, for the next snapshot.
    servers: Option<Arc<ServerEvidence>>,
}

impl HybridToolIndex {
    fn lexical(&self) -> Result<&LexicalToolIndex> {
        let index: &dyn Any = &*self.lexical;
        index.downcast_ref().ok_or_else(|| Error::Index { reason: "no lexical index".into(), source: None })
    }

    /// What the dense channel says, and what did not work. Without one it says nothing.
    fn compare(&self, text: &str, allowed: Option<&[bool]>) -> (Scores, Compared) {
        let tools = self.catalog().tools().len();
        let none = || Scores { values: vec![0.0; tools], held: vec![false; tools], range: (0.0, 0.0) };
        let Some(dense) = &self.dense else { return (none(), Compared::default()) };
        let passes = |at: usize| passes(allowed, at);
        match dense.search(text, passes) {
            Ok(Cosines { scores, confidence, range, lead }) => {
                let held = (0..scores.len()).map(|at| dense.holds(at) && passes(at)).collect();
                let compared = Compared { known: confidence, lead, trouble: dense.note() };
                (Scores { values: scores, held, range }, compared)
            }
            Err(error) => (none(), Compared { trouble: Some(error.to_string()), ..Compared::default() }),
        }
    }
}

/// What is known of the vectors of one query besides the scores.
#[derive(Default)]
struct Compared {
    /// How much they are worth, 0 to 1.
    known: f32,
    lead: Option<f32>,
    trouble: Option<String>,
}

/// From this share of the query on that the best tool holds, by the rarity of its terms, words
/// count in full. Below it they have met by chance, as one English word in a Chinese request does.
const CLEAR_COVERAGE: f32 = 0.2;

impl ToolIndex for HybridToolIndex {
    fn catalog(&self) -> &Catalog {
        self.lexical.catalog()
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
        let (dense, Compared { known, lead, trouble }) = self.compare(text, allowed.as_deref());
        let shares = self.fusion.shares((covered / CLEAR_COVERAGE).clamp(0.0, 1.0), known);
        let signals = Signals {
            named: !named.is_empty(),
            words: scored.in_rarest(lexical.range.1),
            coverage: covered,
            lead,
            known,
        };

        let mut fused = self.fusion.fuse(&lexical, &dense, shares);
        let request = Request { text, named: &named, allowed: allowed.as_deref() };
        let weighed = weigh(&self.evidence, &request, &mut fused);
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
        let mut coverage = explained.first().map_or(0.0, |best| best.coverage).max(cosine.min(1.0));
        let mut confidence = signals.of_both();
        for (_, gain) in positions.first().into_iter().flat_map(|at| weighed.of(*at)) {
            // What a like request called fits this one.
            (coverage, confidence) = (coverage.max(gain.coverage), confidence.max(gain.coverage));
        }
        let tools = self.catalog().tools();
        let hits = order.into_iter().zip(explained).zip(1..).filter_map(|(((at, score, tier), explained), rank)| {
            let channels = [(LEXICAL, own(&lexical, at)), (DENSE, own(&dense, at))];
            let mut channels: BTreeMap<_, _> =
                channels.into_iter().filter_map(|(name, score)| Some((name, score?))).collect();
            channels.extend(weighed.of(at).map(|(name, gain)| (name, gain.score)));
            let with = weighed.of(at).find_map(|(_, gain)| gain.with);
            let used_with = with.and_then(|with| Some(tools.get(with as usize)?.id.clone()));
            let tool = tools.get(at as usize)?.id.clone();
            Some(Hit { tool, score, rank, tier, fields: explained.fields, channels, origin: Origin::Query, used_with })
        });
        let hits = hits.collect();
        let mut channels = vec![Channel::new(LEXICAL, shares.0 * weighed.left)];
        if self.dense.is_some() {
            channels.push(Channel::new(DENSE, shares.1 * weighed.left).with_trouble(trouble));
        }
        channels.extend(weighed.channels());
        Ok(Ranking { hits, coverage, confidence: Some(confidence), channels, ..Ranking::default() })
    }

    fn may_block(&self) -> bool {
        self.dense.as_ref().is_some_and(DenseIndex::may_block)
    }

    fn wants_reindex(&self) -> bool {
        self.dense.as_ref().is_some_and(DenseIndex::wants_reindex)
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
            .field("evidence", &self.evidence)
            .finish()
    }
}

#[cfg(test)]
mod tests;
