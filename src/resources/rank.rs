use std::sync::Arc;

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
        let relevance = relevance.map(|relevance| relevance.value(&entry.id));
        let value = ResourceValue::new(catalog, entry, relevance, options.now);
        visible.then(|| RankedResource { entry: Arc::clone(entry), value, decision })
    });
    let mut ranked: Vec<_> = visible.collect();
    ranked.sort_by(|a, b| {
        let by_value = || b.value.total().total_cmp(&a.value.total());
        b.value.required.cmp(&a.value.required).then_with(by_value).then_with(|| a.entry.id.cmp(&b.entry.id))
    });
    ranked
}
