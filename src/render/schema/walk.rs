//! Where schemas stand within a schema, and visits of all of them.

use serde_json::Value;

use super::{Losses, Object};

/// What a keyword holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Holds {
    /// A schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// Schemas by name.
    Named,
    /// `items`: a schema, or a list of them before 2020-12.
    Items,
    /// `dependencies`: schemas or lists of names by name, before 2019-09.
    Dependencies,
}

impl Holds {
    /// What a keyword holds, if it holds schemas.
    pub(super) fn of(keyword: &str) -> Option<Self> {
        Some(match keyword {
            "additionalItems"
            | "additionalProperties"
            | "contains"
            | "contentSchema"
            | "else"
            | "if"
            | "not"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Self::Schema,
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => Self::Schemas,
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => Self::Named,
            "items" => Self::Items,
            "dependencies" => Self::Dependencies,
            _ => return None,
        })
    }
}

/// Visits the schema and all within it, each before those within it.
pub(super) fn parents_first(
    schema: &mut Object,
    losses: &mut Losses,
    visit: &mut impl FnMut(&mut Object, &mut Losses),
) {
    visit(schema, losses);
    children(schema, losses, &mut |child, losses| {
        if let Value::Object(child) = child {
            parents_first(child, losses, visit);
        }
    });
}

/// Visits the schema and all within it, each after those within it.
pub(super) fn children_first(
    schema: &mut Object,
    losses: &mut Losses,
    visit: &mut impl FnMut(&mut Object, &mut Losses),
) {
    children(schema, losses, &mut |child, losses| {
        if let Value::Object(child) = child {
            children_first(child, losses, visit);
        }
    });
    visit(schema, losses);
}

/// Visits the schemas right within a schema, in the order of their keywords and names; `true` and `false`
/// are schemas too.
pub(super) fn children(schema: &mut Object, losses: &mut Losses, visit: &mut dyn FnMut(&mut Value, &mut Losses)) {
    for (keyword, value) in sorted(schema) {
        let Some(holds) = Holds::of(keyword) else { continue };
        match (holds, value) {
            (Holds::Schema | Holds::Items, child @ (Value::Object(_) | Value::Bool(_))) => {
                losses.within(&[keyword], |losses| visit(child, losses));
            }
            (Holds::Schemas | Holds::Items, Value::Array(list)) => {
                for (i, child) in list.iter_mut().enumerate() {
                    losses.within(&[keyword, &i.to_string()], |losses| visit(child, losses));
                }
            }
            (Holds::Named | Holds::Dependencies, Value::Object(named)) => {
                for (name, child) in sorted(named) {
                    losses.within(&[keyword, name], |losses| visit(child, losses));
                }
            }
            _ => {}
        }
    }
}

/// Entries by key: already so unless `serde_json/preserve_order` is on, which must change nothing.
fn sorted(object: &mut Object) -> Vec<(&String, &mut Value)> {
    let mut entries: Vec<_> = object.iter_mut().collect();
    entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
    entries
}
