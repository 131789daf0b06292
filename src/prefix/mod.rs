//! What a provider's prompt cache sees of a request, and what changed between two of them.
//!
//! A [`Prefix`] is read from the body of a request, whoever wrote it: the tools, the blocks of
//! system text and the blocks of messages, in the order in which a cache reads them. Two prefixes
//! share what they have in common from the front; everything after the first difference is paid
//! for anew.

mod dialect;
mod forms;
mod node;
mod reader;
mod segment;
mod settings;

pub use self::{
    dialect::Dialect,
    segment::{Mark, Prefix, Segment, Setting},
};
