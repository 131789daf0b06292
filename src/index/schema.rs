//! The words in a JSON Schema, read without recursion and within bounds.

use std::collections::VecDeque;

use serde_json::{Map, Value};

/// One text of a schema.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum SchemaText<'a> {
    /// The name of a property.
    Property(&'a str),
    /// A title, description or permitted value.
    Detail(&'a str),
}

/// How much of a schema is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkLimits {
    pub(super) values: usize,
    pub(super) depth: usize,
}

impl WalkLimits {
    /// Visits a schema and the schemas in it, breadth first: where a limit cuts, the outer ones
    /// were seen. Keys are visited in their order by bytes, whatever order the map keeps.
    pub(super) fn walk<'a>(self, schema: &'a Map<String, Value>, mut take: impl FnMut(SchemaText<'a>)) {
        let mut left = self.values;
        let mut open = VecDeque::from([(schema, 0)]);
        while let Some((schema, depth)) = open.pop_front() {
            for (key, value) in sorted(schema) {
                let mut visit = |value: &'a Value| {
                    if let (Value::Object(schema), true) = (value, depth < self.depth) {
                        open.push_back((schema, depth + 1));
                    }
                };
                match (key.as_str(), value) {
                    ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(named)) => {
                        for (name, value) in sorted(named).take(left) {
                            left -= 1;
                            if key == "properties" {
                                take(SchemaText::Property(name));
                            }
                            visit(value);
                        }
                    }
                    ("title" | "description" | "const", Value::String(text)) => take(SchemaText::Detail(text)),
                    ("enum", Value::Array(values)) => {
                        for value in values.iter().take(left) {
                            left -= 1;
                            if let Value::String(text) = value {
                                take(SchemaText::Detail(text));
                            }
                        }
                    }
                    // Values, not schemas: what is in them describes no parameter.
                    ("default" | "examples" | "example" | "required", _) => {}
                    (_, Value::Object(_)) if left > 0 => {
                        left -= 1;
                        visit(value);
                    }
                    (_, Value::Array(values)) => {
                        for value in values.iter().take(left) {
                            left -= 1;
                            visit(value);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Visits the strings in a value that has no known form, breadth first.
pub(super) fn string_leaves<'a>(limits: WalkLimits, value: &'a Value, mut take: impl FnMut(&'a str)) {
    let mut left = limits.values;
    let mut open = VecDeque::from([(value, 0)]);
    while let Some((value, depth)) = open.pop_front() {
        if left == 0 || depth > limits.depth {
            return;
        }
        left -= 1;
        match value {
            Value::String(text) => take(text),
            Value::Array(values) => open.extend(values.iter().take(left).map(|value| (value, depth + 1))),
            Value::Object(map) => open.extend(sorted(map).take(left).map(|(_, value)| (value, depth + 1))),
            _ => {}
        }
    }
}

fn sorted(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries.into_iter()
}
