//! What all servers offer, as one immutable snapshot.
//!
//! A [`Catalog`] holds tools, resources, templates and prompts of all servers, ordered by server
//! id and name, with a digest for each item and for the whole; the order in which servers
//! connected or answered leaves no trace in it. A server that fails leaves a
//! [`failure`](Catalog::failures), keeps its last good list if it had one, and hides nothing else.

mod aggregator;
mod cache_policy;
mod diff;
mod entry;
mod heard;
mod lists;
mod names;
mod parts;
mod server;
mod snapshot;
mod trust;

pub(crate) use self::diff::changed_fields;
pub use self::{
    aggregator::{Aggregator, AggregatorOptions, Changes, Progress},
    cache_policy::CachePolicy,
    diff::{CatalogDiff, ItemId},
    entry::{PromptEntry, ResourceEntry, ServerEntry, TemplateEntry, ToolEntry},
    lists::{Authorization, ListCache},
    names::{ExposedName, Naming},
    snapshot::{Catalog, CatalogBuilder},
    trust::TrustTier,
};
