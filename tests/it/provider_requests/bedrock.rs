//! Amazon Bedrock Converse: API reference "Converse" and its data types; user guide "Prompt caching".

use std::collections::BTreeSet;

use serde_json::Value;

use super::check::{Calls, Faults, alternate};

/// The model is named in the URL.
const OPTIONAL: [&str; 3] = ["inferenceConfig", "system", "toolConfig"];

pub(super) fn check(body: &Value, faults: &mut Faults) {
    let keys = faults.object("", body, &["messages"], &OPTIONAL);
    if let Some(config) = keys.get("inferenceConfig") {
        let config = faults.object("inferenceConfig", config, &[], &["maxTokens"]);
        faults.positive("inferenceConfig", config.get("maxTokens"));
    }
    let mut points = Points::default();
    if let Some(config) = keys.get("toolConfig") {
        let config = faults.object("toolConfig", config, &["tools"], &["toolChoice"]);
        let names = tools(&config["tools"], &mut points, faults);
        choice(config.get("toolChoice"), &names, faults);
    }
    for (i, block) in keys.get("system").map_or(&[][..], |blocks| faults.list("system", blocks)).iter().enumerate() {
        let at = format!("system[{i}]");
        match faults.union(&at, block, &["text", "cachePoint"]) {
            ("text", text) => _ = faults.text(&at, text),
            (_, point) => points.read(&at, i, point, faults),
        }
    }

    let mut roles = Vec::new();
    let mut calls = Calls::default();
    let mut called = false;
    for (m, message) in faults.list("messages", &body["messages"]).iter().enumerate() {
        let at = format!("messages[{m}]");
        let message = faults.object(&at, message, &["role", "content"], &[]);
        let role = faults.one_of(&at, &message["role"], &["user", "assistant"]);
        roles.push(role);
        for (b, block) in faults.list(&at, &message["content"]).iter().enumerate() {
            let at = format!("{at}.content[{b}]");
            let kinds: &[&str] = if role == "user" {
                &["text", "image", "toolResult", "cachePoint"]
            } else {
                &["text", "toolUse", "cachePoint"]
            };
            match faults.union(&at, block, kinds) {
                ("cachePoint", point) => points.read(&at, b, point, faults),
                (kind, value) => {
                    called |= kind == "toolUse" || kind == "toolResult";
                    content(&at, kind, value, &mut calls, faults);
                }
            }
        }
        if role == "user" {
            calls.answered(&at, faults);
        }
    }
    calls.answered("messages", faults);
    alternate("messages", &roles, "user", faults);
    faults.unless(!called || keys.get("toolConfig").is_some(), "", "has calls in messages and no tools");
    faults.unless(points.count <= 4, "", format!("has {} cache points, the limit is 4", points.count));
}

fn tools<'v>(tools: &'v Value, points: &mut Points, faults: &mut Faults) -> BTreeSet<&'v str> {
    let mut names = Vec::new();
    for (i, tool) in faults.list("toolConfig", tools).iter().enumerate() {
        let at = format!("toolConfig.tools[{i}]");
        match faults.union(&at, tool, &["toolSpec", "cachePoint"]) {
            ("toolSpec", tool) => {
                let tool = faults.object(&at, tool, &["name", "inputSchema"], &["description"]);
                names.push(faults.word(&at, &tool["name"]));
                tool.get("description").map(|text| faults.text(&at, text));
                let schema = faults.object(&at, &tool["inputSchema"], &["json"], &[]);
                faults.schema(&at, &schema["json"]);
            }
            (_, point) => points.read(&at, i, point, faults),
        }
    }
    faults.unique("toolConfig", &names)
}

fn content<'v>(at: &str, kind: &str, value: &'v Value, calls: &mut Calls<'v>, faults: &mut Faults) {
    match kind {
        "text" => _ = faults.text(at, value),
        "image" => {
            let image = faults.object(at, value, &["format", "source"], &[]);
            faults.one_of(at, &image["format"], &["png", "jpeg", "gif", "webp"]);
            let source = faults.object(at, &image["source"], &["bytes"], &[]);
            faults.base64(at, &source["bytes"]);
        }
        "toolUse" => {
            let call = faults.object(at, value, &["toolUseId", "name", "input"], &[]);
            faults.word(at, &call["name"]);
            faults.unless(call["input"].is_object(), at, "its input is no object");
            calls.call(at, faults.word(at, &call["toolUseId"]), faults);
        }
        "toolResult" => {
            let result = faults.object(at, value, &["toolUseId", "content"], &["status"]);
            calls.result(at, faults.word(at, &result["toolUseId"]), faults);
            let status = result.get("status").map(|status| faults.one_of(at, status, &["success", "error"]));
            let Some(blocks) = result["content"].as_array() else { return faults.add(at, "its content is no list") };
            faults.unless(!blocks.is_empty() || status != Some("error"), at, "a failure says nothing");
            for block in blocks {
                let (kind, value) = faults.union(at, block, &["text", "image"]);
                content(at, kind, value, calls, faults);
            }
        }
        _ => {}
    }
}

fn choice(choice: Option<&Value>, names: &BTreeSet<&str>, faults: &mut Faults) {
    let Some(choice) = choice else { return };
    let at = "toolConfig.toolChoice";
    match faults.union(at, choice, &["auto", "any", "tool"]) {
        ("tool", tool) => {
            let tool = faults.object(at, tool, &["name"], &[]);
            faults.known(at, &tool["name"], names);
        }
        (_, nothing) => _ = faults.object(at, nothing, &[], &[]),
    }
}

/// Cache points in the order of the prefix: at most four, after something, none longer than one before it.
#[derive(Debug, Default)]
struct Points {
    count: usize,
    short: bool,
}

impl Points {
    fn read(&mut self, at: &str, place: usize, point: &Value, faults: &mut Faults) {
        faults.unless(place > 0, at, "a cache point has nothing before it");
        let point = faults.object(at, point, &["type"], &["ttl"]);
        faults.one_of(at, &point["type"], &["default"]);
        let ttl = point.get("ttl").map_or("5m", |ttl| faults.one_of(at, ttl, &["5m", "1h"]));
        faults.unless(ttl != "1h" || !self.short, at, "an hour after five minutes");
        self.short |= ttl == "5m";
        self.count += 1;
    }
}
