use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Error, error::excerpt};

/// How a conversation's tools reach the model, turn after turn.
///
/// A provider's prompt cache keeps what requests have in common from the front, and the array of
/// tools stands first: a tool that joins it later makes the provider read everything anew. The
/// figures are those of LiveMCPBench's steps as turns, see `docs/sessions.md`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delivery {
    /// Each turn has the tools that it needs and no others. The prefix changes in nearly every turn.
    /// The default, because it asks nothing of the host: right for single requests.
    #[default]
    PerTurn,
    /// Every tool that the filter lets through, in an array that never changes. Right for catalogs
    /// of a few thousand tokens.
    All,
    /// The tools of the first turn, for good. The prefix never changes, and what later turns need
    /// may be missing.
    Frozen,
    /// The tools of the first turn, then those that later turns need at the end of the array: it
    /// only grows, and each growth changes what stands behind it.
    Append,
    /// The tools of the first turn and a search tool; what later turns need, and what the model
    /// searches for, joins at the tail in the provider's own form. The prefix never changes. Where
    /// the provider has no such form this is [`Bridge`](Self::Bridge).
    Deferred,
    /// The same with two fixed tools and definitions as text: `search_tools` finds tools, and
    /// `call_tool` calls them. Works with every provider.
    Bridge,
    /// What is expected to cost the least and offers what the turns need, chosen at the first turn
    /// by the provider and the size of the catalog.
    Auto,
}

impl Delivery {
    /// All of them, simplest first.
    pub const ALL: [Self; 7] =
        [Self::PerTurn, Self::All, Self::Frozen, Self::Append, Self::Deferred, Self::Bridge, Self::Auto];

    /// Its name in reports and on the command line, such as `per_turn`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PerTurn => "per_turn",
            Self::All => "all",
            Self::Frozen => "frozen",
            Self::Append => "append",
            Self::Deferred => "deferred",
            Self::Bridge => "bridge",
            Self::Auto => "auto",
        }
    }

    /// Whether the model can search for tools that are not before it: then fewer are put there.
    pub(super) fn can_search(self) -> bool {
        matches!(self, Self::Deferred | Self::Bridge)
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Delivery {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let name = name.replace('-', "_");
        Self::ALL.into_iter().find(|delivery| delivery.as_str() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            Error::invalid(format!("delivery `{}`", excerpt(&name)), format!("known are {known}"))
        })
    }
}
