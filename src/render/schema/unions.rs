//! `oneOf` and `anyOf` where a provider knows the second alone, and nothing beside it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    Losses, MAX_BYTES, Object,
    combine::{self, combine},
    keywords, walk,
};

/// Branches beyond which nobody compares each with each.
const MAX_COMPARED: usize = 32;

/// `oneOf` becomes `anyOf`. Nothing is lost where no value fits two of its branches.
pub(super) fn one_of(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::children_first(schema, losses, &mut |schema, losses| {
        let Some(Value::Array(branches)) = schema.remove("oneOf") else { return };
        if schema.contains_key("anyOf") {
            losses.add("`oneOf` is removed beside `anyOf`: its choice is no longer said");
            return;
        }
        if !exclude_each_other(&branches) {
            losses.add("`oneOf` is `anyOf`: that only one of its branches may fit is no longer said");
        }
        schema.insert("anyOf".into(), branches.into());
    });
    Ok(())
}

/// `anyOf` stands alone: what is beside it goes into its branches, `null` becomes `nullable`, and a union of
/// one is that one. By Vertex AI's rule that it must be the only field set.
pub(super) fn any_of(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::children_first(schema, losses, &mut |schema, losses| {
        let Some(Value::Array(branches)) = schema.remove("anyOf") else { return };
        let mut branches = flat(branches);
        let is_null = |branch: &Object| branch.get("type").is_some_and(|kind| kind == "null");
        // Beside a type, a branch that is `null` or may be fits nothing.
        let is_open = !schema.contains_key("type");
        let own = schema.remove("nullable").is_some_and(|nullable| nullable == true);
        let nullable = own || is_open && branches.iter().any(is_null);
        if !own && !is_open {
            branches.iter_mut().for_each(|branch| _ = branch.remove("nullable"));
        }
        branches.retain(|branch| !is_null(branch) && !exclusive(schema, branch, 1));
        let mut given_up = BTreeSet::new();
        if branches.len() < 2 {
            match branches.pop() {
                Some(branch) => combine(schema, branch, &mut given_up),
                None if nullable => _ = schema.insert("type".into(), "null".into()),
                None => losses.add("`anyOf` is removed: no branch of it can fit"),
            }
        } else if is_structure(schema) {
            fold(schema, branches, &mut given_up);
            losses.add("`anyOf` is merged: which properties go together is no longer said");
        } else {
            distribute(schema, &mut branches, &mut given_up, losses);
            if nullable && let Some(first) = branches.first_mut() {
                first.insert("nullable".into(), true.into());
            }
            *schema = Object::from_iter([("anyOf".into(), Value::from(branches))]);
        }
        for keyword in given_up {
            losses.add(format_args!("`anyOf` is merged: only one `{keyword}` of several is still said"));
        }
        if nullable && !schema.contains_key("anyOf") && !is_null(schema) {
            schema.insert("nullable".into(), true.into());
        }
    });
    Ok(())
}

/// The branches, each once, those of unions within them in their place.
fn flat(branches: Vec<Value>) -> Vec<Object> {
    let mut out: Vec<Object> = Vec::with_capacity(branches.len());
    let mut seen = BTreeSet::new();
    let mut add = |branch: Object| {
        if seen.insert(crate::json::canonical_object(&branch)) {
            out.push(branch);
        }
    };
    for branch in branches {
        let Value::Object(mut branch) = branch else { continue };
        // Branches were visited before: a union that is left has nothing beside it.
        match branch.remove("anyOf") {
            Some(Value::Array(inner)) => {
                inner.into_iter().for_each(|inner| {
                    if let Value::Object(inner) = inner {
                        add(inner)
                    }
                });
            }
            _ => add(branch),
        }
    }
    out
}

/// Whether a schema holds schemas itself, which are not to be copied into each branch.
fn is_structure(schema: &Object) -> bool {
    schema.contains_key("properties") || schema.contains_key("items")
}

/// The properties of all branches stand beside each other.
fn fold(schema: &mut Object, branches: Vec<Object>, given_up: &mut BTreeSet<String>) {
    for mut branch in branches {
        branch.retain(|keyword, _| keyword == "properties");
        if let (Some(Value::Object(ours)), Some(Value::Object(theirs))) =
            (schema.get("properties"), branch.get_mut("properties"))
        {
            // What the schema says of a property itself stands, as it holds for each branch.
            theirs.retain(|name, _| !ours.contains_key(name));
        }
        combine(schema, branch, given_up);
    }
}

/// Puts what stands beside a union into its branches; words go into the first.
fn distribute(schema: &mut Object, branches: &mut [Object], given_up: &mut BTreeSet<String>, losses: &mut Losses<'_>) {
    keywords::say(schema, &["default", "examples"], losses);
    let description = schema.remove("description");
    let bytes: usize = schema.iter().map(|(keyword, value)| keyword.len() + value.to_string().len()).sum();
    if bytes.saturating_mul(branches.len()) > MAX_BYTES {
        schema.retain(|keyword, _| keyword == "type");
        losses.add("what stands beside `anyOf` is removed: it is no longer said");
    }
    for branch in branches.iter_mut() {
        combine(branch, schema.clone(), given_up);
    }
    if let (Some(Value::String(outer)), Some(first)) = (description, branches.first_mut()) {
        let text = match first.get("description").and_then(Value::as_str) {
            Some(inner) => format!("{outer}\n{inner}"),
            None => outer,
        };
        first.insert("description".into(), text.into());
    }
}

fn exclude_each_other(branches: &[Value]) -> bool {
    branches.len() <= MAX_COMPARED
        && branches.iter().enumerate().all(|(i, a)| {
            branches.iter().skip(i + 1).all(|b| match (a, b) {
                (Value::Object(a), Value::Object(b)) => exclusive(a, b, 2),
                _ => false,
            })
        })
}

/// Whether it can be seen that no value fits both: by their types, their values, or a property that both
/// require.
fn exclusive(a: &Object, b: &Object, depth: usize) -> bool {
    let apart = |keyword: &str, apart: &dyn Fn(&Value, &Value) -> bool| match (a.get(keyword), b.get(keyword)) {
        (Some(a), Some(b)) => apart(a, b),
        _ => false,
    };
    let values = |schema: &Object| match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    };
    let requires = |schema: &Object, name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|known| known == name))
    };
    apart("type", &|a, b| {
        let (a, b) = (combine::list(a), combine::list(b));
        let both = |x: &str, y: &str| x == y || (x, y) == ("integer", "number") || (x, y) == ("number", "integer");
        !a.iter().any(|a| b.iter().any(|b| both(a, b)))
    }) || matches!((values(a), values(b)), (Some(a), Some(b)) if !a.iter().any(|value| b.contains(value)))
        || depth > 0
            && apart("properties", &|ours, theirs| {
                let (Value::Object(ours), Value::Object(theirs)) = (ours, theirs) else { return false };
                ours.iter().any(|(name, ours)| match (ours, theirs.get(name)) {
                    (Value::Object(ours), Some(Value::Object(theirs))) => {
                        requires(a, name) && requires(b, name) && exclusive(ours, theirs, depth - 1)
                    }
                    _ => false,
                })
            })
}
