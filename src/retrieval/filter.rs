use std::{fmt, str::FromStr, sync::Arc};

use crate::{Error, Result, catalog::ToolEntry, id::ToolId};

/// Which tools may be ranked at all. Everything by default.
///
/// A tool passes if no deny pattern matches it, some allow pattern matches it (or there is none),
/// and every predicate holds. Filters act before ranking, and again at the call.
#[derive(Clone, Default)]
pub struct Filter {
    allow: Vec<ToolPattern>,
    deny: Vec<ToolPattern>,
    read_only: bool,
    predicates: Vec<Predicate>,
}

type Predicate = Arc<dyn Fn(&ToolEntry) -> bool + Send + Sync>;

impl Filter {
    /// Lets everything pass.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pattern of tools that may pass; with at least one, all others may not.
    #[must_use]
    pub fn allow(mut self, pattern: ToolPattern) -> Self {
        self.allow.push(pattern);
        self
    }

    /// Adds a pattern of tools that may not pass, whatever is allowed.
    #[must_use]
    pub fn deny(mut self, pattern: ToolPattern) -> Self {
        self.deny.push(pattern);
        self
    }

    /// Only tools whose server says that they change nothing (`readOnlyHint`); a missing hint
    /// counts as "may write".
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Adds a condition of the host: tenant, permission, state.
    #[must_use]
    pub fn predicate(mut self, predicate: impl Fn(&ToolEntry) -> bool + Send + Sync + 'static) -> Self {
        self.predicates.push(Arc::new(predicate));
        self
    }

    /// Whether it lets everything pass.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty() && !self.read_only && self.predicates.is_empty()
    }

    /// Whether the tool may be ranked.
    pub fn passes(&self, entry: &ToolEntry) -> bool {
        self.exclusion(entry).is_none()
    }

    /// Why the tool may not be ranked; `None` if it may.
    pub fn exclusion(&self, entry: &ToolEntry) -> Option<&'static str> {
        if self.deny.iter().any(|pattern| pattern.matches(&entry.id)) {
            Some("denied")
        } else if !self.allow.is_empty() && !self.allow.iter().any(|pattern| pattern.matches(&entry.id)) {
            Some("not allowed")
        } else if self.read_only && !entry.tool.annotations.read_only() {
            Some("may write")
        } else if self.predicates.iter().any(|predicate| !predicate(entry)) {
            Some("predicate")
        } else {
            None
        }
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter")
            .field("allow", &self.allow)
            .field("deny", &self.deny)
            .field("read_only", &self.read_only)
            .field("predicates", &self.predicates.len())
            .finish()
    }
}

/// Tools by server and name: `server/tool`, `server` (all of its tools) or with `*` for any run of
/// characters, such as `git*/create_*` or `*/delete_*`.
///
/// ```
/// use proem::{id::{ServerId, ToolId}, retrieval::ToolPattern};
///
/// let merge = ToolId::new(ServerId::new("git")?, "merge");
/// assert!("git".parse::<ToolPattern>()?.matches(&merge));
/// assert!("*/mer*".parse::<ToolPattern>()?.matches(&merge));
/// assert!(!"git/rebase".parse::<ToolPattern>()?.matches(&merge));
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolPattern {
    server: String,
    name: String,
}

impl ToolPattern {
    /// Whether it matches the tool.
    pub fn matches(&self, tool: &ToolId) -> bool {
        wildcard(&self.server, tool.server.as_str()) && wildcard(&self.name, &tool.name)
    }

    /// The part that is matched against server ids.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The part that is matched against tool names.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for ToolPattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        // A tool name may hold slashes and a server name should not, so the first one parts them.
        let (server, name) = text.split_once('/').unwrap_or((text, "*"));
        if server.is_empty() || name.is_empty() {
            return Err(Error::invalid(
                format!("tool pattern `{text}`"),
                "it must be `server`, `server/tool` or hold `*`",
            ));
        }
        Ok(Self { server: server.to_owned(), name: name.to_owned() })
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.name)
    }
}

/// `*` matches any run of characters; linear in the text for one star, bounded by pattern × text for more.
fn wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_any_run() {
        for (pattern, text, expected) in [
            ("merge", "merge", true),
            ("merge", "merges", false),
            ("*", "", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
            ("ab*b", "ab", false),
            ("*_*", "get_it", true),
        ] {
            assert_eq!(wildcard(pattern, text), expected, "{pattern} {text}");
        }
    }
}
