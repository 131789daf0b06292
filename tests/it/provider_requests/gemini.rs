//! Gemini: API reference "Generating content" and "Caching"; guides "Function calling" and "Thought
//! signatures".

use std::collections::BTreeSet;

use serde_json::Value;

use super::check::{Faults, IMAGES, alternate};

/// The model is named in the URL.
const OPTIONAL: [&str; 5] = ["cachedContent", "generationConfig", "systemInstruction", "toolConfig", "tools"];

pub(super) fn check(body: &Value, faults: &mut Faults) {
    let keys = faults.object("", body, &["contents"], &OPTIONAL);
    if let Some(name) = keys.get("cachedContent") {
        faults.text("cachedContent", name);
        for key in ["systemInstruction", "toolConfig", "tools"] {
            faults.unless(keys.get(key).is_none(), key, "stands beside a cache");
        }
    }
    if let Some(config) = keys.get("generationConfig") {
        let config = faults.object("generationConfig", config, &[], &["maxOutputTokens"]);
        faults.positive("generationConfig", config.get("maxOutputTokens"));
    }
    let names = tools(keys.get("tools"), faults);
    if let Some(system) = keys.get("systemInstruction") {
        let system = faults.object("systemInstruction", system, &["parts"], &["role"]);
        for part in faults.list("systemInstruction", &system["parts"]) {
            let part = faults.object("systemInstruction", part, &["text"], &[]);
            faults.text("systemInstruction", &part["text"]);
        }
    }

    let mut roles = Vec::new();
    let mut waiting: Vec<(&Value, Option<&Value>)> = Vec::new();
    for (c, content) in faults.list("contents", &body["contents"]).iter().enumerate() {
        let at = format!("contents[{c}]");
        let content = faults.object(&at, content, &["role", "parts"], &[]);
        let role = faults.one_of(&at, &content["role"], &["user", "model"]);
        roles.push(role);
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for (p, part) in faults.list(&at, &content["parts"]).iter().enumerate() {
            let at = format!("{at}.parts[{p}]");
            match one_part(&at, part, role, faults) {
                ("functionCall", call) => {
                    // Whoever matches calls by id asks for the first one's signature too.
                    let signed = part.get("thoughtSignature").is_some() || call.get("id").is_none();
                    faults.unless(!calls.is_empty() || signed, &at, "the first call has no signature");
                    calls.push((&call["name"], call.get("id")));
                }
                ("functionResponse", result) => results.push((&result["name"], result.get("id"))),
                _ => {}
            }
        }
        faults.unless(results == waiting, &at, format!("its results are {results:?} for the calls {waiting:?}"));
        waiting = calls;
    }
    faults.unless(waiting.is_empty(), "contents", "ends with calls");
    alternate("contents", &roles, "user", faults);
    config(keys.get("toolConfig"), &names, faults);
}

fn tools<'v>(tools: Option<&'v Value>, faults: &mut Faults) -> BTreeSet<&'v str> {
    let mut names = Vec::new();
    for tool in tools.map_or(&[][..], |tools| faults.list("tools", tools)) {
        let tool = faults.object("tools", tool, &["functionDeclarations"], &[]);
        for (i, function) in faults.list("tools", &tool["functionDeclarations"]).iter().enumerate() {
            let at = format!("tools[0].functionDeclarations[{i}]");
            let keys = faults.object(&at, function, &["name", "description"], &["parameters", "parametersJsonSchema"]);
            let name = faults.word(&at, &keys["name"]);
            let first = |c: char| c.is_ascii_alphabetic() || c == '_';
            faults.unless(name.starts_with(first), &at, "its name begins with no letter");
            names.push(name);
            faults.text(&at, &keys["description"]);
            if let Some(schema) = keys.get("parameters") {
                faults.schema(&at, schema);
                let properties = schema["properties"].as_object();
                faults.unless(properties.is_some_and(|all| !all.is_empty()), &at, "its parameters are an empty object");
            }
            if let Some(schema) = keys.get("parametersJsonSchema") {
                faults.schema(&at, schema);
                faults.unless(keys.get("parameters").is_none(), &at, "has two schemas");
            }
        }
    }
    faults.unless(names.len() <= 128, "tools", "are more than 128");
    faults.unique("tools", &names)
}

fn one_part<'v>(at: &str, part: &'v Value, role: &str, faults: &mut Faults) -> (&'static str, &'v Value) {
    if let Some(signature) = part.get("thoughtSignature") {
        faults.unless(role == "model", at, "what the user says is signed");
        let signature = signature.as_str().unwrap_or_default().replace('_', "/").replace('-', "+");
        faults.base64(at, &signature.into());
    }
    let kinds: &[&'static str] =
        if role == "user" { &["text", "inlineData", "functionResponse"] } else { &["text", "functionCall"] };
    let kind = kinds.iter().copied().find(|kind| part.get(*kind).is_some()).unwrap_or_default();
    faults.object(at, part, &[kind], &["thoughtSignature"]);
    let value = part.get(kind).unwrap_or(&Value::Null);
    match kind {
        "text" => _ = faults.text(at, value),
        "inlineData" => inline_data(at, value, faults),
        "functionCall" => {
            let call = faults.object(at, value, &["name", "args"], &["id"]);
            faults.word(at, &call["name"]);
            faults.unless(call["args"].is_object(), at, "its args are no object");
        }
        "functionResponse" => {
            let result = faults.object(at, value, &["name", "response"], &["id", "parts"]);
            faults.object(at, &result["response"], &[], &["output", "error"]);
            for part in result.get("parts").map_or(&[][..], |parts| faults.list(at, parts)) {
                let part = faults.object(at, part, &["inlineData"], &[]);
                inline_data(at, &part["inlineData"], faults);
            }
        }
        _ => {}
    }
    (kind, value)
}

fn inline_data(at: &str, value: &Value, faults: &mut Faults) {
    let blob = faults.object(at, value, &["mimeType", "data"], &[]);
    faults.one_of(at, &blob["mimeType"], &IMAGES);
    faults.base64(at, &blob["data"]);
}

fn config(config: Option<&Value>, names: &BTreeSet<&str>, faults: &mut Faults) {
    let Some(config) = config else { return };
    let at = "toolConfig";
    faults.unless(!names.is_empty(), at, "there are no tools");
    let config = faults.object(at, config, &["functionCallingConfig"], &[]);
    let calling = faults.object(at, &config["functionCallingConfig"], &["mode"], &["allowedFunctionNames"]);
    let mode = faults.one_of(at, &calling["mode"], &["AUTO", "ANY", "NONE", "VALIDATED"]);
    if let Some(allowed) = calling.get("allowedFunctionNames") {
        faults.unless(mode == "ANY" || mode == "VALIDATED", at, format!("`{mode}` takes no names"));
        for name in faults.list(at, allowed) {
            faults.known(at, name, names);
        }
    }
}
