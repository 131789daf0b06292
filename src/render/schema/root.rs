//! The root: an object that says its properties by itself, which every provider asks for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Losses, Object, combine, references::local, walk};
use crate::error::excerpt;

/// How many references in a row are followed at the root, and how many compositions within each other.
const MAX_STEPS: usize = 8;

/// How many branches of the root's compositions are read: real schemas stay under fifty.
const MAX_BRANCHES: usize = 1_000;

/// `$schema` names the dialect, which no provider asks for: nothing is lost.
pub(super) fn drop_dialect(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::parents_first(schema, losses, &mut |schema, _| _ = schema.remove("$schema"));
    Ok(())
}

/// A root that only points at one of its own definitions becomes that definition: nothing is lost.
pub(super) fn inline_reference(schema: &mut Object, _: &mut Losses<'_>) -> Result<(), String> {
    for _ in 0..MAX_STEPS {
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
pub(super) fn fold_composition(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    let mut reader = Branches { whole: schema, left: MAX_BRANCHES, is_lossy: false };
    let mut told = Vec::new();
    let mut lost = Vec::new();
    for key in ["allOf", "anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = schema.get(key) else { continue };
        reader.is_lossy = false;
        told.push(reader.composition(key, branches, MAX_STEPS));
        match key {
            "allOf" if reader.is_lossy => {
                lost.push("`allOf` is merged into the root: conditions in it are no longer said".to_owned());
            }
            "allOf" => {}
            _ => lost.push(format!("`{key}` is removed: which properties go together is no longer said")),
        }
    }
    if reader.left == 0 {
        lost.push(format!("has more than {MAX_BRANCHES} branches: the others are no longer said"));
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        schema.remove(key);
    }
    for told in told {
        merge(schema, told);
    }
    lost.iter().for_each(|lost| losses.add(lost));
    Ok(())
}

/// Root keywords that providers refuse beside the compositions, and that name no property.
pub(super) fn drop_conditions(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    for key in ["not", "if", "then", "else", "enum", "const"] {
        if schema.remove(key).is_some() {
            losses.add(format_args!("`{key}` is removed: its condition is no longer said"));
        }
    }
    Ok(())
}

/// The root must be `type: object` with `properties`.
pub(super) fn object(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    match schema.get("type") {
        None => {}
        Some(kind) if !is_object_type(kind) => {
            return Err(format!("its schema asks for {} where arguments are an object", excerpt(&kind.to_string())));
        }
        Some(Value::String(_)) => {}
        Some(_) => losses.add("`type` is `object` alone: its other types are no longer said"),
    }
    schema.insert("type".into(), "object".into());
    if !schema.entry("properties").or_insert_with(|| json!({})).is_object() {
        return Err("`properties` of its schema is no object".into());
    }
    Ok(())
}

/// Leaves what Amazon Nova reads at the root: `type`, `properties` and `required` (its user guide, on
/// defining a tool).
pub(super) fn three_keys(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    const SILENT: [&str; 6] = ["$comment", "$id", "description", "examples", "id", "title"];
    let mut removed: Vec<String> = schema
        .iter()
        .filter(|(key, value)| match key.as_str() {
            "type" | "properties" | "required" => false,
            // Models keep to the names that they are told.
            "additionalProperties" | "unevaluatedProperties" => value.as_object().is_some_and(|rest| !rest.is_empty()),
            key => !SILENT.contains(&key),
        })
        .map(|(key, _)| key.clone())
        .collect();
    removed.sort_unstable();
    for key in removed {
        losses.add(format_args!("`{}` is removed: it is no longer said", excerpt(&key)));
    }
    schema.retain(|key, _| matches!(key.as_str(), "type" | "properties" | "required"));
    Ok(())
}

/// What a schema says of an object's properties.
#[derive(Default)]
struct Told {
    /// What each property may be: one of these.
    properties: BTreeMap<String, Vec<Value>>,
    required: BTreeSet<String>,
}

/// Reads the branches of compositions.
struct Branches<'a> {
    whole: &'a Object,
    /// How many may still be read: branches may point at one another.
    left: usize,
    /// Whether a branch said more than properties.
    is_lossy: bool,
}

impl<'a> Branches<'a> {
    fn composition(&mut self, key: &str, branches: &'a [Value], levels: usize) -> Told {
        let told: Vec<Told> =
            branches.iter().filter_map(Value::as_object).filter_map(|branch| self.branch(branch, levels)).collect();
        let all_apply = key == "allOf";
        let mut out = Told::default();
        let required = told.iter().map(|told| told.required.clone());
        out.required = required.reduce(|a, b| if all_apply { &a | &b } else { &a & &b }).unwrap_or_default();
        for told in told {
            for (name, kinds) in told.properties {
                let known = out.properties.entry(name).or_default();
                if all_apply && !known.is_empty() {
                    self.is_lossy |= *known != kinds;
                    continue;
                }
                for kind in kinds {
                    if !known.contains(&kind) {
                        known.push(kind);
                    }
                }
            }
        }
        out
    }

    /// What one branch says with all that it holds; nothing if it is about no object.
    fn branch(&mut self, mut branch: &'a Object, levels: usize) -> Option<Told> {
        self.left = self.left.checked_sub(1)?;
        for _ in 0..MAX_STEPS {
            let Some(reference) = branch.get("$ref").and_then(Value::as_str) else { break };
            branch = local(self.whole, reference)?;
        }
        if branch.get("type").is_some_and(|kind| !is_object_type(kind)) {
            return None;
        }
        const READ: [&str; 9] =
            ["$ref", "allOf", "anyOf", "description", "oneOf", "properties", "required", "title", "type"];
        self.is_lossy |= branch.keys().any(|key| !READ.contains(&key.as_str()));
        let mut told = Told::default();
        for (name, property) in branch.get("properties").and_then(Value::as_object).into_iter().flatten() {
            told.properties.insert(name.clone(), vec![property.clone()]);
        }
        let names = branch.get("required").and_then(Value::as_array).into_iter().flatten();
        told.required = names.filter_map(Value::as_str).map(String::from).collect();
        for key in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = branch.get(key) else { continue };
            self.is_lossy |= key != "allOf" || levels == 0;
            let Some(levels) = levels.checked_sub(1) else { continue };
            let inner = self.composition(key, branches, levels);
            told.required.extend(inner.required);
            for (name, kinds) in inner.properties {
                told.properties.entry(name).or_insert(kinds);
            }
        }
        Some(told)
    }
}

/// Adds properties and required names to the root. What the root says itself stands.
fn merge(schema: &mut Object, told: Told) {
    if !told.properties.is_empty()
        && let Value::Object(root) = schema.entry("properties").or_insert_with(|| json!({}))
    {
        for (name, kinds) in told.properties {
            root.entry(name).or_insert_with(|| one_of(kinds));
        }
    }
    if !told.required.is_empty()
        && let Value::Array(root) = schema.entry("required").or_insert_with(|| json!([]))
    {
        for name in told.required {
            if !root.iter().any(|known| *known == name) {
                root.push(name.into());
            }
        }
    }
}

/// A property that is one thing in one branch and another in the next. Constants, which tell branches
/// apart, become one list.
fn one_of(mut kinds: Vec<Value>) -> Value {
    if kinds.len() < 2 {
        return kinds.pop().unwrap_or_else(|| json!({}));
    }
    let mut values: Vec<Value> = Vec::new();
    let mut rests = BTreeSet::new();
    for kind in &kinds {
        let mut rest = kind.as_object().cloned().unwrap_or_default();
        match (rest.remove("const"), rest.remove("enum")) {
            (Some(value), None) => values.push(value),
            (None, Some(Value::Array(list))) => values.extend(list),
            _ => return json!({"anyOf": kinds}),
        }
        rest.remove("description");
        rest.remove("default");
        rests.insert(crate::json::canonical_object(&rest));
    }
    let Some(Ok(Value::Object(mut rest))) = rests.pop_first().map(|rest| serde_json::from_str(&rest)) else {
        return json!({"anyOf": kinds});
    };
    if !rests.is_empty() {
        return json!({"anyOf": kinds});
    }
    let mut each = Vec::with_capacity(values.len());
    for value in values {
        if !each.contains(&value) {
            each.push(value);
        }
    }
    rest.insert("enum".into(), each.into());
    rest.into()
}

fn is_object_type(kind: &Value) -> bool {
    combine::list(kind).contains(&"object")
}
