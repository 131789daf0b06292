use std::fmt;

/// Why a tool is offered.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Inclusion {
    /// The host always offers it.
    Pinned,
    /// The query names it.
    Named,
    /// It was ranked; the fields of its text that gave most to its score, at most two.
    Matched(Vec<&'static str>),
    /// It was used before, and the query is a follow-up.
    Recent,
}

impl fmt::Display for Inclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pinned => f.write_str("pinned"),
            Self::Named => f.write_str("named in the query"),
            Self::Matched(fields) if fields.is_empty() => f.write_str("ranked"),
            Self::Matched(fields) => write!(f, "matched {}", fields.join(", ")),
            Self::Recent => f.write_str("used before"),
        }
    }
}

/// Why a tool is not offered.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Exclusion {
    /// The filter keeps it out: `denied`, `not allowed`, `may write` or `predicate`.
    Filtered(&'static str),
    /// Its score is too far behind the best one's.
    Depth,
    /// The most tools that were asked for are chosen.
    Top,
    /// Its server has its share, and no place was free afterwards.
    Quota,
    /// Its server offers tools that say nearly the same, and no place was free afterwards.
    NearDuplicate,
    /// Not even its name fits into what is left of the budget, in tokens.
    Budget(usize),
    /// The provider takes no more tools.
    ProviderCap,
    /// Nothing in the catalog covers enough of the query.
    Confidence,
    /// A pin that no tool of the catalog matches, or a ranked tool that the catalog does not hold.
    Unknown,
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filtered(why) => write!(f, "filter: {why}"),
            Self::Depth => f.write_str("depth: its score is too far behind the best"),
            Self::Top => f.write_str("top: the most tools asked for are chosen"),
            Self::Quota => f.write_str("quota: its server has its share"),
            Self::NearDuplicate => f.write_str("near duplicate: its server offers tools that say nearly the same"),
            Self::Budget(left) => write!(f, "budget: {left} tokens left"),
            Self::ProviderCap => f.write_str("provider cap: it takes no more tools"),
            Self::Confidence => f.write_str("confidence: nothing covers enough of the query"),
            Self::Unknown => f.write_str("unknown: no such tool in the catalog"),
        }
    }
}
