//! The way back: what a model sends by a repaired schema, as the original takes it.

use serde_json::{Map, Value};

use super::{Object, names, references::local};
use crate::protocol::Schema;

/// How many schemas are looked at for one call: more than any real one holds, and soon done.
const MAX_STEPS: usize = 20_000;

/// How many references and compositions within each other are followed to see whether a value may be `null`.
const MAX_LEVELS: usize = 32;

/// Arguments as the tool's own schema takes them, from those that a model sent by the schema that was
/// rendered. To be called before they are validated; it needs the original schema alone, so that it
/// works for every provider and after a restart.
///
/// - A `null` for a property that may be left out, and may not be `null`, is left out. OpenAI's strict
///   mode requires every property, and writes `null` for one that is not given.
/// - An argument whose name Anthropic refuses, such as `filter[name]`, was rendered under another, and gets
///   its own name back.
///
/// Everything else stays as it is, wrong values included: they are for the validation to find.
///
/// ```
/// use proem::{protocol::Schema, render::original_arguments};
/// use serde_json::json;
///
/// let schema = Schema::from(json!({
///     "type": "object",
///     "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}, "page[size]": {"type": "integer"}},
///     "required": ["path"],
/// }));
/// let sent = json!({"path": "a", "limit": null, "page_size_": 9});
/// let arguments = original_arguments(&schema, sent.as_object().cloned().unwrap_or_default());
/// assert_eq!(serde_json::Value::from(arguments), json!({"path": "a", "page[size]": 9}));
/// ```
#[must_use]
pub fn original_arguments(schema: &Schema, arguments: Map<String, Value>) -> Map<String, Value> {
    if schema.depth() > crate::json::MAX_DEPTH {
        return arguments;
    }
    let whole = schema.to_map();
    let mut reader = Reader { whole: &whole, left: MAX_STEPS };
    let mut arguments = Value::Object(arguments);
    reader.name_again(&mut arguments);
    reader.leave_out_nulls(&whole, &mut arguments);
    match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

struct Reader<'a> {
    whole: &'a Object,
    /// How many schemas may still be looked at: they may point at one another.
    left: usize,
}

/// A schema that a value is held against, and whether it must fit: one of several branches need not.
type View<'a> = (&'a Object, bool);

impl<'a> Reader<'a> {
    /// Gives arguments that were renamed their own names.
    fn name_again(&mut self, arguments: &mut Value) {
        let Value::Object(arguments) = arguments else { return };
        let mut views = Vec::new();
        self.views(self.whole, &mut views);
        let mut known: Vec<&String> =
            views.iter().filter_map(|(view, _)| properties(view)).flat_map(Map::keys).collect();
        known.sort_unstable();
        known.dedup();
        for (name, safe) in names::renamed(known.iter().copied()) {
            if !arguments.contains_key(&name)
                && let Some(value) = arguments.remove(&safe)
            {
                arguments.insert(name, value);
            }
        }
    }

    /// Leaves out what is `null` where the schema would have it left out, at every depth.
    fn leave_out_nulls(&mut self, schema: &'a Object, value: &mut Value) {
        let mut views = Vec::new();
        self.views(schema, &mut views);
        match value {
            Value::Object(object) => {
                object.retain(|name, value| !value.is_null() || !self.is_left_out(&views, name));
                for (name, value) in object.iter_mut().filter(|(_, value)| value.is_object() || value.is_array()) {
                    for property in views.iter().filter_map(|(view, _)| properties(view)?.get(name)?.as_object()) {
                        self.leave_out_nulls(property, value);
                    }
                }
            }
            Value::Array(items) => {
                for item in items.iter_mut().filter(|item| item.is_object() || item.is_array()) {
                    for schema in views.iter().filter_map(|(view, _)| view.get("items")?.as_object()) {
                        self.leave_out_nulls(schema, item);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a property is known, never `null`, and not required.
    fn is_left_out(&mut self, views: &[View<'a>], name: &str) -> bool {
        let known: Vec<&Value> = views.iter().filter_map(|(view, _)| properties(view)?.get(name)).collect();
        !known.is_empty()
            && !views.iter().any(|(view, must_fit)| *must_fit && requires(view, name))
            && !known.into_iter().any(|property| self.allows_null(property, MAX_LEVELS))
    }

    /// A schema with all that it refers to or is composed of.
    fn views(&mut self, schema: &'a Object, views: &mut Vec<View<'a>>) {
        let mut open = vec![(schema, true)];
        while let Some((schema, must_fit)) = open.pop() {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            // Definitions that hold each other in circles are met again.
            if views.iter().any(|(known, _)| std::ptr::eq(*known, schema)) {
                continue;
            }
            views.push((schema, must_fit));
            open.extend(self.target(schema).map(|target| (target, must_fit)));
            for keyword in ["allOf", "anyOf", "oneOf"] {
                let branches = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
                let must_fit = must_fit && keyword == "allOf";
                open.extend(branches.filter_map(Value::as_object).map(|branch| (branch, must_fit)));
            }
        }
    }

    fn allows_null(&mut self, schema: &'a Value, levels: usize) -> bool {
        match schema {
            Value::Object(schema) => self.object_allows_null(schema, levels),
            schema => *schema != false,
        }
    }

    /// True where it cannot be told: a `null` that stays is found by the validation.
    fn object_allows_null(&mut self, schema: &'a Object, levels: usize) -> bool {
        let (Some(left), Some(levels)) = (self.left.checked_sub(1), levels.checked_sub(1)) else { return true };
        self.left = left;
        let says_so = schema.get("type").is_none_or(|kind| super::combine::list(kind).contains(&"null"))
            && schema.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(&Value::Null))
            && schema.get("const").is_none_or(Value::is_null);
        if !says_so {
            return false;
        }
        let branches = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        branches("allOf").is_none_or(|all| all.iter().all(|branch| self.allows_null(branch, levels)))
            && ["anyOf", "oneOf"].iter().all(|keyword| {
                branches(keyword).is_none_or(|any| any.iter().any(|branch| self.allows_null(branch, levels)))
            })
            && self.target(schema).is_none_or(|target| self.object_allows_null(target, levels))
    }

    fn target(&self, schema: &Object) -> Option<&'a Object> {
        local(self.whole, schema.get("$ref")?.as_str()?)
    }
}

fn requires(schema: &Object, name: &str) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|known| known == name))
}

fn properties(schema: &Object) -> Option<&Object> {
    schema.get("properties")?.as_object()
}
