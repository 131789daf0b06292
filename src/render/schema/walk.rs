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
    losses: &mut Losses<'_>,
    visit: &mut impl FnMut(&mut Object, &mut Losses<'_>),
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
    losses: &mut Losses<'_>,
    visit: &mut impl FnMut(&mut Object, &mut Losses<'_>),
) {
    children(schema, losses, &mut |child, losses| {
        if let Value::Object(child) = child {
            children_first(child, losses, visit);
        }
    });
    visit(schema, losses);
}

/// Visits the schemas right within a schema; `true` and `false` are schemas too. In no order that may matter:
/// `serde_json/preserve_order` changes it.
pub(super) fn children(
    schema: &mut Object,
    losses: &mut Losses<'_>,
    visit: &mut dyn FnMut(&mut Value, &mut Losses<'_>),
) {
    for (keyword, value) in schema {
        // Most values hold no schema, and most keywords are looked up for nothing.
        if !matches!(value, Value::Object(_) | Value::Array(_) | Value::Bool(_)) {
            continue;
        }
        let Some(holds) = Holds::of(keyword) else { continue };
        match (holds, value) {
            (Holds::Schema | Holds::Items, child @ (Value::Object(_) | Value::Bool(_))) => {
                losses.at(keyword, |losses| visit(child, losses));
            }
            (Holds::Schemas | Holds::Items, Value::Array(list)) => {
                for (i, child) in list.iter_mut().enumerate() {
                    losses.listed(keyword, i, |losses| visit(child, losses));
                }
            }
            (Holds::Named | Holds::Dependencies, Value::Object(named)) => {
                for (name, child) in named {
                    losses.named(keyword, name, |losses| visit(child, losses));
                }
            }
            _ => {}
        }
    }
}
