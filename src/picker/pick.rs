use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{ResourceId, ServerId, TemplateId};

/// What can be picked: a resource, or a template whose variables are to be filled first.
///
/// As JSON it is the id itself: `{"server": …, "uri": …}` or `{"server": …, "uri_template": …}`.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Pick {
    /// A resource, to be attached.
    Resource(ResourceId),
    /// A template, which gives a resource once it is filled.
    Template(TemplateId),
}

impl Pick {
    /// Whose it is.
    pub fn server(&self) -> &ServerId {
        match self {
            Self::Resource(id) => &id.server,
            Self::Template(id) => &id.server,
        }
    }

    /// Its URI, or its URI template.
    pub fn uri(&self) -> &str {
        match self {
            Self::Resource(id) => &id.uri,
            Self::Template(id) => &id.uri_template,
        }
    }
}

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource(id) => id.fmt(f),
            Self::Template(id) => id.fmt(f),
        }
    }
}

impl From<ResourceId> for Pick {
    fn from(id: ResourceId) -> Self {
        Self::Resource(id)
    }
}

impl From<TemplateId> for Pick {
    fn from(id: TemplateId) -> Self {
        Self::Template(id)
    }
}
