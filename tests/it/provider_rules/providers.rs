//! What each provider asks of a tool's schema, stated from its documentation and the errors that its API gives.

use serde_json::Value;

use super::json_schema::{each, faults, looks_around};

/// Anthropic's Messages API. "tools.N.custom.input_schema: JSON schema is invalid. It must match JSON Schema
/// draft 2020-12"; "input_schema does not support oneOf, allOf, or anyOf at the top level";
/// "input_schema.type: Field required"; "input_schema.properties: Property keys should match pattern
/// '^[a-zA-Z0-9_.-]{1,64}$'".
pub(super) fn anthropic(schema: &Value) -> Vec<String> {
    let mut faults = faults(schema);
    faults.extend(root_is_plain(schema, &["oneOf", "allOf", "anyOf"]));
    faults.extend(argument_names(schema));
    faults
}

/// OpenAI without strict mode. "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not'
/// at the top level"; "object schema missing properties"; "array schema missing items"; "True is not of type
/// 'object'" for schemas that are booleans; "Invalid JSON schema: regex lookaround is not supported".
pub(super) fn openai(schema: &Value) -> Vec<String> {
    let mut faults = faults(schema);
    faults.extend(root_is_plain(schema, &["oneOf", "anyOf", "allOf", "enum", "not"]));
    each(schema, "", &mut |node, at| {
        if node.is_boolean() && !at.ends_with("dditionalProperties") && !at.contains("unevaluated") {
            faults.push(format!("{at}: a boolean is no schema"));
        }
        let kinds = node.get("type").map(kinds).unwrap_or_default();
        if kinds.contains(&"array") && !node.get("items").is_some_and(Value::is_object) {
            faults.push(format!("{at}: array schema missing items"));
        }
        let patterns = node.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        let pattern = node.get("pattern").and_then(Value::as_str);
        if pattern.into_iter().chain(patterns.map(|(name, _)| name.as_str())).any(looks_around) {
            faults.push(format!("{at}: regex lookaround is not supported"));
        }
    });
    faults
}

/// Gemini's `parameters`: the message `Schema` (ai.google.dev/api/caching#Schema and the same of Vertex AI), and
/// the errors of both: "Unknown name …: Cannot find field"; "Proto field is not repeating, cannot start list";
/// "type: must be specified when not using one_of, any_of or all_of fields"; "When using any_of, it must be
/// the only field set"; "items: missing field"; "enum: only allowed for STRING type"; "enum[0]: cannot be
/// empty"; "format: only 'enum' and 'date-time' are supported for STRING type"; "properties: should be non-empty
/// for OBJECT type"; "required[0]: property is not defined".
pub(super) fn gemini(schema: &Value) -> Vec<String> {
    const FIELDS: [&str; 16] = [
        "type",
        "format",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
    ];
    let mut faults = Vec::new();
    if schema["type"] != "object" {
        faults.push("parameters schema should be of type OBJECT".into());
    }
    each(schema, "", &mut |node, at| {
        let mut fault = |what: &str| faults.push(format!("{at}: {what}"));
        let Some(fields) = node.as_object() else { return fault("is no Schema") };
        for (field, value) in fields {
            if !FIELDS.contains(&field.as_str()) && field != "minimum" && field != "maximum" {
                fault(&format!("unknown name {field}"));
            }
            let is_formed = match field.as_str() {
                "type" | "format" | "description" | "pattern" => value.is_string(),
                "nullable" => value.is_boolean(),
                "minimum" | "maximum" => value.is_number(),
                "enum" | "required" => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
                "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" => {
                    value.as_i64().is_some_and(|count| count >= 0)
                }
                "items" | "properties" => value.is_object(),
                "anyOf" => value.as_array().is_some_and(|list| !list.is_empty()),
                _ => true,
            };
            if !is_formed {
                fault(&format!("{field} is {value}"));
            }
        }
        if fields.contains_key("anyOf") {
            if fields.len() > 1 {
                fault("any_of is not the only field");
            }
            return;
        }
        let kind = node["type"].as_str().unwrap_or_default();
        if !["string", "number", "integer", "boolean", "array", "object"].contains(&kind) {
            fault("type is not specified");
        }
        if kind == "array" && !fields.contains_key("items") {
            fault("items: missing field");
        }
        if kind == "object" && node["properties"].as_object().is_none_or(|properties| properties.is_empty()) {
            fault("properties: should be non-empty");
        }
        if let Some(values) = node.get("enum").and_then(Value::as_array) {
            if kind != "string" {
                fault("enum: only allowed for STRING type");
            }
            if values.is_empty() || values.iter().any(|value| value == "") {
                fault("enum: cannot be empty");
            }
        }
        if let Some(format) = node.get("format").and_then(Value::as_str) {
            let known: &[&str] = match kind {
                "string" => &["enum", "date-time"],
                "integer" => &["int32", "int64"],
                "number" => &["float", "double"],
                _ => &[],
            };
            if !known.contains(&format) {
                fault("format is not supported");
            }
        }
        for name in node.get("required").and_then(Value::as_array).into_iter().flatten() {
            if name.as_str().is_none_or(|name| node["properties"].get(name).is_none()) {
                fault(&format!("required: property {name} is not defined"));
            }
        }
    });
    faults
}

/// Bedrock's Converse: "The value at toolConfig.tools.N.toolSpec.inputSchema.json.type must be one of the
/// following: object". Amazon Nova's guide on tools: at the root `type`, `properties` and `required` alone; its
/// models follow no references. Claude, which it serves too, asks for what Anthropic does.
pub(super) fn bedrock(schema: &Value) -> Vec<String> {
    let mut faults = anthropic(schema);
    for key in schema.as_object().into_iter().flat_map(|root| root.keys()) {
        if !["type", "properties", "required"].contains(&key.as_str()) {
            faults.push(format!("root {key} is not supported"));
        }
    }
    each(schema, "", &mut |node, at| {
        for key in ["$ref", "$defs", "definitions"] {
            if node.get(key).is_some() {
                faults.push(format!("{at}: {key} is not followed"));
            }
        }
    });
    faults
}

fn root_is_plain(schema: &Value, refused: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    if schema["type"] != "object" {
        faults.push(format!("root type is {}", schema["type"]));
    }
    if !schema["properties"].is_object() {
        faults.push("root properties are missing".into());
    }
    let found = refused.iter().filter(|key| schema.get(**key).is_some());
    faults.extend(found.map(|key| format!("root has {key}")));
    faults
}

fn argument_names(schema: &Value) -> Vec<String> {
    let is_name = |name: &str| {
        (1..=64).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
    };
    let names = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
    names.filter(|name| !is_name(name)).map(|name| format!("property key {name:?} does not match")).collect()
}

pub(super) fn kinds(kind: &Value) -> Vec<&str> {
    match kind {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
