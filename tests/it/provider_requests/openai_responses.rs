//! OpenAI Responses: API reference "Create a model response"; guides "Function calling", "Tool search" and
//! "Prompt caching".

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::check::{Calls, Faults};

const OPTIONAL: [&str; 5] = ["model", "max_output_tokens", "prompt_cache_key", "tools", "tool_choice"];

pub(super) fn check(body: &Value, faults: &mut Faults) {
    let keys = faults.object("", body, &["input"], &OPTIONAL);
    faults.positive("max_output_tokens", keys.get("max_output_tokens"));

    let mut names = Vec::new();
    for (i, tool) in keys.get("tools").map_or(&[][..], |tools| faults.list("tools", tools)).iter().enumerate() {
        let at = format!("tools[{i}]");
        if tool["type"] == "tool_search" {
            let search = faults.object(&at, tool, &["type", "execution", "parameters"], &["description"]);
            faults.one_of(&at, &search["execution"], &["client"]);
            faults.schema(&at, &search["parameters"]);
        } else {
            names.push(function(&at, tool, &[], faults));
        }
    }
    faults.unless(names.len() <= 128, "tools", "are more than 128");
    let mut names = faults.unique("tools", &names);
    let mut namespaces = BTreeMap::new();

    let mut calls = Calls::default();
    let mut marks = 0;
    for (i, item) in faults.list("input", &body["input"]).iter().enumerate() {
        let at = format!("input[{i}]");
        match item["type"].as_str() {
            Some("function_call") => {
                let call = faults.object(&at, item, &["type", "call_id", "name", "arguments"], &["namespace"]);
                let namespace = namespaces.get(faults.word(&at, &call["name"])).copied();
                let given = call.get("namespace").and_then(Value::as_str);
                faults.unless(given == namespace, &at, "its namespace is not the one that its tool was found in");
                let arguments = call["arguments"].as_str().unwrap_or_default();
                let read: Result<serde_json::Map<String, Value>, _> = serde_json::from_str(arguments);
                faults.unless(read.is_ok(), &at, "its arguments are no object in a string");
                calls.call(&at, faults.word(&at, &call["call_id"]), faults);
            }
            Some("function_call_output") => {
                let result = faults.object(&at, item, &["type", "call_id", "output"], &[]);
                calls.result(&at, result["call_id"].as_str().unwrap_or_default(), faults);
                if !result["output"].is_string() {
                    marks += content(&at, &result["output"], "user", faults);
                }
            }
            Some("tool_search_call") => {
                let call = faults.object(&at, item, &["type", "call_id", "execution", "status", "arguments"], &[]);
                faults.unless(call["arguments"].is_object(), &at, "its arguments are no object");
                calls.call(&at, faults.word(&at, &call["call_id"]), faults);
            }
            Some("tool_search_output") => {
                let result = faults.object(&at, item, &["type", "call_id", "execution", "status", "tools"], &[]);
                calls.result(&at, result["call_id"].as_str().unwrap_or_default(), faults);
                for space in result["tools"].as_array().into_iter().flatten() {
                    let space = faults.object(&at, space, &["type", "name", "description", "tools"], &[]);
                    faults.one_of(&at, &space["type"], &["namespace"]);
                    let name = faults.word(&at, &space["name"]);
                    for tool in faults.list(&at, &space["tools"]) {
                        let tool = function(&at, tool, &["defer_loading"], faults);
                        names.insert(tool);
                        namespaces.insert(tool, name);
                    }
                }
            }
            Some("additional_tools") => {
                let added = faults.object(&at, item, &["type", "role", "tools"], &[]);
                faults.one_of(&at, &added["role"], &["developer"]);
                for tool in faults.list(&at, &added["tools"]) {
                    names.insert(function(&at, tool, &[], faults));
                }
            }
            Some("message") | None => {
                let message = faults.object(&at, item, &["role", "content"], &["type"]);
                let role = faults.one_of(&at, &message["role"], &["developer", "system", "user", "assistant"]);
                marks += content(&at, &message["content"], role, faults);
                // The results come before all else that the user says; the model may say more after its calls.
                if role == "user" {
                    calls.answered(&at, faults);
                }
            }
            Some(other) => faults.add(&at, format!("is of the kind `{other}`")),
        }
    }
    calls.answered("input", faults);
    faults.unless(marks <= 4, "", format!("has {marks} cache marks, the limit is 4"));
    choice(keys.get("tool_choice"), &names, faults);
}

/// The name of a function.
fn function<'v>(at: &str, tool: &'v Value, also: &[&str], faults: &mut Faults) -> &'v str {
    let required = [&["type", "name", "parameters", "strict"], also].concat();
    let tool = faults.object(at, tool, &required, &["description"]);
    faults.one_of(at, &tool["type"], &["function"]);
    faults.schema(at, &tool["parameters"]);
    faults.strict(at, tool.get("strict"), &tool["parameters"]);
    faults.word(at, &tool["name"])
}

/// How many cache marks it has.
fn content(at: &str, content: &Value, role: &str, faults: &mut Faults) -> usize {
    let mut marks = 0;
    for (b, block) in faults.list(at, content).iter().enumerate() {
        let at = format!("{at}.content[{b}]");
        let kinds: &[&str] = if role == "assistant" { &["output_text"] } else { &["input_text", "input_image"] };
        if faults.one_of(&at, &block["type"], kinds) == "input_image" {
            let image = faults.object(&at, block, &["type", "image_url"], &["detail", "prompt_cache_breakpoint"]);
            faults.data_url(&at, &image["image_url"]);
        } else {
            let text = faults.object(&at, block, &["type", "text"], &["prompt_cache_breakpoint"]);
            faults.text(&at, &text["text"]);
        }
        if let Some(mark) = block.get("prompt_cache_breakpoint") {
            faults.unless(mark["mode"] == "explicit", &at, "its mark is not explicit");
            faults.unless(role != "assistant", &at, "the model's text carries a mark");
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
        faults.object(at, choice, &["type", "name"], &[]);
        faults.known(at, &choice["name"], names);
    } else {
        faults.object(at, choice, &["type", "mode", "tools"], &[]);
        faults.one_of(at, &choice["mode"], &["auto", "required"]);
        for tool in faults.list(at, &choice["tools"]) {
            faults.object(at, tool, &["type", "name"], &[]);
            faults.one_of(at, &tool["type"], &["function"]);
            faults.known(at, &tool["name"], names);
        }
    }
}
