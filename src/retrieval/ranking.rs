use std::{collections::BTreeMap, fmt};

use crate::id::ToolId;

/// The tools that answer a query, best first.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Ranking {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How much of the query the best hit covers, 0 to 1: the share of the query's terms, each
    /// weighted by its rarity, that the hit's text holds; where vectors or earlier requests were
    /// compared, the cosine of the best hit if that is more. Of several texts, that of the one that
    /// is covered most.
    pub coverage: f32,
    /// How likely it is that a tool of the catalog fits, 0 to 1: calibrated on requests of which
    /// half need no tool. 1 where the query names a tool. Of several texts, that of the likeliest.
    /// `None` if the retriever does not tell.
    ///
    /// Where vectors are compared, it goes by how much nearer the query is to its best tool than to
    /// small talk, knowledge, writing and the like, which a model does by itself.
    pub confidence: Option<f32>,
    /// What was searched, and what could not be; empty if there is only one way and it worked. Of
    /// several texts, each channel stands once, with the greatest of its shares.
    pub channels: Vec<Channel>,
    /// What the filter's narrowing asked for, and what of it had to be dropped: kinds before topics.
    #[cfg(feature = "tantivy")]
    pub gates: Vec<super::Gate>,
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
    /// `lexical` or `dense`; of evidence beside them, `server`, `usage` or `co-use`.
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
    /// Higher is better; comparable within one ranking only. Where several texts were searched,
    /// the share of the best score of the text that brought the hit, times that text's weight: 1
    /// for the newest text and for sub-queries, less for the turns before.
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
    /// What brought it.
    pub origin: Origin,
    /// The better hit that it is used together with, where that counted; see `CoUse`.
    pub used_with: Option<ToolId>,
}

impl Hit {
    /// A hit by score alone, for retrievers outside of this crate.
    pub fn new(tool: ToolId, score: f32, rank: usize) -> Self {
        Self {
            tool,
            score,
            rank,
            tier: Tier::Scored,
            fields: BTreeMap::new(),
            channels: BTreeMap::new(),
            origin: Origin::Query,
            used_with: None,
        }
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

/// Which part of a query brought a hit.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Origin {
    /// Its text.
    #[default]
    Query,
    /// A sub-query, by its place in [`Query::sub_queries`](super::Query::sub_queries), from 0.
    SubQuery(usize),
    /// A turn before: 1 is the last one.
    Turn(usize),
    /// No search: the tool was used before.
    Recent,
}

impl fmt::Display for Origin {
    /// As people count: the first sub-query is 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query => f.write_str("query"),
            Self::SubQuery(at) => write!(f, "sub-query {}", at + 1),
            Self::Turn(1) => f.write_str("the turn before"),
            Self::Turn(back) => write!(f, "{back} turns before"),
            Self::Recent => f.write_str("used before"),
        }
    }
}
