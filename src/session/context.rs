use std::{sync::Arc, time::Duration};

use super::{composer::Composer, instructions::Instructions, report::Report};
use crate::{
    Error, Result,
    catalog::Catalog,
    error::excerpt,
    id::{ResourceId, ToolId},
    render::{Layout, Provider, Request},
    resources::{Attached, Refusal},
    retrieval::Query,
    selection::Selection,
    tokens::CountCache,
};

/// One turn, decided: what the model is given and why.
#[derive(Clone, Debug)]
pub struct Context {
    pub(super) query: Query,
    pub(super) catalog: Catalog,
    pub(super) selection: Selection,
    pub(super) instructions: Instructions,
    pub(super) attached: Attached,
    pub(super) layout: Layout,
    pub(super) timings: Timings,
    pub(super) composer: Arc<Composer>,
    pub(super) notes: Vec<String>,
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

    /// What the servers of the offered tools say of themselves, and what of it did not fit.
    pub fn instructions(&self) -> &Instructions {
        &self.instructions
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
    ///
    /// What the host's rules keep from this provider is left out and noted, whatever the
    /// destination that the turn was made for.
    pub fn render(&self, provider: &dyn Provider) -> Request {
        let refused = self.refused(provider.name());
        if refused.is_empty() {
            return provider.render(&self.layout);
        }
        let mut layout = self.layout.clone();
        layout.attachments.retain(|attachment| refused.iter().all(|(id, _)| **id != attachment.resource));
        let notes = refused.into_iter().map(|(id, refusal)| format!("{id}: left out: {refusal}"));
        provider.render(&layout).with_notes(notes)
    }

    fn refused(&self, provider: &str) -> Vec<(&ResourceId, Refusal)> {
        let attached = self.attached.resources.iter();
        attached
            .filter_map(|resource| Some((&resource.id, resource.decision.permits_provider(provider).err()?)))
            .collect()
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
