use std::collections::BTreeMap;

use crate::id::ToolId;

/// The tools that answer a query, best first.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Ranking {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How much of the query the best hit covers, 0 to 1: the share of the query's terms, each
    /// weighted by its rarity, that the hit's text holds. Not a calibrated probability.
    pub coverage: f32,
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
}

impl Hit {
    /// A hit by score alone, for retrievers outside of this crate.
    pub fn new(tool: ToolId, score: f32, rank: usize) -> Self {
        Self { tool, score, rank, tier: Tier::Scored, fields: BTreeMap::new() }
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
