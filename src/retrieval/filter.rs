use std::{fmt, str::FromStr, sync::Arc};

#[cfg(feature = "tantivy")]
use super::narrowing::{Narrowing, Stage};
#[cfg(feature = "tantivy")]
use crate::index::Roster;
use crate::{Error, Result, catalog::ToolEntry, id::ToolId, wildcard::Wildcard};

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
    /// What a search asks for besides, as long as that leaves enough.
    #[cfg(feature = "tantivy")]
    narrowing: Option<Arc<Narrowing>>,
    /// What of it one search tries.
    #[cfg(feature = "tantivy")]
    stage: Option<Arc<Stage>>,
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

    /// Asks for tools of some kinds and topics as long as that leaves enough; replaces what was
    /// asked before. It chooses among what may be ranked: [`passes`](Self::passes) and
    /// [`exclusion`](Self::exclusion) do not know of it, so that pinned tools and calls of tools
    /// that were offered before stay.
    #[cfg(feature = "tantivy")]
    #[must_use]
    pub fn narrow(mut self, narrowing: Narrowing) -> Self {
        self.narrowing = (!narrowing.is_empty()).then(|| Arc::new(narrowing));
        self
    }

    #[cfg(feature = "tantivy")]
    pub(super) fn narrowing(&self) -> Option<Arc<Narrowing>> {
        self.narrowing.clone()
    }

    /// The filter that lets pass what a search within a narrowing asks for.
    #[cfg(feature = "tantivy")]
    pub(super) fn at_stage(&self, stage: Stage) -> Self {
        Self { narrowing: None, stage: Some(Arc::new(stage)), ..self.clone() }
    }

    /// The filter without its narrowing.
    #[cfg(feature = "tantivy")]
    pub(super) fn widest(&self) -> Self {
        Self { narrowing: None, ..self.clone() }
    }

    /// Whether it lets everything pass, and asks for nothing.
    pub fn is_empty(&self) -> bool {
        #[cfg(feature = "tantivy")]
        let narrowed = self.narrowing.is_some() || self.stage.is_some();
        #[cfg(not(feature = "tantivy"))]
        let narrowed = false;
        self.allow.is_empty() && self.deny.is_empty() && !self.read_only && self.predicates.is_empty() && !narrowed
    }

    /// Whether `other` lets the same tools pass whenever it is asked: never so with predicates,
    /// whose answers may change.
    #[cfg(feature = "tantivy")]
    pub(super) fn always_equals(&self, other: &Self) -> bool {
        let without_predicates = self.predicates.is_empty() && other.predicates.is_empty();
        let same_stage = match (&self.stage, &other.stage) {
            (Some(a), Some(b)) => a.equals(b),
            (a, b) => a.is_none() && b.is_none(),
        };
        without_predicates
            && same_stage
            && self.read_only == other.read_only
            && self.allow == other.allow
            && self.deny == other.deny
    }

    /// By position in the catalog: whether it lets the tool pass.
    #[cfg(feature = "tantivy")]
    pub(super) fn allowed(&self, roster: &Roster) -> Vec<bool> {
        let mut allowed = Vec::with_capacity(roster.len());
        let asked = self.stage.as_ref().map(|stage| stage.mask(roster.catalog()));
        let asked = |at: usize| asked.as_ref().is_none_or(|asked| asked.get(at).copied().unwrap_or(false));
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
            if all && deny.is_empty() && !self.read_only && self.predicates.is_empty() && self.stage.is_none() {
                allowed.resize(end, true);
                continue;
            }
            let entries = roster.catalog().tools().iter().enumerate().skip(start);
            allowed.extend(tools.iter().zip(entries).map(|(tool, (at, entry))| {
                let any = |names: &[&Wildcard]| names.iter().any(|name| name.matches(tool.name));
                !any(&deny)
                    && (all || any(&allow))
                    && (tool.read_only || !self.read_only)
                    && asked(at)
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
            #[cfg(feature = "tantivy")]
            if self.stage.as_ref().is_some_and(|stage| !stage.takes(entry)) {
                return Some("not asked for");
            }
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
            .finish_non_exhaustive()
    }
}

/// What the patterns for a server ask of a tool's name.
#[cfg(feature = "tantivy")]
fn names_for<'a>(server: &str, patterns: &'a [ToolPattern], names: &mut Vec<&'a Wildcard>) {
    names.clear();
    let readings = patterns.iter().flat_map(|pattern| &pattern.readings);
    names.extend(readings.filter(|reading| reading.server.matches(server)).map(|reading| &reading.name));
}

/// Tools by server and name: `server/tool`, `server` (all of its tools) or with `*` for any run of
/// characters, such as `git*/create_*` or `*/delete_*`.
///
/// Server ids and tool names may hold slashes themselves, so a pattern means every way to part it:
/// `a/b/c` is tool `b/c` of server `a`, tool `c` of server `a/b`, and all tools of server `a/b/c`.
/// A denial that meant only one of them would let the others through.
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
    text: String,
    readings: Vec<Reading>,
}

/// One way to part a pattern into server and name.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Reading {
    server: Wildcard,
    name: Wildcard,
}

impl ToolPattern {
    /// Whether it matches the tool.
    pub fn matches(&self, tool: &ToolId) -> bool {
        let mut readings = self.readings.iter();
        readings.any(|reading| reading.server.matches(tool.server.as_str()) && reading.name.matches(&tool.name))
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for ToolPattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let reading = |server: &str, name: &str| Reading { server: Wildcard::new(server), name: Wildcard::new(name) };
        let parted = text.match_indices('/').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let parted = parted.filter(|(server, name)| !server.is_empty() && !name.is_empty());
        let mut readings: Vec<_> = parted.map(|(server, name)| reading(server, name)).collect();
        if text.is_empty() || (readings.is_empty() && text.contains('/')) {
            return Err(Error::invalid(
                format!("tool pattern `{text}`"),
                "it must be `server`, `server/tool` or hold `*`",
            ));
        }
        readings.push(reading(text, "*"));
        Ok(Self { text: text.to_owned(), readings })
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_in_ids_hide_no_tool_from_a_pattern() {
        let tool = |server: &str, name: &str| ToolId::new(crate::id::ServerId::new(server).unwrap(), name);
        let pattern = |text: &str| text.parse::<ToolPattern>().unwrap();
        for (text, server, name) in [
            ("a/b", "a", "b"),
            ("a/b", "a/b", "anything"),
            ("a/b/c", "a", "b/c"),
            ("a/b/c", "a/b", "c"),
            ("a/b/*", "a/b", "c"),
            ("*", "a/b", "c"),
            ("*/c", "a/b", "c"),
        ] {
            assert!(pattern(text).matches(&tool(server, name)), "{text} {server} {name}");
        }
        assert!(!pattern("a/b").matches(&tool("a", "c")));
        for text in ["", "/", "a/", "/b"] {
            assert!(text.parse::<ToolPattern>().is_err(), "{text}");
        }
    }
}
