//! MCP 2026-07-28 items under their names in the specification: lenient and lossless.
//!
//! Each type is read from JSON one item at a time. What the protocol requires must be there, or
//! the item is refused alone; everything else is optional: a field with the wrong type or an
//! unknown value is not used, is kept as it was sent, and is noted. Fields that this crate does not
//! know survive in `extra`, so that a definition's digest sees a change in them too.
//!
//! ```
//! use proem::protocol::Tool;
//! use serde_json::json;
//!
//! let sent = json!({
//!     "name": "merge", "inputSchema": {"type": "object"},
//!     "annotations": {"readOnlyHint": "yes"}, "vendor": 7,
//! });
//! let read = Tool::read(sent.clone())?;
//! assert_eq!(read.item.name, "merge");
//! assert_eq!(read.item.annotations.read_only_hint, None);
//! assert_eq!(read.notes, ["annotations.readOnlyHint is not a boolean"]);
//! assert_eq!(read.item.to_value(), sent);
//! # Ok::<(), String>(())
//! ```

mod annotations;
mod completion;
mod content;
mod fields;
mod input;
mod prompt;
mod resource;
mod schema;
mod server;
mod tool;

pub(crate) use self::server::ttl;
pub use self::{
    annotations::{Annotations, Role},
    completion::{Completion, CompletionRequest, CompletionTarget},
    content::{ContentBlock, ReadResourceResult, ResourceContents},
    fields::Read,
    input::InputResponses,
    prompt::{GetPromptResult, Prompt, PromptArgument, PromptMessage},
    resource::{Resource, ResourceTemplate},
    schema::Schema,
    server::{CacheScope, ServerInfo},
    tool::{CallToolResult, Tool, ToolAnnotations},
};
