//! A conversation: each turn's query in, each turn's [`Context`] out.
//!
//! A [`Session`] is made by a host, or from a [`Composer`] by hand. [`Session::turn`] starts a
//! turn; [`Turn::build`] retrieves, selects, attaches and lays out; the [`Context`] then renders
//! for any provider, tells what was decided and why, and routes the names that the model uses.
//!
//! How tools reach the model turn after turn is the session's [`Delivery`]. By default each turn has
//! the tools that it needs and no others; under the other policies the session holds what the prefix
//! holds, word for word, and what later turns need joins at the tail, so that the provider's prompt
//! cache keeps hitting. [`Session::dispatch`] then answers the model's searches and checks its calls;
//! [`Session::sent`] says what the cache should make of a request, and [`Session::observe_usage`] why it
//! did not. [`Session::to_json`] and [`Session::restore`] carry it over a restart.
//!
//! The session remembers which names it offered, so that a call from an earlier turn still finds its
//! tool, and what was asked and used last, so that "yes, do it" is given the tools that it means.
//! [`Turn::prompt`] takes up a prompt that the user invoked, and [`Session::drift`] says what became of
//! it since.

mod auto;
mod composer;
mod context;
mod deliver;
mod delivered;
mod delivery;
mod dispatch;
mod event;
mod hooks;
mod instructions;
mod memory;
mod options;
mod prompt;
mod record;
mod report;
mod resource_report;
mod saved;
mod searcher;
mod sent;
mod turn;

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;

pub use self::{
    composer::Composer,
    context::{Context, Timings},
    delivered::Delivered,
    delivery::Delivery,
    dispatch::Dispatched,
    event::SessionEvent,
    hooks::Hooks,
    instructions::{Instructions, ServerInstructions},
    options::SessionOptions,
    prompt::RenderedPrompt,
    report::{
        CatalogReport, DeliveryReport, ExcludedReport, FailureReport, PrefixReport, Report, SectionReport,
        SelectionReport, TokenReport, ToolReport,
    },
    resource_report::{ExcludedResourceReport, InstructionsReport, ResourceReport, ResourcesReport},
    sent::{Observed, Sent},
    turn::Turn,
};
use self::{memory::Memory, record::Record, sent::Wire};
use crate::{
    Error, Result,
    catalog::Catalog,
    id::ToolId,
    prompts::{Drift, Invoked, drift},
    render::{Memo, Message},
    retrieval::{Filter, Query},
    selection::SelectionOptions,
};

/// One conversation with a model.
#[derive(Debug)]
pub struct Session {
    composer: Arc<Composer>,
    options: SessionOptions,
    now: Timestamp,
    /// Every tool that it ever offered, by exposed name.
    offered: BTreeMap<String, ToolId>,
    /// Those that the model has since the last turn.
    told: BTreeMap<String, ToolId>,
    memory: Memory,
    /// The prompts that it took up, oldest first.
    invoked: Vec<Invoked>,
    record: Record,
    /// What happened since the last turn.
    event: Option<SessionEvent>,
    /// What the last turn's tools were selected with; none before its first turn.
    filter: Option<(Filter, SelectionOptions)>,
    /// What the last turn did to the prefix.
    decision: Option<String>,
    wire: Wire,
    /// What was made of the array of tools, which the next request has again.
    memo: Arc<Memo>,
}

impl Session {
    /// How many invoked prompts are remembered: more than a conversation has. The oldest are
    /// forgotten first.
    pub const MAX_INVOKED: usize = 64;

    /// A new conversation. `now` is what recency is measured against in all of its turns, so that
    /// the passing of time moves nothing in its prefix.
    pub fn new(composer: Arc<Composer>, now: Timestamp) -> Self {
        Self::with_options(composer, now, SessionOptions::default())
    }

    /// A new conversation that is carried on as `options` say.
    pub fn with_options(composer: Arc<Composer>, now: Timestamp, options: SessionOptions) -> Self {
        Self {
            composer,
            options,
            now,
            offered: BTreeMap::new(),
            told: BTreeMap::new(),
            memory: Memory::default(),
            invoked: Vec::new(),
            record: Record::default(),
            event: None,
            filter: None,
            decision: None,
            wire: Wire::default(),
            memo: Arc::default(),
        }
    }

    /// Starts a turn: `query` is what tools are searched with, and its text the newest user message.
    ///
    /// A [follow-up](Query::is_follow_up) that brings no turns or recent tools of its own is given
    /// those of this conversation: what was asked in the last 16 turns, and the tools
    /// [used](Self::used) since the last one, or else the five likeliest that it offered.
    pub fn turn(&mut self, query: impl Into<Query>) -> Turn<'_> {
        Turn::new(self, query.into())
    }

    /// Says that a tool was called, so that a follow-up finds it again, and so that it goes on when the
    /// prefix is made anew.
    pub fn used(&mut self, tool: &ToolId) {
        self.memory.used(tool);
        self.record.used(tool);
    }

    /// Says that the provider's cache holds nothing of the conversation any more. The next turn makes
    /// the prefix anew.
    pub fn event(&mut self, event: SessionEvent) {
        self.event = Some(event);
    }

    /// Goes on with another model or another provider: `options` hold from the next turn on, which makes
    /// the prefix anew. The host's messages render for every provider.
    pub fn switch(&mut self, options: SessionOptions) {
        let name = |options: &SessionOptions| options.provider.as_ref().map(|provider| provider.name());
        let same = name(&self.options) == name(&options);
        self.event(if same { SessionEvent::ModelSwitched } else { SessionEvent::ProviderSwitched });
        self.options = options;
    }

    /// How tools reach the model: what [`Delivery::Auto`] chose. `None` before the first turn.
    pub fn delivery(&self) -> Option<Delivery> {
        self.record.delivery
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

    /// Takes up the host's messages before a turn is decided: gives how tools are delivered, and those
    /// that go on from what came before.
    fn open(
        &mut self,
        messages: &[Message],
        catalog: &Catalog,
        filter: &Filter,
        selection: &SelectionOptions,
        notes: &mut Vec<String>,
    ) -> (Delivery, Vec<ToolId>) {
        let event = self.event.take();
        let mut carried = Vec::new();
        self.decision = None;
        if let Some(event) = event {
            self.decision = Some(format!("the prefix was made anew: {event}"));
            carried = self.record.restart();
            if matches!(event, SessionEvent::ModelSwitched | SessionEvent::ProviderSwitched) {
                self.wire.forget();
            }
        }
        let rewritten = self.record.follow(messages);
        let delivery = match self.record.delivery {
            Some(delivery) => delivery,
            None => auto::resolve(&self.options, selection, catalog, filter),
        };
        if delivery == Delivery::PerTurn {
            carried.clear();
        } else if let Some(place) = rewritten {
            let rewritten = format!("the conversation is another one from message {place} on");
            notes.push(format!("{rewritten}: what joined it after that is gone"));
            self.decision.get_or_insert(rewritten);
        }
        (delivery, carried)
    }

    fn remember(&mut self, invoked: Vec<Invoked>) {
        self.invoked.extend(invoked);
        let over = self.invoked.len().saturating_sub(Self::MAX_INVOKED);
        self.invoked.drain(..over);
    }
}
