use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{governance::Destination, limits::ReadLimits};
use crate::{id::ResourceId, protocol::InputResponses, tokens::TokenBudget};

/// How resources are selected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResourceOptions {
    /// What the resources may cost together, as they are rendered. Default: 0, since attaching is the host's decision.
    pub budget: TokenBudget,
    /// The most bytes together, of texts and of pictures as base64. Default: 8 MiB, which every
    /// provider takes beside the rest of a request (20 MB is the smallest bound of theirs).
    pub max_bytes: u64,
    /// What recency is measured against.
    pub now: Timestamp,
    /// The most resources besides pinned and required ones. Default: 8. Of required ones, four
    /// times as many at most: a server that calls everything required must not make a host read
    /// everything.
    pub top: usize,
    /// How much a resource must have to do with the request, 0 to 1, unless it is pinned or
    /// required. Default: 0.15; what is not about the request misleads a model and costs tokens.
    ///
    /// This and the next two were chosen on 28 requests over the 34 resources of the demo servers,
    /// each of which one resource answers, and 12 that need none: together they keep 26 of the 28,
    /// with 1.1 others a request, and nothing for the 12.
    pub min_relevance: f64,
    /// The share of the best one's relevance that it must have. Default: 0.4.
    pub min_share: f64,
    /// How likely it must be that any resource has to do with the request; below, none is attached
    /// for its relevance. Default: 0.1. Counts where the retriever tells.
    pub min_confidence: f64,
    /// Whether older versions of a document are attached beside the newest. Default: no; two
    /// policies that contradict each other are worse than the one in force. A request that names
    /// the year gets the old one all the same.
    pub older_versions: bool,
    /// Whether texts that are too long are trimmed to what fits. Default: yes, to half of the
    /// budget each unless they are pinned or required.
    pub trim: bool,
    /// Resources picked by a person or the host: first, in this order, each once, whatever their
    /// relevance and priority. One for the `user` only is refused all the same, and so is what a
    /// rule of the host forbids.
    pub pins: Vec<ResourceId>,
    /// Where the request goes: what the host's rules may forbid.
    pub destination: Destination,
    /// What reading may cost.
    pub reading: ReadLimits,
    /// What is answered to servers that ask for input before they give a resource.
    pub inputs: BTreeMap<ResourceId, InputResponses>,
}

impl ResourceOptions {
    /// Nothing is attached until a budget is given.
    pub fn new(now: Timestamp) -> Self {
        Self {
            budget: TokenBudget::ZERO,
            max_bytes: 8 << 20,
            now,
            top: 8,
            min_relevance: 0.15,
            min_share: 0.4,
            min_confidence: 0.1,
            older_versions: false,
            trim: true,
            pins: Vec::new(),
            destination: Destination::default(),
            reading: ReadLimits::default(),
            inputs: BTreeMap::new(),
        }
    }

    /// Sets the budget.
    #[must_use]
    pub fn with_budget(mut self, budget: TokenBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the most bytes together.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the most resources besides pinned and required ones.
    #[must_use]
    pub fn with_top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }

    /// Sets how much a resource must have to do with the request.
    #[must_use]
    pub fn with_min_relevance(mut self, relevance: f64) -> Self {
        self.min_relevance = relevance;
        self
    }

    /// Sets the share of the best one's relevance that a resource must have.
    #[must_use]
    pub fn with_min_share(mut self, share: f64) -> Self {
        self.min_share = share;
        self
    }

    /// Sets how likely it must be that any resource has to do with the request.
    #[must_use]
    pub fn with_min_confidence(mut self, confidence: f64) -> Self {
        self.min_confidence = confidence;
        self
    }

    /// Sets whether older versions are attached beside the newest.
    #[must_use]
    pub fn with_older_versions(mut self, older: bool) -> Self {
        self.older_versions = older;
        self
    }

    /// Sets whether texts that are too long are trimmed.
    #[must_use]
    pub fn with_trim(mut self, trim: bool) -> Self {
        self.trim = trim;
        self
    }

    /// Adds a resource that a person or the host picked.
    #[must_use]
    pub fn with_pin(mut self, resource: ResourceId) -> Self {
        self.pins.push(resource);
        self
    }

    /// Sets where the request goes.
    #[must_use]
    pub fn with_destination(mut self, destination: Destination) -> Self {
        self.destination = destination;
        self
    }

    /// Sets what reading may cost.
    #[must_use]
    pub fn with_reading(mut self, limits: ReadLimits) -> Self {
        self.reading = limits;
        self
    }

    /// Answers a server that asked for input before it gives a resource.
    #[must_use]
    pub fn with_input(mut self, resource: ResourceId, input: InputResponses) -> Self {
        self.inputs.insert(resource, input);
        self
    }
}
