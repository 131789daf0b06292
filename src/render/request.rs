use std::{collections::BTreeMap, fmt, ops::Range};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::report::RenderReport;
use crate::{Error, Result, id::ToolId, json::Digest};

/// A rendered request body: exact bytes, where its sections lie, and what was changed.
///
/// `{}` shows the bytes as they are sent, `{:#}` the same on many lines, in the same order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    pub(super) body: String,
    pub(super) sections: Vec<Section>,
    pub(super) tools: BTreeMap<String, ToolId>,
    pub(super) report: RenderReport,
}

impl Request {
    /// Adds to what rendering changed or left out.
    pub(crate) fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.report.notes.extend(notes);
        self
    }

    /// A body that was written elsewhere, for a [`Provider`](super::Provider) outside this crate.
    /// `sections` says where its sections lie, first to last.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if the body is no JSON object, or a range does not
    /// lie in it after the one before.
    pub fn new(body: String, sections: impl IntoIterator<Item = (SectionKind, Range<usize>)>) -> Result<Self> {
        if !serde_json::from_str::<Value>(&body).is_ok_and(|value| value.is_object()) {
            return Err(Error::invalid("request body", "it is no JSON object"));
        }
        let mut read = Vec::new();
        let mut end = 0;
        for (kind, range) in sections {
            if range.start < end || body.get(range.clone()).is_none() {
                return Err(Error::invalid(
                    format!("section `{kind}` of a request"),
                    "its range does not lie in the body after the one before",
                ));
            }
            end = range.end;
            read.push(Section { kind, range });
        }
        Ok(Self { body, sections: read, tools: BTreeMap::new(), report: RenderReport::default() })
    }

    /// Says which tool a name in the body stands for.
    #[must_use]
    pub fn with_tool(mut self, exposed: impl Into<String>, tool: ToolId) -> Self {
        self.tools.insert(exposed.into(), tool);
        self
    }

    /// Says what was changed or left out.
    #[must_use]
    pub fn with_report(mut self, report: RenderReport) -> Self {
        self.report = report;
        self
    }

    /// The body as it is to be sent.
    pub fn as_str(&self) -> &str {
        &self.body
    }

    /// The body as it is to be sent.
    pub fn into_string(self) -> String {
        self.body
    }

    /// The body as a value, for hosts whose SDK takes one. Sending the value again may order keys
    /// otherwise: [`Self::as_str`] is what keeps a prefix.
    pub fn to_value(&self) -> Value {
        // The body is written by this module, and schemas are bounded well below the parser's depth.
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The sections in the provider's order; those that hold nothing are absent.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// One section, if it holds anything.
    pub fn section(&self, kind: SectionKind) -> Option<&Section> {
        self.sections.iter().find(|section| section.kind == kind)
    }

    /// The bytes of one section, if it holds anything. Not always JSON by itself.
    pub fn section_str(&self, kind: SectionKind) -> Option<&str> {
        self.section(kind).and_then(|section| self.body.get(section.range.clone()))
    }

    /// The digest of tools, system text and attachments: equal for two turns whose prefix is the
    /// same. The model's name is not in it, though providers keep a cache for each model.
    pub fn prefix_digest(&self) -> Digest {
        let prefix = self.sections.iter().filter(|section| section.kind != SectionKind::Messages);
        let parts: Vec<_> = prefix.map(|section| (section.kind, self.section_digest(section))).collect();
        Digest::of_parts(parts.iter().flat_map(|(kind, digest)| [kind.as_str().as_bytes(), digest.as_bytes()]))
    }

    /// The digest of one section's bytes. Computed when it is asked for, since that takes as long as
    /// rendering the section does.
    pub fn section_digest(&self, section: &Section) -> Digest {
        Digest::of_bytes(self.body.get(section.range.clone()).unwrap_or_default())
    }

    /// The tool that the model means by a name in this request; `None` if it was not offered.
    pub fn tool(&self, exposed: &str) -> Option<&ToolId> {
        self.tools.get(exposed)
    }

    /// The names in this request and the tools that they stand for, by name.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &ToolId)> {
        self.tools.iter().map(|(exposed, tool)| (exposed.as_str(), tool))
    }

    /// What was changed or left out.
    pub fn report(&self) -> &RenderReport {
        &self.report
    }
}

impl AsRef<[u8]> for Request {
    fn as_ref(&self) -> &[u8] {
        self.body.as_bytes()
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() { f.write_str(&indented(&self.body)) } else { f.write_str(&self.body) }
    }
}

/// One part of the prefix: where it lies in the body and what it is.
///
/// Ranges follow each other and do not overlap; keys and brackets between them belong to none.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Section {
    /// Which part.
    pub kind: SectionKind,
    /// Its bytes in [`Request::as_str`].
    pub range: Range<usize>,
}

impl Section {
    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.range.len()
    }
}

/// The parts of a request, least volatile first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SectionKind {
    /// Tool definitions.
    Tools,
    /// Host text and server instructions.
    System,
    /// Attached resources.
    Attachments,
    /// The conversation. Its last block may carry a cache mark that moves with each turn.
    Messages,
}

impl SectionKind {
    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::System => "system",
            Self::Attachments => "attachments",
            Self::Messages => "messages",
        }
    }
}

impl fmt::Display for SectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// JSON without white space, on many lines. Keys keep their order, which a parser would not promise.
fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut level: usize = 0;
    let (mut in_string, mut escaped) = (false, false);
    let mut chars = json.chars().peekable();
    let line = |out: &mut String, level: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    };
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '{' | '[' => {
                out.push(c);
                if let Some(end) = chars.next_if(|c| matches!(c, '}' | ']')) {
                    out.push(end);
                } else {
                    level += 1;
                    line(&mut out, level);
                }
            }
            '}' | ']' => {
                level = level.saturating_sub(1);
                line(&mut out, level);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, level);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_from_elsewhere_is_checked() {
        let body = r#"{"tools":[1],"messages":[2]}"#;
        let request = |a, b| Request::new(body.into(), [(SectionKind::Tools, a), (SectionKind::Messages, b)]);
        let good = request(9..12, 24..27).unwrap();
        assert_eq!(good.section_str(SectionKind::Messages), Some("[2]"));
        assert!(request(9..12, 11..27).is_err() && request(9..12, 24..99).is_err());
        assert!(Request::new("[]".into(), []).is_err());
    }

    #[test]
    fn indenting_changes_white_space_alone() {
        let json = r#"{"b":[1,{"a":"x, {\"y\": [\\"}],"a":{},"c":[]}"#;
        let expected = "{\n  \"b\": [\n    1,\n    {\n      \"a\": \"x, {\\\"y\\\": [\\\\\"\n    }\n  ],\n  \"a\": {},\n  \"c\": []\n}";
        assert_eq!(indented(json), expected);
        assert_eq!(
            serde_json::from_str::<Value>(json).unwrap(),
            serde_json::from_str::<Value>(&indented(json)).unwrap()
        );
    }
}
