use std::sync::Arc;

use crate::{
    resources::{Destination, Governance},
    tokens::TokenBudget,
};

/// What a prompt may hold, and what of it may reach the model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PromptOptions {
    /// What embedded resources and resource links may cost together. Default: 8,000 tokens, a long
    /// document. The prompt's own words always stay: they are what the user invoked.
    pub budget: TokenBudget,
    /// The most messages. Default: 256; prompts that are written by hand have a few.
    pub messages: usize,
    /// The most bytes of text and base64 together. Default: 16 MiB, about half of what providers take
    /// as one request.
    pub bytes: usize,
    /// The host's rules about resources, embedded and linked ones too. Default: none.
    pub governance: Arc<Governance>,
    /// Where the messages go, for rules about providers and tenants. Default: not known, and what
    /// has such a rule goes nowhere.
    pub destination: Destination,
}

impl Default for PromptOptions {
    fn default() -> Self {
        Self {
            budget: TokenBudget::new(8_000),
            messages: 256,
            bytes: 16 << 20,
            governance: Arc::default(),
            destination: Destination::default(),
        }
    }
}

impl PromptOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what embedded resources and resource links may cost together.
    #[must_use]
    pub fn with_budget(mut self, budget: TokenBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the most messages.
    #[must_use]
    pub fn with_messages(mut self, messages: usize) -> Self {
        self.messages = messages;
        self
    }

    /// Sets the most bytes of text and base64 together.
    #[must_use]
    pub fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets the host's rules about resources.
    #[must_use]
    pub fn with_governance(mut self, governance: impl Into<Arc<Governance>>) -> Self {
        self.governance = governance.into();
        self
    }

    /// Sets where the messages go.
    #[must_use]
    pub fn with_destination(mut self, destination: Destination) -> Self {
        self.destination = destination;
        self
    }
}
