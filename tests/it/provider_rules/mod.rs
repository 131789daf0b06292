//! What five providers refuse in tools, and that nothing that is rendered is refused.
//!
//! The rules are stated here a second time, from documentation and from the errors that the APIs give, and
//! share no code with the library: a rule that is wrong in one place is found by the other.

mod generated;
mod json_schema;
mod meaning;
mod providers;
mod real;
mod strict;

use std::collections::BTreeSet;

use serde_json::Value;

/// A tool of a request, in the same form for every provider.
struct Declared<'a> {
    name: &'a str,
    /// Absent where the provider takes a tool without.
    description: Option<&'a Value>,
    schema: Option<&'a Value>,
    is_strict: bool,
}

/// What `provider`, by the name that [`Provider::name`](proem::render::Provider::name) gives, would refuse of the
/// tools of a request.
pub(crate) fn check_tools(provider: &str, body: &Value) -> Vec<String> {
    let tools = declared(provider, body);
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    for tool in &tools {
        let mut of_tool = check_name(provider, tool.name);
        if !names.insert(tool.name) {
            of_tool.push("another tool has this name".into());
        }
        of_tool.extend(check_description(provider, tool.description));
        of_tool.extend(match (provider, tool.schema) {
            ("gemini", None) => Vec::new(),
            (_, None) => vec!["has no schema".to_owned()],
            (_, Some(schema)) => check_schema(provider, schema, tool.is_strict),
        });
        faults.extend(of_tool.into_iter().map(|fault| format!("{}: {fault}", tool.name)));
    }
    faults.extend(check_counts(provider, &tools));
    faults
}

/// How many tools a request declares.
fn count_tools(provider: &str, body: &Value) -> usize {
    declared(provider, body).len()
}

fn declared<'a>(provider: &str, body: &'a Value) -> Vec<Declared<'a>> {
    let list = |value: &'a Value| value.as_array().into_iter().flatten();
    let name = |tool: &'a Value| tool["name"].as_str().unwrap_or_default();
    match provider {
        // Tools of the provider's own have a type, and rules of their own.
        "anthropic" => list(&body["tools"])
            .filter(|tool| tool.get("type").is_none_or(|kind| kind == "custom"))
            .map(|tool| Declared {
                name: name(tool),
                description: tool.get("description"),
                schema: tool.get("input_schema"),
                is_strict: tool["strict"] == true,
            })
            .collect(),
        "openai-responses" => list(&body["tools"])
            .flat_map(|tool| if tool["type"] == "namespace" { list(&tool["tools"]).collect() } else { vec![tool] })
            .filter(|tool| tool["type"] == "function")
            .map(|tool| Declared {
                name: name(tool),
                description: tool.get("description"),
                schema: tool.get("parameters"),
                is_strict: tool["strict"] == true,
            })
            .collect(),
        "openai-chat" => list(&body["tools"])
            .map(|tool| &tool["function"])
            .map(|tool| Declared {
                name: name(tool),
                description: tool.get("description"),
                schema: tool.get("parameters"),
                is_strict: tool["strict"] == true,
            })
            .collect(),
        "gemini" => list(&body["tools"])
            .flat_map(|tool| list(&tool["functionDeclarations"]))
            .map(|tool| Declared {
                name: name(tool),
                description: tool.get("description"),
                schema: tool.get("parameters"),
                is_strict: false,
            })
            .collect(),
        "bedrock" => list(&body["toolConfig"]["tools"])
            .filter_map(|tool| tool.get("toolSpec"))
            .map(|tool| Declared {
                name: name(tool),
                description: tool.get("description"),
                schema: tool["inputSchema"].get("json"),
                is_strict: false,
            })
            .collect(),
        other => panic!("no rules are stated for {other}"),
    }
}

/// - Anthropic: `^[a-zA-Z0-9_-]{1,64}$` by the errors of the API until 2026, and in `tool_reference` since.
/// - OpenAI: a-z, A-Z, 0-9, underscores and dashes, at most 64 (API reference, function tools).
/// - Gemini: a letter or underscore first, then letters, digits, underscores, dots and dashes, at most 63 or 64
///   (reference of `FunctionDeclaration`, by version).
/// - Bedrock: `[a-zA-Z0-9_-]+`, 1 to 64 (API reference, `ToolSpecification`).
fn check_name(provider: &str, name: &str) -> Vec<String> {
    let is_gemini = provider == "gemini";
    let max = if is_gemini { 63 } else { 64 };
    let is_first = |c: char| !is_gemini || c.is_ascii_alphabetic() || c == '_';
    let is_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || is_gemini && c == '.';
    let fits = (1..=max).contains(&name.len()) && name.starts_with(is_first) && name.chars().all(is_char);
    if fits { Vec::new() } else { vec![format!("the name {name:?} is refused")] }
}

/// A description is a text; Bedrock's is not empty.
fn check_description(provider: &str, description: Option<&Value>) -> Vec<String> {
    match description {
        None => Vec::new(),
        Some(Value::String(text)) if provider != "bedrock" || !text.is_empty() => Vec::new(),
        Some(other) => vec![format!("the description is {other}")],
    }
}

fn check_schema(provider: &str, schema: &Value, is_strict: bool) -> Vec<String> {
    let mut faults = match provider {
        "anthropic" => providers::anthropic(schema),
        "openai-chat" | "openai-responses" => providers::openai(schema),
        "gemini" => providers::gemini(schema),
        _ => providers::bedrock(schema),
    };
    match provider {
        "anthropic" if is_strict => faults.extend(strict::anthropic(schema)),
        _ if is_strict => faults.extend(strict::openai(schema)),
        _ => {}
    }
    faults
}

/// - OpenAI: 128 tools ("array too long. Expected an array with maximum length 128").
/// - Gemini: 128 function declarations (Vertex AI's reference of `Tool`).
/// - Anthropic: 20 strict tools (structured outputs, complexity limits).
fn check_counts(provider: &str, tools: &[Declared<'_>]) -> Vec<String> {
    let mut faults = Vec::new();
    if matches!(provider, "openai-chat" | "openai-responses" | "gemini") && tools.len() > 128 {
        faults.push(format!("{} tools are more than 128", tools.len()));
    }
    if provider == "anthropic" {
        let strict: Vec<&Value> = tools.iter().filter(|tool| tool.is_strict).filter_map(|tool| tool.schema).collect();
        faults.extend(strict::anthropic_together(&strict));
    }
    faults
}

#[test]
fn the_checker_finds_what_is_refused() {
    use serde_json::json;
    let anthropic = |schema: Value| json!({"tools": [{"name": "a", "input_schema": schema}]});
    let openai = |schema: Value| json!({"tools": [{"type": "function", "name": "a", "parameters": schema}]});
    let gemini = |schema: Value| json!({"tools": [{"functionDeclarations": [{"name": "a", "parameters": schema}]}]});
    let bedrock = |schema: Value| json!({"toolConfig": {"tools": [{"toolSpec": {"name": "a", "inputSchema": {"json": schema}}}]}});
    let of = |property: Value| json!({"type": "object", "properties": {"p": property}});
    for (provider, body) in [
        ("anthropic", anthropic(json!({"type": "object", "properties": {}, "anyOf": [{}]}))),
        ("anthropic", anthropic(of(json!({"minimum": 0, "exclusiveMinimum": true})))),
        ("anthropic", anthropic(of(json!({"type": "array", "items": [{}]})))),
        ("anthropic", anthropic(of(json!({"$ref": "#/$defs/A"})))),
        ("anthropic", anthropic(json!({"type": "object", "properties": {"a[b]": {}}}))),
        ("openai-responses", openai(of(json!({"type": "array"})))),
        ("openai-responses", openai(of(json!({"type": "string", "pattern": "^(?!a)"})))),
        ("openai-responses", openai(json!({"type": "object"}))),
        ("gemini", gemini(json!({"type": "object", "properties": {}}))),
        ("gemini", gemini(of(json!({})))),
        ("gemini", gemini(of(json!({"type": ["string", "null"]})))),
        ("gemini", gemini(of(json!({"type": "integer", "enum": ["1"]})))),
        ("gemini", gemini(of(json!({"type": "string", "format": "uuid"})))),
        ("gemini", gemini(of(json!({"type": "string", "const": "a"})))),
        ("gemini", gemini(of(json!({"anyOf": [{"type": "string"}], "description": "d"})))),
        ("gemini", gemini(json!({"type": "object", "properties": {"p": {"type": "string"}}, "required": ["q"]}))),
        ("bedrock", bedrock(json!({"type": "object", "properties": {}, "additionalProperties": false}))),
        ("bedrock", bedrock(json!({"properties": {}}))),
        (
            "bedrock",
            json!({"toolConfig": {"tools": [{"toolSpec": {"name": "a b", "inputSchema": {"json": of(json!({}))}}}]}}),
        ),
    ] {
        assert!(!check_tools(provider, &body).is_empty(), "{provider}: {body}");
    }
    for (provider, body) in [
        ("anthropic", anthropic(of(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})))),
        ("openai-responses", openai(of(json!({"type": "array", "items": {}})))),
        ("gemini", gemini(of(json!({"type": "string", "nullable": true, "enum": ["a"]})))),
        ("gemini", json!({"tools": [{"functionDeclarations": [{"name": "a"}]}]})),
        ("bedrock", bedrock(of(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})))),
    ] {
        assert_eq!(check_tools(provider, &body), Vec::<String>::new(), "{provider}: {body}");
    }
}
