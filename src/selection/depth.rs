use std::sync::Arc;

use super::options::SelectionOptions;
use crate::{
    catalog::{Catalog, ToolEntry, TrustTier},
    id::ServerId,
    retrieval::{Hit, Tier},
};

/// How far down the ranking tools are offered.
///
/// A score is measured by the best one. Where that is a tool of a server which the host does not
/// trust, tools of other servers are measured by the best of theirs: one server that copies the
/// request into its tools would else set a measure that nobody reaches. (Of ten places it cost 67
/// points of recall, now it costs 4.)
pub(super) struct Depth<'a> {
    options: &'a SelectionOptions,
    /// Whose the best score is.
    leader: Option<&'a ServerId>,
    best: f32,
    /// What the scores of others are measured by.
    second: f32,
}

impl<'a> Depth<'a> {
    /// Of scores that are all negative none is a share of another: then nothing is too deep.
    pub(super) fn new(
        catalog: &Catalog,
        candidates: &[(&Hit, &'a Arc<ToolEntry>)],
        options: &'a SelectionOptions,
    ) -> Self {
        let best = |counts: &dyn Fn(&ServerId) -> bool| {
            let scores = candidates.iter().map(|(hit, entry)| (&entry.id.server, hit.score));
            let scores = scores.filter(|(server, score)| *score > 0.0 && counts(server));
            // Of equals the first.
            scores.reduce(|best, other| if other.1 > best.1 { other } else { best })
        };
        // Untrusted servers are a measure where there are no others.
        let standard = |server: &ServerId| catalog.trust(server) < TrustTier::Untrusted;
        let Some((leader, most)) = best(&standard).or_else(|| best(&|_| true)) else {
            return Self { options, leader: None, best: 0.0, second: 0.0 };
        };
        let second = match catalog.trust(leader) {
            TrustTier::Trusted => most,
            _ => best(&|server| server != leader && standard(server)).map_or(most, |(_, score)| score),
        };
        Self { options, leader: Some(leader), best: most, second }
    }

    /// Whether the candidate at `rank`, from 0, falls too far behind.
    pub(super) fn is_behind(&self, rank: usize, hit: &Hit, entry: &ToolEntry) -> bool {
        let measure = if self.leader == Some(&entry.id.server) { self.best } else { self.second };
        rank >= self.options.min && hit.tier == Tier::Scored && hit.score < self.options.ratio * measure
    }
}
