//! Which resources are attached, and their text: by audience, priority and recency, under a budget.
//!
//! Resources are application-controlled: the host decides, with the server's annotations as hints.
//! A resource for the `user` only never reaches the model; `priority` 1.0 means required; an
//! absent priority is not 0. [`rank`] orders them, [`select`] spends the budget on estimates, and
//! [`attach`] reads what was selected, last and all at once, and settles the budget with what the
//! texts really cost.

mod attach;
mod estimate;
mod governance;
mod rank;
mod recency;
mod select;

pub use self::{
    attach::{Attached, AttachedText, ReadLimits, attach},
    estimate::{IMAGE_TOKENS, estimated_tokens},
    governance::{DataClass, Decision, Destination, Governance, Refusal, ResourceRule},
    rank::{RankedResource, ResourceValue, rank},
    recency::parse_timestamp,
    select::{ExcludedResource, ResourceExclusion, ResourceOptions, ResourceSelection, SelectedResource, select},
};
