use std::{fmt, sync::Arc};

use super::{Filter, Kind, Ranking, Taxonomy, ToolIndex};
use crate::{
    Result,
    catalog::{Catalog, ToolEntry},
};

/// Asks for tools of some kinds and topics only, unless that leaves too little.
///
/// It chooses, it does not forbid: where fewer than [`with_min`](Self::with_min) tools that the
/// [`Filter`] allows are left, or none of them is found, topics are dropped, and then kinds. What
/// was dropped, and why, stands in [`Ranking::gates`]. So a ranking is never empty where it would not
/// be without the narrowing. What must not be offered belongs in [`Filter::deny`].
///
/// Several kinds, or several topics, are joined by "or"; a kind and a topic must both hold. Which
/// server is [`Filter::allow`]'s to say.
#[derive(Clone, Debug)]
pub struct Narrowing {
    taxonomy: Arc<Taxonomy>,
    kinds: Vec<Kind>,
    topics: Vec<String>,
    min: usize,
}

impl Narrowing {
    /// Asks for nothing yet.
    pub fn new(taxonomy: Arc<Taxonomy>) -> Self {
        Self { taxonomy, kinds: Vec::new(), topics: Vec::new(), min: 3 }
    }

    /// Adds a kind.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.kinds.push(kind);
        self
    }

    /// Adds the topics that this [means](super::Topic::is): a label, or a word of one. What means no topic is
    /// dropped like a topic that leaves too little.
    #[must_use]
    pub fn with_topic(mut self, topic: impl Into<String>) -> Self {
        self.topics.push(topic.into());
        self
    }

    /// Sets the fewest tools that must be left. Default: 3, so that a model has a choice.
    #[must_use]
    pub fn with_min(mut self, tools: usize) -> Self {
        self.min = tools;
        self
    }

    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.topics.is_empty()
    }
}

/// A narrowing with what is left of it, resolved: what one search of it asks for.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    taxonomy: Arc<Taxonomy>,
    kinds: Vec<Kind>,
    /// By place in the taxonomy; `None` asks for no topic.
    topics: Option<Vec<usize>>,
}

impl Stage {
    /// By position in a catalog: whether the tool is asked for.
    pub(super) fn mask(&self, catalog: &Catalog) -> Vec<bool> {
        self.taxonomy.of_tools(catalog).map(|place| self.takes_place(place)).collect()
    }

    /// Whether the tool is asked for.
    pub(super) fn takes(&self, entry: &ToolEntry) -> bool {
        self.takes_place(self.taxonomy.of_entry(entry))
    }

    fn takes_place(&self, (kind, topic): (Kind, Option<usize>)) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && self.topics.as_ref().is_none_or(|topics| topic.is_some_and(|topic| topics.contains(&topic)))
    }

    /// Whether both ask for the same tools.
    pub(super) fn equals(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.taxonomy, &other.taxonomy) && self.kinds == other.kinds && self.topics == other.topics
    }
}

/// A condition of a [`Narrowing`], and what became of it. Shown as `kind read: 210 of 989 tools` or
/// `topic boats dropped: 1 tool is left`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Gate {
    /// `kind` or `topic`.
    pub name: &'static str,
    /// What was asked for; several joined by `or`.
    pub asked: String,
    /// How many allowed tools were left when it was tried last, all conditions together.
    pub left: usize,
    /// Of how many.
    pub of: usize,
    /// Why it was dropped; `None` if it held.
    pub dropped: Option<Starved>,
}

/// Why a condition was dropped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Starved {
    /// Too few allowed tools are left.
    TooFew,
    /// None of the tools that are left is found.
    NoHit,
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, asked, left, of, dropped } = self;
        match dropped {
            None => write!(f, "{name} {asked}: {left} of {of} tools"),
            Some(Starved::TooFew) => write!(f, "{name} {asked} dropped: {left} of {of} tools are left"),
            Some(Starved::NoHit) => write!(f, "{name} {asked} dropped: none of {left} tools is found"),
        }
    }
}

/// Searches as narrowly as asked, and wider where that starves the result.
pub(super) fn search<I: ToolIndex + ?Sized>(
    index: &I,
    filter: &Filter,
    narrowing: &Narrowing,
    search: impl Fn(&Filter) -> Result<Ranking>,
) -> Result<Ranking> {
    let mut gates: Vec<Gate> = Vec::new();
    let tools = index.catalog().tools();
    let mut gate = |name, asked: Vec<&str>| {
        if !asked.is_empty() {
            gates.push(Gate { name, asked: asked.join(" or "), left: 0, of: tools.len(), dropped: None });
        }
    };
    gate("kind", narrowing.kinds.iter().map(|kind| kind.as_str()).collect());
    gate("topic", narrowing.topics.iter().map(String::as_str).collect());
    let meant =
        |(at, topic): (usize, &super::Topic)| narrowing.topics.iter().any(|meant| topic.is(meant)).then_some(at);
    let topics: Vec<usize> = narrowing.taxonomy.topics().iter().enumerate().filter_map(meant).collect();
    let mut stage = Stage {
        taxonomy: Arc::clone(&narrowing.taxonomy),
        kinds: narrowing.kinds.clone(),
        topics: (!narrowing.topics.is_empty()).then_some(topics),
    };
    for last in (0..gates.len()).rev() {
        let asked = stage.mask(index.catalog()).into_iter().zip(tools);
        let left = asked.filter(|(asked, entry)| *asked && filter.passes(entry)).count();
        let starved = if left < narrowing.min.max(1) {
            Starved::TooFew
        } else {
            let ranking = search(&filter.at_stage(stage.clone()))?;
            if !ranking.hits.is_empty() {
                gates[..=last].iter_mut().for_each(|gate| gate.left = left);
                return Ok(Ranking { gates, ..ranking });
            }
            Starved::NoHit
        };
        (gates[last].left, gates[last].dropped) = (left, Some(starved));
        match gates[last].name {
            "topic" => stage.topics = None,
            _ => stage.kinds.clear(),
        }
    }
    Ok(Ranking { gates, ..search(filter)? })
}
