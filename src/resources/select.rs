use std::{collections::BTreeSet, fmt};

use jiff::Timestamp;

use super::{
    estimate::estimated_tokens,
    rank::{RankedResource, ResourceValue, rank},
};
use crate::{catalog::Catalog, id::ResourceId, tokens::TokenBudget};

/// How resources are selected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResourceOptions {
    /// What the texts may cost together. Default: 0, since attaching is the host's decision.
    pub budget: TokenBudget,
    /// What recency is measured against.
    pub now: Timestamp,
    /// The most resources besides pinned and required ones. Default: 8, since neither priority nor
    /// age says that a resource has to do with the request. Of required ones, four times as many at
    /// most: a server that calls everything required must not make a host read everything.
    pub top: usize,
    /// Resources picked by a person or the host: first, in this order, each once, whatever their priority.
    /// One for the `user` only is refused all the same.
    pub pins: Vec<ResourceId>,
}

impl ResourceOptions {
    /// Nothing is attached until a budget is given.
    pub fn new(now: Timestamp) -> Self {
        Self { budget: TokenBudget::ZERO, now, top: 8, pins: Vec::new() }
    }

    /// Sets the budget.
    #[must_use]
    pub fn with_budget(mut self, budget: TokenBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the most resources besides pinned and required ones.
    #[must_use]
    pub fn with_top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }

    /// Adds a resource that a person or the host picked.
    #[must_use]
    pub fn with_pin(mut self, resource: ResourceId) -> Self {
        self.pins.push(resource);
        self
    }
}

/// The resources that are to be read, and those that are not, before anything is read.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceSelection {
    /// Pinned ones in the order given, then required ones, then by value.
    pub resources: Vec<SelectedResource>,
    /// The rest, by server and URI; nothing if there is no budget and nothing was picked.
    pub excluded: Vec<ExcludedResource>,
    /// What the selected ones are estimated to cost; never above the budget.
    pub estimated_tokens: usize,
}

/// A resource that is to be read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SelectedResource {
    /// The resource.
    pub id: ResourceId,
    /// What a person should read: title, else name.
    pub label: String,
    /// What its text is estimated to cost: a quarter of its size in bytes, or 500 tokens where the
    /// server gives none.
    pub estimated_tokens: usize,
    /// What it is worth.
    pub value: ResourceValue,
    /// A person or the host picked it.
    pub pinned: bool,
}

impl SelectedResource {
    /// Why it is attached, in words.
    pub fn reason(&self) -> String {
        if self.pinned {
            "picked".to_owned()
        } else if self.value.required {
            "required (priority 1)".to_owned()
        } else {
            format!("priority {:.2}, recency {:.2}", self.value.priority, self.value.recency)
        }
    }
}

/// A resource that is not attached.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExcludedResource {
    /// The resource.
    pub id: ResourceId,
    /// Why not.
    pub reason: ResourceExclusion,
}

/// Why a resource is not attached.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ResourceExclusion {
    /// Its audience leaves out the assistant.
    Audience,
    /// It does not fit into what is left of the budget.
    Budget {
        /// What it costs or is estimated to cost.
        tokens: usize,
        /// What was left.
        left: usize,
    },
    /// The most resources are chosen.
    Top,
    /// It is required, and does not fit: the host should know.
    RequiredDoesNotFit {
        /// What it costs or is estimated to cost.
        tokens: usize,
        /// What was left.
        left: usize,
    },
    /// It was picked, and no server lists it.
    Unknown,
    /// It has no text: its content is binary or empty.
    NoText,
    /// It could not be read.
    Failed(String),
}

impl fmt::Display for ResourceExclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Audience => f.write_str("audience: not for the assistant"),
            Self::Budget { tokens, left } => write!(f, "budget: {tokens} tokens, {left} left"),
            Self::Top => f.write_str("top: the most resources are chosen"),
            Self::RequiredDoesNotFit { tokens, left } => {
                write!(f, "required, but does not fit: {tokens} tokens, {left} left")
            }
            Self::Unknown => f.write_str("picked, but no server lists it"),
            Self::NoText => f.write_str("no text"),
            Self::Failed(why) => write!(f, "not read: {why}"),
        }
    }
}

impl ResourceExclusion {
    pub(super) fn does_not_fit(required: bool, tokens: usize, left: usize) -> Self {
        if required { Self::RequiredDoesNotFit { tokens, left } } else { Self::Budget { tokens, left } }
    }
}

/// Selects what is to be read, on estimates.
pub fn select(catalog: &Catalog, options: &ResourceOptions) -> ResourceSelection {
    let mut selection = ResourceSelection::default();
    // What every turn asks for unless its host attaches.
    if options.budget == TokenBudget::ZERO && options.pins.is_empty() {
        return selection;
    }
    for entry in catalog.resources().iter().filter(|entry| !entry.resource.annotations.for_model()) {
        selection.exclude(entry.id.clone(), ResourceExclusion::Audience);
    }
    let ranked = rank(catalog, options.now);
    let mut picked = BTreeSet::new();
    for id in options.pins.iter().filter(|id| picked.insert(*id)) {
        match ranked.iter().find(|resource| resource.entry.id == *id) {
            Some(resource) => _ = selection.take(resource, true, options.budget),
            None if catalog.resource(id).is_none() => selection.exclude(id.clone(), ResourceExclusion::Unknown),
            None => {}
        }
    }
    let (mut required, mut others) = (0, 0);
    for resource in ranked.iter().filter(|resource| !picked.contains(&resource.entry.id)) {
        let (taken, most) = if resource.value.required {
            (&mut required, options.top.saturating_mul(4))
        } else {
            (&mut others, options.top)
        };
        if *taken >= most {
            selection.exclude(resource.entry.id.clone(), ResourceExclusion::Top);
        } else if selection.take(resource, false, options.budget) {
            *taken += 1;
        }
    }
    selection.excluded.sort_by(|a, b| a.id.cmp(&b.id));
    selection
}

impl ResourceSelection {
    /// Whether it fits, and is taken.
    fn take(&mut self, resource: &RankedResource, pinned: bool, budget: TokenBudget) -> bool {
        let entry = &resource.entry;
        let estimated_tokens = estimated_tokens(&entry.resource);
        let left = budget.tokens() - self.estimated_tokens;
        if estimated_tokens > left {
            let reason = ResourceExclusion::does_not_fit(resource.value.required, estimated_tokens, left);
            self.exclude(entry.id.clone(), reason);
            return false;
        }
        self.estimated_tokens += estimated_tokens;
        self.resources.push(SelectedResource {
            id: entry.id.clone(),
            label: entry.resource.label().to_owned(),
            estimated_tokens,
            value: resource.value,
            pinned,
        });
        true
    }

    fn exclude(&mut self, id: ResourceId, reason: ResourceExclusion) {
        self.excluded.push(ExcludedResource { id, reason });
    }
}
