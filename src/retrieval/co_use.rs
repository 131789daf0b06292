use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use super::{
    evidence::{Evidence, Gain, Request, bounded},
    top::top,
};
use crate::{catalog::Catalog, id::ToolId};

/// Which tools are used together: after the best hits, those that are used with them gain.
///
/// Requests name the tool that does the work, and seldom the one that must be asked before it. One
/// step is gone from the best hits: a tool that is used with one of them gains that one's score
/// times the weight of the edge, and of several it gains more than of one
/// (1 − (1 − a)(1 − b)…). It gains nothing where the filter keeps it out.
///
/// The edges are the host's: it knows what depends on what ([`Self::of_edges`]), or which calls
/// were made in one conversation ([`Self::of_calls`], [`UsageLog::co_use`](super::UsageLog::co_use)).
/// Edges learned from calls tell what their users did: keep them within one authorization context.
///
/// Measured with words alone, learned from the calls that the queries at even places of a set need
/// and tested with the others, NDCG@10 rises by 18.7 on ToolLinkOS (29.9 from a log of all calls,
/// not of at most 100 a tool), by 1.9 on LiveMCPBench and 1.8 on StableToolBench; Seal-Tools and
/// BFCL, whose requests combine tools freely, change by less than 0.05. With the dependencies of
/// ToolLinkOS itself, which its gold is made of, it rises from 33.2 to 56.4: the most that such
/// edges give.
///
/// ```
/// use proem::{
///     catalog::Catalog,
///     id::{ServerId, ToolId},
///     protocol::Tool,
///     retrieval::{CoUse, Filter, Hybrid, Lexical, Retriever},
/// };
///
/// let bank = ServerId::new("bank")?;
/// let (pay, login) = (ToolId::new(bank.clone(), "pay"), ToolId::new(bank.clone(), "open_session"));
/// let catalog = Catalog::builder()
///     .tool(bank.clone(), Tool::new("pay", "Pay an invoice"))
///     .tool(bank, Tool::new("open_session", "Needed before anything else"))
///     .build();
/// let co_use = CoUse::of_edges([(pay.clone(), login.clone(), 1.0)]);
/// let index = Hybrid::lexical(Lexical::new()).with_co_use(co_use).index(&catalog, None)?;
/// let hits = index.search(&"pay this invoice".into(), &Filter::new(), 5)?.hits;
/// assert_eq!((&hits[1].tool, hits[1].used_with.as_ref()), (&login, Some(&pay)));
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone)]
pub struct CoUse {
    edges: Arc<Edges>,
    weight: f32,
    depth: usize,
}

/// By tool: what is used with it, the greatest weight first, then by id.
type Edges = BTreeMap<ToolId, Vec<(ToolId, f32)>>;

impl CoUse {
    /// The most tools that are kept for one: those of the greatest weights.
    pub const MAX_NEIGHBOURS: usize = 32;

    /// The most different tools of one conversation that count: the first ones.
    pub const MAX_CALLS: usize = 64;

    /// Of edges that the host knows: where the first tool is wanted, the second is of use, by a
    /// weight of 0 to 1. Of two equal edges the greater weight stands; edges without a positive
    /// weight, and from a tool to itself, are ignored.
    pub fn of_edges(edges: impl IntoIterator<Item = (ToolId, ToolId, f32)>) -> Self {
        let mut known: BTreeMap<ToolId, BTreeMap<ToolId, f32>> = BTreeMap::new();
        for (from, to, weight) in edges {
            if weight > 0.0 && from != to {
                let held = known.entry(from).or_default().entry(to).or_insert(0.0);
                *held = held.max(weight.min(1.0));
            }
        }
        let strongest = |neighbours: BTreeMap<ToolId, f32>| {
            let mut neighbours: Vec<_> = neighbours.into_iter().collect();
            neighbours.sort_by(|(a, a_weight), (b, b_weight)| b_weight.total_cmp(a_weight).then_with(|| a.cmp(b)));
            neighbours.truncate(Self::MAX_NEIGHBOURS);
            neighbours
        };
        let edges = known.into_iter().map(|(from, neighbours)| (from, strongest(neighbours))).collect();
        Self { edges: Arc::new(edges), weight: 0.5, depth: 5 }
    }

    /// Of calls, one sequence for each conversation. The edge from a tool to another has the weight
    /// n / (m + 1), where the first was called in m conversations and both in n: the share of its
    /// conversations in which the other was called too, which a single one does not make certain.
    /// The order of conversations does not matter.
    pub fn of_calls<T: IntoIterator<Item = ToolId>>(conversations: impl IntoIterator<Item = T>) -> Self {
        let mut alone: BTreeMap<ToolId, u32> = BTreeMap::new();
        let mut both: BTreeMap<(ToolId, ToolId), u32> = BTreeMap::new();
        for conversation in conversations {
            let mut tools = BTreeSet::new();
            for tool in conversation {
                if tools.len() == Self::MAX_CALLS {
                    break;
                }
                tools.insert(tool);
            }
            for tool in &tools {
                let count = alone.entry(tool.clone()).or_insert(0);
                *count = count.saturating_add(1);
                for other in tools.iter().filter(|other| *other != tool) {
                    let count = both.entry((tool.clone(), other.clone())).or_insert(0);
                    *count = count.saturating_add(1);
                }
            }
        }
        Self::of_edges(both.into_iter().map(|((from, to), together)| {
            let calls = alone.get(&from).copied().unwrap_or(together);
            (from, to, (f64::from(together) / (f64::from(calls) + 1.0)) as f32)
        }))
    }

    /// Sets what it counts against 1 for all other scores. Default 0.5: a tool that only this
    /// brings stands at half of the hit that brought it; with 1, Seal-Tools loses 1.6 points of
    /// NDCG@10.
    #[must_use]
    pub fn with_weight(mut self, weight: f32) -> Self {
        self.weight = bounded(weight);
        self
    }

    /// Sets how many of the best hits bring others; tools that the request names are the first of
    /// them. Default 5: with the edges of ToolLinkOS, 3 and 10 give 0.4 and 0.1 points of NDCG@10 less.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// What is used with a tool, the greatest weight first.
    pub fn of(&self, tool: &ToolId) -> &[(ToolId, f32)] {
        self.edges.get(tool).map_or(&[], Vec::as_slice)
    }

    /// As far as the catalog has the tools.
    pub(super) fn index(&self, catalog: &Catalog) -> CoUseEvidence {
        let at = |tool: &ToolId| catalog.position(tool).map(|at| at as u32);
        let edges = self.edges.iter().filter_map(|(from, neighbours)| {
            let neighbours = neighbours.iter().filter_map(|(to, weight)| Some((at(to)?, *weight)));
            Some((at(from)?, neighbours.collect()))
        });
        CoUseEvidence { edges: edges.collect(), weight: self.weight, depth: self.depth }
    }
}

/// How many tools and edges, and how they count.
impl fmt::Debug for CoUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoUse")
            .field("tools", &self.edges.len())
            .field("edges", &self.edges.values().map(Vec::len).sum::<usize>())
            .field("weight", &self.weight)
            .field("depth", &self.depth)
            .finish()
    }
}

pub(super) struct CoUseEvidence {
    /// By position in the catalog.
    edges: BTreeMap<u32, Vec<(u32, f32)>>,
    weight: f32,
    depth: usize,
}

impl Evidence for CoUseEvidence {
    fn name(&self) -> &'static str {
        "co-use"
    }

    fn weight(&self) -> f32 {
        self.weight
    }

    fn weigh(&self, request: &Request<'_>, scores: &[(u32, f32)]) -> Vec<Gain> {
        let named = request.named.iter().map(|at| (*at, 1.0));
        let scored = scores.iter().filter(|(at, _)| request.named.binary_search(at).is_err());
        let best = named.chain(top(scored.copied(), self.depth)).take(self.depth);
        let mut found: BTreeMap<u32, (f32, f32, u32)> = BTreeMap::new();
        for (from, score) in best {
            for (to, weight) in self.edges.get(&from).into_iter().flatten().filter(|(to, _)| request.passes(*to)) {
                let share = score * weight;
                let (missed, most, with) = found.entry(*to).or_insert((1.0, 0.0, from));
                *missed *= 1.0 - share;
                if share > *most {
                    (*most, *with) = (share, from);
                }
            }
        }
        let gains = found.into_iter();
        gains.map(|(at, (missed, _, with))| Gain { at, score: 1.0 - missed, coverage: 0.0, with: Some(with) }).collect()
    }
}

impl fmt::Debug for CoUseEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoUseEvidence").field("tools", &self.edges.len()).finish_non_exhaustive()
    }
}
