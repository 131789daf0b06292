use std::fmt;

use serde::{Serialize, Serializer};

use crate::{id::ResourceId, resources::Refusal};

/// A piece of a prompt that the model is not given as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// In which message of the answer, counted from 0.
    pub message: usize,
    /// `text`, `image`, `audio`, `resource_link`, `resource` or `unknown`.
    pub kind: &'static str,
    /// The resource, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceId>,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why a piece of a prompt is left out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// It is for the user only: by the host's rules, or by its server in the prompt or in its list of
    /// resources.
    ForUser,
    /// The host's rules about resources forbid it.
    Forbidden(Refusal),
    /// The host's rules let it have fewer bytes.
    TooLarge {
        /// What it has.
        bytes: usize,
        /// What it may have.
        most: usize,
    },
    /// No request can carry it: a sentence says what it was.
    Described,
    /// It would have cost `tokens`, and `left` were left of the budget or of what the host's rules
    /// let it have: an embedded resource is named instead, a
    /// link is left out. Both are among the links, for the host to attach.
    DoesNotFit {
        /// What it would have cost.
        tokens: usize,
        /// What was left.
        left: usize,
    },
}

/// As a sentence.
impl Serialize for LeftOutReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForUser => f.write_str("it is for the user only"),
            Self::Forbidden(refusal) => refusal.fmt(f),
            Self::TooLarge { bytes, most } => write!(f, "it has {bytes} bytes, more than the {most} that it may have"),
            Self::Described => f.write_str("no request can carry it: it is described"),
            Self::DoesNotFit { tokens, left } => write!(f, "it costs {tokens} tokens, and {left} are left"),
        }
    }
}
