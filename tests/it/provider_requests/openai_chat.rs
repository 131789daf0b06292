//! OpenAI Chat Completions: API reference "Create chat completion"; guide "Function calling".

use std::collections::BTreeSet;

use serde_json::Value;

use super::check::{Calls, Faults};

const OPTIONAL: [&str; 6] =
    ["model", "max_completion_tokens", "max_tokens", "prompt_cache_key", "tools", "tool_choice"];

pub(super) fn check(body: &Value, faults: &mut Faults) {
    let keys = faults.object("", body, &["messages"], &OPTIONAL);
    faults.positive("max_completion_tokens", keys.get("max_completion_tokens"));
    faults.positive("max_tokens", keys.get("max_tokens"));

    let mut names = Vec::new();
    for (i, tool) in keys.get("tools").map_or(&[][..], |tools| faults.list("tools", tools)).iter().enumerate() {
        let at = format!("tools[{i}]");
        let tool = faults.object(&at, tool, &["type", "function"], &[]);
        faults.one_of(&at, &tool["type"], &["function"]);
        let function = faults.object(&at, &tool["function"], &["name", "parameters"], &["description", "strict"]);
        names.push(faults.word(&at, &function["name"]));
        faults.schema(&at, &function["parameters"]);
        faults.strict(&at, function.get("strict"), &function["parameters"]);
    }
    faults.unless(names.len() <= 128, "tools", "are more than 128");
    let names = faults.unique("tools", &names);

    let mut calls = Calls::default();
    let mut marks = 0;
    for (i, message) in faults.list("messages", &body["messages"]).iter().enumerate() {
        let at = format!("messages[{i}]");
        let role = faults.one_of(&at, &message["role"], &["system", "developer", "user", "assistant", "tool"]);
        if role != "tool" {
            // Results follow their calls at once.
            calls.answered(&at, faults);
        }
        match role {
            "system" | "developer" => {
                faults.unless(i == 0, &at, "the system text is not the first message");
                faults.object(&at, message, &["role", "content"], &[]);
                marks += content(&at, &message["content"], faults);
            }
            "user" => {
                faults.object(&at, message, &["role", "content"], &[]);
                marks += content(&at, &message["content"], faults);
            }
            "assistant" => assistant(&at, message, &mut calls, faults),
            "tool" => {
                faults.object(&at, message, &["role", "tool_call_id", "content"], &[]);
                calls.result(&at, message["tool_call_id"].as_str().unwrap_or_default(), faults);
                faults.unless(message["content"].is_string(), &at, "its content is no string");
            }
            _ => {}
        }
    }
    calls.answered("messages", faults);
    faults.unless(marks <= 4, "", format!("has {marks} cache marks, the limit is 4"));
    choice(keys.get("tool_choice"), &names, faults);
}

fn assistant<'v>(at: &str, message: &'v Value, calls: &mut Calls<'v>, faults: &mut Faults) {
    let keys = faults.object(at, message, &["role"], &["content", "tool_calls"]);
    let says = keys.get("content").or(keys.get("tool_calls"));
    faults.unless(says.is_some(), at, "has neither content nor calls");
    keys.get("content").map(|text| faults.text(at, text));
    for call in keys.get("tool_calls").map_or(&[][..], |calls| faults.list(at, calls)) {
        let call = faults.object(at, call, &["type", "id", "function"], &[]);
        faults.one_of(at, &call["type"], &["function"]);
        let function = faults.object(at, &call["function"], &["name", "arguments"], &[]);
        faults.word(at, &function["name"]);
        let arguments = function["arguments"].as_str().unwrap_or_default();
        let read: Result<serde_json::Map<String, Value>, _> = serde_json::from_str(arguments);
        faults.unless(read.is_ok(), at, "its arguments are no object in a string");
        calls.call(at, faults.word(at, &call["id"]), faults);
    }
}

/// How many cache marks it has.
fn content(at: &str, content: &Value, faults: &mut Faults) -> usize {
    if content.is_string() {
        faults.text(at, content);
        return 0;
    }
    let mut marks = 0;
    for (b, block) in faults.list(at, content).iter().enumerate() {
        let at = format!("{at}.content[{b}]");
        if faults.one_of(&at, &block["type"], &["text", "image_url"]) == "image_url" {
            let image = faults.object(&at, block, &["type", "image_url"], &["prompt_cache_breakpoint"]);
            let url = faults.object(&at, &image["image_url"], &["url"], &["detail"]);
            faults.data_url(&at, &url["url"]);
        } else {
            let text = faults.object(&at, block, &["type", "text"], &["prompt_cache_breakpoint"]);
            faults.text(&at, &text["text"]);
        }
        if let Some(mark) = block.get("prompt_cache_breakpoint") {
            faults.unless(mark["mode"] == "explicit", &at, "its mark is not explicit");
            marks += 1;
        }
    }
    marks
}

fn choice(choice: Option<&Value>, names: &BTreeSet<&str>, faults: &mut Faults) {
    let Some(choice) = choice else { return };
    let at = "tool_choice";
    faults.unless(!names.is_empty(), at, "there are no tools");
    if choice.is_string() {
        faults.one_of(at, choice, &["auto", "none", "required"]);
    } else if faults.one_of(at, &choice["type"], &["function", "allowed_tools"]) == "function" {
        function(choice, names, faults);
    } else {
        let choice = faults.object(at, choice, &["type", "allowed_tools"], &[]);
        let allowed = faults.object(at, &choice["allowed_tools"], &["mode", "tools"], &[]);
        faults.one_of(at, &allowed["mode"], &["auto", "required"]);
        for tool in faults.list(at, &allowed["tools"]) {
            function(tool, names, faults);
        }
    }
}

fn function(tool: &Value, names: &BTreeSet<&str>, faults: &mut Faults) {
    let tool = faults.object("tool_choice", tool, &["type", "function"], &[]);
    let function = faults.object("tool_choice", &tool["function"], &["name"], &[]);
    faults.known("tool_choice", &function["name"], names);
}
