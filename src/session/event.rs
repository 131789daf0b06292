use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment at which a provider's cache holds nothing of the conversation, and its prefix may be made
/// anew at no cost: only tools that were called go on, the most recently called first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionEvent {
    /// The host wrote the conversation anew, shorter.
    Compacted,
    /// So much time passed that the provider forgot the prefix.
    Expired,
    /// The conversation goes on with another model: each has a cache of its own.
    ModelSwitched,
    /// The conversation goes on with another provider.
    ProviderSwitched,
}

impl fmt::Display for SessionEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compacted => "the conversation was compacted",
            Self::Expired => "the provider forgot the prefix",
            Self::ModelSwitched => "another model has a cache of its own",
            Self::ProviderSwitched => "another provider has a cache of its own",
        })
    }
}
