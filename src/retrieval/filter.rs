use std::{fmt, str::FromStr, sync::Arc};

#[cfg(feature = "tantivy")]
use crate::index::Roster;
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

    /// Whether `other` lets the same tools pass whenever it is asked: never so with predicates,
    /// whose answers may change.
    #[cfg(feature = "tantivy")]
    pub(super) fn always_equals(&self, other: &Self) -> bool {
        let without_predicates = self.predicates.is_empty() && other.predicates.is_empty();
        without_predicates && self.read_only == other.read_only && self.allow == other.allow && self.deny == other.deny
    }

    /// By position in the catalog: whether it lets the tool pass.
    #[cfg(feature = "tantivy")]
    pub(super) fn allowed(&self, roster: &Roster) -> Vec<bool> {
        let mut allowed = Vec::with_capacity(roster.len());
        let (mut allow, mut deny) = (Vec::new(), Vec::new());
        for (server, start, tools) in roster.servers() {
            // Most patterns are of a few servers: the others' tools need not be compared with them.
            names_for(server.id.as_str(), &self.allow, &mut allow);
            names_for(server.id.as_str(), &self.deny, &mut deny);
            let end = start + tools.len();
            if deny.iter().any(|name| name.is_any()) || (!self.allow.is_empty() && allow.is_empty()) {
                allowed.resize(end, false);
                continue;
            }
            let all = self.allow.is_empty() || allow.iter().any(|name| name.is_any());
            if all && deny.is_empty() && !self.read_only && self.predicates.is_empty() {
                allowed.resize(end, true);
                continue;
            }
            let entries = roster.catalog().tools().iter().skip(start);
            allowed.extend(tools.iter().zip(entries).map(|(tool, entry)| {
                let any = |names: &[&Wildcard]| names.iter().any(|name| name.matches(tool.name));
                !any(&deny)
                    && (all || any(&allow))
                    && (tool.read_only || !self.read_only)
                    && self.predicates.iter().all(|predicate| predicate(entry))
            }));
        }
        allowed
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

/// What the patterns for a server ask of a tool's name.
#[cfg(feature = "tantivy")]
fn names_for<'a>(server: &str, patterns: &'a [ToolPattern], names: &mut Vec<&'a Wildcard>) {
    names.clear();
    names.extend(patterns.iter().filter(|pattern| pattern.server.matches(server)).map(|pattern| &pattern.name));
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
    server: Wildcard,
    name: Wildcard,
}

impl ToolPattern {
    /// Whether it matches the tool.
    pub fn matches(&self, tool: &ToolId) -> bool {
        self.server.matches(tool.server.as_str()) && self.name.matches(&tool.name)
    }

    /// The part that is matched against server ids.
    pub fn server(&self) -> String {
        self.server.to_string()
    }

    /// The part that is matched against tool names.
    pub fn name(&self) -> String {
        self.name.to_string()
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
        Ok(Self { server: Wildcard::new(server), name: Wildcard::new(name) })
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.name)
    }
}

/// A text in which `*` stands for any run of characters, taken apart once: it is compared with
/// every tool of every filtered search.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Wildcard {
    first: String,
    /// What stands between stars.
    middle: Vec<String>,
    /// What stands after the last star; `None` without a star.
    last: Option<String>,
}

impl Wildcard {
    fn new(pattern: &str) -> Self {
        let mut parts = pattern.split('*').map(str::to_owned);
        let first = parts.next().unwrap_or_default();
        let mut middle: Vec<String> = parts.collect();
        let last = middle.pop();
        Self { first, middle, last }
    }

    /// Whether it matches every text.
    #[cfg(feature = "tantivy")]
    fn is_any(&self) -> bool {
        self.first.is_empty() && self.last.as_ref().is_some_and(String::is_empty) && self.middle.is_empty()
    }

    /// Linear in the text for one star, bounded by pattern × text for more.
    fn matches(&self, text: &str) -> bool {
        let Some(last) = &self.last else { return self.first == text };
        let Some(mut rest) = text.strip_prefix(self.first.as_str()) else { return false };
        for part in &self.middle {
            match rest.find(part.as_str()) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }
}

impl fmt::Display for Wildcard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.first)?;
        let rest = self.middle.iter().chain(&self.last);
        rest.into_iter().try_for_each(|part| write!(f, "*{part}"))
    }
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
            let wildcard = Wildcard::new(pattern);
            assert_eq!(wildcard.matches(text), expected, "{pattern} {text}");
            assert_eq!(wildcard.to_string(), pattern);
        }
    }
}
