//! Keywords that a provider does not know: said in words where that is short, or given up.

use serde_json::Value;

use super::{Losses, Object, patterns, walk};
use crate::json::canonical;

/// The longest value that is said in words, in bytes.
pub(super) const MAX_WORDS: usize = 200;

/// What can be said in words: values, and bounds of them.
const WORDS: [&str; 19] = [
    "contentEncoding",
    "contentMediaType",
    "default",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "uniqueItems",
];

/// What holds conditions that no short words say.
const CONDITIONS: [&str; 10] = [
    "additionalProperties",
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "not",
    "patternProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Leaves the fields of Gemini's `Schema` that the Developer API and Vertex AI both take, at the types
/// that they are about.
pub(super) fn gemini(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::parents_first(schema, losses, &mut |schema, losses| {
        if schema.contains_key("anyOf") {
            schema.retain(|keyword, _| keyword == "anyOf");
            return;
        }
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        give_up(schema, |keyword, value| is_taken(&kind, keyword, value), losses);
    });
    Ok(())
}

/// Takes away the keywords that are not taken. Values and bounds are said in words, conditions are lost, a title
/// is a description where there is none, and what says nothing of the value goes without a word.
pub(super) fn give_up(schema: &mut Object, is_taken: impl Fn(&str, &Value) -> bool, losses: &mut Losses<'_>) {
    let refused =
        schema.iter().filter(|(keyword, value)| !is_taken(keyword, value)).map(|(keyword, _)| keyword.clone());
    let mut refused: Vec<String> = refused.collect();
    refused.sort_unstable();
    for keyword in refused.iter().filter(|keyword| !WORDS.contains(&keyword.as_str())) {
        let Some(value) = schema.remove(keyword) else { continue };
        if keyword == "title" && value.as_str().is_some_and(|title| !title.trim().is_empty()) {
            schema.entry("description").or_insert(value);
        } else if CONDITIONS.contains(&keyword.as_str()) && !holds_anyway(&value) {
            losses.add(format_args!("`{keyword}` is removed: its condition is no longer said"));
        }
    }
    let words: Vec<&str> = refused.iter().map(String::as_str).filter(|keyword| WORDS.contains(keyword)).collect();
    say(schema, &words, losses);
}

/// A boolean says of further properties and items what models keep to, and an empty schema says nothing.
fn holds_anyway(condition: &Value) -> bool {
    condition.is_boolean() || condition.as_object().is_some_and(Object::is_empty)
}

/// Says patterns that look around in words. OpenAI refuses them, strict or not.
pub(super) fn no_lookaround(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::parents_first(schema, losses, &mut |schema, losses| {
        if schema.get("pattern").and_then(Value::as_str).is_some_and(patterns::has_lookaround) {
            say(schema, &["pattern"], losses);
        }
        let Some(Value::Object(named)) = schema.get_mut("patternProperties") else { return };
        let all = named.len();
        named.retain(|pattern, _| !patterns::has_lookaround(pattern));
        if named.len() < all {
            losses.add("`patternProperties` with look-around are removed: they are no longer said");
        }
    });
    Ok(())
}

/// Moves keywords into the description. What is too long is given up.
pub(super) fn say(schema: &mut Object, keywords: &[&str], losses: &mut Losses<'_>) {
    let mut said = Vec::new();
    for keyword in keywords {
        let Some(value) = schema.remove(*keyword) else { continue };
        if says_nothing(keyword, &value) {
            continue;
        }
        let text = canonical(&value);
        if text.len() > MAX_WORDS {
            losses.add(format_args!("`{keyword}` is removed: it is no longer said"));
        } else {
            said.push(format!("{keyword}: {text}"));
        }
    }
    if said.is_empty() {
        return;
    }
    let said = said.join(", ");
    let text = match schema.get("description").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) {
        Some(text) => format!("{text} ({said})"),
        None => said,
    };
    schema.insert("description".into(), text.into());
}

/// Values that no reader misses.
fn says_nothing(keyword: &str, value: &Value) -> bool {
    match keyword {
        "default" => value.is_null(),
        "uniqueItems" => *value == false,
        "enum" => value.as_array().is_some_and(|values| values.len() == 2 && values.iter().all(Value::is_boolean)),
        "examples" => value.as_array().is_some_and(Vec::is_empty),
        _ => false,
    }
}

/// Whether Gemini takes a keyword at a type.
fn is_taken(kind: &str, keyword: &str, value: &Value) -> bool {
    let counts = || value.as_i64().is_some();
    match (keyword, kind) {
        ("type", _) | ("items", "array") | ("properties" | "required", "object") => true,
        ("description", _) => value.as_str().is_some_and(|text| !text.trim().is_empty()),
        ("nullable", _) => *value == true,
        ("enum", "string") => value.as_array().is_some_and(|values| values.iter().all(Value::is_string)),
        ("format", "string") => value == "date-time",
        ("format", "integer") => value == "int32" || value == "int64",
        ("format", "number") => value == "float" || value == "double",
        ("pattern", "string") => value.as_str().is_some_and(|pattern| !patterns::has_lookaround(pattern)),
        ("minimum" | "maximum", "integer" | "number") => true,
        ("minLength" | "maxLength", "string")
        | ("minItems" | "maxItems", "array")
        | ("minProperties" | "maxProperties", "object") => counts(),
        _ => false,
    }
}
