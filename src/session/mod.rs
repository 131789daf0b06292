//! A conversation: each turn's query in, each turn's [`Context`] out.
//!
//! A [`Session`] is made by a host, or from a [`Composer`] by hand. [`Session::turn`] starts a
//! turn; [`Turn::build`] retrieves, selects, attaches and lays out; the [`Context`] then renders
//! for any provider, tells what was decided and why, and routes the names that the model uses.
//! Each turn ranks anew. The session remembers which names it offered, so that a call from an
//! earlier turn still finds its tool, and what was asked and used last, so that "yes, do it" is
//! given the tools that it means. [`Turn::prompt`] takes up a prompt that the user invoked, and
//! [`Session::drift`] says what became of it since.

mod composer;
mod context;
mod hooks;
mod instructions;
mod memory;
mod prompt;
mod report;
mod resource_report;
mod searcher;
mod turn;

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;

use self::memory::Memory;
pub use self::{
    composer::Composer,
    context::{Context, Timings},
    hooks::Hooks,
    instructions::{Instructions, ServerInstructions},
    prompt::RenderedPrompt,
    report::{
        CatalogReport, ExcludedReport, FailureReport, PrefixReport, Report, SectionReport, SelectionReport,
        TokenReport, ToolReport,
    },
    resource_report::{ExcludedResourceReport, InstructionsReport, ResourceReport, ResourcesReport},
    turn::Turn,
};
use crate::{
    Error, Result,
    id::ToolId,
    prompts::{Drift, Invoked, drift},
    retrieval::Query,
};

/// One conversation with a model.
#[derive(Debug)]
pub struct Session {
    composer: Arc<Composer>,
    now: Timestamp,
    offered: BTreeMap<String, ToolId>,
    memory: Memory,
    /// The prompts that it took up, oldest first.
    invoked: Vec<Invoked>,
}

impl Session {
    /// How many invoked prompts are remembered: more than a conversation has. The oldest are
    /// forgotten first.
    pub const MAX_INVOKED: usize = 64;

    /// A new conversation. `now` is what recency is measured against in all of its turns, so that
    /// the passing of time moves nothing in its prefix.
    pub fn new(composer: Arc<Composer>, now: Timestamp) -> Self {
        Self { composer, now, offered: BTreeMap::new(), memory: Memory::default(), invoked: Vec::new() }
    }

    /// Starts a turn: `query` is what tools are searched with, and its text the newest user message.
    ///
    /// A [follow-up](Query::is_follow_up) that brings no turns or recent tools of its own is given
    /// those of this conversation: what was asked in the last 16 turns, and the tools
    /// [used](Self::used) since the last one, or else the five likeliest that it offered.
    pub fn turn(&mut self, query: impl Into<Query>) -> Turn<'_> {
        Turn::new(self, query.into())
    }

    /// Says that a tool was called, so that a follow-up finds it again.
    pub fn used(&mut self, tool: &ToolId) {
        self.memory.used(tool);
    }

    /// The prompts that the user [invoked](Turn::prompt) in this conversation, oldest first.
    pub fn invoked(&self) -> &[Invoked] {
        &self.invoked
    }

    /// Which of them are listed otherwise now: changed or gone. What they said stays in the
    /// conversation as it was; every turn says so in its [notes](Context::notes).
    pub fn drift(&self) -> Vec<Drift> {
        drift(&self.composer.servers.catalog(), &self.invoked)
    }

    /// The tool that the model means, by the names that this conversation offered.
    ///
    /// # Errors
    /// [`Error::UnknownTool`] for a name that was never offered in it.
    pub fn route(&self, exposed: &str) -> Result<&ToolId> {
        self.offered.get(exposed).ok_or_else(|| Error::UnknownTool { exposed: crate::error::excerpt(exposed) })
    }

    fn remember(&mut self, invoked: Vec<Invoked>) {
        self.invoked.extend(invoked);
        let over = self.invoked.len().saturating_sub(Self::MAX_INVOKED);
        self.invoked.drain(..over);
    }
}
