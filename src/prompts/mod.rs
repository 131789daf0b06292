//! Prompts: texts of servers that a person invokes, as slash commands over all of them.
//!
//! Prompts are user-controlled (MCP 2026-07-28, prompts). [`get`] takes an [`Invocation`], and only
//! what a person did makes one: a typed line ([`Commands::parse`]), a form that was filled in
//! ([`Form::submit`]), or a button of the host's own ([`Invocation::by_user`]). Nothing else in this
//! crate asks a server for a prompt, no session and no turn.
//!
//! ```
//! use proem::{catalog::Catalog, id::ServerId, prompts::Commands, protocol::Prompt};
//!
//! let prompt = Prompt::new("draft_reply", "Draft a reply").with_argument("ticket", true).with_argument("tone", false);
//! let catalog = Catalog::builder().prompt(ServerId::new("support")?, prompt).build();
//! let commands = Commands::new(&catalog);
//! assert_eq!(commands.all()[0].command, "/draft_reply");
//! assert_eq!(commands.search("rep", 5)[0].command, "/draft_reply");
//!
//! let invocation = commands.parse("/draft_reply T-4711 warm, but brief")?;
//! assert_eq!(invocation.id().to_string(), "support/draft_reply");
//! assert_eq!(invocation.arguments()["tone"], "warm, but brief");
//!
//! let mut form = commands.find("support:draft_reply")?.form();
//! let error = form.submit().unwrap_err();
//! assert_eq!(error.to_string(), "invalid arguments of prompt draft_reply: `ticket` is required");
//! form.fill("ticket", "T-4711")?;
//! assert_eq!(form.submit()?.arguments().len(), 1);
//! # Ok::<(), proem::Error>(())
//! ```
//!
//! What a server answers is checked here ([`PromptAnswer`]): bounded, and without what is not for
//! the model. [`session::RenderedPrompt`](crate::session::RenderedPrompt) makes messages of it, and
//! [`drift`] tells which prompts changed after a conversation took up what they said.

mod answer;
mod argument;
mod command;
mod drift;
mod form;
mod get;
mod invocation;
mod left_out;
mod line;
mod options;
mod parse;
mod piece;
mod search;
mod shown;

pub(crate) use self::search::near;
pub use self::{
    answer::PromptAnswer,
    argument::{MAX_VALUE_BYTES, check_arguments},
    command::{Command, Commands},
    drift::{Drift, DriftKind, Invoked, drift},
    form::{Field, Form},
    get::get,
    invocation::Invocation,
    left_out::{LeftOut, LeftOutReason},
    options::PromptOptions,
    shown::shown,
};
