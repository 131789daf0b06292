//! Anthropic Messages: API reference "Create a message"; guides "Prompt caching", "Tool use", "Tool search
//! tool" and "Mid-conversation system messages".

use std::collections::BTreeSet;

use serde_json::Value;

use super::check::{Calls, Faults, IMAGES, alternate};

pub(super) fn check(body: &Value, faults: &mut Faults) {
    let keys = faults.object("", body, &["max_tokens", "messages"], &["model", "tools", "system", "tool_choice"]);
    faults.positive("max_tokens", keys.get("max_tokens"));
    let mut marks = Marks::default();

    let (mut names, mut deferred) = (Vec::new(), 0);
    for (i, tool) in keys.get("tools").map_or(&[][..], |tools| faults.list("tools", tools)).iter().enumerate() {
        let at = format!("tools[{i}]");
        let tool = faults.object(
            &at,
            tool,
            &["name", "input_schema"],
            &["description", "cache_control", "defer_loading", "strict"],
        );
        names.push(faults.word(&at, &tool["name"]));
        faults.schema(&at, &tool["input_schema"]);
        faults.strict(&at, tool.get("strict"), &tool["input_schema"]);
        tool.get("description").map(|text| faults.text(&at, text));
        if let Some(defer) = tool.get("defer_loading") {
            faults.unless(defer == true && tool.get("cache_control").is_none(), &at, "is deferred, and marked");
            deferred += 1;
        }
        marks.read(&at, tool.get("cache_control"), faults);
    }
    faults.unless(deferred == 0 || deferred < names.len(), "tools", "are all deferred");
    let names = faults.unique("tools", &names);

    for (i, block) in keys.get("system").map_or(&[][..], |blocks| faults.list("system", blocks)).iter().enumerate() {
        let at = format!("system[{i}]");
        let block = faults.object(&at, block, &["type", "text"], &["cache_control"]);
        faults.one_of(&at, &block["type"], &["text"]);
        faults.text(&at, &block["text"]);
        marks.read(&at, block.get("cache_control"), faults);
    }

    let mut roles = Vec::new();
    let mut calls = Calls::default();
    for (m, message) in faults.list("messages", &body["messages"]).iter().enumerate() {
        let at = format!("messages[{m}]");
        let message = faults.object(&at, message, &["role", "content"], &[]);
        let role = faults.one_of(&at, &message["role"], &["user", "assistant", "system"]);
        if role == "system" {
            faults.unless(roles.last() == Some(&"user"), &at, "follows no message of the user");
        } else {
            roles.push(role);
        }
        let mut said = false;
        for (b, block) in faults.list(&at, &message["content"]).iter().enumerate() {
            let at = format!("{at}.content[{b}]");
            let kind = content(&at, block, role, &names, &mut calls, faults);
            faults.unless(kind != "tool_result" || !said, &at, "a result stands after something else");
            said |= kind != "tool_result";
            marks.read(&at, block.get("cache_control"), faults);
        }
        if role == "user" {
            calls.answered(&at, faults);
        }
    }
    calls.answered("messages", faults);
    alternate("messages", &roles, "user", faults);
    marks.count(faults);
    choice(keys.get("tool_choice"), &names, faults);
}

/// What kind of block it is.
fn content<'v>(
    at: &str,
    block: &'v Value,
    role: &str,
    names: &BTreeSet<&str>,
    calls: &mut Calls<'v>,
    faults: &mut Faults,
) -> &'v str {
    let kinds: &[&str] = match role {
        "user" => &["text", "image", "tool_result"],
        "result" => &["text", "image", "tool_reference"],
        "system" => &["tool_addition"],
        _ => &["text", "tool_use"],
    };
    let kind = faults.one_of(at, &block["type"], kinds);
    match kind {
        "text" => {
            let block = faults.object(at, block, &["type", "text"], &["cache_control"]);
            faults.text(at, &block["text"]);
        }
        "image" => {
            let block = faults.object(at, block, &["type", "source"], &["cache_control"]);
            let source = faults.object(at, &block["source"], &["type", "media_type", "data"], &[]);
            faults.one_of(at, &source["type"], &["base64"]);
            faults.one_of(at, &source["media_type"], &IMAGES);
            faults.base64(at, &source["data"]);
        }
        "tool_use" => {
            let block = faults.object(at, block, &["type", "id", "name", "input"], &["cache_control"]);
            faults.word(at, &block["name"]);
            faults.unless(block["input"].is_object(), at, "its input is no object");
            calls.call(at, faults.word(at, &block["id"]), faults);
        }
        "tool_result" => {
            let block = faults.object(at, block, &["type", "tool_use_id"], &["content", "is_error", "cache_control"]);
            calls.result(at, block["tool_use_id"].as_str().unwrap_or_default(), faults);
            faults.unless(block.get("is_error").is_none_or(Value::is_boolean), at, "`is_error` is no boolean");
            for inner in block.get("content").map_or(&[][..], |content| faults.list(at, content)) {
                faults.unless(inner.get("cache_control").is_none(), at, "a mark stands inside a result");
                content(at, inner, "result", names, calls, faults);
            }
        }
        "tool_reference" => {
            let reference = faults.object(at, block, &["type", "tool_name"], &[]);
            faults.known(at, &reference["tool_name"], names);
        }
        "tool_addition" => {
            let addition = faults.object(at, block, &["type", "tool"], &["cache_control"]);
            let tool = faults.object(at, &addition["tool"], &["type", "name"], &[]);
            faults.one_of(at, &tool["type"], &["tool_reference"]);
            faults.known(at, &tool["name"], names);
        }
        _ => {}
    }
    kind
}

fn choice(choice: Option<&Value>, names: &BTreeSet<&str>, faults: &mut Faults) {
    let Some(choice) = choice else { return };
    faults.unless(!names.is_empty(), "tool_choice", "there are no tools");
    let kind = faults.one_of("tool_choice", &choice["type"], &["auto", "any", "none", "tool"]);
    if kind == "tool" {
        faults.known("tool_choice", &choice["name"], names);
        faults.object("tool_choice", choice, &["type", "name"], &[]);
    } else {
        faults.object("tool_choice", choice, &["type"], &[]);
    }
}

/// Cache marks in the order of the prefix: at most four, and none longer than one before it.
#[derive(Debug, Default)]
struct Marks {
    count: usize,
    short: bool,
}

impl Marks {
    fn read(&mut self, at: &str, mark: Option<&Value>, faults: &mut Faults) {
        let Some(mark) = mark else { return };
        let mark = faults.object(at, mark, &["type"], &["ttl"]);
        faults.one_of(at, &mark["type"], &["ephemeral"]);
        let ttl = mark.get("ttl").map_or("5m", |ttl| faults.one_of(at, ttl, &["5m", "1h"]));
        faults.unless(ttl != "1h" || !self.short, at, "an hour after five minutes");
        self.short |= ttl == "5m";
        self.count += 1;
    }

    fn count(&self, faults: &mut Faults) {
        faults.unless(self.count <= 4, "", format!("has {} cache marks, the limit is 4", self.count));
    }
}
