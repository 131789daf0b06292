use std::{sync::Arc, time::Duration};

use super::{composer::Composer, report::Report};
use crate::{
    Error, Result,
    catalog::Catalog,
    error::excerpt,
    id::ToolId,
    render::{Layout, Provider, Request},
    resources::Attached,
    retrieval::Query,
    selection::Selection,
    tokens::CountCache,
};

/// One turn, decided: what the model is given and why.
#[derive(Clone, Debug)]
pub struct Context {
    query: Query,
    catalog: Catalog,
    selection: Selection,
    attached: Attached,
    layout: Layout,
    timings: Timings,
    composer: Arc<Composer>,
    notes: Vec<String>,
}

/// How long each part of a turn took. Part of no digest and no request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Timings {
    /// Bringing the index up to date; nothing if the catalog did not change.
    pub index: Duration,
    /// Searching it, hooks included.
    pub search: Duration,
    /// Selecting tools, counting included.
    pub select: Duration,
    /// Selecting and reading resources.
    pub attach: Duration,
    /// Laying out.
    pub layout: Duration,
}

impl Timings {
    /// All parts together.
    pub fn total(&self) -> Duration {
        self.index + self.search + self.select + self.attach + self.layout
    }
}

impl Context {
    pub(super) fn new(
        query: Query,
        catalog: Catalog,
        selection: Selection,
        attached: Attached,
        layout: Layout,
        timings: Timings,
        composer: Arc<Composer>,
    ) -> Self {
        Self { query, catalog, selection, attached, layout, timings, composer, notes: Vec::new() }
    }

    pub(super) fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    /// What did not work as it should, and what was done instead: hooks that failed, conditions of a
    /// narrowing that would have left too little.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What was asked for, with the turns that a follow-up leaned on and the sub-queries that a
    /// rewriter made.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// The snapshot that the turn was made from.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The tools that are offered, and those that are not.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The resources that are attached, and those that are not.
    pub fn attached(&self) -> &Attached {
        &self.attached
    }

    /// What is rendered; a host may take it and add to it.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How long each part took.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// The request for a provider. The same context gives the same bytes.
    pub fn render(&self, provider: &dyn Provider) -> Request {
        provider.render(&self.layout)
    }

    /// The tool that the model means, by the names offered in this turn.
    ///
    /// # Errors
    /// [`Error::UnknownTool`] for any other name: nothing is guessed.
    pub fn route(&self, exposed: &str) -> Result<&ToolId> {
        let offered = self.selection.tools.iter().find(|tool| tool.exposed.as_str() == exposed);
        offered.map(|tool| &tool.id).ok_or_else(|| Error::UnknownTool { exposed: excerpt(exposed) })
    }

    /// What was decided, why, and what it costs with this provider. Counts the whole catalog once.
    pub fn report(&self, provider: &dyn Provider) -> Report {
        Report::new(self, provider)
    }

    pub(super) fn counts(&self) -> &CountCache {
        self.composer.counts()
    }
}
