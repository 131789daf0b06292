//! Strict modes: the provider lets its model write nothing that the schema does not allow. A schema that
//! would have to forbid what the tool takes is not rendered strictly.

use serde_json::{Value, json};

use super::{Losses, Object, Told, combine, keywords, walk};
use crate::{json::MAX_DEPTH, protocol::Schema};

/// What a strict mode takes.
#[derive(Debug)]
struct Strict {
    /// Whether each property must be required, so that an optional one is `null` instead of absent.
    requires_all: bool,
    formats: &'static [&'static str],
    /// Keywords that bound values.
    bounds: &'static [&'static str],
    /// The most schemas within each other.
    max_levels: usize,
    /// The most properties, and the most values of lists, in the whole schema.
    max_properties: usize,
    max_values: usize,
}

/// OpenAI's guide on structured outputs, supported schemas: any property is required, none is beside them, and
/// of the keywords those that bound numbers and arrays. `minLength` and `maxLength` are refused.
const OPENAI: Strict = Strict {
    requires_all: true,
    formats: &["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"],
    bounds: &[
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "multipleOf",
        "pattern",
    ],
    max_levels: 10,
    max_properties: 5_000,
    max_values: 1_000,
};

/// Anthropic's page on structured outputs, JSON Schema limitations: no property beside those named, no recursion,
/// and no bounds but `minItems` of 0 or 1.
const ANTHROPIC: Strict = Strict {
    requires_all: false,
    formats: &["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"],
    bounds: &["minItems"],
    max_levels: MAX_DEPTH,
    max_properties: usize::MAX,
    max_values: usize::MAX,
};

/// Rewrites a schema for OpenAI's strict mode.
pub(super) fn openai(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    OPENAI.apply(schema, losses)
}

/// Rewrites a schema for Anthropic's strict mode.
pub(super) fn anthropic(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    ANTHROPIC.apply(schema, losses)
}

/// A reference that is followed in circles says less than it did, which a strict mode would hold the model to.
pub(super) fn no_circles(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    let before = losses.count();
    super::references::inline(schema, losses)?;
    if losses.count() > before { Err("its definitions hold themselves, or point at nothing".into()) } else { Ok(()) }
}

/// A tuple that goes on with anything cannot be said as an array of what its places hold.
pub(super) fn closed_tuples(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    let mut open: Option<String> = None;
    walk::parents_first(schema, losses, &mut |schema, losses| {
        let is_open = schema.get("items").is_none_or(|items| items.as_object().is_some_and(Object::is_empty));
        if schema.contains_key("prefixItems") && is_open {
            let place = losses.place();
            open = Some(open.take().map_or(place.clone(), |first| first.min(place)));
        }
    });
    open.map_or(Ok(()), |place| Err(format!("{place} goes on with anything")))
}

/// What a strict schema leaves open, of which Anthropic bounds the sum over a request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(in crate::render) struct Freedom {
    /// Properties that may be left out.
    pub(in crate::render) optional: usize,
    /// Schemas of several types.
    pub(in crate::render) unions: usize,
}

impl Freedom {
    /// That of a schema which a strict rule wrote.
    pub(in crate::render) fn of(schema: &Schema) -> Self {
        let mut freedom = Self::default();
        walk::parents_first(&mut schema.to_map(), &mut Told::default().root(), &mut |schema, _| {
            let properties = schema.get("properties").and_then(Value::as_object).map_or(0, Object::len);
            let required = schema.get("required").and_then(Value::as_array).map_or(0, Vec::len);
            freedom.optional += properties.saturating_sub(required);
            let is_union = schema.contains_key("anyOf") || schema.get("type").is_some_and(Value::is_array);
            freedom.unions += usize::from(is_union);
        });
        freedom
    }
}

impl Strict {
    fn apply(&self, schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
        let mut size = Size::default();
        self.node(schema, losses, 1, &mut size)?;
        if size.properties > self.max_properties || size.values > self.max_values {
            return Err("it has more properties or values than strict mode takes".into());
        }
        Ok(())
    }

    fn node(&self, schema: &mut Object, losses: &mut Losses<'_>, level: usize, size: &mut Size) -> Result<(), String> {
        if level > self.max_levels {
            return Err(format!("it is nested deeper than {} levels", self.max_levels));
        }
        let result = self.shape(schema, losses, size);
        let at = losses.place();
        result.map_err(|reason| format!("{at} {reason}"))?;
        let mut first: Option<String> = None;
        walk::children(schema, losses, &mut |child, losses| {
            if let Value::Object(child) = child
                && let Err(reason) = self.node(child, losses, level + 1, size)
            {
                first = Some(first.take().map_or(reason.clone(), |first| first.min(reason)));
            }
        });
        first.map_or(Ok(()), Err)
    }

    /// One schema, those within it left aside. The error is what it takes that could not be written.
    fn shape(&self, schema: &mut Object, losses: &mut Losses<'_>, size: &mut Size) -> Result<(), &'static str> {
        let kinds: Vec<String> =
            schema.get("type").map(combine::list).into_iter().flatten().map(String::from).collect();
        let is_union = schema.contains_key("anyOf");
        if is_union && schema.keys().any(|key| !matches!(key.as_str(), "anyOf" | "default" | "description" | "title")) {
            return Err("joins `anyOf` with other conditions");
        }
        if !is_union && kinds.is_empty() {
            match implied(schema) {
                Some(kinds) => _ = schema.insert("type".into(), kinds),
                None => return Err("may be anything"),
            }
        }
        let kinds: Vec<String> =
            schema.get("type").map(combine::list).into_iter().flatten().map(String::from).collect();
        if kinds.iter().any(|kind| kind == "object") {
            self.object(schema, losses.is_at_root(), size)?;
        }
        if kinds.iter().any(|kind| kind == "array")
            && schema.get("items").and_then(Value::as_object).is_none_or(Object::is_empty)
        {
            return Err("is a list of anything");
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            size.values += values.len();
            if values.iter().any(|value| value.is_object() || value.is_array()) {
                return Err("lists objects or lists as values");
            }
        }
        self.words(schema, losses);
        Ok(())
    }

    fn object(&self, schema: &mut Object, is_root: bool, size: &mut Size) -> Result<(), &'static str> {
        let rest = schema.get("additionalProperties").or_else(|| schema.get("unevaluatedProperties"));
        let is_closed = rest.is_some_and(|rest| *rest == false);
        if !is_closed && rest.is_some() || schema.contains_key("patternProperties") {
            return Err("takes any names");
        }
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        let Value::Object(properties) = properties else { return Err("has no properties") };
        if properties.is_empty() && !is_closed && !is_root {
            return Err("takes any names");
        }
        size.properties += properties.len();
        let mut names: Vec<String> = properties.keys().cloned().collect();
        names.sort_unstable();
        if self.requires_all {
            let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                for (name, property) in properties {
                    if let Value::Object(property) = property
                        && !required.iter().any(|required| required == name)
                    {
                        allow_null(property);
                    }
                }
            }
            schema.insert("required".into(), names.into());
        }
        schema.insert("additionalProperties".into(), false.into());
        Ok(())
    }

    /// Leaves the keywords that are taken; the others are said in words, or given up.
    fn words(&self, schema: &mut Object, losses: &mut Losses<'_>) {
        let taken = |keyword: &str, value: &Value| match keyword {
            "type"
            | "anyOf"
            | "description"
            | "enum"
            | "const"
            | "items"
            | "properties"
            | "required"
            | "additionalProperties" => true,
            "format" => value.as_str().is_some_and(|format| self.formats.contains(&format)),
            "minItems" if !self.requires_all => value.as_u64().is_some_and(|count| count < 2),
            keyword => self.bounds.contains(&keyword),
        };
        keywords::give_up(schema, taken, losses);
    }
}

#[derive(Debug, Default)]
struct Size {
    properties: usize,
    values: usize,
}

/// The types of a schema that does not name them, by its values or its keywords.
fn implied(schema: &Object) -> Option<Value> {
    let values: Vec<&Value> = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.iter().collect(),
        (_, Some(value)) => vec![value],
        _ if schema.contains_key("properties") => return Some("object".into()),
        _ if schema.get("items").is_some_and(Value::is_object) => return Some("array".into()),
        _ => return None,
    };
    let mut kinds: Vec<&str> = Vec::new();
    for value in values {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) | Value::Object(_) => return None,
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    Some(if kinds.len() == 1 { kinds.pop()?.into() } else { kinds.into() })
}

/// `null` stands for a property that is left out.
fn allow_null(schema: &mut Object) {
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        let null = json!({"type": "null"});
        if !branches.contains(&null) {
            branches.push(null);
        }
        return;
    }
    if let Some(value) = schema.remove("const") {
        schema.insert("enum".into(), json!([value]));
    }
    let kinds = schema.get("type").cloned().or_else(|| implied(schema));
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let mut kinds: Vec<Value> = match kinds {
        Some(Value::Array(kinds)) => kinds,
        Some(kind) => vec![kind],
        None => return,
    };
    if !kinds.contains(&"null".into()) {
        kinds.push("null".into());
    }
    schema.insert("type".into(), kinds.into());
}
