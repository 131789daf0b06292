use std::{cmp::Ordering, sync::Arc};

use super::{
    governance::{Decision, Governance},
    options::ResourceOptions,
    relevance::Relevance,
    value::ResourceValue,
};
use crate::catalog::{Catalog, ResourceEntry};

/// A resource with what it is worth and what the host decided about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RankedResource {
    /// The resource.
    pub entry: Arc<ResourceEntry>,
    /// What it is worth.
    pub value: ResourceValue,
    /// What the host's rules say.
    pub decision: Decision,
}

/// The resources that the model may see, best first: required ones, then by value, then by id.
///
/// The same `now` and relevance give the same order. Resources whose audience leaves out the
/// assistant, or that the host's rules keep from where the request goes, are not in it. Without
/// `relevance` they are ranked by priority and age.
pub fn rank(
    catalog: &Catalog,
    governance: &Governance,
    relevance: Option<&Relevance>,
    options: &ResourceOptions,
) -> Vec<RankedResource> {
    let visible = catalog.resources().iter().filter_map(|entry| {
        let decision = governance.decide(&entry.id, entry.resource.mime_type.as_deref());
        let visible = decision.for_model(&entry.resource.annotations) && decision.permits(&options.destination).is_ok();
        visible.then(|| RankedResource::new(catalog, entry, decision, relevance, options))
    });
    let mut ranked: Vec<_> = visible.collect();
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

impl RankedResource {
    pub(super) fn new(
        catalog: &Catalog,
        entry: &Arc<ResourceEntry>,
        decision: Decision,
        relevance: Option<&Relevance>,
        options: &ResourceOptions,
    ) -> Self {
        let relevance = relevance.map(|relevance| relevance.value(&entry.id));
        let value = ResourceValue::new(entry, catalog.trust(&entry.id.server), relevance, options.now);
        Self { entry: Arc::clone(entry), value, decision }
    }
}
