use std::{
    collections::BTreeSet,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use super::{
    evidence::{Evidence, Gain, Request},
    places::places,
};
use crate::{catalog::Catalog, id::ServerId, index::Analyzer, json::Digest};

/// Whose tools stand together: a tool gains where its server as a whole fits the request.
///
/// A server's text is its id and the names of its tools, scored by BM25 among servers. A term
/// counts once however many tools hold it while every name makes the text longer, so a server can
/// only lose by repeating itself. Descriptions and instructions are left out: they already are the
/// tools' own text, and there is no end to what a server can write there.
///
/// The best server's tools gain in full, less the share that it has of all tools: that a tool is
/// one of a server with nearly all tools says nothing.
pub(super) struct ServerEvidence {
    weight: f32,
    analyzer: Analyzer,
    /// By position of the server in the catalog.
    servers: Vec<Arc<ServerTerms>>,
    /// By position of the tool: the position of its server, and how many terms its name has.
    tools: Vec<(u32, u32)>,
    /// Hashes of the terms of names, and the positions of the tools that hold them; sorted.
    names: Vec<(u64, u32)>,
    /// Hashes of the terms of ids, and the positions of their servers; sorted.
    ids: Vec<(u64, u32)>,
    sizes: Sizes,
}

/// The terms of one server, kept for as long as it says the same.
struct ServerTerms {
    id: ServerId,
    digest: Digest,
    of_id: Vec<u64>,
    of_tools: Vec<Vec<u64>>,
}

/// How much there is of each server.
struct Sizes {
    /// By position of the server: its tools, and the terms of its text.
    servers: Vec<(u32, u64)>,
    tools: u32,
    /// The servers that have a tool.
    filled: u32,
    length: u64,
}

/// The customary constants of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;

impl ServerEvidence {
    /// Reads those servers of a catalog that are not as they were in `previous`.
    pub(super) fn new(catalog: &Catalog, analyzer: Analyzer, weight: f32, previous: Option<&Self>) -> Self {
        let known = previous.filter(|previous| previous.analyzer == analyzer).map_or(&[][..], |known| &known.servers);
        let mut new = Self {
            weight,
            analyzer,
            servers: Vec::with_capacity(catalog.servers().len()),
            tools: Vec::with_capacity(catalog.tools().len()),
            names: Vec::new(),
            ids: Vec::new(),
            sizes: Sizes { servers: Vec::new(), tools: 0, filled: 0, length: 0 },
        };
        for (number, server) in (0..).zip(catalog.servers()) {
            let same = known.binary_search_by(|terms| terms.id.cmp(&server.id)).ok();
            let same = same.and_then(|at| known.get(at)).filter(|terms| terms.digest == server.digest);
            let terms = same.map(Arc::clone).unwrap_or_else(|| {
                let rest = catalog.tools().get(new.tools.len()..).unwrap_or_default();
                let of_server = rest.iter().take_while(|entry| entry.id.server == server.id);
                Arc::new(ServerTerms {
                    id: server.id.clone(),
                    digest: server.digest,
                    of_id: hashes(analyzer, server.id.as_str()),
                    of_tools: of_server.map(|entry| hashes(analyzer, &entry.id.name)).collect(),
                })
            });
            new.ids.extend(terms.of_id.iter().map(|hash| (*hash, number)));
            for of_tool in &terms.of_tools {
                let position = new.tools.len() as u32;
                new.names.extend(of_tool.iter().map(|hash| (*hash, position)));
                new.tools.push((number, of_tool.len() as u32));
            }
            new.servers.push(terms);
        }
        new.ids.sort_unstable();
        new.names.sort_unstable();
        new.sizes = new.sizes(|_| true);
        new
    }

    /// Of the tools that may be seen alone.
    fn sizes(&self, passes: impl Fn(u32) -> bool) -> Sizes {
        let mut servers: Vec<(u32, u64)> = self.servers.iter().map(|terms| (0, terms.of_id.len() as u64)).collect();
        for (at, (server, terms)) in (0..).zip(&self.tools) {
            if let Some((tools, length)) = servers.get_mut(*server as usize).filter(|_| passes(at)) {
                *tools += 1;
                *length += u64::from(*terms);
            }
        }
        let filled = || servers.iter().filter(|(tools, _)| *tools > 0);
        Sizes {
            tools: filled().map(|(tools, _)| tools).sum(),
            filled: filled().count() as u32,
            length: filled().map(|(_, length)| length).sum(),
            servers,
        }
    }

    /// By position of the server: how well its text fits, in the measure of BM25.
    fn scores(&self, request: &Request<'_>, sizes: &Sizes) -> Vec<f64> {
        let mut scores = vec![0.0; sizes.servers.len()];
        let average = sizes.length as f64 / f64::from(sizes.filled.max(1));
        let mut holders = Vec::new();
        let terms: BTreeSet<String> = self.analyzer.terms(request.text).into_iter().collect();
        for term in terms {
            let hash = hash(&term);
            let tools = places(&self.names, hash).filter(|at| request.passes(*at));
            holders.clear();
            holders.extend(tools.filter_map(|at| Some(self.tools.get(at as usize)?.0)));
            holders.extend(places(&self.ids, hash));
            holders.sort_unstable();
            holders.dedup();
            holders.retain(|server| sizes.servers.get(*server as usize).is_some_and(|(tools, _)| *tools > 0));
            let (all, held) = (f64::from(sizes.filled), holders.len() as f64);
            let rarity = (1.0 + (all - held + 0.5) / (held + 0.5)).ln();
            for server in holders.iter().map(|server| *server as usize) {
                if let (Some(score), Some((_, length))) = (scores.get_mut(server), sizes.servers.get(server)) {
                    *score += rarity / (1.0 + K1 * (1.0 - B + B * *length as f64 / average));
                }
            }
        }
        scores
    }
}

impl Evidence for Arc<ServerEvidence> {
    fn name(&self) -> &'static str {
        "server"
    }

    fn weight(&self) -> f32 {
        self.weight
    }

    /// Of tools that words or vectors found: that their server fits says nothing of the others.
    fn weigh(&self, request: &Request<'_>, scores: &[(u32, f32)]) -> Vec<Gain> {
        let seen = request.allowed.is_some().then(|| self.sizes(|at| request.passes(at)));
        let sizes = seen.as_ref().unwrap_or(&self.sizes);
        let fits = self.scores(request, sizes);
        let most = fits.iter().copied().fold(0.0, f64::max);
        if most <= 0.0 {
            return Vec::new();
        }
        let gain = |at: u32| {
            let server = self.tools.get(at as usize)?.0 as usize;
            let others = 1.0 - f64::from(sizes.servers.get(server)?.0) / f64::from(sizes.tools);
            Some((fits.get(server)? / most * others) as f32)
        };
        let gains = scores.iter().map(|(at, _)| Gain { at: *at, score: gain(*at).unwrap_or(0.0), ..Gain::default() });
        gains.collect()
    }
}

impl fmt::Debug for ServerEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerEvidence").field("weight", &self.weight).finish_non_exhaustive()
    }
}

/// The different terms of a name.
fn hashes(analyzer: Analyzer, name: &str) -> Vec<u64> {
    let mut hashes: Vec<u64> = analyzer.terms(name).iter().map(|term| hash(term)).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

fn hash(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}
