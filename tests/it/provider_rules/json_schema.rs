//! JSON Schema 2020-12 as its meta-schemas state it (json-schema.org/draft/2020-12: core, applicator,
//! validation, meta-data), which Anthropic and OpenAI hold every schema against.

use serde_json::Value;

const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];

/// A visit of every schema in a schema, with where it stands.
pub(super) fn each<'a>(schema: &'a Value, at: &str, visit: &mut dyn FnMut(&'a Value, &str)) {
    visit(schema, at);
    let Some(object) = schema.as_object() else { return };
    for (key, value) in object {
        let at = format!("{at}/{key}");
        match (key.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => named.iter().for_each(|(name, child)| each(child, &format!("{at}/{name}"), visit)),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                list.iter().enumerate().for_each(|(i, child)| each(child, &format!("{at}/{i}"), visit));
            }
            (
                "items"
                | "contains"
                | "additionalProperties"
                | "propertyNames"
                | "not"
                | "if"
                | "then"
                | "else"
                | "unevaluatedItems"
                | "unevaluatedProperties"
                | "contentSchema",
                child,
            ) => each(child, &at, visit),
            _ => {}
        }
    }
}

/// What the meta-schema refuses.
pub(super) fn faults(schema: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    each(schema, "", &mut |node, at| match node {
        Value::Bool(_) => {}
        Value::Object(node) => {
            for (key, value) in node {
                if !is_formed(key, value) {
                    faults.push(format!("{at}/{key}: {value} is not of its form"));
                }
                if key == "$ref" && !resolves(schema, value) {
                    faults.push(format!("{at}/$ref: {value} points at nothing"));
                }
            }
        }
        _ => faults.push(format!("{at}: {node} is no schema")),
    });
    faults
}

fn is_formed(key: &str, value: &Value) -> bool {
    let count = || value.as_u64().is_some();
    match key {
        "$ref" | "$id" | "$schema" | "$anchor" | "$dynamicRef" | "$dynamicAnchor" | "$comment" | "title"
        | "description" | "format" | "contentEncoding" | "contentMediaType" => value.is_string(),
        "pattern" => value.as_str().is_some_and(closes),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|n| n > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains" | "minProperties"
        | "maxProperties" => count(),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        "type" => match value {
            Value::String(kind) => TYPES.contains(&kind.as_str()),
            Value::Array(kinds) => {
                !kinds.is_empty()
                    && unique(kinds)
                    && kinds.iter().all(|kind| kind.as_str().is_some_and(|kind| TYPES.contains(&kind)))
            }
            _ => false,
        },
        "required" => is_names(value),
        "dependentRequired" => value.as_object().is_some_and(|named| named.values().all(is_names)),
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "examples" => value.is_array(),
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => value.as_array().is_some_and(|list| !list.is_empty()),
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => value.is_object(),
        "items"
        | "contains"
        | "additionalProperties"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => value.is_object() || value.is_boolean(),
        _ => true,
    }
}

fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| unique(names) && names.iter().all(Value::is_string))
}

fn unique(values: &[Value]) -> bool {
    values.iter().enumerate().all(|(i, value)| !values[..i].contains(value))
}

/// Groups and classes of a pattern are closed.
fn closes(pattern: &str) -> bool {
    let (mut groups, mut in_class) = (0_i32, false);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.next().is_none() => return false,
            '\\' => {}
            ']' => in_class = false,
            '[' => in_class = true,
            '(' if !in_class => groups += 1,
            ')' if !in_class => {
                groups -= 1;
                if groups < 0 {
                    return false;
                }
            }
            _ => {}
        }
    }
    groups == 0 && !in_class
}

/// Whether a reference points at a schema within the whole.
fn resolves(whole: &Value, reference: &Value) -> bool {
    let Some(fragment) = reference.as_str().and_then(|reference| reference.strip_prefix('#')) else { return false };
    let fragment = fragment.replace("%20", " ").replace("%24", "$").replace("%25", "%");
    whole.pointer(&fragment).is_some_and(Value::is_object)
}

/// Whether a pattern looks ahead or behind.
pub(super) fn looks_around(pattern: &str) -> bool {
    let unescaped = pattern.replace("\\\\", "").replace("\\(", "");
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| unescaped.contains(group))
}
