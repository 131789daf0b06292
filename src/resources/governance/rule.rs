use std::collections::BTreeSet;

use super::{
    decide::essence,
    spelling::{Match, Spellings, UriPattern},
};
use crate::{catalog::CachePolicy, protocol::Role, wildcard::Wildcard};

/// The most names of one list: classes, providers, tenants.
pub(super) const MAX_NAMES: usize = 1_024;

/// The longest name or pattern, in bytes: file paths end at 4 KiB.
const MAX_NAME_BYTES: usize = 4_096;

/// What the host decides about the resources that it matches: those that all of its patterns match.
///
/// In patterns `*` stands for any run of characters. Without patterns a rule is about every resource.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ResourceRule {
    server: Option<String>,
    uri: Option<String>,
    mime_type: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) classes: BTreeSet<String>,
    pub(super) audience: Option<BTreeSet<Role>>,
    pub(super) max_tokens: Option<usize>,
    pub(super) max_bytes: Option<usize>,
    pub(super) cache: Option<CachePolicy>,
    pub(super) denied: bool,
}

impl ResourceRule {
    /// A rule about every resource, which decides nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only resources of servers with such an id, as the host spells it.
    #[must_use]
    pub fn with_server(mut self, pattern: impl Into<String>) -> Self {
        self.server = Some(pattern.into());
        self
    }

    /// Only resources with such a URI, compared as [`Governance`](super::Governance) says.
    #[must_use]
    pub fn with_uri(mut self, pattern: impl Into<String>) -> Self {
        self.uri = Some(pattern.into());
        self
    }

    /// Only resources of such a MIME type, such as `image/*`: without parameters, letter case does
    /// not count. A resource without one is met by `*` alone.
    #[must_use]
    pub fn with_mime_type(mut self, pattern: impl Into<String>) -> Self {
        self.mime_type = Some(pattern.into());
        self
    }

    /// Sets whose they are: a person or team, for reports.
    #[must_use]
    pub fn with_owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// Adds a class of their data, by its name.
    #[must_use]
    pub fn with_class(mut self, name: impl Into<String>) -> Self {
        self.classes.insert(name.into());
        self
    }

    /// Sets who may see them, in place of what their server says. Nobody, if it is empty.
    #[must_use]
    pub fn with_audience(mut self, audience: impl IntoIterator<Item = Role>) -> Self {
        self.audience = Some(audience.into_iter().collect());
        self
    }

    /// Sets the most tokens of one of them.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: usize) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets the most bytes of one of them.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Sets how long what was read of them may be reused.
    #[must_use]
    pub fn with_cache(mut self, policy: CachePolicy) -> Self {
        self.cache = Some(policy);
        self
    }

    /// Denies them: they go nowhere, whatever other rules say.
    #[must_use]
    pub fn deny(mut self) -> Self {
        self.denied = true;
        self
    }

    fn decides_nothing(&self) -> bool {
        let about = Self { server: None, uri: None, mime_type: None, ..self.clone() };
        about == Self::default()
    }
}

/// A rule whose patterns were taken apart.
#[derive(Clone, Debug)]
pub(super) struct CheckedRule {
    rule: ResourceRule,
    server: Option<Wildcard>,
    uri: Option<UriPattern>,
    mime_type: Option<Wildcard>,
}

impl CheckedRule {
    /// # Errors
    /// What makes it useless, in words: a rule that never matches would protect nothing.
    pub(super) fn new(rule: ResourceRule) -> Result<Self, String> {
        if rule.decides_nothing() {
            return Err("it decides nothing".into());
        }
        if rule.classes.len() > MAX_NAMES {
            return Err(format!("{} data classes are too many: at most {MAX_NAMES} are taken", rule.classes.len()));
        }
        if let Some(owner) = &rule.owner {
            check_name("the owner", owner)?;
        }
        let pattern = |what: &str, pattern: &Option<String>, fold: fn(&str) -> String| match pattern {
            Some(pattern) => {
                let pattern = fold(pattern);
                check_name(what, &pattern).map(|()| Some(Wildcard::new(&pattern)))
            }
            None => Ok(None),
        };
        let server = pattern("the pattern of servers", &rule.server, str::to_owned)?;
        let mime_type = pattern("the pattern of MIME types", &rule.mime_type, essence)?;
        let uri = match &rule.uri {
            Some(uri) => Some(check_name("the pattern of URIs", uri).and_then(|()| UriPattern::new(uri))?),
            None => None,
        };
        Ok(Self { rule, server, uri, mime_type })
    }

    pub(super) fn rule(&self) -> &ResourceRule {
        &self.rule
    }

    /// Whether it is about resources of this server and MIME type at all.
    pub(super) fn is_about(&self, server: &str, mime_type: Option<&str>) -> bool {
        let met = |pattern: &Wildcard| mime_type.map_or(pattern.is_any(), |mime_type| pattern.matches(mime_type));
        self.server.as_ref().is_none_or(|pattern| pattern.matches(server)) && self.mime_type.as_ref().is_none_or(met)
    }

    /// Whether it matches the URI, and then whether in all its readings.
    pub(super) fn matches<'a>(&self, spellings: impl FnOnce() -> &'a Spellings) -> Option<bool> {
        match self.uri.as_ref().map_or(Match::Whole, |pattern| pattern.matches(spellings())) {
            Match::No => None,
            Match::InPart => Some(false),
            Match::Whole => Some(true),
        }
    }
}

/// What is wrong with a name or pattern, in words.
pub(super) fn check_name(what: &str, name: &str) -> Result<(), String> {
    let wrong = if name.trim().is_empty() {
        "is empty"
    } else if name.len() > MAX_NAME_BYTES {
        "has more than 4096 bytes"
    } else if name.chars().any(char::is_control) {
        "holds a control character"
    } else {
        return Ok(());
    };
    Err(format!("{what} {wrong}"))
}
