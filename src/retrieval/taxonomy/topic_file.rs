use std::path::Path;

use serde_json::Value;

use crate::{Error, Result, client::read_text, error::excerpt, id::ToolId, json, retrieval::ToolPattern};

/// A host's own topics, as a tree: each node has a label and patterns of tools, and may have nodes.
///
/// A tool belongs to the first node, in the order of the file and inner nodes first, one of whose
/// patterns matches it; what none matches is `other`. A node without patterns holds what its
/// nodes hold. A topic's label is that of its node after those of the nodes around it:
/// `money/refunds`.
///
/// ```
/// use proem::retrieval::TopicFile;
///
/// let file = TopicFile::parse(r#"{"version": 1, "nodes": [
///     {"label": "money", "tools": ["bank", "shop/pay_*"], "nodes": [
///         {"label": "refunds", "tools": ["*/*refund*"]}
///     ]}
/// ]}"#)?;
/// assert_eq!(file.labels().collect::<Vec<_>>(), ["money/refunds", "money"]);
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TopicFile {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    label: String,
    tools: Vec<ToolPattern>,
}

impl TopicFile {
    /// The version that is read.
    pub const VERSION: u64 = 1;

    /// The largest file that is read: 1 MiB.
    pub const MAX_BYTES: u64 = 1 << 20;

    /// The most nodes: more than a person keeps in order.
    pub const MAX_NODES: usize = 1_024;

    /// The most patterns of all nodes together. Each is compared with every tool.
    pub const MAX_PATTERNS: usize = 4_096;

    /// The deepest node: a topic, its part, and two levels more.
    pub const MAX_DEPTH: usize = 4;

    /// The longest label of one node, in characters.
    pub const MAX_LABEL_CHARS: usize = 64;

    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::File`] with the place in the file that cannot be used.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = read_text(path, Self::MAX_BYTES)?;
        Self::read(&text).map_err(|reason| Error::File { path: path.to_owned(), reason, source: None })
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the place in the text that cannot be used.
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(text).map_err(|reason| Error::invalid("topics", reason))
    }

    /// The labels of all nodes, in the order in which they are asked.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| node.label.as_str())
    }

    /// The place of the first node that the tool belongs to.
    pub(super) fn topic(&self, tool: &ToolId) -> Option<usize> {
        self.nodes.iter().position(|node| node.tools.iter().any(|pattern| pattern.matches(tool)))
    }

    fn read(text: &str) -> Result<Self, String> {
        if text.len() as u64 > Self::MAX_BYTES {
            return Err(format!("it has {} bytes; at most {} are read", text.len(), Self::MAX_BYTES));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
        if json::depth(&file) > 2 * Self::MAX_DEPTH + 4 {
            return Err(format!("nodes are nested deeper than {}", Self::MAX_DEPTH));
        }
        match file.get("version").map(|version| (version.as_u64(), version)) {
            Some((Some(Self::VERSION), _)) => {}
            Some((_, version)) => {
                return Err(format!("`version` is {}; {} is read", excerpt(&version.to_string()), Self::VERSION));
            }
            None => return Err(format!("`version` is missing: it must be {}", Self::VERSION)),
        }
        let mut topics = Self::default();
        let mut patterns = 0;
        topics.read_nodes(&file, "", "", 1, &mut patterns)?;
        if topics.nodes.is_empty() {
            return Err("`nodes` is empty".into());
        }
        Ok(topics)
    }

    /// Reads the nodes in `value`, which stands at `place`; their labels begin with `prefix`.
    fn read_nodes(
        &mut self,
        value: &Value,
        place: &str,
        prefix: &str,
        depth: usize,
        patterns: &mut usize,
    ) -> Result<(), String> {
        let Some(nodes) = value.get("nodes") else {
            return if depth == 1 { Err("`nodes` is missing".into()) } else { Ok(()) };
        };
        let nodes = nodes.as_array().ok_or_else(|| format!("`{place}nodes` is no array"))?;
        if depth > Self::MAX_DEPTH && !nodes.is_empty() {
            return Err(format!("`{place}nodes` is nested deeper than {}", Self::MAX_DEPTH));
        }
        for (at, node) in nodes.iter().enumerate() {
            let place = format!("{place}nodes[{at}]");
            let label = node.get("label").and_then(Value::as_str);
            let label = label.ok_or_else(|| format!("`{place}.label` must be a string"))?.trim();
            if !is_label(label) {
                return Err(format!(
                    "`{place}.label` must have 1 to {} characters, none of them a control character or `/`",
                    Self::MAX_LABEL_CHARS,
                ));
            }
            let label = if prefix.is_empty() { label.to_owned() } else { format!("{prefix}/{label}") };
            self.read_nodes(node, &format!("{place}."), &label, depth + 1, patterns)?;
            if self.nodes.len() == Self::MAX_NODES {
                return Err(format!("`{place}` is one node too many: at most {} are read", Self::MAX_NODES));
            }
            if self.nodes.iter().any(|node| node.label == label) || label == super::OTHER {
                return Err(format!("`{place}.label` is `{label}`, which another topic has"));
            }
            let tools = read_patterns(node, &place)?;
            *patterns += tools.len();
            if *patterns > Self::MAX_PATTERNS {
                return Err(format!(
                    "`{place}.tools` holds too many patterns: at most {} are read",
                    Self::MAX_PATTERNS
                ));
            }
            self.nodes.push(Node { label, tools });
        }
        Ok(())
    }
}

fn read_patterns(node: &Value, place: &str) -> Result<Vec<ToolPattern>, String> {
    let Some(tools) = node.get("tools") else { return Ok(Vec::new()) };
    let tools = tools.as_array().ok_or_else(|| format!("`{place}.tools` is no array"))?;
    let pattern = |(at, pattern): (usize, &Value)| {
        let text = pattern.as_str().ok_or_else(|| format!("`{place}.tools[{at}]` must be a string"))?;
        text.parse().map_err(|error: Error| format!("`{place}.tools[{at}]`: {error}"))
    };
    tools.iter().enumerate().map(pattern).collect()
}

fn is_label(label: &str) -> bool {
    let bad = |c: char| c.is_control() || c == '/';
    !label.is_empty() && label.chars().count() <= TopicFile::MAX_LABEL_CHARS && !label.contains(bad)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(nodes: Value) -> Result<TopicFile, String> {
        TopicFile::read(&json!({"version": 1, "nodes": nodes}).to_string())
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let deep = json!([{"label": "a", "nodes": [{"label": "b", "nodes": [{"label": "c", "nodes": [
            {"label": "d", "nodes": [{"label": "e"}]}
        ]}]}]}]);
        for (nodes, expected) in [
            (json!(1), "`nodes` is no array"),
            (json!([]), "`nodes` is empty"),
            (json!([{}]), "`nodes[0].label` must be a string"),
            (
                json!([{"label": "a/b"}]),
                "`nodes[0].label` must have 1 to 64 characters, none of them a control character or `/`",
            ),
            (json!([{"label": "a"}, {"label": "a"}]), "`nodes[1].label` is `a`, which another topic has"),
            (json!([{"label": "other"}]), "`nodes[0].label` is `other`, which another topic has"),
            (
                json!([{"label": "a", "nodes": [{"label": "b", "tools": [1]}]}]),
                "`nodes[0].nodes[0].tools[0]` must be a string",
            ),
            (
                json!([{"label": "a", "tools": ["git", "/"]}]),
                "`nodes[0].tools[1]`: invalid tool pattern `/`: it must be `server`, `server/tool` or hold `*`",
            ),
            (deep, "`nodes[0].nodes[0].nodes[0].nodes[0].nodes` is nested deeper than 4"),
        ] {
            assert_eq!(read(nodes).unwrap_err(), expected);
        }
        for (text, expected) in [
            ("{", "it is no JSON: EOF"),
            ("{}", "`version` is missing: it must be 1"),
            (r#"{"version": 2}"#, "`version` is 2; 1 is read"),
            (r#"{"version": 1}"#, "`nodes` is missing"),
        ] {
            let error = TopicFile::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("invalid topics: {expected}")), "{error}");
        }
        let many: Vec<_> = (0..=TopicFile::MAX_NODES).map(|i| json!({"label": i.to_string()})).collect();
        assert_eq!(read(many.into()).unwrap_err(), "`nodes[1024]` is one node too many: at most 1024 are read");
        let patterns = vec!["a"; TopicFile::MAX_PATTERNS + 1];
        let error = read(json!([{"label": "a", "tools": patterns}])).unwrap_err();
        assert_eq!(error, "`nodes[0].tools` holds too many patterns: at most 4096 are read");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]{}\":,a-z0-9]{0,60}") {
            _ = TopicFile::parse(&text);
        }
    }
}
