use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use super::{
    effort,
    explain::faults,
    invalid::Invalid,
    keywords::{Holds, LEANS_ON, keyword},
    references::{References, join, segments},
};
use crate::{error::excerpt, json, protocol::Schema};

/// The largest schema, in bytes of canonical JSON: what a request would carry, see `render::schema`.
const MAX_BYTES: usize = 256 * 1024;

/// The most patterns of a schema. Each may take milliseconds to compile.
const MAX_PATTERNS: usize = 256;

/// The largest compiled pattern, in bytes. Patterns of real schemas take a few kilobytes.
const MAX_PATTERN_BYTES: usize = 256 * 1024;

/// The most keywords that are left unchecked. A schema with more faults says nothing reliable.
const MAX_LEFT_OUT: usize = 16;

/// A schema that arguments are checked against, and what of it they are not.
pub(super) struct Compiled {
    /// Absent where nothing can be checked.
    checks: Option<Checks>,
    /// What is not checked, a sentence each.
    unchecked: Vec<String>,
}

struct Checks {
    schema: Value,
    references: References,
    validator: Validator,
}

impl Compiled {
    /// Compiles a schema. Keywords that cannot be used are left out, one by one, where that makes no
    /// difference to the others; else nothing of the schema is used.
    pub(super) fn new(schema: &Schema) -> Self {
        match compile(schema) {
            Ok((checks, unchecked)) => Self { checks: Some(checks), unchecked },
            Err(reason) => {
                Self { checks: None, unchecked: vec![format!("nothing of the schema is checked: {reason}")] }
            }
        }
    }

    /// What could not be checked of valid arguments.
    pub(super) fn check(&self, arguments: &Value) -> Result<Vec<String>, Invalid> {
        let Some(Checks { schema, references, validator }) = &self.checks else { return Ok(self.unchecked.clone()) };
        if let Err(reason) = effort::bounded(schema, references, arguments) {
            return Ok(vec![format!("nothing of the schema is checked: {reason}")]);
        }
        let checked = guarded(|| match validator.is_valid(arguments) {
            true => Ok(self.unchecked.clone()),
            false => Err(faults(schema, validator.iter_errors(arguments))),
        });
        checked.unwrap_or_else(|reason| Ok(vec![format!("nothing of the schema is checked: {reason}")]))
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled").field("unchecked", &self.unchecked).finish_non_exhaustive()
    }
}

fn compile(schema: &Schema) -> Result<(Checks, Vec<String>), String> {
    if schema.as_str().len() > MAX_BYTES {
        return Err(format!("it is larger than {MAX_BYTES} bytes"));
    }
    // First of all: everything after it may recurse.
    if schema.depth() > json::MAX_DEPTH {
        return Err(format!("it is nested deeper than {}", json::MAX_DEPTH));
    }
    let mut schema = schema.to_value();
    let draft = dialect(&schema)?;
    takes_objects(&schema)?;
    let mut unchecked = Vec::new();
    let id = if draft == Draft::Draft4 { "id" } else { "$id" };
    let mut references = References::of(&schema, id)?;
    if references.patterns > MAX_PATTERNS {
        return Err(format!("it holds more than {MAX_PATTERNS} patterns"));
    }
    let broken = std::mem::take(&mut references.broken);
    for (at, reason) in broken {
        leave_out(&mut schema, &at, &reason, &mut unchecked)?;
    }
    let validator = loop {
        // Formats are annotations (JSON Schema 2020-12, validation, 7.2.1). The linear engine knows no
        // look-around and no back-references, and never takes exponential time.
        let options = jsonschema::options()
            .with_draft(draft)
            .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN_BYTES))
            .should_validate_formats(false)
            .offline();
        match guarded(|| options.build(&schema))? {
            Ok(validator) => break validator,
            Err(error) => leave_out(&mut schema, error.instance_path().as_str(), &error.to_string(), &mut unchecked)?,
        }
    };
    if references.is_exact && !unchecked.is_empty() {
        return Err(unchecked.swap_remove(0));
    }
    // Pointers that led into what is left out lead nowhere now.
    let references = References::of(&schema, id)?;
    Ok((Checks { schema, references, validator }, unchecked))
}

/// What a validator gives, unless it panics. It is written by others and states its invariants by panics,
/// of which one was met (anchors beside ids, which [`References`] keeps from it): a server must find none.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| "the validator failed".to_owned())
}

/// The dialect that a schema declares; 2020-12 where it declares none (MCP 2026-07-28, tools).
fn dialect(schema: &Value) -> Result<Draft, String> {
    let Some(declared) = schema.get("$schema") else { return Ok(Draft::Draft202012) };
    let uri = declared.as_str().unwrap_or_default().trim_end_matches('#');
    let uri = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://")).unwrap_or_default();
    match uri {
        "json-schema.org/draft/2020-12/schema" => Ok(Draft::Draft202012),
        "json-schema.org/draft/2019-09/schema" => Ok(Draft::Draft201909),
        "json-schema.org/draft-07/schema" => Ok(Draft::Draft7),
        "json-schema.org/draft-06/schema" => Ok(Draft::Draft6),
        "json-schema.org/draft-04/schema" => Ok(Draft::Draft4),
        _ => Err(format!("its dialect {} is not known", excerpt(&declared.to_string()))),
    }
}

/// Arguments are an object: a schema that asks for anything else is its server's mistake, which no model
/// can make good.
fn takes_objects(schema: &Value) -> Result<(), String> {
    const OTHERS: [&str; 6] = ["array", "boolean", "integer", "null", "number", "string"];
    let is_other = |kind: &Value| kind.as_str().is_some_and(|kind| OTHERS.contains(&kind));
    let refuses = match schema.get("type") {
        Some(Value::Array(kinds)) => !kinds.is_empty() && kinds.iter().all(is_other),
        Some(kind) => is_other(kind),
        None if schema.is_object() || schema.is_boolean() => false,
        None => return Err("it is no schema".into()),
    };
    match schema.get("type") {
        Some(kind) if refuses => {
            Err(format!("it asks for {} where arguments are an object", excerpt(&kind.to_string())))
        }
        _ => Ok(()),
    }
}

/// Takes out the keyword that is at fault at a JSON pointer, and says so. The error is why the whole
/// schema is of no use then.
fn leave_out(schema: &mut Value, pointer: &str, reason: &str, unchecked: &mut Vec<String>) -> Result<(), String> {
    if unchecked.len() >= MAX_LEFT_OUT {
        return Err(format!("more than {MAX_LEFT_OUT} of its keywords cannot be used"));
    }
    let at = take_out(schema, pointer).ok_or_else(|| excerpt(reason))?;
    unchecked.push(format!("{} is not checked: {}", excerpt(&at), excerpt(reason)));
    Ok(())
}

/// Takes out the innermost keyword on the way of a pointer, so that its schema takes more than before and
/// never less. Where that keyword was.
fn take_out(schema: &mut Value, pointer: &str) -> Option<String> {
    let mut way = segments(pointer);
    // Where the innermost schema on the way stands, and its keyword.
    let (mut parent, mut key) = (String::new(), way.next()?);
    while let Some((holds, _)) = keyword(&key) {
        let below = join(&parent, &key);
        let lists = schema.pointer(&below).is_some_and(Value::is_array);
        let inner = match holds {
            Holds::Named => {
                let Some(name) = way.next() else { break };
                join(&below, &name)
            }
            Holds::Schemas if lists => {
                let Some(index) = way.next() else { break };
                join(&below, &index)
            }
            Holds::Schemas => below,
        };
        let Some(next) = way.next() else {
            // A property whose schema is none is still a property.
            if key != "patternProperties" && holds == Holds::Named {
                *schema.pointer_mut(&inner)? = Value::Bool(true);
                return Some(inner);
            }
            break;
        };
        (parent, key) = (inner, next);
    }
    let object = schema.pointer_mut(&parent)?.as_object_mut()?;
    object.remove(&key)?;
    for (_, leaning) in LEANS_ON.iter().filter(|(first, _)| *first == key) {
        leaning.iter().for_each(|leaning| _ = object.remove(*leaning));
    }
    Some(join(&parent, &key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_innermost_keyword_is_taken_out_and_what_leans_on_it() {
        let schema = json!({
            "properties": {
                "a": {"type": "any", "minLength": 1},
                "b": "string",
                "c": {"anyOf": [{"type": "string"}, 7]},
                "type": {"items": [{"type": "any"}], "additionalItems": false},
            },
            "patternProperties": {"(": {}},
            "additionalProperties": false,
            "required": ["a", 7],
        });
        for (pointer, taken, gone) in [
            ("/properties/a/type", "/properties/a/type", "/properties/a/type"),
            ("/properties/c/anyOf/1", "/properties/c/anyOf", "/properties/c/anyOf"),
            ("/properties/type/items/0/type", "/properties/type/items/0/type", "/properties/type/items/0/type"),
            ("/properties/type/items", "/properties/type/items", "/properties/type/additionalItems"),
            ("/patternProperties/(", "/patternProperties", "/additionalProperties"),
            ("/properties", "/properties", "/additionalProperties"),
            ("/required/1", "/required", "/required"),
        ] {
            let mut copy = schema.clone();
            assert_eq!(take_out(&mut copy, pointer).as_deref(), Some(taken), "{pointer}");
            assert_eq!((copy.pointer(taken), copy.pointer(gone)), (None, None), "{pointer}");
        }
        let mut copy = schema.clone();
        assert_eq!(take_out(&mut copy, "/properties/b").as_deref(), Some("/properties/b"));
        assert_eq!((&copy["properties"]["b"], &copy["additionalProperties"]), (&json!(true), &json!(false)));
        for nowhere in ["", "/gone", "/properties/gone/type"] {
            assert_eq!(take_out(&mut copy, nowhere), None, "{nowhere}");
        }
    }
}
