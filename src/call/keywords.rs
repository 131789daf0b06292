//! Which keywords of JSON Schema hold schemas, and what those apply to.

use serde_json::Value;

/// What the schemas that a keyword holds apply to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Applies {
    /// The value that the keyword's own schema applies to.
    Here,
    /// Parts of it: properties, items, names of properties.
    Within,
    /// Nothing, until a reference points at them.
    Nowhere,
}

/// Where in the keyword's value the schemas stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Holds {
    /// It is one, or in older dialects a list of some.
    Schemas,
    /// By names that a server chose.
    Named,
}

/// What a keyword holds; `None` for all that hold no schemas.
pub(super) fn keyword(name: &str) -> Option<(Holds, Applies)> {
    use self::{
        Applies::{Here, Nowhere, Within},
        Holds::{Named, Schemas},
    };
    Some(match name {
        "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" => (Schemas, Here),
        "dependentSchemas" | "dependencies" => (Named, Here),
        "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "contains" => (Schemas, Within),
        "additionalProperties" | "unevaluatedProperties" | "propertyNames" => (Schemas, Within),
        "properties" | "patternProperties" => (Named, Within),
        "$defs" | "definitions" => (Named, Nowhere),
        _ => return None,
    })
}

/// The schemas of a keyword's value, each with where it stands in it.
pub(super) fn schemas(holds: Holds, value: &Value) -> Vec<(Option<String>, &Value)> {
    match (holds, value) {
        (Holds::Named, Value::Object(named)) => {
            named.iter().map(|(name, schema)| (Some(name.clone()), schema)).collect()
        }
        (Holds::Schemas, Value::Array(list)) => {
            list.iter().enumerate().map(|(i, schema)| (Some(i.to_string()), schema)).collect()
        }
        (Holds::Schemas, schema) => vec![(None, schema)],
        (Holds::Named, _) => Vec::new(),
    }
}

/// The keywords that refer to another schema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords under which a schema that takes more than it should makes the whole take less, or other
/// things. Where one stands, nothing can be left unchecked by itself.
pub(super) const EXACT: [&str; 6] = ["not", "oneOf", "if", "maxContains", "unevaluatedProperties", "unevaluatedItems"];

/// Keywords whose meaning leans on another one: without the first, the others ask for too much.
pub(super) const LEANS_ON: [(&str, &[&str]); 4] = [
    ("properties", &["additionalProperties"]),
    ("patternProperties", &["additionalProperties"]),
    ("prefixItems", &["items"]),
    ("items", &["additionalItems"]),
];
