use std::borrow::Cow;

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
    types::JsonType,
};
use serde_json::Value;

use super::{
    invalid::{Fault, Invalid},
    references::join,
};
use crate::{
    error::beginning,
    json::{canonical, depth},
    prompts::near,
};

/// How many errors are put into words: enough to find the first faults when what says the same twice is
/// left out.
const MAX_EXPLAINED: usize = 8 * Invalid::MAX_FAULTS;

/// How many names or values are listed where one of them is expected.
const MAX_LISTED: usize = 8;

/// How many names or values are compared with what was given.
const MAX_COMPARED: usize = 512;

/// What was found at fault, in words for the model. Never empty.
pub(super) fn faults<'a>(schema: &Value, errors: impl Iterator<Item = ValidationError<'a>>) -> Invalid {
    let errors: Vec<_> = errors.collect();
    let mut faults = Vec::new();
    first(&errors).into_iter().for_each(|error| explain(schema, error, &mut faults));
    if faults.is_empty() {
        faults.push(Fault::new("", "what the tool's schema asks for", "something else"));
    }
    let mut invalid = Invalid::new(faults);
    invalid.more += errors.len().saturating_sub(MAX_EXPLAINED);
    invalid
}

/// The first errors by where they stand: in which order they were found depends on maps.
fn first<'e, 'a>(errors: &'e [ValidationError<'a>]) -> Vec<&'e ValidationError<'a>> {
    let mut first: Vec<_> = errors.iter().collect();
    first.sort_by_cached_key(|error| {
        (error.instance_path().as_str().to_owned(), error.schema_path().as_str().to_owned())
    });
    first.truncate(MAX_EXPLAINED);
    first
}

fn explain(schema: &Value, error: &ValidationError<'_>, faults: &mut Vec<Fault>) {
    let path = error.instance_path().as_str();
    let given = error.instance();
    let mut fault = |expected: &str| faults.push(Fault::new(path, expected, found(given)));
    match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let expected = around(schema, error).and_then(|around| around.get("properties")?.get(name));
            let expected = expected.map_or_else(|| "a value".into(), described);
            faults.push(Fault::new(&join(path, name), expected, "nothing (it is required)"));
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unknown(schema, error, unexpected, faults);
        }
        Kind::Type { kind } => fault(&typed(kind, given)),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => branches(schema, error, context, faults),
        Kind::Enum { options } => fault(&one_of(options, given)),
        Kind::Constant { expected_value } => fault(&value(expected_value)),
        Kind::PropertyNames { error } => {
            let mut names = Vec::new();
            explain(schema, error, &mut names);
            let named = names
                .into_iter()
                .map(|name| Fault::new(path, format!("names of properties to be {}", name.expected), name.found));
            faults.extend(named);
        }
        Kind::OneOfMultipleValid { .. } => fault("a value that fits one of the alternatives alone"),
        Kind::Not { schema } => fault(&format!("anything but what fits {}", value(schema))),
        Kind::FalseSchema => fault("nothing here"),
        Kind::Minimum { limit } => fault(&format!("{limit} or more")),
        Kind::Maximum { limit } => fault(&format!("{limit} or less")),
        Kind::ExclusiveMinimum { limit } => fault(&format!("more than {limit}")),
        Kind::ExclusiveMaximum { limit } => fault(&format!("less than {limit}")),
        Kind::MultipleOf { multiple_of } => fault(&format!("a multiple of {multiple_of}")),
        Kind::MinLength { limit } => fault(&format!("text of {limit} or more characters")),
        Kind::MaxLength { limit } => fault(&format!("text of {limit} characters at most")),
        Kind::Pattern { pattern } => fault(&format!("text that matches the pattern {pattern}")),
        Kind::MinItems { limit } => fault(&format!("{limit} or more items")),
        Kind::MaxItems { limit } => fault(&format!("{limit} items at most")),
        Kind::AdditionalItems { limit } => fault(&format!("{limit} items at most")),
        Kind::UnevaluatedItems { .. } => fault("no further items"),
        Kind::UniqueItems => fault("items that all differ"),
        Kind::Contains => fault("an item of another kind among them, see the schema"),
        Kind::MinProperties { limit } => fault(&format!("{limit} or more properties")),
        Kind::MaxProperties { limit } => fault(&format!("{limit} properties at most")),
        other => fault(&format!("what `{}` of the schema asks for", other.keyword())),
    }
}

/// Properties that the schema does not know.
fn unknown(schema: &Value, error: &ValidationError<'_>, unexpected: &[String], faults: &mut Vec<Fault>) {
    let around = around(schema, error).and_then(|around| around.get("properties")?.as_object());
    let mut known: Vec<&str> = around.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    known.sort_unstable();
    let mut unexpected: Vec<&str> = unexpected.iter().map(String::as_str).collect();
    unexpected.sort_unstable();
    for name in unexpected.into_iter().take(MAX_EXPLAINED) {
        let likely = near(known.iter().copied().take(MAX_COMPARED), name, 1);
        let hint = match likely.first().and_then(|i| known.get(*i)) {
            Some(likely) => format!(" (did you mean `{likely}`?)"),
            None if known.is_empty() => String::new(),
            None => format!(" (there is {})", listed(known.iter().map(|name| format!("`{name}`").into()))),
        };
        let given = error.instance().get(name).map_or_else(|| "one".into(), found);
        faults.push(Fault::new(
            &join(error.instance_path().as_str(), name),
            format!("no property of this name{hint}"),
            given,
        ));
    }
}

/// Alternatives of which none fits: what the nearest one lacks, or all their types if the value is of none.
fn branches(
    schema: &Value,
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
    faults: &mut Vec<Fault>,
) {
    let here = error.instance_path().as_str();
    let type_here = |branch: &[ValidationError<'static>]| {
        branch.iter().find_map(|error| match error.kind() {
            Kind::Type { kind } if error.instance_path().as_str() == here => Some(types(kind)),
            _ => None,
        })
    };
    // A value that names an alternative, such as by its `kind`, says which one was meant.
    let is_named =
        |error: &&ValidationError<'static>| matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. });
    let distance = |branch: &&Vec<ValidationError<'static>>| (branch.iter().filter(is_named).count(), branch.len());
    let of_its_type = branches.iter().filter(|branch| !branch.is_empty() && type_here(branch).is_none());
    match of_its_type.min_by_key(distance) {
        Some(nearest) => first(nearest).into_iter().for_each(|error| explain(schema, error, faults)),
        None => {
            let mut kinds: Vec<JsonType> = branches.iter().filter_map(|branch| type_here(branch)).flatten().collect();
            kinds.sort_unstable_by_key(|kind| kind.as_str());
            kinds.dedup();
            let expected = match kinds.is_empty() {
                true => "one of the alternatives of the schema".into(),
                false => types_named(&kinds, error.instance()),
            };
            faults.push(Fault::new(here, expected, found(error.instance())));
        }
    }
}

/// The schema whose keyword an error is about.
fn around<'a>(schema: &'a Value, error: &ValidationError<'_>) -> Option<&'a Value> {
    let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
    schema.pointer(parent)
}

/// What a schema asks for, in a few words.
fn described(schema: &Value) -> String {
    if let Some(options) = schema.get("enum") {
        return one_of(options, &Value::Null);
    }
    if let Some(expected) = schema.get("const") {
        return value(expected);
    }
    let names = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(name)) => vec![name.as_str()],
        _ => Vec::new(),
    };
    let names: Vec<Cow<'_, str>> = names.into_iter().map(|name| with_article(name).into()).collect();
    if names.is_empty() { "a value".into() } else { names.join(" or ") }
}

fn types(kind: &TypeKind) -> Vec<JsonType> {
    match kind {
        TypeKind::Single(kind) => vec![*kind],
        TypeKind::Multiple(kinds) => kinds.iter().collect(),
    }
}

fn typed(kind: &TypeKind, given: &Value) -> String {
    types_named(&types(kind), given)
}

/// The types, with a word on values of the right type that were written as text.
fn types_named(kinds: &[JsonType], given: &Value) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| with_article(kind.as_str())).collect();
    let as_text = given.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()).is_some_and(|inner| {
        kinds.iter().any(|kind| match kind {
            JsonType::Array => inner.is_array(),
            JsonType::Object => inner.is_object(),
            JsonType::Boolean => inner.is_boolean(),
            JsonType::Integer => inner.is_i64() || inner.is_u64(),
            JsonType::Number => inner.is_number(),
            JsonType::Null | JsonType::String => false,
        })
    });
    format!("{}{}", names.join(" or "), if as_text { " (itself, not written as text)" } else { "" })
}

fn with_article(kind: &str) -> &'static str {
    match kind {
        "array" => "an array",
        "boolean" => "true or false",
        "integer" => "an integer",
        "null" => "null",
        "number" => "a number",
        "object" => "an object",
        "string" => "a string",
        _ => "a value",
    }
}

/// The values of an enumeration, those first that the given one is near to.
fn one_of(options: &Value, given: &Value) -> String {
    let options: &[Value] = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let compared: Vec<&str> =
        options.iter().take(MAX_COMPARED).map(|option| option.as_str().unwrap_or_default()).collect();
    let near = given.as_str().map(|given| near(compared.iter().copied(), given, 2)).unwrap_or_default();
    let nearest = near.iter().filter_map(|i| options.get(*i));
    let others = options.iter().enumerate().filter(|(i, _)| !near.contains(i)).map(|(_, option)| option);
    let all = nearest.chain(others);
    if options.len() == 1 {
        listed(all.map(|option| value(option).into()))
    } else {
        format!("one of {}", listed(all.map(|option| value(option).into())))
    }
}

/// The first of them, with how many there are more.
fn listed<'a>(mut items: impl Iterator<Item = Cow<'a, str>>) -> String {
    let first: Vec<Cow<'_, str>> = items.by_ref().take(MAX_LISTED).collect();
    match items.count() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// The beginning of a value of a schema.
fn value(value: &Value) -> String {
    const MAX_BYTES: usize = 80;
    let text = canonical(value);
    let kept = beginning(&text, MAX_BYTES);
    format!("{kept}{}", if kept.len() < text.len() { "…" } else { "" })
}

/// What was given: small values as they are, large ones by what they are.
fn found(value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() > MAX_LISTED || depth(value) > 1 => {
            format!("an array of {} items", items.len())
        }
        Value::Object(parts) if parts.len() > MAX_LISTED || depth(value) > 1 => {
            format!("an object of {} properties", parts.len())
        }
        _ => canonical(value),
    }
}
