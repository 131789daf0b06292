//! What all servers offer, as one immutable snapshot.
//!
//! A [`Catalog`] holds tools, resources, templates and prompts of all servers, ordered by server
//! id and name, with a digest for each item and for the whole; the order in which servers
//! connected or answered leaves no trace in it. A server that fails leaves a
//! [`failure`](Catalog::failures), keeps its last good list if it had one, and hides nothing else.
//!
//! An [`Aggregator`] keeps a catalog up to date, and is the one door through which resources are
//! [read](Aggregator::read), within bounds and as often as their servers and the host demand.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use proem::{
//!     catalog::{Aggregator, AggregatorOptions, CachePolicy, ReadRequest},
//!     client::{Client, MemoryClient},
//!     id::{ResourceId, ServerId},
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let files = ServerId::new("files")?;
//! let client: Arc<dyn Client> = Arc::new(MemoryClient::new().with_resource("file:///notes.md", "Release on Friday."));
//! let servers = Aggregator::new([(files.clone(), client)], AggregatorOptions::default());
//! assert_eq!(servers.refresh().await.resources().len(), 1);
//!
//! let notes = ResourceId::new(files, "file:///notes.md");
//! let request = ReadRequest::new().with_cache(CachePolicy::For(Duration::from_secs(60)));
//! let read = servers.read(&notes, &request).await?;
//! assert_eq!(read.contents[0].text.as_deref(), Some("Release on Friday."));
//! # Ok::<(), proem::Error>(())
//! # }).unwrap();
//! ```

mod aggregator;
mod asked;
mod cache_policy;
mod complete;
mod diff;
mod entry;
mod heard;
mod lists;
mod names;
mod parts;
mod read;
mod reads;
mod server;
mod snapshot;
mod trust;
mod watch;

pub(crate) use self::diff::changed_fields;
pub use self::{
    aggregator::{Aggregator, AggregatorOptions, Changes, Progress},
    cache_policy::CachePolicy,
    diff::{CatalogDiff, ItemId},
    entry::{PromptEntry, ResourceEntry, ServerEntry, TemplateEntry, ToolEntry},
    lists::{Authorization, ListCache},
    names::{ExposedName, Naming},
    read::ReadRequest,
    reads::ReadCache,
    snapshot::{Catalog, CatalogBuilder},
    trust::TrustTier,
};
