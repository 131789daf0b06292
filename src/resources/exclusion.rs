use std::fmt;

use super::governance::Refusal;
use crate::{error::InputRequired, id::ResourceId};

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
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ResourceExclusion {
    /// Its audience leaves out the assistant.
    Audience,
    /// A rule of the host forbids it.
    Refused(Refusal),
    /// It has too little to do with the request.
    Irrelevant {
        /// How much it has to do with the request, 0 to 1.
        relevance: f64,
    },
    /// It has more to do with the request than others, and it is unlikely that any has.
    Unlikely {
        /// How likely it is that any resource has to do with the request, 0 to 1.
        confidence: f64,
    },
    /// A newer version of the same document is there.
    Outdated {
        /// The newest version.
        newest: ResourceId,
    },
    /// It does not fit into what is left of the budget.
    Budget {
        /// What it costs or is estimated to cost.
        tokens: usize,
        /// What was left.
        left: usize,
    },
    /// It does not fit into what is left of the bytes.
    Bytes {
        /// What it has or is said to have.
        bytes: u64,
        /// What was left.
        left: u64,
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
    /// It was picked, and there is no such server.
    Unknown,
    /// Its server says that it does not have it.
    NotFound,
    /// Its server wants input from the user first: see
    /// [`ResourceOptions::inputs`](super::ResourceOptions::inputs).
    InputRequired(Box<InputRequired>),
    /// It is nothing that a model can be given, such as a sound or an archive; or it is empty.
    NoText {
        /// What it is, such as `audio/wav, 1,024 bytes`.
        what: String,
    },
    /// It could not be read.
    Failed(String),
}

impl fmt::Display for ResourceExclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Audience => f.write_str("audience: not for the assistant"),
            Self::Refused(refusal) => write!(f, "rule: {refusal}"),
            Self::Irrelevant { relevance } => write!(f, "relevance: {relevance:.2}"),
            Self::Unlikely { confidence } => {
                write!(f, "confidence: {:.0} % likely that any resource fits", 100.0 * confidence)
            }
            Self::Outdated { newest } => write!(f, "outdated: {} is newer", newest.uri),
            Self::Budget { tokens, left } => write!(f, "budget: {tokens} tokens, {left} left"),
            Self::Bytes { bytes, left } => write!(f, "bytes: {bytes}, {left} left"),
            Self::Top => f.write_str("top: the most resources are chosen"),
            Self::RequiredDoesNotFit { tokens, left } => {
                write!(f, "required, but does not fit: {tokens} tokens, {left} left")
            }
            Self::Unknown => f.write_str("picked, but there is no such server"),
            Self::NotFound => f.write_str("not found: its server does not have it"),
            Self::InputRequired(asked) => write!(f, "its server asks for input first ({asked})"),
            Self::NoText { what } => write!(f, "no text: {what}"),
            Self::Failed(why) => write!(f, "not read: {why}"),
        }
    }
}
