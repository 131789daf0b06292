//! A conversation: each turn's query in, each turn's [`Context`] out.
//!
//! A [`Session`] is made by a host, or from a [`Composer`] by hand. [`Session::turn`] starts a
//! turn; [`Turn::build`] retrieves, selects, attaches and lays out; the [`Context`] then renders
//! for any provider, tells what was decided and why, and routes the names that the model uses.
//! Each turn ranks anew. The session remembers which names it offered, so that a call from an
//! earlier turn still finds its tool.

mod composer;
mod context;
mod report;
mod turn;

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;

pub use self::{
    composer::Composer,
    context::{Context, Timings},
    report::{
        CatalogReport, ExcludedReport, FailureReport, PrefixReport, Report, ResourceReport, SectionReport,
        SelectionReport, TokenReport, ToolReport,
    },
    turn::Turn,
};
use crate::{Error, Result, id::ToolId, retrieval::Query};

/// One conversation with a model.
#[derive(Debug)]
pub struct Session {
    composer: Arc<Composer>,
    now: Timestamp,
    offered: BTreeMap<String, ToolId>,
}

impl Session {
    /// A new conversation. `now` is what recency is measured against in all of its turns, so that
    /// the passing of time moves nothing in its prefix.
    pub fn new(composer: Arc<Composer>, now: Timestamp) -> Self {
        Self { composer, now, offered: BTreeMap::new() }
    }

    /// Starts a turn: `query` is what tools are searched with, and the newest user message.
    pub fn turn(&mut self, query: impl Into<Query>) -> Turn<'_> {
        Turn::new(self, query.into())
    }

    /// The tool that the model means, by the names that this conversation offered.
    ///
    /// # Errors
    /// [`Error::UnknownTool`] for a name that was never offered in it.
    pub fn route(&self, exposed: &str) -> Result<&ToolId> {
        self.offered.get(exposed).ok_or_else(|| Error::UnknownTool { exposed: crate::error::excerpt(exposed) })
    }
}
