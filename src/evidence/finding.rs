use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{error::excerpt, id::ServerId};

/// Something wrong with what a server sent, set aside or repaired.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The server that sent it.
    pub server: ServerId,
    /// The item: a name, a URI, or the list and position such as `tools/list[3]`.
    pub item: String,
    /// What kind of fault.
    pub kind: FindingKind,
    /// One sentence: what was found and what was done. Bounded: [`MAX_EXCERPT`](crate::error::MAX_EXCERPT).
    pub message: String,
}

/// The kinds of fault, named after what was done about it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// An item lacks what the protocol requires, or is no JSON that can be read: left out.
    MalformedItem,
    /// A field has the wrong type or an unknown value: kept as sent, not used.
    MalformedField,
    /// An item is larger or deeper than the limits allow: left out.
    TooLarge,
    /// A second item of the same name on the same server: the first stands.
    Duplicate,
    /// A list ended before the server said so (repeated cursor, too many pages, items or bytes).
    ListCut,
    /// A name cannot be told as it is: too long, in a script that providers refuse, or another tool
    /// has it. The model knows the tool by a name with a digest.
    Renamed,
}

impl Finding {
    /// A finding; `item` and `message` are bounded.
    pub fn new(server: ServerId, item: impl AsRef<str>, kind: FindingKind, message: impl AsRef<str>) -> Self {
        Self { server, item: excerpt(item.as_ref()), kind, message: excerpt(message.as_ref()) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.server, self.item, self.message)
    }
}
