use std::collections::BTreeMap;

use crate::id::ToolId;

/// The tools that answer a query, best first.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Ranking {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How much of the query the best hit covers, 0 to 1: the share of the query's terms, each
    /// weighted by its rarity, that the hit's text holds; where vectors were compared, the cosine
    /// of the best hit if that is more. Not a calibrated probability.
    pub coverage: f32,
    /// What was searched, and what could not be; empty if there is only one way and it worked.
    pub channels: Vec<Channel>,
}

impl Ranking {
    /// Whether a channel did not work as it should: the same search may give more later.
    pub fn is_degraded(&self) -> bool {
        self.channels.iter().any(|channel| channel.trouble.is_some())
    }
}

/// One of the ways in which tools were searched.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Channel {
    /// `lexical` or `dense`.
    pub name: &'static str,
    /// Its share of the scores, 0 to 1: less than the one that was set where it knew little of
    /// this query, 0 where it knew nothing.
    pub weight: f32,
    /// What did not work, with the embedder's name: the query could not be embedded, tools have no vector.
    pub trouble: Option<String>,
}

impl Channel {
    /// A channel that worked.
    pub fn new(name: &'static str, weight: f32) -> Self {
        Self { name, weight, trouble: None }
    }

    /// Sets what did not work.
    #[must_use]
    pub fn with_trouble(mut self, trouble: Option<String>) -> Self {
        self.trouble = trouble;
        self
    }
}

/// One tool of a ranking.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The tool.
    pub tool: ToolId,
    /// Higher is better; comparable within one ranking only.
    pub score: f32,
    /// 1 for the best.
    pub rank: usize,
    /// Why it stands where it stands before any score.
    pub tier: Tier,
    /// What each field of the tool's text gave to the score, by field name; fields that gave nothing are left out.
    pub fields: BTreeMap<&'static str, f32>,
    /// Its own score in each channel, by the channel's name, before they were brought to one
    /// scale; empty if there is only one channel.
    pub channels: BTreeMap<&'static str, f32>,
}

impl Hit {
    /// A hit by score alone, for retrievers outside of this crate.
    pub fn new(tool: ToolId, score: f32, rank: usize) -> Self {
        Self { tool, score, rank, tier: Tier::Scored, fields: BTreeMap::new(), channels: BTreeMap::new() }
    }
}

/// What ranks before any score.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Tier {
    /// The query names the tool.
    Named,
    /// Ranked by score.
    Scored,
}
