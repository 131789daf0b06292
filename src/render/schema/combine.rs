//! Two schemas that both hold, as one.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Losses, Object, walk};

/// `allOf` is merged into the schema that it stands in.
pub(super) fn all_of(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::children_first(schema, losses, &mut |schema, losses| {
        let Some(Value::Array(branches)) = schema.remove("allOf") else { return };
        let mut given_up = BTreeSet::new();
        for branch in branches {
            if let Value::Object(branch) = branch {
                combine(schema, branch, &mut given_up);
            }
        }
        for keyword in given_up {
            losses.add(format_args!("`allOf` is merged: only one `{keyword}` of several is still said"));
        }
    });
    Ok(())
}

/// Makes `schema` say what `other` says too. Where both cannot be said, `schema` stands, and the keyword
/// is given up.
pub(super) fn combine(schema: &mut Object, other: Object, given_up: &mut BTreeSet<String>) {
    for (keyword, theirs) in other {
        let Some(ours) = schema.get_mut(&keyword) else {
            schema.insert(keyword, theirs);
            continue;
        };
        if *ours == theirs {
            continue;
        }
        let is_united = match keyword.as_str() {
            // Words about one use; the outer ones are nearer to it.
            "$comment" | "default" | "description" | "examples" | "title" => true,
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                bound(ours, theirs, f64::max)
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                bound(ours, theirs, f64::min)
            }
            "type" => types(ours, &theirs),
            "enum" => values(ours, &theirs),
            "required" => names(ours, theirs),
            "properties" | "patternProperties" | "dependentSchemas" => named(ours, theirs, given_up),
            "items" => one(ours, theirs, given_up),
            // Either closes the object to names that the other knows; the names are united.
            "additionalProperties" => {
                if theirs == false {
                    *ours = theirs;
                }
                true
            }
            "uniqueItems" | "nullable" => {
                *ours = Value::Bool((keyword == "uniqueItems") == (*ours == true || theirs == true));
                true
            }
            _ => false,
        };
        if !is_united {
            given_up.insert(keyword);
        }
    }
}

fn bound(ours: &mut Value, theirs: Value, choose: fn(f64, f64) -> f64) -> bool {
    let (Some(a), Some(b)) = (ours.as_f64(), theirs.as_f64()) else { return false };
    if choose(a, b).total_cmp(&b).is_eq() {
        *ours = theirs;
    }
    true
}

/// The types that both allow.
fn types(ours: &mut Value, theirs: &Value) -> bool {
    let both: Vec<Value> = {
        let (a, b) = (list(ours), list(theirs));
        let allows =
            |types: &[&str], kind: &str| types.contains(&kind) || kind == "integer" && types.contains(&"number");
        let ours = a.iter().filter(|kind| allows(&b, kind));
        let theirs = b.iter().filter(|kind| allows(&a, kind) && !a.contains(kind));
        ours.chain(theirs).map(|kind| Value::from(*kind)).collect()
    };
    match <[Value; 1]>::try_from(both) {
        Ok([kind]) => *ours = kind,
        Err(both) if both.is_empty() => return false,
        Err(both) => *ours = both.into(),
    }
    true
}

fn values(ours: &mut Value, theirs: &Value) -> bool {
    let (Value::Array(ours), Value::Array(theirs)) = (ours, theirs) else { return false };
    if !ours.iter().any(|value| theirs.contains(value)) {
        return false;
    }
    ours.retain(|value| theirs.contains(value));
    true
}

fn names(ours: &mut Value, theirs: Value) -> bool {
    let (Value::Array(ours), Value::Array(theirs)) = (ours, theirs) else { return false };
    for name in theirs {
        if !ours.contains(&name) {
            ours.push(name);
        }
    }
    true
}

fn named(ours: &mut Value, theirs: Value, given_up: &mut BTreeSet<String>) -> bool {
    let (Value::Object(ours), Value::Object(theirs)) = (ours, theirs) else { return false };
    for (name, theirs) in theirs {
        match ours.get_mut(&name) {
            Some(ours) => _ = one(ours, theirs, given_up),
            None => _ = ours.insert(name, theirs),
        }
    }
    true
}

fn one(ours: &mut Value, theirs: Value, given_up: &mut BTreeSet<String>) -> bool {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => combine(ours, theirs, given_up),
        (_, Value::Bool(true)) => {}
        (ours, theirs) => *ours = if *ours == true { theirs } else { false.into() },
    }
    true
}

/// The types that a schema names.
pub(super) fn list(kind: &Value) -> Vec<&str> {
    match kind {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
