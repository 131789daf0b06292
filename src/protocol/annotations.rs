use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fields::{Fields, Writer};

/// Whom a piece of content is for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The protocol's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            _ => None,
        }
    }
}

/// A server's hints about a resource, template or content block. Hints, never authorization.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Annotations {
    /// For whom; `None` if the server does not say (then it is for everybody). Roles that the
    /// protocol does not know are left out and noted.
    pub audience: Option<Vec<Role>>,
    /// 0 (entirely optional) to 1 (effectively required). `None` is not 0. Values outside the
    /// range are not used and noted.
    pub priority: Option<f64>,
    /// When it was last changed, as sent: ISO 8601 by the specification, parsed leniently where used.
    pub last_modified: Option<String>,
}

impl Annotations {
    /// No hints.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets for whom.
    #[must_use]
    pub fn with_audience(mut self, audience: impl IntoIterator<Item = Role>) -> Self {
        self.audience = Some(audience.into_iter().collect());
        self
    }

    /// Sets how much it matters; a value outside 0 to 1 is ignored.
    #[must_use]
    pub fn with_priority(mut self, priority: f64) -> Self {
        self.priority = (0.0..=1.0).contains(&priority).then_some(priority).or(self.priority);
        self
    }

    /// Sets when it was last changed, in ISO 8601.
    #[must_use]
    pub fn with_last_modified(mut self, time: impl Into<String>) -> Self {
        self.last_modified = Some(time.into());
        self
    }

    /// Whether the model may see it: true unless an audience is named without `assistant`.
    pub fn for_model(&self) -> bool {
        self.audience.as_ref().is_none_or(|roles| roles.contains(&Role::Assistant))
    }

    /// These hints, and where they say nothing those of another place; but the audience that keeps
    /// the model out goes before one that does not.
    pub(super) fn or(self, other: Self) -> Self {
        let other_first = self.audience.is_none() || (self.for_model() && !other.for_model());
        Self {
            audience: if other_first { other.audience } else { self.audience },
            priority: self.priority.or(other.priority),
            last_modified: self.last_modified.or(other.last_modified),
        }
    }

    pub(super) fn take(fields: &mut Fields) -> Self {
        let audience = fields.array("audience").map(|values| {
            let roles: Vec<_> = values.iter().filter_map(|v| v.as_str().and_then(Role::parse)).collect();
            if roles.len() < values.len() {
                fields.keep("audience", Value::Array(values), "names a role that is neither user nor assistant");
            }
            roles
        });
        let priority = fields.fraction("priority");
        Self { audience, priority, last_modified: fields.string("lastModified") }
    }

    /// `kept` is what [`Self::take`] left behind: a partly understood audience stays as it was sent.
    pub(super) fn to_map(&self, kept: Option<&Value>) -> Map<String, Value> {
        let audience = self
            .audience
            .as_ref()
            .filter(|_| kept.and_then(|kept| kept.get("audience")).is_none())
            .map(|roles| roles.iter().map(|role| role.as_str()).collect::<Vec<_>>());
        Writer::new(&Map::new())
            .put("audience", audience)
            .put("priority", self.priority)
            .put("lastModified", self.last_modified.as_deref())
            .finish()
    }
}
