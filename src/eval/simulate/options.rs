use std::{num::NonZeroUsize, sync::Arc};

use crate::{
    cost::PriceSheet,
    retrieval::Retriever,
    selection::SelectionOptions,
    session::{Delivery, SessionOptions},
    tokens::TokenCounter,
};

/// What is simulated, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SimulationOptions {
    /// The policies, in the order of the report. Default: [`Self::POLICIES`], all of them.
    pub policies: Vec<Delivery>,
    /// The price sheets: one report for each. Default: `anthropic/claude-sonnet-4-6`.
    pub sheets: Vec<PriceSheet>,
    /// How tools are selected. Default: as a turn does by itself.
    pub selection: SelectionOptions,
    /// How many tools the first turn and later ones bring, and what the outline may cost; policy,
    /// provider and prices are those of the simulation. Default: as a session does by itself.
    pub session: SessionOptions,
    /// The seconds between the beginnings of two turns where the trace does not say. Default: 30, a
    /// person who reads and asks on; no provider's cache forgets so soon.
    pub pause_seconds: u64,
    /// What finds tools. Default: what a host takes by itself.
    pub retriever: Option<Arc<dyn Retriever>>,
    /// What counts tokens. Default: what a host takes by itself.
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// How many conversations are replayed at once. Default: as many as the machine runs at once. The
    /// report does not depend on it.
    pub threads: Option<NonZeroUsize>,
}

impl SimulationOptions {
    /// All policies, from the one that sends most to the one that chooses.
    pub const POLICIES: [Delivery; 7] = [
        Delivery::All,
        Delivery::PerTurn,
        Delivery::Frozen,
        Delivery::Append,
        Delivery::Deferred,
        Delivery::Bridge,
        Delivery::Auto,
    ];

    /// The name of the price sheet of the defaults: the model that most agents ran with when the
    /// policies were measured first, at the prices of five minutes.
    pub const SHEET: &str = "anthropic/claude-sonnet-4-6";

    /// The defaults.
    pub fn new() -> Self {
        Self {
            policies: Self::POLICIES.to_vec(),
            sheets: PriceSheet::named(Self::SHEET).into_iter().cloned().collect(),
            selection: SelectionOptions::default(),
            session: SessionOptions::default(),
            pause_seconds: 30,
            retriever: None,
            counter: None,
            threads: None,
        }
    }

    /// Sets the policies.
    #[must_use]
    pub fn with_policies(mut self, policies: impl IntoIterator<Item = Delivery>) -> Self {
        self.policies = policies.into_iter().collect();
        self
    }

    /// Sets the price sheets.
    #[must_use]
    pub fn with_sheets(mut self, sheets: impl IntoIterator<Item = PriceSheet>) -> Self {
        self.sheets = sheets.into_iter().collect();
        self
    }

    /// Sets how tools are selected.
    #[must_use]
    pub fn with_selection(mut self, selection: SelectionOptions) -> Self {
        self.selection = selection;
        self
    }

    /// Sets how sessions are carried on.
    #[must_use]
    pub fn with_session(mut self, session: SessionOptions) -> Self {
        self.session = session;
        self
    }

    /// Sets the seconds between two turns where the trace does not say.
    #[must_use]
    pub fn with_pause_seconds(mut self, seconds: u64) -> Self {
        self.pause_seconds = seconds;
        self
    }

    /// Sets what finds tools.
    #[must_use]
    pub fn with_retriever(mut self, retriever: Arc<dyn Retriever>) -> Self {
        self.retriever = Some(retriever);
        self
    }

    /// Sets what counts tokens.
    #[must_use]
    pub fn with_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = Some(counter);
        self
    }

    /// Sets how many conversations are replayed at once.
    #[must_use]
    pub fn with_threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }
}

impl Default for SimulationOptions {
    fn default() -> Self {
        Self::new()
    }
}
