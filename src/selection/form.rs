use std::{fmt, num::NonZeroUsize, sync::Arc, thread};

use serde_json::{Map, Value};

use crate::{
    catalog::{Catalog, ToolEntry},
    json::{Digest, write_string},
    protocol::{Schema, Tool},
    tokens::CountCache,
};

/// How much of a tool's definition is offered. No step is larger than the one before.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Form {
    /// The definition as its server gives it.
    Full,
    /// The description's first 240 characters, to the end of a sentence or word.
    ShortDescription,
    /// That, and of the schema only names, types, enums and what is required.
    MinimalSchema,
    /// The name and 80 characters of description; any object as arguments.
    NameOnly,
}

impl Form {
    /// All forms, largest first.
    pub const ALL: [Self; 4] = [Self::Full, Self::ShortDescription, Self::MinimalSchema, Self::NameOnly];

    /// The form's name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::ShortDescription => "short_description",
            Self::MinimalSchema => "minimal_schema",
            Self::NameOnly => "name_only",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What of a tool is shown to the model. Arguments are validated against the server's own schema
/// whatever the form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Definition {
    /// The description, if the tool has one.
    pub description: Option<String>,
    /// The schema of the arguments.
    pub input_schema: Schema,
}

impl Definition {
    /// The definition of a tool in a form; never longer than in the form before.
    pub fn of(tool: &Tool, form: Form) -> Self {
        let description = tool.description.as_deref();
        let short = |limit| description.map(|text| shorten(text, limit));
        match form {
            Form::Full => Self { description: description.map(str::to_owned), input_schema: tool.input_schema.clone() },
            Form::ShortDescription => Self { description: short(240), input_schema: tool.input_schema.clone() },
            Form::MinimalSchema => Self { description: short(240), input_schema: minimal(&tool.input_schema) },
            Form::NameOnly => {
                let (any, minimal) = (Schema::any_object(), minimal(&tool.input_schema));
                let smaller = any.as_str().len() < minimal.as_str().len();
                Self { description: short(80), input_schema: if smaller { any } else { minimal } }
            }
        }
    }
}

/// The tokens of all definitions of a catalog in full: what a request would carry without selection.
///
/// Counted on as many threads as the machine has cores, once for each definition: the counts are
/// remembered.
pub fn catalog_tokens(catalog: &Catalog, counts: &CountCache) -> usize {
    let tools = catalog.tools();
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(8);
    let count =
        |tools: &[Arc<ToolEntry>]| -> usize { tools.iter().map(|entry| form_tokens(entry, Form::Full, counts)).sum() };
    if threads == 1 || tools.len() < 64 {
        return count(tools);
    }
    thread::scope(|scope| {
        let chunks = tools.chunks(tools.len().div_ceil(threads));
        let counting: Vec<_> = chunks.map(|chunk| scope.spawn(move || count(chunk))).collect();
        // A thread ends without a sum only if a counter panics, and then the caller should too.
        counting.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).sum()
    })
}

/// The tokens of a tool in a form: of its exposed name, description and schema as canonical JSON,
/// which is what providers put into the prompt in one wording or another.
///
/// Known by the digest of the definition, so that no text is made for what was counted before: a
/// turn asks for the tokens of many tools, in forms that are then not taken.
pub(crate) fn form_tokens(entry: &ToolEntry, form: Form, counts: &CountCache) -> usize {
    let key: [&[u8]; 3] = [entry.digest.as_bytes(), entry.exposed.as_str().as_bytes(), form.as_str().as_bytes()];
    counts.count_as(Digest::of_parts(key), || {
        let tool = &entry.tool;
        if form == Form::Full {
            return text(entry.exposed.as_str(), tool.description.as_deref(), &tool.input_schema);
        }
        let Definition { description, input_schema } = Definition::of(tool, form);
        text(entry.exposed.as_str(), description.as_deref(), &input_schema)
    })
}

fn text(exposed: &str, description: Option<&str>, input_schema: &Schema) -> String {
    let mut out = String::from("{\"description\":");
    write_string(&mut out, description.unwrap_or_default());
    out.push_str(",\"input_schema\":");
    out.push_str(input_schema.as_str());
    out.push_str(",\"name\":");
    write_string(&mut out, exposed);
    out.push('}');
    out
}

/// The beginning of `text` within `limit` characters: to the end of a sentence if one ends in the
/// second half, else of a word, with an ellipsis where something is left out.
fn shorten(text: &str, limit: usize) -> String {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(limit) else { return text.to_owned() };
    let head = &text[..end];
    let sentence = head.rmatch_indices(['.', '!', '?', '。', '\n']).map(|(at, mark)| at + mark.len());
    let sentence = sentence.filter(|at| *at * 2 >= end && text[*at..].starts_with(char::is_whitespace)).max();
    let cut = sentence.or_else(|| head.rfind(char::is_whitespace).filter(|at| at * 2 >= end)).unwrap_or(end);
    let short = format!("{} …", head[..cut].trim_end());
    // The ellipsis takes room too.
    if short.len() < text.len() { short } else { text.to_owned() }
}

/// Below this depth a minimal schema only says that something stands there.
const MINIMAL_DEPTH: usize = 4;

/// Names, types, enums and what is required; everything that is prose or a bound is left out.
fn minimal(schema: &Schema) -> Schema {
    minimal_object(&schema.to_map(), 0).into()
}

fn minimal_object(schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    let mut out = Map::new();
    if depth > MINIMAL_DEPTH {
        return out;
    }
    let inner = |value: &Value| match value {
        Value::Object(map) => Value::Object(minimal_object(map, depth + 1)),
        other => other.clone(),
    };
    for (key, value) in schema {
        let kept = match (key.as_str(), value) {
            ("additionalProperties", Value::Object(_)) => Some(inner(value)),
            ("type" | "enum" | "const" | "required" | "$ref", _) => Some(value.clone()),
            ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(map)) => {
                Some(map.iter().map(|(name, schema)| (name.clone(), inner(schema))).collect())
            }
            ("items" | "not", _) => Some(inner(value)),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(items)) => {
                Some(items.iter().map(inner).collect())
            }
            _ => None,
        };
        if let Some(kept) = kept {
            out.insert(key.clone(), kept);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_cut_at_a_sentence_or_a_word() {
        assert_eq!(shorten("Short.", 80), "Short.");
        assert_eq!(shorten("First sentence here. Then more words follow", 24), "First sentence here. …");
        assert_eq!(shorten("no sentence ends in this text at all", 20), "no sentence ends in …");
        assert_eq!(shorten(&"査".repeat(100), 10), format!("{} …", "査".repeat(10)));
    }

    #[test]
    fn a_minimal_schema_keeps_what_a_call_needs() {
        let schema = json!({
            "type": "object", "required": ["a"], "$schema": "x", "title": "t",
            "properties": {
                "a": {"type": "string", "description": "prose", "enum": ["x"], "maxLength": 3},
                "b": {"type": "array", "items": {"anyOf": [{"type": "null", "title": "n"}]}},
                "description": {"type": "string", "description": "a parameter of that name"},
            },
        });
        let expected = json!({
            "type": "object", "required": ["a"],
            "properties": {
                "a": {"type": "string", "enum": ["x"]},
                "b": {"type": "array", "items": {"anyOf": [{"type": "null"}]}},
                "description": {"type": "string"},
            },
        });
        assert_eq!(minimal(&schema.into()).to_value(), expected);
    }
}
