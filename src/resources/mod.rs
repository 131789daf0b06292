//! Which resources are attached, and their text: by audience, priority and recency, under a budget.
//!
//! Resources are application-controlled: the host decides, with the server's annotations as hints.
//! A resource for the `user` only never reaches the model; `priority` 1.0 means required; an
//! absent priority is not 0. [`rank`] orders them, [`select`] spends the budget on estimates, and
//! [`attach`] reads what was selected, last and all at once, and settles the budget with what the
//! texts really cost.
//!
//! What was read is what its bytes say, not what its server calls it ([`classify`]): a text of some
//! [`TextKind`], a picture, or something that a model is not shown. A text that is too long is made to
//! fit with [`trim`]: parts that matter, whole, and a notice that no server can forge.

mod attach;
mod content;
mod estimate;
mod mime;
mod rank;
mod recency;
mod select;
mod sniff;
mod text_kind;
mod trim;

pub(crate) use self::mime::image_type;
pub use self::{
    attach::{Attached, AttachedText, ReadLimits, attach},
    content::{Content, ImageContent, MAX_IMAGE_BYTES, MAX_IMAGE_SIDE, TextContent, classify},
    estimate::{IMAGE_TOKENS, estimated_tokens},
    rank::{RankedResource, ResourceValue, rank},
    recency::parse_timestamp,
    select::{ExcludedResource, ResourceExclusion, ResourceOptions, ResourceSelection, SelectedResource, select},
    text_kind::TextKind,
    trim::{Cut, Trimmed, trim},
};
