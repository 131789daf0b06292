//! Who is meant: a server by the name that the host gave it, and everything else qualified by its server.
//!
//! A tool name is unique only within one server (MCP 2026-07-28, tools), and the same URI may
//! stand on two servers, so no item is ever identified without its server. The server's own name
//! (`serverInfo.name`) is not unique and plays no part.
//!
//! ```
//! use proem::id::{ServerId, ToolId};
//!
//! let git = ServerId::new("git")?;
//! let merge = ToolId::new(git.clone(), "merge");
//! assert_eq!(merge.to_string(), "git/merge");
//! assert!(ServerId::new("").is_err());
//! # Ok::<(), proem::Error>(())
//! ```

use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{Error, Result};

/// The name that the host gives a server: 1 to 128 characters, none of them a control character.
///
/// Ordered by bytes; this order decides the order of everything rendered.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct ServerId(Arc<str>);

impl ServerId {
    /// The longest id, in characters: longer ones would crowd out the tool's own name.
    pub const MAX_CHARS: usize = 128;

    /// Checks and takes a name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is empty, longer than [`Self::MAX_CHARS`] or holds a control character.
    pub fn new(name: impl AsRef<str>) -> Result<Self> {
        let name = name.as_ref();
        let reason = if name.is_empty() {
            "it is empty"
        } else if name.chars().count() > Self::MAX_CHARS {
            "it is longer than 128 characters"
        } else if name.chars().any(char::is_control) {
            "it holds a control character"
        } else {
            return Ok(Self(name.into()));
        };
        let shown: String = name.chars().take(40).filter(|c| !c.is_control()).collect();
        Err(Error::invalid(format!("server id `{shown}`"), reason))
    }

    /// Under which the host's own tools stand: `proem`. No client answers to it, and nothing is routed there.
    pub(crate) fn own() -> Self {
        Self("proem".into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as text that is shared, not copied.
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for ServerId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for ServerId {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for ServerId {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl std::str::FromStr for ServerId {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::new(name)
    }
}

impl<'de> Deserialize<'de> for ServerId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

macro_rules! qualified {
    ($(#[$doc:meta])* $name:ident, $field:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
        #[non_exhaustive]
        pub struct $name {
            /// The server that offers it.
            pub server: ServerId,
            #[doc = $what]
            pub $field: Arc<str>,
        }

        impl $name {
            /// Qualifies an item by its server.
            pub fn new(server: ServerId, $field: impl Into<Arc<str>>) -> Self {
                Self { server, $field: $field.into() }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}/{}", self.server, self.$field)
            }
        }
    };
}

qualified!(
    /// One tool of one server. Ordered by server, then name.
    ToolId, name, "The name as the server gives it."
);
qualified!(
    /// One resource of one server. The same URI on two servers is two resources.
    ResourceId, uri, "The URI as the server gives it."
);
qualified!(
    /// One resource template of one server.
    TemplateId, uri_template, "The RFC 6570 template as the server gives it."
);
qualified!(
    /// One prompt of one server.
    PromptId, name, "The name as the server gives it."
);
