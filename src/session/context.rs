use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::{composer::Composer, delivered::Delivered, instructions::Instructions, report::Report};
use crate::{
    Error, Result,
    catalog::Catalog,
    error::excerpt,
    id::{ResourceId, ToolId},
    render::{Attachment, Block, Layout, Memo, Message, Provider, Request},
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
    pub(super) delivered: Delivered,
    pub(super) instructions: Instructions,
    pub(super) attached: Attached,
    pub(super) layout: Layout,
    pub(super) timings: Timings,
    pub(super) composer: Arc<Composer>,
    pub(super) memo: Arc<Memo>,
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

    /// The tools that this turn needs, and those that do not fit. What of them the model has is
    /// in [`Self::delivered`].
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The tools that the model has, those of earlier turns included.
    pub fn delivered(&self) -> &Delivered {
        &self.delivered
    }

    /// What the servers of the tools that joined in this turn say of themselves, and what of it did
    /// not fit.
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

    /// Adds a message at the end: what the model answered, what its calls gave. The turn goes on, and
    /// the next request is rendered with it.
    pub fn add(&mut self, message: Message) {
        self.layout.messages.push(message);
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
            return provider.render_with(&self.layout, &self.memo);
        }
        let mut layout = self.layout.clone();
        layout.attachments.retain(|attachment| !refused.contains_key(&attachment.resource));
        for message in &mut layout.messages {
            message.content.retain(
                |block| !matches!(block, Block::Attachment(attachment) if refused.contains_key(&attachment.resource)),
            );
        }
        let notes = refused.into_iter().map(|(id, refusal)| format!("{id}: left out: {refusal}"));
        provider.render_with(&layout, &self.memo).with_notes(notes)
    }

    /// The attached resources that the host's rules keep from a provider: those of earlier turns too.
    fn refused(&self, provider: &str) -> BTreeMap<ResourceId, Refusal> {
        let rules = self.composer.governance();
        if rules.is_empty() {
            return BTreeMap::new();
        }
        let joined = self.layout.messages.iter().flat_map(|message| &message.content).filter_map(|block| match block {
            Block::Attachment(attachment) => Some(attachment),
            _ => None,
        });
        let of_turn = self.attached.resources.iter().map(|resource| (&resource.id, &resource.decision));
        let of_turn: BTreeMap<_, _> = of_turn.collect();
        let refusal = |attachment: &Attachment| {
            let id = &attachment.resource;
            let permitted = match of_turn.get(id) {
                Some(decision) => decision.permits_provider(provider),
                None => rules.decide(id, attachment.mime_type.as_deref()).permits_provider(provider),
            };
            Some((id.clone(), permitted.err()?))
        };
        self.layout.attachments.iter().chain(joined).filter_map(refusal).collect()
    }

    /// The tool that the model means, by the names that it can use in this turn.
    ///
    /// # Errors
    /// [`Error::UnknownTool`] for any other name: nothing is guessed.
    pub fn route(&self, exposed: &str) -> Result<&ToolId> {
        self.delivered.offered.get(exposed).ok_or_else(|| Error::UnknownTool { exposed: excerpt(exposed) })
    }

    /// What was decided, why, and what it costs with this provider. Counts the whole catalog once.
    pub fn report(&self, provider: &dyn Provider) -> Report {
        Report::new(self, provider)
    }

    pub(super) fn counts(&self) -> &CountCache {
        self.composer.counts()
    }
}
