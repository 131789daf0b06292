use std::sync::Arc;

use super::delivery::Delivery;
use crate::{
    cost::PriceSheet,
    render::{Deferral, Provider},
    selection::SelectionOptions,
    tokens::TokenBudget,
};

/// How a conversation is carried on. Every default is stated with its reason.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionOptions {
    /// How tools reach the model. Default: [`Delivery::PerTurn`].
    pub delivery: Delivery,
    /// Whom the conversation is held with: it says where tools can join. Default: not known; tools
    /// that join later are then text, which every provider takes.
    pub provider: Option<Arc<dyn Provider>>,
    /// What the model costs, and how its prompts are cached: for predictions, and for
    /// [`Delivery::Auto`]. Default: none; nothing is predicted, and `Auto` takes the first sheet of the
    /// provider.
    pub prices: Option<PriceSheet>,
    /// How many turns the conversation is expected to have, for [`Delivery::Auto`]. Default: 4: tasks
    /// of benchmarks have three, and people ask on.
    pub turns: usize,
    /// The most tools of the first turn where the model can search for more. Default: 10, which
    /// offers nine in ten of the tools that the first 20 would.
    pub first: usize,
    /// The most tools that a later turn brings there. Default: 5: what joins is paid for in every
    /// turn after it, and the model can search for the rest.
    pub later: usize,
    /// What the outline of all servers may cost there. Default: 600 tokens, about ten for each of
    /// sixty servers.
    pub outline: TokenBudget,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            delivery: Delivery::PerTurn,
            provider: None,
            prices: None,
            turns: 4,
            first: 10,
            later: 5,
            outline: TokenBudget::new(600),
        }
    }
}

impl SessionOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how tools reach the model.
    #[must_use]
    pub fn with_delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Says whom the conversation is held with.
    #[must_use]
    pub fn with_provider(self, provider: impl Provider + 'static) -> Self {
        self.with_shared_provider(Arc::new(provider))
    }

    /// Says whom the conversation is held with, by a provider that others hold too.
    #[must_use]
    pub fn with_shared_provider(mut self, provider: Arc<dyn Provider>) -> Self {
        self.provider = Some(provider);
        self
    }

    /// Says what the model costs, and how its prompts are cached.
    #[must_use]
    pub fn with_prices(mut self, sheet: PriceSheet) -> Self {
        self.prices = Some(sheet);
        self
    }

    /// Says how many turns the conversation is expected to have.
    #[must_use]
    pub fn with_turns(mut self, turns: usize) -> Self {
        self.turns = turns;
        self
    }

    /// Sets the most tools of the first turn where the model can search for more.
    #[must_use]
    pub fn with_first(mut self, tools: usize) -> Self {
        self.first = tools;
        self
    }

    /// Sets the most tools that a later turn brings there.
    #[must_use]
    pub fn with_later(mut self, tools: usize) -> Self {
        self.later = tools;
        self
    }

    /// Sets what the outline of all servers may cost there.
    #[must_use]
    pub fn with_outline(mut self, budget: TokenBudget) -> Self {
        self.outline = budget;
        self
    }

    /// How the tools of a turn are selected.
    pub(super) fn selection(&self, mut options: SelectionOptions, delivery: Delivery, first: bool) -> SelectionOptions {
        if delivery.can_search() {
            options.top = options.top.min(if first { self.first } else { self.later });
        }
        options
    }

    /// Where tools can join later.
    pub(super) fn deferral(&self) -> Deferral {
        self.provider.as_ref().map_or(Deferral::None, |provider| provider.deferral())
    }
}
