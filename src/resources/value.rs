use jiff::Timestamp;

use super::recency::{parse_timestamp, recency};
use crate::catalog::{Catalog, ResourceEntry, TrustTier};

/// What a resource is worth for a turn, part by part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceValue {
    /// Its server says that it is effectively required (priority 1.0), and the host does not distrust it.
    pub required: bool,
    /// How much it has to do with the request, 0 to 1; `None` where nothing was asked.
    pub relevance: Option<f64>,
    /// The priority that counts: the server's, or 0.5 where it gives none, since saying nothing
    /// is neither "required" nor "optional".
    pub priority: f64,
    /// 0 to 1, halving every 30 days; 0.5 where there is no readable `lastModified`.
    pub recency: f64,
}

impl ResourceValue {
    /// The parts as one number, 0 to 1: relevance 0.6, priority 0.3, recency 0.1.
    ///
    /// What the request is about comes first, since priority and age know nothing of it. How much a
    /// resource matters is the server's own statement; how fresh it is decides between equals.
    /// Without a request, priority and recency alone, three to one.
    pub fn total(&self) -> f64 {
        match self.relevance {
            Some(relevance) => 0.6 * relevance + 0.3 * self.priority + 0.1 * self.recency,
            None => 0.75 * self.priority + 0.25 * self.recency,
        }
    }

    pub(super) fn new(catalog: &Catalog, entry: &ResourceEntry, relevance: Option<f64>, now: Timestamp) -> Self {
        // A host may have made it by hand: what is no priority is none.
        let priority = entry.resource.annotations.priority.filter(|priority| (0.0..=1.0).contains(priority));
        Self {
            required: is_required(catalog, entry),
            relevance,
            priority: priority.unwrap_or(0.5),
            recency: modified(entry).map_or(0.5, |modified| recency(modified, now)),
        }
    }
}

/// Whether a server requires a resource, and may.
pub(super) fn is_required(catalog: &Catalog, entry: &ResourceEntry) -> bool {
    let required = entry.resource.annotations.priority == Some(1.0);
    required && catalog.trust(&entry.id.server) != TrustTier::Untrusted
}

/// When a resource was last modified, if its server says so readably.
pub(super) fn modified(entry: &ResourceEntry) -> Option<Timestamp> {
    entry.resource.annotations.last_modified.as_deref().and_then(parse_timestamp)
}
