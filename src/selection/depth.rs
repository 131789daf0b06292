use std::sync::Arc;

use super::options::SelectionOptions;
use crate::{
    catalog::{Catalog, ToolEntry, TrustTier},
    id::ServerId,
    retrieval::{Hit, Tier},
};

/// How far down the ranking tools are offered.
pub(super) struct Depth<'a> {
    catalog: &'a Catalog,
    options: &'a SelectionOptions,
    /// The best score, and whose it is. Of scores that are all negative none is a share of
    /// another: then nothing is too deep.
    best: Option<(&'a ServerId, f32)>,
    /// How many tools of other servers were met.
    others: usize,
}

impl<'a> Depth<'a> {
    pub(super) fn new(
        catalog: &'a Catalog,
        candidates: &[(&Hit, &'a Arc<ToolEntry>)],
        options: &'a SelectionOptions,
    ) -> Self {
        let best = |trusted: &dyn Fn(&ServerId) -> bool| {
            let scores = candidates.iter().map(|(hit, entry)| (&entry.id.server, hit.score));
            let scores = scores.filter(|(server, score)| *score > 0.0 && trusted(server));
            // Of equals the first.
            scores.reduce(|best, other| if other.1 > best.1 { other } else { best })
        };
        let best = best(&|server| catalog.trust(server) < TrustTier::Untrusted).or_else(|| best(&|_| true));
        Self { catalog, options, best, others: 0 }
    }

    /// The place that counts for a candidate, from 0, and whether it falls too far behind. Asked
    /// once for each, by rank.
    pub(super) fn place(&mut self, rank: usize, hit: &Hit, entry: &ToolEntry) -> (usize, bool) {
        let Some((server, best)) = self.best else { return (rank, false) };
        let leads = *server == entry.id.server;
        // A trusted server's best tool is what it says it is.
        let place = if leads || self.catalog.trust(server) == TrustTier::Trusted { rank } else { self.others };
        if !leads && self.catalog.trust(&entry.id.server) < TrustTier::Untrusted {
            self.others += 1;
        }
        let behind = hit.tier == Tier::Scored && hit.score < self.options.ratio * best;
        (place, behind && place >= self.options.min)
    }
}
