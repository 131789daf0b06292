//! Repair of input schemas: a list of small rules for each provider, applied to a copy.
//!
//! A rule changes the schema where the provider would refuse it, says what the model is no longer
//! told by it, and fails only where nothing sensible is left. A new provider is a new list.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::{Map, Value, value::RawValue};

use crate::{error::excerpt, json, protocol::Schema};

/// One repair. Adds a sentence for each thing that is lost; the error is why the tool cannot be rendered.
pub(super) type Rule = fn(&mut Map<String, Value>, &mut Vec<String>) -> Result<(), String>;

/// What providers agree on that take JSON Schema: an object at the root that says its properties
/// by itself. Anthropic and OpenAI refuse the whole request otherwise.
pub(super) const PLAIN_ROOT: &[Rule] =
    &[drop_dialect, inline_root_ref, fold_root_composition, drop_root_conditions, object_root];

/// The largest schema, in bytes of canonical JSON: some 60,000 tokens, which no one tool is worth.
const MAX_BYTES: usize = 256 * 1024;

/// How many local references in a row are followed at the root.
const MAX_REFS: usize = 8;

/// A schema as one provider takes it.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Repaired {
    pub(super) schema: Schema,
    /// What the model is no longer told, one sentence each.
    pub(super) losses: Vec<String>,
}

/// Applies `rules` to a copy of `schema`. The error is why the tool cannot be rendered.
pub(super) fn repair(schema: &Schema, rules: &[Rule]) -> Result<Repaired, String> {
    // First of all: everything after it may recurse.
    if schema.depth() > json::MAX_DEPTH {
        return Err(format!("its schema is nested deeper than {}", json::MAX_DEPTH));
    }
    let mut losses = Vec::new();
    let schema = if is_plain(schema) {
        schema.clone()
    } else {
        let mut repaired = schema.to_map();
        for rule in rules {
            rule(&mut repaired, &mut losses)?;
        }
        repaired.into()
    };
    if schema.as_str().len() > MAX_BYTES {
        return Err(format!("its schema is larger than {MAX_BYTES} bytes"));
    }
    Ok(Repaired { schema, losses })
}

/// Whether no rule has anything to do, as with most schemas: then its text is taken as it is, and
/// only its root is looked at. The keys are all those that some rule touches.
fn is_plain(schema: &Schema) -> bool {
    const REPAIRED: [&str; 10] = ["$schema", "$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum"];
    let Ok(root) = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(schema.as_str()) else { return false };
    let text = |key: &str| root.get(key).map(|value| value.get());
    text("type") == Some("\"object\"")
        && text("properties").is_some_and(|properties| properties.starts_with('{'))
        && text("required").is_none_or(|names| serde_json::from_str::<Vec<Cow<'_, str>>>(names).is_ok())
        && !REPAIRED.iter().any(|key| root.contains_key(*key))
}

/// `$schema` names the dialect, which no provider asks for: nothing is lost.
fn drop_dialect(schema: &mut Map<String, Value>, _: &mut Vec<String>) -> Result<(), String> {
    schema.remove("$schema");
    Ok(())
}

/// A root that only points at one of its own definitions becomes that definition: nothing is lost.
fn inline_root_ref(schema: &mut Map<String, Value>, _: &mut Vec<String>) -> Result<(), String> {
    for _ in 0..MAX_REFS {
        let Some(reference) = schema.remove("$ref") else { return Ok(()) };
        let Some(target) = reference.as_str().and_then(|reference| local(schema, reference)).cloned() else {
            return Err(format!("its schema refers to {}, which it does not hold", excerpt(&reference.to_string())));
        };
        for (key, value) in target {
            schema.entry(key).or_insert(value);
        }
    }
    if schema.contains_key("$ref") { Err("its schema refers to itself".into()) } else { Ok(()) }
}

/// Root `allOf`, `anyOf` and `oneOf` are refused. Their branches' properties move to the root, so
/// that the model still sees them all; that they belong together or exclude each other is lost.
fn fold_root_composition(schema: &mut Map<String, Value>, losses: &mut Vec<String>) -> Result<(), String> {
    for key in ["allOf", "anyOf", "oneOf"] {
        let Some(branches) = schema.remove(key) else { continue };
        let branches: Vec<&Map<String, Value>> = branches
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
            .map(|branch| match branch.get("$ref").and_then(Value::as_str) {
                Some(reference) => local(schema, reference).unwrap_or(branch),
                None => branch,
            })
            .filter(|branch| branch.get("type").is_none_or(is_object_type))
            .collect();
        let required = required_by(&branches, key == "allOf");
        let properties: Vec<(String, Value)> = branches
            .iter()
            .filter_map(|branch| branch.get("properties")?.as_object())
            .flatten()
            .map(|(name, property)| (name.clone(), property.clone()))
            .collect();
        merge(schema, properties, required);
        losses.push(match key {
            "allOf" => "root `allOf` is merged into the root: conditions in it are no longer said".to_string(),
            _ => format!("root `{key}` is removed: which properties go together is no longer said"),
        });
    }
    Ok(())
}

/// Root keywords that providers refuse beside the compositions, and that name no property.
fn drop_root_conditions(schema: &mut Map<String, Value>, losses: &mut Vec<String>) -> Result<(), String> {
    for key in ["not", "if", "then", "else", "enum"] {
        if schema.remove(key).is_some() {
            losses.push(format!("root `{key}` is removed: its condition is no longer said"));
        }
    }
    Ok(())
}

/// The root must be `type: object` with `properties`.
fn object_root(schema: &mut Map<String, Value>, losses: &mut Vec<String>) -> Result<(), String> {
    match schema.get("type") {
        None => {}
        Some(kind) if !is_object_type(kind) => {
            return Err(format!("its schema asks for {} where arguments are an object", excerpt(&kind.to_string())));
        }
        Some(Value::String(_)) => {}
        Some(_) => losses.push("root `type` is `object` alone: its other types are no longer said".into()),
    }
    schema.insert("type".into(), "object".into());
    if !schema.entry("properties").or_insert_with(|| Value::Object(Map::new())).is_object() {
        return Err("`properties` of its schema is no object".into());
    }
    if schema.get("required").is_some_and(|required| !is_names(required)) {
        schema.remove("required");
        losses.push("root `required` is no list of names: it is removed".into());
    }
    Ok(())
}

/// The object that a reference within the schema means.
fn local<'a>(schema: &'a Map<String, Value>, reference: &str) -> Option<&'a Map<String, Value>> {
    let pointer = reference.strip_prefix("#/")?;
    let (first, rest) = match pointer.find('/') {
        Some(at) => pointer.split_at(at),
        None => (pointer, ""),
    };
    schema.get(&first.replace("~1", "/").replace("~0", "~"))?.pointer(rest)?.as_object()
}

fn is_object_type(kind: &Value) -> bool {
    match kind {
        Value::String(kind) => kind == "object",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
        _ => false,
    }
}

fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
}

/// The names that every branch requires, or that any of them does where all apply.
fn required_by(branches: &[&Map<String, Value>], all_apply: bool) -> BTreeSet<String> {
    branches
        .iter()
        .map(|branch| {
            let names = branch.get("required").and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(String::from).collect::<BTreeSet<_>>()
        })
        .reduce(|a, b| if all_apply { &a | &b } else { &a & &b })
        .unwrap_or_default()
}

/// Adds properties and required names to the root. What the root says itself stands.
fn merge(schema: &mut Map<String, Value>, properties: Vec<(String, Value)>, required: BTreeSet<String>) {
    if !properties.is_empty()
        && let Value::Object(root) = schema.entry("properties").or_insert_with(|| Value::Object(Map::new()))
    {
        for (name, property) in properties {
            root.entry(name).or_insert(property);
        }
    }
    if !required.is_empty()
        && let Value::Array(root) = schema.entry("required").or_insert_with(|| Value::Array(Vec::new()))
    {
        for name in required {
            if !root.iter().any(|known| *known == name) {
                root.push(name.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(schema: Value) -> Result<(Value, Vec<String>), String> {
        let schema = Schema::from(schema);
        let Repaired { schema: repaired, losses } = repair(&schema, PLAIN_ROOT)?;
        if is_plain(&schema) {
            let mut copy = schema.to_map();
            let mut none = Vec::new();
            PLAIN_ROOT.iter().try_for_each(|rule| rule(&mut copy, &mut none))?;
            assert_eq!((copy, none), (schema.to_map(), vec![]), "a plain schema is what the rules leave as it is");
        }
        Ok((repaired.to_value(), losses))
    }

    #[test]
    fn a_good_schema_stays_and_an_empty_one_is_completed() {
        let good = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}});
        assert_eq!(plain(good.clone()), Ok((good, vec![])));
        let object = json!({"type": "object", "properties": {}});
        assert_eq!(plain(json!({})), Ok((object.clone(), vec![])));
        assert_eq!(plain(json!({"$schema": "http://json-schema.org/draft-07/schema#"})), Ok((object, vec![])));
    }

    #[test]
    fn branches_move_to_the_root() {
        let (schema, losses) = plain(json!({
            "properties": {"a": {"type": "string"}},
            "required": ["a"],
            "$defs": {"C": {"type": "object", "properties": {"c": {}}, "required": ["c", "x"]}},
            "oneOf": [{"properties": {"a": {"const": 1}, "b": {"type": "integer"}}, "required": ["x"]}, {"$ref": "#/$defs/C"}],
            "allOf": [{"required": ["b"]}, {"required": ["a"]}],
            "if": {}, "then": {},
        }))
        .unwrap();
        assert_eq!(schema["properties"], json!({"a": {"type": "string"}, "b": {"type": "integer"}, "c": {}}));
        assert_eq!(schema["required"], json!(["a", "b", "x"]));
        assert!(schema.get("oneOf").is_none() && schema.get("if").is_none());
        assert_eq!(losses.len(), 4, "{losses:?}");
    }

    #[test]
    fn a_root_that_points_at_a_definition_becomes_it() {
        let (schema, losses) = plain(json!({
            "$ref": "#/$defs/a~1b",
            "$defs": {"a/b": {"$ref": "#/$defs/In"}, "In": {"type": ["object", "null"], "properties": {"q": {}}}},
        }))
        .unwrap();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["properties"], json!({"q": {}}));
        assert_eq!(losses, ["root `type` is `object` alone: its other types are no longer said"]);
    }

    #[test]
    fn what_cannot_be_repaired_is_refused_with_a_reason() {
        for (schema, reason) in [
            (json!({"type": "string"}), "asks for \"string\""),
            (json!({"type": 7}), "asks for 7"),
            (json!({"properties": []}), "`properties`"),
            (json!({"$ref": "https://example.com/s.json"}), "does not hold"),
            (json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}), "itself"),
            (json!({"x": "y".repeat(MAX_BYTES)}), "larger"),
            ((0..json::MAX_DEPTH).fold(json!({}), |inner, _| json!({"a": inner})), "deeper"),
        ] {
            let error = plain(schema).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
