use crate::{catalog::TrustTier, retrieval::ToolPattern, tokens::TokenBudget};

/// How tools are selected. Every default is stated with its reason.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SelectionOptions {
    /// What the definitions may cost together. Default: 4,000 tokens, about ten tools of the
    /// median real size (1,237 bytes), which is where selection by models was seen to be best.
    pub budget: TokenBudget,
    /// The most tools besides pinned ones. Default: 20.
    pub top: usize,
    /// So many of the best are offered however far their scores fall behind, and by name alone
    /// rather than not at all. Default: 5, since in a small catalog scores say little: words that
    /// all tools share weigh next to nothing.
    pub min: usize,
    /// A tool is offered while its score is at least this share of the best one's. Default: 0.4,
    /// which was measured to keep 92 % of the needed tools at 12 on average, better than a fixed
    /// number of the same size. 0 switches it off. Untrusted servers set no such measure where there
    /// are others.
    pub ratio: f32,
    /// The most tools of one server while tools of others wait; free places are filled up by rank
    /// afterwards. Default: half of [`top`](Self::top): one server that copies the query into ten
    /// tools then costs 7 points of recall on Seal-Tools, with ten places, instead of all of them.
    pub per_server: Option<usize>,
    /// The same for a server that the host does not trust
    /// ([`TrustTier::Untrusted`](crate::catalog::TrustTier::Untrusted)). Default: a fifth of
    /// [`top`](Self::top), and never more than the others have.
    pub per_untrusted_server: Option<usize>,
    /// The most tools of one server that say nearly the same
    /// ([`NEAR_DUPLICATE`](crate::index::NEAR_DUPLICATE)) while tools of others wait; free places are
    /// filled up by rank afterwards. Default: 2, so that a server gains nothing by offering one tool
    /// many times.
    pub per_text: usize,
    /// The most tools that the provider takes. Default: 128 (OpenAI; the others take more).
    pub provider_cap: usize,
    /// Tools that are always offered, first and in the order of their ids.
    pub pins: Vec<ToolPattern>,
    /// If it is less likely than this that any tool fits
    /// ([`Ranking::confidence`](crate::retrieval::Ranking::confidence)), only pinned tools are
    /// offered and the selection says so. Default: 0.2, with which half of the requests that need
    /// no tool get none, and of those that need one at most 5 % go without. 0 switches it off.
    pub min_confidence: f32,
}

impl Default for SelectionOptions {
    fn default() -> Self {
        Self {
            budget: TokenBudget::new(4_000),
            top: 20,
            min: 5,
            ratio: 0.4,
            per_server: None,
            per_untrusted_server: None,
            per_text: 2,
            provider_cap: 128,
            pins: Vec::new(),
            min_confidence: 0.2,
        }
    }
}

impl SelectionOptions {
    /// Sets the budget.
    #[must_use]
    pub fn with_budget(mut self, budget: TokenBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the most tools besides pinned ones.
    #[must_use]
    pub fn with_top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }

    /// Sets how many of the best are offered however far their scores fall behind.
    #[must_use]
    pub fn with_min(mut self, min: usize) -> Self {
        self.min = min;
        self
    }

    /// Sets the share of the best score that a tool must reach; not a number counts as 0.
    #[must_use]
    pub fn with_ratio(mut self, ratio: f32) -> Self {
        self.ratio = if ratio.is_nan() { 0.0 } else { ratio };
        self
    }

    /// Sets the most tools of one server while tools of others wait.
    #[must_use]
    pub fn with_per_server(mut self, tools: usize) -> Self {
        self.per_server = Some(tools);
        self
    }

    /// Sets the most tools of a server that is not trusted while tools of others wait.
    #[must_use]
    pub fn with_per_untrusted_server(mut self, tools: usize) -> Self {
        self.per_untrusted_server = Some(tools);
        self
    }

    /// Sets the most tools of one server that say nearly the same while tools of others wait; at
    /// least 1.
    #[must_use]
    pub fn with_per_text(mut self, tools: usize) -> Self {
        self.per_text = tools.max(1);
        self
    }

    /// Sets the most tools that the provider takes.
    #[must_use]
    pub fn with_provider_cap(mut self, tools: usize) -> Self {
        self.provider_cap = tools;
        self
    }

    /// Adds tools that are always offered.
    #[must_use]
    pub fn with_pin(mut self, pattern: ToolPattern) -> Self {
        self.pins.push(pattern);
        self
    }

    /// Sets how likely it must be that any tool fits.
    #[must_use]
    pub fn with_min_confidence(mut self, confidence: f32) -> Self {
        self.min_confidence = confidence;
        self
    }

    pub(super) fn quota(&self, trust: TrustTier) -> usize {
        let quota = self.per_server.unwrap_or(self.top.div_ceil(2));
        let quota = match trust {
            TrustTier::Untrusted => self.per_untrusted_server.unwrap_or(self.top.div_ceil(5)).min(quota),
            _ => quota,
        };
        quota.max(1)
    }
}
