//! A [`Layout`] in, a provider's request out: the same layout gives the same bytes.
//!
//! Rendering is pure: it sees no index, no clock and no network. What changes least comes first
//! (tools, system text, attachments, then messages), keys inside every object are sorted, and
//! white space is gone, so that a provider's prompt cache finds its prefix again. A
//! [`Request`] says where each [`Section`] of that prefix lies and what its digest is, and its
//! [`RenderReport`] says what was changed or left out, tool by tool.
//!
//! ```
//! use proem::id::{ResourceId, ServerId, ToolId};
//! use proem::render::{Anthropic, Attachment, Layout, Message, Provider, ToolSpec};
//! use serde_json::json;
//!
//! let git = ServerId::new("git")?;
//! let layout = Layout::new()
//!     .with_model("some-model")
//!     .with_tool(
//!         ToolSpec::new(ToolId::new(git.clone(), "merge"), "merge")
//!             .with_description("Merge a branch")
//!             .with_input_schema(json!({"type": "object", "properties": {"branch": {"type": "string"}}})),
//!     )
//!     .with_system("Be brief.")
//!     .with_attachment(Attachment::new(ResourceId::new(git, "file:///notes.md"), "Release on Friday."))
//!     .with_message(Message::user("merge the release branch"));
//!
//! let request = Anthropic::new().render(&layout);
//! assert!(request.as_str().starts_with(r#"{"model":"some-model","max_tokens":4096,"tools":[{"#));
//! assert_eq!(request.to_value()["tools"][0]["name"], "merge");
//! assert_eq!(request.tool("merge").map(ToString::to_string).as_deref(), Some("git/merge"));
//! println!("{request:#}");
//!
//! // One message more changes nothing before the messages.
//! let next = Anthropic::new().render(&layout.with_message(Message::assistant("Done.")));
//! assert_eq!(request.prefix_digest(), next.prefix_digest());
//! # Ok::<(), proem::Error>(())
//! ```
//!
//! # Order
//! What comes from servers is sorted, whatever order it is given in: tools and attachments by
//! generation, then server, then name or URI; server instructions by server. The generation is
//! 0 unless the caller says otherwise; a tool or attachment that joins a running conversation
//! gets a higher one, stands after those before it, and leaves their bytes as they were. Host
//! text and messages keep the order they are given in.
//!
//! # Tools
//! Names are checked, never changed: the catalog gives names of the form
//! `[a-zA-Z_][a-zA-Z0-9_-]{0,62}`, which every provider takes. A name of another form, a second
//! tool of the same name, a tool beyond the provider's limit and a schema that cannot be repaired
//! put that one tool into [`RenderReport::quarantined`]; the others stand. Schemas are repaired on
//! a copy, and what the model is then no longer told is in [`RenderReport::repaired`]; arguments
//! are to be validated against the original. Descriptions are never cut here.
//!
//! # Tools that join later
//! Tools of [`Block::Tools`] join in the middle of a conversation, and the array at the front stays as it
//! is. [`Deferral`] says where a provider has a form of its own for them: references to definitions
//! that are kept out of the prompt, or definitions in the conversation. Everywhere else, and for all
//! providers where the array has a tool of [kind `Call`](ToolKind::Call), they are text between delimiters,
//! one line of JSON each, which is the same for all. Each is defined once, where the model first meets
//! it, and named where it is found again; names are checked, and schemas repaired, as in the array.
//! What stands in one place depends on nothing after it.
//!
//! # Server text
//! Attachments and server instructions stand between delimiters that name their server. The text
//! inside cannot open or close one: the rule stands below. It holds for the text of a prompt too,
//! which stands without delimiters because the user invoked it.
//!
//! # Calls
//! Providers refuse a whole request for one call without its result, an id that stands twice or a name
//! that a model made up. So each call has one result in the turn after it, in the order of the calls, and
//! ids and names of a form that all of them take; what was missing or is left out is reported. What a
//! turn becomes depends on nothing after it.
//!
//! # Pictures
//! A picture of an attachment or a message is a block of the provider's own kind, an attachment's
//! right after its text. PNG, JPEG, GIF and WebP in well-formed base64 are shown; for everything else
//! a line says what it was, and the report why.
//!
//! # Delimiters
//! `<attachment …>`, `<server_instructions …>`, `<tool_definitions>` and `<tool_outline>` with their closing
//! forms. In the text between them, a `<` (or a character that looks like it) becomes `&lt;` wherever the next
//! letters spell one of these words, or nearly: white space, slashes, punctuation and invisible characters
//! before and between the letters do not count, nor does case, and a character that is no ASCII
//! letter stands for any letter, as long as half of the word is spelled out. Nothing else in the
//! text is touched. The delimiters hold no counter and no random part, so they are the same in
//! every turn. Text that the host or the user writes is not changed.

mod anthropic;
mod bedrock;
mod blocks;
mod body;
mod breakpoints;
mod calls;
mod choice;
mod delimit;
mod gemini;
mod joining;
mod layout;
mod lists;
mod memo;
mod message;
mod openai_chat;
mod openai_responses;
mod report;
mod request;
mod schema;
mod strict;
mod tools;
mod turns;

use std::fmt;

pub(crate) use self::delimit::{instructions as rendered_instructions, neutral, tool_outline};
pub use self::{
    anthropic::{Anthropic, CacheTtl},
    bedrock::BedrockConverse,
    gemini::Gemini,
    layout::{AttachedImage, Attachment, Layout, ToolChoice, ToolKind, ToolSpec},
    memo::Memo,
    message::{Block, Message},
    openai_chat::OpenAiChat,
    openai_responses::OpenAiResponses,
    report::{QuarantinedTool, RenderReport, RepairedTool},
    request::{Request, Section, SectionKind},
    schema::original_arguments,
};

/// Renders for one provider's API. Each lives in a file of its own, all alike.
pub trait Provider: fmt::Debug + Send + Sync {
    /// A short name for reports and configuration, such as `anthropic`.
    fn name(&self) -> &'static str;

    /// The most tools that one request may carry, where the provider has such a rule. Tools beyond
    /// it are quarantined, last in order first; selection keeps below it.
    fn max_tools(&self) -> Option<usize>;

    /// Where tools can be delivered so that the array of tools stays as it is. Default: nowhere.
    fn deferral(&self) -> Deferral {
        Deferral::None
    }

    /// Renders the layout. Never fails: a tool that cannot be rendered is left out alone and reported.
    fn render(&self, layout: &Layout) -> Request;

    /// Renders the layout, with what `memo` knows of its array of tools: the same bytes, sooner. Default: as
    /// [`Self::render`], without asking it.
    fn render_with(&self, layout: &Layout, memo: &Memo) -> Request {
        let _ = memo;
        self.render(layout)
    }
}

/// Where a provider takes tools besides the array at the front of the request: what
/// [`Block::Tools`] becomes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Deferral {
    /// Nowhere. Definitions are given as text, and called through a tool of
    /// [kind `Call`](ToolKind::Call).
    #[default]
    None,
    /// In the result of a call of the [search tool](ToolKind::Search).
    Results,
    /// There, and wherever the host adds them.
    Anywhere,
}
