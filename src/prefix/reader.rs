use std::{borrow::Cow, collections::BTreeMap};

use super::{
    forms::is_deferred,
    node::Node,
    segment::{Mark, Segment},
};
use crate::{json::Digest, render::SectionKind};

/// Collects the segments of a body from front to back.
#[derive(Debug, Default)]
pub(super) struct Reader {
    segments: Vec<Segment>,
    has_images: bool,
    /// The text of the segment that is being read.
    text: String,
    /// What stands for a reference to a tool, by the tool's name.
    deferred: BTreeMap<String, String>,
}

impl Reader {
    /// The segments, and whether a message holds a picture.
    pub(super) fn finish(self) -> (Vec<Segment>, bool) {
        (self.segments, self.has_images)
    }

    /// A tool that is no part of the prefix by itself: its definition stands wherever it is referred to
    /// (Anthropic, tool search tool).
    pub(super) fn defer(&mut self, tool: Node<'_, '_>) {
        let Some(name) = tool.get("name").and_then(Node::text) else { return };
        let mut definition = String::from("{");
        for (key, value) in tool.fields().filter(|(key, _)| *key != "defer_loading") {
            definition.push_str(if definition.len() > 1 { ",\"" } else { "\"" });
            definition.push_str(key);
            definition.push_str("\":");
            value.write(&mut definition);
        }
        definition.push('}');
        self.deferred.insert(name.into(), definition);
    }

    /// A tool, by the name that it has in one of the forms.
    pub(super) fn tool(&mut self, path: String, tool: Node<'_, '_>) {
        if let Some(point) = cache_point(tool) {
            return self.mark_last(point);
        }
        let own = ["function", "toolSpec", "systemTool"].into_iter().find_map(|key| tool.get(key)).unwrap_or(tool);
        let name = ["name", "server_label", "type"].into_iter().find_map(|key| own.get(key)?.text());
        self.named_tool(path, name.as_deref().unwrap_or_default(), tool);
    }

    /// A tool that is known by this name.
    pub(super) fn named_tool(&mut self, path: String, name: &str, tool: Node<'_, '_>) {
        self.push(SectionKind::Tools, path, None, tool);
        if let Some(segment) = self.segments.last_mut() {
            segment.name = Some(name.into());
        }
    }

    /// A message: its blocks if it holds nothing but them, else the message as one segment.
    pub(super) fn message(
        &mut self,
        section: SectionKind,
        path: &str,
        role: Option<String>,
        message: Node<'_, '_>,
        content: &str,
    ) {
        let blocks = message.get(content).filter(|blocks| blocks.is_string() || blocks.items().next().is_some());
        let says_more = message.fields().any(|(key, value)| match key {
            "role" => false,
            "type" => value.text().is_none_or(|kind| kind != "message"),
            key => key != content,
        });
        match blocks.filter(|_| !says_more) {
            Some(blocks) => self.blocks(section, &format!("{path}.{content}"), role, Some(blocks)),
            None => self.push(section, path.into(), role, message),
        }
    }

    /// The blocks of a list, or one that stands alone.
    pub(super) fn blocks(
        &mut self,
        section: SectionKind,
        path: &str,
        mut role: Option<String>,
        blocks: Option<Node<'_, '_>>,
    ) {
        let Some(blocks) = blocks else { return };
        if !blocks.is_array() {
            return self.push(section, path.into(), role, blocks);
        }
        for (i, block) in blocks.items().enumerate() {
            match cache_point(block) {
                Some(point) => self.mark_last(point),
                None => self.push(section, format!("{path}[{i}]"), role.take(), block),
            }
        }
    }

    /// The prefix is to be kept up to what was read last. Where that has a mark of its own, it stands.
    pub(super) fn mark_last(&mut self, mark: Node<'_, '_>) {
        if let Some(segment) = self.segments.last_mut() {
            segment.mark.get_or_insert_with(|| read_mark(mark));
        }
    }

    fn push(&mut self, section: SectionKind, path: String, role: Option<String>, item: Node<'_, '_>) {
        self.text.clear();
        let mark = self.write(item, section == SectionKind::Tools);
        self.segments.push(Segment {
            section,
            path,
            name: None,
            range: item.range(),
            text: self.text.as_str().into(),
            bytes: self.text.len(),
            digest: Digest::of_parts([role.as_deref().unwrap_or_default(), &self.text]),
            role,
            mark,
        });
    }

    /// Writes what a cache compares of an item, and gives the mark that is not among it: its own, or the
    /// last one inside.
    fn write(&mut self, item: Node<'_, '_>, is_tool: bool) -> Option<Mark> {
        if !item.is_object() {
            item.write(&mut self.text);
            return None;
        }
        let (mut own, mut inner) = (None, None);
        let mut said: Vec<(&str, Node<'_, '_>)> = Vec::new();
        for (key, value) in item.fields() {
            match key {
                "cache_control" | "prompt_cache_breakpoint" => own = Some(read_mark(value)),
                _ => said.push((key, value)),
            }
        }
        if let Some(text) = plain_text(&said).filter(|_| !is_tool) {
            text.write(&mut self.text);
            return own;
        }
        self.has_images |= said.iter().any(|(key, value)| *key == "type" && value.raw() == r#""image""#);
        // Of a function to be searched for, the model is told all but this (OpenAI, tool search guide).
        let hidden = if is_tool && is_deferred(item) { "parameters" } else { "" };
        said.retain(|(key, _)| *key != hidden);
        self.text.push('{');
        for (i, (key, value)) in said.into_iter().enumerate() {
            self.text.push_str(if i > 0 { ",\"" } else { "\"" });
            self.text.push_str(key);
            self.text.push_str("\":");
            match key {
                // A namespace: only its name and description stand for what is deferred in it.
                "tools" if is_tool => self.write_list(value.items().filter(|tool| !is_deferred(*tool)), &mut inner),
                // A result, or a message of more than blocks.
                "content" if !is_tool && value.is_array() => self.write_list(value.items(), &mut inner),
                // What an addition adds.
                "tool" if !is_tool => inner = self.write(value, false).or(inner),
                _ => value.write(&mut self.text),
            }
        }
        self.text.push('}');
        if !is_tool && let Some(definition) = reference(item).and_then(|name| self.deferred.get(&*name)) {
            self.text.push_str(definition);
        }
        own.or(inner)
    }

    fn write_list<'d, 'a: 'd>(&mut self, items: impl Iterator<Item = Node<'d, 'a>>, mark: &mut Option<Mark>) {
        self.text.push('[');
        for (i, item) in items.enumerate() {
            if i > 0 {
                self.text.push(',');
            }
            *mark = self.write(item, false).or(*mark);
        }
        self.text.push(']');
    }
}

/// The name of the tool that a block refers to.
fn reference<'a>(block: Node<'_, 'a>) -> Option<Cow<'a, str>> {
    block.get("type").filter(|kind| kind.raw() == r#""tool_reference""#)?;
    block.get("tool_name").or_else(|| block.get("name"))?.text()
}

/// The text of a block that holds nothing else.
fn plain_text<'d, 'a>(fields: &[(&str, Node<'d, 'a>)]) -> Option<Node<'d, 'a>> {
    let is_text = |kind: Node<'_, '_>| matches!(kind.raw(), r#""text""# | r#""input_text""# | r#""output_text""#);
    match fields {
        [("text", text)] => Some(*text),
        [("text", text), ("type", kind)] | [("type", kind), ("text", text)] if is_text(*kind) => Some(*text),
        _ => None,
    }
    .filter(|text| text.is_string())
}

/// Bedrock's mark: a block or a tool of its own, for what stands before it.
fn cache_point<'d, 'a>(item: Node<'d, 'a>) -> Option<Node<'d, 'a>> {
    item.get("cachePoint").filter(|_| item.fields().nth(1).is_none())
}

/// `{"type": "ephemeral", "ttl": "1h"}` and its like: a number and its unit.
fn read_mark(mark: Node<'_, '_>) -> Mark {
    let ttl_seconds = mark.get("ttl").and_then(Node::text).and_then(|ttl| {
        let (number, unit) = ttl.split_at_checked(ttl.len().checked_sub(1)?)?;
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            _ => return None,
        };
        number.parse::<u32>().ok()?.checked_mul(seconds)
    });
    Mark { ttl_seconds }
}
