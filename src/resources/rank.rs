use std::{cmp::Ordering, sync::Arc};

use jiff::Timestamp;

use super::recency::{parse_timestamp, recency};
use crate::catalog::{Catalog, ResourceEntry};

/// A resource with what it is worth.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RankedResource {
    /// The resource.
    pub entry: Arc<ResourceEntry>,
    /// What it is worth.
    pub value: ResourceValue,
}

/// What a resource is worth, part by part.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceValue {
    /// Its server says that it is effectively required (priority 1.0).
    pub required: bool,
    /// The priority that counts: the server's, or 0.5 where it gives none, since saying nothing
    /// is neither "required" nor "optional".
    pub priority: f64,
    /// 0 to 1, halving every 30 days; 0.5 where there is no readable `lastModified`.
    pub recency: f64,
}

impl ResourceValue {
    /// Priority and recency, three to one: how much it matters is the server's own statement,
    /// how fresh it is decides between equals.
    pub fn total(&self) -> f64 {
        0.75 * self.priority + 0.25 * self.recency
    }
}

/// The resources that the model may see, best first: required ones, then by value, then by id.
///
/// `now` is what recency is measured against: the same `now` gives the same order. Resources whose
/// audience leaves out the assistant are not in it.
pub fn rank(catalog: &Catalog, now: Timestamp) -> Vec<RankedResource> {
    let visible = catalog.resources().iter().filter(|entry| entry.resource.annotations.for_model());
    let mut ranked: Vec<_> = visible
        .map(|entry| {
            let annotations = &entry.resource.annotations;
            // A host may have made it by hand: what is no priority is none.
            let priority = annotations.priority.filter(|priority| (0.0..=1.0).contains(priority));
            let modified = annotations.last_modified.as_deref().and_then(parse_timestamp);
            let value = ResourceValue {
                required: priority == Some(1.0),
                priority: priority.unwrap_or(0.5),
                recency: modified.map_or(0.5, |modified| recency(modified, now)),
            };
            RankedResource { entry: Arc::clone(entry), value }
        })
        .collect();
    ranked.sort_by(best_first);
    ranked
}

pub(super) fn best_first(a: &RankedResource, b: &RankedResource) -> Ordering {
    b.value
        .required
        .cmp(&a.value.required)
        .then(b.value.total().total_cmp(&a.value.total()))
        .then_with(|| a.entry.id.cmp(&b.entry.id))
}
