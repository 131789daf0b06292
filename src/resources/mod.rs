//! Which resources a turn is given, and their content: by what the request is about, the server's
//! hints and the host's rules, under budgets in tokens and bytes.
//!
//! Resources are application-controlled: the host decides, with the server's annotations as hints.
//! A resource for the `user` only never reaches the model; `priority` 1.0 means required; an absent
//! priority is not 0.
//!
//! [`searchable`] makes resources searchable by any retriever, and [`Relevance`] reads its ranking.
//! [`rank`] orders them, [`select`] spends the budgets on estimates, and [`attach`] reads what was
//! selected, last and all at once: [`classify`] says what each content is, [`trim`] makes a text fit, and
//! the budgets are settled with what everything really costs. [`Governance`] holds the host's rules.
//!
//! What was read is what its bytes say, not what its server calls it: a text of some [`TextKind`], a
//! picture, or something that a model is not shown.
//!
//! ```
//! use proem::{
//!     TokenBudget,
//!     catalog::Catalog,
//!     id::ServerId,
//!     protocol::{Annotations, Resource, Role},
//!     resources::{Governance, ResourceOptions, select},
//! };
//!
//! let wiki = ServerId::new("wiki")?;
//! let hints = |priority| Annotations::new().with_priority(priority);
//! let notice = Resource::new("wiki://first-day", "first day").with_annotations(hints(1.0).with_audience([Role::User]));
//! let freeze = Resource::new("wiki://freeze", "release freeze").with_annotations(hints(1.0)).with_size(400);
//! let handbook = Resource::new("wiki://handbook", "handbook").with_annotations(hints(0.5)).with_size(40_000);
//! let catalog = [notice, freeze, handbook].into_iter().fold(Catalog::builder(), |builder, resource| {
//!     builder.resource(wiki.clone(), resource)
//! });
//!
//! let options = ResourceOptions::new("2026-10-01T00:00:00Z".parse()?).with_budget(TokenBudget::new(1_000));
//! let selection = select(&catalog.build(), &Governance::default(), None, "", &options);
//! let planned: Vec<_> = selection.resources.iter().map(|r| (&*r.id.uri, r.estimated_tokens)).collect();
//! // Required first; what is too long is to be trimmed to half of the budget.
//! assert_eq!(planned, [("wiki://freeze", 140), ("wiki://handbook", 500)]);
//! assert_eq!(selection.excluded[0].reason.to_string(), "audience: not for the assistant");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attach;
mod content;
mod estimate;
mod exclusion;
mod given;
mod governance;
mod knapsack;
mod known;
mod limits;
mod mime;
mod options;
mod plan;
mod rank;
mod recency;
mod relevance;
mod select;
mod sniff;
mod text_kind;
mod trim;
mod value;
mod versions;

pub use self::{
    attach::{Attached, AttachedResource, Attaching, attach},
    content::{Content, ImageContent, MAX_IMAGE_BYTES, MAX_IMAGE_SIDE, TextContent, classify},
    estimate::{IMAGE_TOKENS, estimated_tokens},
    exclusion::{ExcludedResource, ResourceExclusion},
    governance::{DataClass, Decision, Destination, Governance, Refusal, ResourceRule},
    known::KnownTexts,
    limits::ReadLimits,
    options::ResourceOptions,
    rank::{RankedResource, rank},
    recency::parse_timestamp,
    relevance::{Relevance, searchable},
    select::{ResourceSelection, SelectedResource, select},
    text_kind::TextKind,
    trim::{Cut, Trimmed, trim},
    value::ResourceValue,
};
pub(crate) use self::{mime::image_type, trim::fitted};
