use std::{borrow::Cow, fmt};

use super::{
    joining::Joining,
    report::RenderReport,
    request::{Request, Section, SectionKind},
    tools::ReadyTool,
};
use crate::json::write_string;

/// A small piece of a body, written with its keys sorted. Borrows, so that pictures and schemas
/// are not copied on the way.
#[derive(Debug)]
pub(super) enum Json<'a> {
    Text(Cow<'a, str>),
    /// Canonical JSON.
    Raw(&'a str),
    Bool(bool),
    Number(u64),
    Array(Vec<Self>),
    Object(Vec<(&'static str, Self)>),
}

impl<'a> Json<'a> {
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) => write_string(out, text),
            Self::Raw(json) => out.push_str(json),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(value) => out.push_str(&value.to_string()),
            Self::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_unstable_by_key(|(key, _)| *key);
                out.push('{');
                for (i, (key, value)) in fields.into_iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_string(out, key);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out);
        f.write_str(&out)
    }
}

/// Writes a request body from front to back, and notes where its sections lie.
#[derive(Debug)]
pub(super) struct Body {
    text: String,
    sections: Vec<Section>,
    /// The section being written, and where it starts once something of it is written.
    open: Option<(SectionKind, Option<usize>)>,
}

impl Body {
    pub(super) fn new() -> Self {
        Self { text: "{".into(), sections: Vec::new(), open: None }
    }

    /// What is written next belongs to this section. Goes on with it if it is being written.
    pub(super) fn section(&mut self, kind: SectionKind) {
        if self.open.is_none_or(|(open, _)| open != kind) {
            self.end_section();
            self.open = Some((kind, None));
        }
    }

    /// What is written next belongs to no section.
    pub(super) fn end_section(&mut self) {
        if let Some((kind, Some(start))) = self.open.take() {
            let range = start..self.text.len();
            self.sections.push(Section { kind, range });
        }
    }

    /// Writes a key; its value is to follow.
    pub(super) fn key(&mut self, key: &str) {
        self.separate();
        write_string(&mut self.text, key);
        self.text.push(':');
    }

    /// Writes a key and its value.
    pub(super) fn field(&mut self, key: &str, value: &Json<'_>) {
        self.key(key);
        self.value(value);
    }

    /// Writes a value: after a key, or as the next of an array.
    pub(super) fn value(&mut self, value: &Json<'_>) {
        self.separate();
        value.write(&mut self.text);
    }

    /// Writes `{` or `[`.
    pub(super) fn open(&mut self, bracket: char) {
        self.separate();
        self.text.push(bracket);
    }

    /// Writes `}` or `]`.
    pub(super) fn close(&mut self, bracket: char) {
        self.text.push(bracket);
    }

    /// Writes the section of tools, or nothing if there are none. `form` gives one tool's object.
    pub(super) fn tools<'a>(&mut self, tools: &'a [ReadyTool<'a>], form: impl Fn(&'a ReadyTool<'a>, bool) -> Json<'a>) {
        self.tools_and(tools, std::iter::empty(), form);
    }

    /// The same, and tools after it that are no part of the section: those whose loading is deferred.
    pub(super) fn tools_and<'a>(
        &mut self,
        tools: &'a [ReadyTool<'a>],
        deferred: impl Iterator<Item = Json<'a>>,
        form: impl Fn(&'a ReadyTool<'a>, bool) -> Json<'a>,
    ) {
        if tools.is_empty() {
            return;
        }
        self.key("tools");
        self.section(SectionKind::Tools);
        self.open('[');
        for (i, tool) in tools.iter().enumerate() {
            self.value(&form(tool, i + 1 == tools.len()));
        }
        self.end_section();
        deferred.for_each(|tool| self.value(&tool));
        self.close(']');
    }

    /// Writes an array that is a section.
    pub(super) fn list<'a>(&mut self, kind: SectionKind, items: impl IntoIterator<Item = Json<'a>>) {
        self.section(kind);
        self.open('[');
        for item in items {
            self.value(&item);
        }
        self.end_section();
        self.close(']');
    }

    pub(super) fn finish(mut self, joining: Joining<'_>, report: RenderReport) -> Request {
        self.end_section();
        self.text.push('}');
        Request { body: self.text, sections: self.sections, tools: joining.into_routes(), report }
    }

    /// A comma where one is due: no complete value ends with one of these four.
    fn separate(&mut self) {
        if !self.text.ends_with(['{', '[', ':', ',']) {
            self.text.push(',');
        }
        if let Some((_, start @ None)) = &mut self.open {
            *start = Some(self.text.len());
        }
    }
}
