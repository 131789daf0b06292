//! Which resources are attached, and their text: by audience, priority and recency, under a budget.
//!
//! Resources are application-controlled: the host decides, with the server's annotations as hints.
//! A resource for the `user` only never reaches the model; `priority` 1.0 means required; an
//! absent priority is not 0. [`rank`] orders them, [`select`] spends the budget on estimates, and
//! [`attach`] reads what was selected, last and all at once, and settles the budget with what the
//! texts really cost.

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
