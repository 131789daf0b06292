use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{
    keywords::{Applies, REFERENCES, keyword, schemas},
    references::References,
};

/// How often a schema may meet a value in one validation: a thousand rows of ten fields take a tenth of it.
const MAX_STEPS: u64 = 250_000;

/// How many schemas may be open at once. What validates is recursive, and a thread's stack is 2 MiB.
const MAX_OPEN: usize = 256;

/// A stretch of text that costs as much as a step.
const BYTES_A_STEP: u64 = 16;

/// Whether `value` can be validated in bounded time, memory and stack. The error is why not.
///
/// Composition over references multiplies: 30 definitions that each try the next one twice are a
/// gigabyte of errors. So the steps are counted first, and each pair of schema and value only once.
pub(super) fn bounded(root: &Value, references: &References, value: &Value) -> Result<(), String> {
    let mut effort = Effort { root, references, known: HashMap::new(), open: HashSet::new() };
    let steps = effort.of(root, value)?;
    if steps.explain > MAX_STEPS { Err(too_much()) } else { Ok(()) }
}

fn too_much() -> String {
    format!("to check these arguments against it takes more than {MAX_STEPS} steps")
}

struct Effort<'a> {
    root: &'a Value,
    references: &'a References,
    known: HashMap<Pair, Steps>,
    open: HashSet<Pair>,
}

/// A schema and a value, by where they stand in memory.
type Pair = (*const Value, *const Value);

/// How many schemas meet a value.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    /// To tell whether the value is valid.
    decide: u64,
    /// To tell in what it is not, or which of its parts were looked at: every branch is decided again on
    /// the way down.
    explain: u64,
}

impl Steps {
    fn add(&mut self, other: Self, times: u64) {
        self.decide = self.decide.saturating_add(other.decide.saturating_mul(times));
        self.explain = self.explain.saturating_add(other.explain.saturating_mul(times));
    }
}

impl<'a> Effort<'a> {
    fn of(&mut self, schema: &'a Value, value: &'a Value) -> Result<Steps, String> {
        let Value::Object(keywords) = schema else { return Ok(Steps { decide: 1, explain: 1 }) };
        let pair = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if let Some(steps) = self.known.get(&pair) {
            return Ok(*steps);
        }
        if self.open.len() >= MAX_OPEN {
            return Err(format!("more than {MAX_OPEN} of its schemas are nested in one another"));
        }
        if self.known.len() as u64 >= MAX_STEPS {
            return Err(too_much());
        }
        if !self.open.insert(pair) {
            return Err("it refers to itself without end".into());
        }
        let own = own_steps(keywords, value);
        let mut below = Steps::default();
        let mut here = Steps::default();
        for (key, inner) in keywords {
            if REFERENCES.contains(&key.as_str()) {
                let target = inner.as_str().and_then(|reference| self.references.target(self.root, reference));
                if let Some(target) = target {
                    here.add(self.of(target, value)?, 1);
                }
                continue;
            }
            let Some((holds, applies)) = keyword(key) else { continue };
            for (at, inner) in schemas(holds, inner) {
                match applies {
                    Applies::Here => here.add(self.of(inner, value)?, 1),
                    Applies::Within => self.within(key, at.as_deref(), inner, value, &mut below)?,
                    Applies::Nowhere => {}
                }
            }
        }
        self.open.remove(&pair);
        below.add(here, 1);
        // Whether a part was looked at is asked of every branch.
        let unevaluated = ["unevaluatedProperties", "unevaluatedItems"].iter().any(|key| keywords.contains_key(*key));
        let again = if unevaluated { here.explain } else { 0 };
        let decide = own.saturating_add(below.decide).saturating_add(again);
        let steps = Steps { decide, explain: decide.saturating_add(below.explain) };
        self.known.insert(pair, steps);
        Ok(steps)
    }

    /// Adds what a keyword that applies to parts of `value` takes.
    fn within(
        &mut self,
        key: &str,
        at: Option<&str>,
        schema: &'a Value,
        value: &'a Value,
        steps: &mut Steps,
    ) -> Result<(), String> {
        /// Stands for the name of a property, which is no value.
        const NAME: &Value = &Value::Null;
        match (key, value) {
            ("properties", Value::Object(parts)) => {
                if let Some(part) = at.and_then(|name| parts.get(name)) {
                    steps.add(self.of(schema, part)?, 1);
                }
            }
            ("propertyNames", Value::Object(parts)) => steps.add(self.of(schema, NAME)?, parts.len() as u64),
            ("additionalProperties" | "unevaluatedProperties" | "patternProperties", Value::Object(parts)) => {
                for part in parts.values() {
                    steps.add(self.of(schema, part)?, 1);
                }
            }
            ("items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "contains", Value::Array(parts)) => {
                let only = at.and_then(|at| at.parse().ok());
                let parts = parts.iter().enumerate().filter(|(i, _)| only.is_none_or(|only: usize| only == *i));
                for (_, part) in parts {
                    steps.add(self.of(schema, part)?, 1);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// What a schema's own keywords take: lists that are compared, and texts that are searched.
fn own_steps(keywords: &Map<String, Value>, value: &Value) -> u64 {
    let listed = |key: &str| match keywords.get(key) {
        Some(Value::Array(list)) => list.len() as u64,
        Some(Value::Object(named)) => named.len() as u64,
        _ => 0,
    };
    let read = match value {
        Value::String(text) => text.len() as u64 / BYTES_A_STEP,
        Value::Array(items) => items.len() as u64,
        Value::Object(parts) => {
            let names: usize = parts.keys().map(String::len).sum();
            parts.len() as u64 + listed("patternProperties") * (names as u64 / BYTES_A_STEP + parts.len() as u64)
        }
        _ => 0,
    };
    1 + read + (listed("enum") + listed("required") + listed("properties")) / BYTES_A_STEP
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: &Value, value: &Value) -> Result<(), String> {
        bounded(schema, &References::of(schema, "$id").unwrap(), value)
    }

    /// Definitions that each try the next one twice.
    fn doubling(count: usize, keyword: &str) -> Value {
        let next = |i: usize| json!({"$ref": format!("#/$defs/d{}", i + 1)});
        let mut defs: Map<String, Value> =
            (0..count).map(|i| (format!("d{i}"), json!({ keyword: [next(i), next(i)] }))).collect();
        defs.insert(format!("d{count}"), json!({"type": "string"}));
        json!({"$ref": "#/$defs/d0", "$defs": defs})
    }

    #[test]
    fn what_multiplies_is_refused_and_what_adds_up_is_not() {
        for keyword in ["anyOf", "allOf", "oneOf"] {
            assert_eq!(check(&doubling(8, keyword), &json!({})), Ok(()));
            assert!(check(&doubling(40, keyword), &json!({})).unwrap_err().contains("steps"));
        }
        let branch = json!({"properties": {"a": {"$ref": "#"}}});
        let tree = json!({"anyOf": [branch, branch]});
        let deep = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"a": inner}));
        assert_eq!(check(&tree, &deep(6)), Ok(()));
        assert!(check(&tree, &deep(40)).unwrap_err().contains("steps"));
        let strict = json!({"anyOf": [branch, branch], "unevaluatedProperties": false});
        assert!(check(&strict, &deep(40)).is_err());
    }

    #[test]
    fn recursion_ends() {
        assert!(check(&json!({"$ref": "#"}), &json!({})).unwrap_err().contains("without end"));
        let twice = json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}});
        assert!(check(&twice, &json!({})).unwrap_err().contains("without end"));
        let list = json!({"properties": {"next": {"$ref": "#"}}, "required": []});
        assert_eq!(check(&list, &json!({"next": {"next": {"next": {}}}})), Ok(()));
        let chain: Map<String, Value> =
            (0..5_000).map(|i| (format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)}))).collect();
        assert!(check(&json!({"$ref": "#/$defs/d0", "$defs": chain}), &json!({})).unwrap_err().contains("nested"));
    }

    #[test]
    fn long_texts_and_lists_count() {
        let schema = json!({"items": {"type": "integer"}});
        assert_eq!(check(&schema, &json!(vec![1; 10_000])), Ok(()));
        assert!(check(&schema, &json!(vec![1; 200_000])).is_err());
        let branches: Vec<Value> = (0..10_000).map(|i| json!({"pattern": format!("a*b{i}")})).collect();
        assert!(check(&json!({"anyOf": branches}), &json!("a".repeat(100_000))).is_err());
    }
}
