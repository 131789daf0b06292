//! What a provider's prompt cache sees of a request, and what changed between two of them.
//!
//! A [`Prefix`] is read from the body of a request, whoever wrote it: the tools, the blocks of
//! system text and the blocks of messages, in the order in which a cache reads them, and the
//! settings that it depends on. Two prefixes share what they have in common from the front; everything
//! after the first difference is paid for anew. A [`PrefixDiff`] says how much that is, and why.
//!
//! ```
//! use proem::prefix::{Prefix, PrefixDiff};
//!
//! let body = |tools: [&str; 2], time: &str| format!(
//!     r#"{{"model": "claude-opus-5", "tools": [{}], "system": "It is {time}.", "messages": [{{"role": "user", "content": "Hi"}}]}}"#,
//!     tools.map(|name| format!(r#"{{"name": "{name}", "input_schema": {{"type": "object"}}}}"#)).join(", "),
//! );
//! let old = Prefix::read(&body(["log", "merge"], "10:41"))?;
//! let clock = Prefix::read(&body(["log", "merge"], "10:42"))?;
//! let order = Prefix::read(&body(["merge", "log"], "10:41"))?;
//! assert!(PrefixDiff::between(&old, &old).extends);
//!
//! assert_eq!(PrefixDiff::between(&old, &clock).to_string(), "\
//! the cache misses from system on: it says something else; 18 of 114 bytes are written anew
//!  kept    2 of 4 segments, 96 bytes, 0 of them up to a cache mark of the old request
//!  parts   at byte 107 of the prefix; system of the old request, at byte 167; system of the new request, at byte 167
//!          - \"It is 10:41.\"
//!          + \"It is 10:42.\"");
//!
//! let diff = PrefixDiff::between(&old, &order);
//! let first = diff.first.expect("tools in another order");
//! assert_eq!((first.to_string().as_str(), diff.kept.segments), ("tools[0] (merge)", 0));
//! assert_eq!(first.cause, "tools in another order, it was tools[1]");
//! # Ok::<(), proem::Error>(())
//! ```
//!
//! # What is compared
//! Bytes as they are sent, since that is what a provider hashes: the order of tools, of keys in a
//! schema, a space in a sentence. Left out is what no model is given: white space between tokens, cache
//! marks, tools to be searched for later. A body that continues a conversation which the provider
//! keeps (`previous_response_id`) holds only what is new of it, and only that is compared.

mod dialect;
mod diff;
mod difference;
mod explain;
mod fields;
mod forms;
mod node;
mod order;
mod reader;
mod segment;
mod settings;

pub use self::{
    dialect::Dialect,
    diff::{Extent, PrefixDiff},
    difference::{Difference, DifferenceKind, Place},
    fields::FieldChange,
    segment::{Mark, Prefix, Segment, Setting},
};
