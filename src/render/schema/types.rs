//! One type for each schema, for providers that know no lists of types, no constants and no `null`.

use serde_json::{Value, json};

use super::{Losses, Object, combine, walk};

/// Types in the order in which the variants of a union stand, with the keywords that are about each.
const KEYWORDS: [(&str, &[&str]); 6] = [
    ("string", &["contentEncoding", "contentMediaType", "format", "maxLength", "minLength", "pattern"]),
    ("integer", &["exclusiveMaximum", "exclusiveMinimum", "format", "maximum", "minimum", "multipleOf"]),
    ("number", &["exclusiveMaximum", "exclusiveMinimum", "format", "maximum", "minimum", "multipleOf"]),
    ("boolean", &[]),
    ("array", &["contains", "items", "maxItems", "minItems", "unevaluatedItems", "uniqueItems"]),
    (
        "object",
        &[
            "additionalProperties",
            "dependentRequired",
            "dependentSchemas",
            "maxProperties",
            "minProperties",
            "patternProperties",
            "properties",
            "propertyNames",
            "required",
            "unevaluatedProperties",
        ],
    ),
];

/// Each schema says one type, or is a union of such. `const` is an `enum` of one; what may be `null` is
/// `nullable`.
pub(super) fn one_each(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::children_first(schema, losses, &mut |schema, losses| {
        if keeps_its_type(schema) {
            return;
        }
        if let Some(value) = schema.remove("const") {
            schema.insert("enum".into(), json!([value]));
        }
        let stated: Option<Vec<String>> =
            schema.get("type").map(|kind| combine::list(kind).into_iter().map(String::from).collect());
        if schema.contains_key("anyOf") {
            // A union's branches say their types: beside it stands one that holds for all, or that of what it holds.
            let held = || {
                let holds = [("properties", "object"), ("items", "array")];
                holds.iter().find(|(keyword, _)| schema.contains_key(*keyword)).map(|(_, kind)| String::from(*kind))
            };
            let kind = match stated.as_deref() {
                Some([kind]) => Some(kind.clone()),
                _ => held(),
            };
            schema.remove("type");
            if let Some(kind) = kind {
                schema.insert("type".into(), kind.into());
            }
            if !schema.contains_key("enum") {
                return;
            }
            losses.add("`anyOf` is removed beside `enum`: its conditions are no longer said");
            schema.remove("anyOf");
        }
        let mut variants = match schema.remove("enum") {
            Some(Value::Array(values)) => by_values(values, stated.as_deref(), losses),
            _ => by_types(schema, stated, losses),
        };
        let (count, nullable) = (variants.len(), variants.iter().any(is_null));
        variants.retain(|variant| count == 1 || !is_null(variant));
        KEYWORDS.iter().flat_map(|(_, keywords)| *keywords).chain(&["type"]).for_each(|keyword| {
            schema.remove(*keyword);
        });
        if nullable && count > 1 {
            schema.insert("nullable".into(), true.into());
        }
        match <[Object; 1]>::try_from(variants) {
            Ok([variant]) => schema.extend(variant),
            Err(variants) => _ = schema.insert("anyOf".into(), variants.into()),
        }
    });
    Ok(())
}

/// Leaves a schema of one type without values as it is, but for keywords about other types; says so.
fn keeps_its_type(schema: &mut Object) -> bool {
    if ["anyOf", "const", "enum"].iter().any(|keyword| schema.contains_key(*keyword)) {
        return false;
    }
    let Some(kind) = schema.get("type").and_then(Value::as_str) else { return false };
    let own = KEYWORDS.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, keywords)| *keywords);
    let is_about_another =
        |keyword: &str| !own.contains(&keyword) && KEYWORDS.iter().any(|(_, keywords)| keywords.contains(&keyword));
    schema.retain(|keyword, _| !is_about_another(keyword));
    true
}

/// A schema that only takes `null` is a text that may be `null`: there is no such type.
pub(super) fn no_null(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::parents_first(schema, losses, &mut |schema, losses| {
        if is_null(schema) {
            losses.add("takes `null` alone: that it takes no text is no longer said");
            schema.insert("type".into(), "string".into());
            schema.insert("nullable".into(), true.into());
        }
    });
    Ok(())
}

fn is_null(schema: &Object) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

/// One variant for each type of the values that the types allow.
fn by_values(values: Vec<Value>, stated: Option<&[String]>, losses: &mut Losses<'_>) -> Vec<Object> {
    let mut groups: Vec<(&str, Vec<Value>)> = Vec::new();
    for value in values {
        let kind = match &value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let allows = |stated: &[String]| stated.iter().any(|s| s == kind || kind == "integer" && s == "number");
        if stated.is_some_and(|stated| !allows(stated)) {
            continue;
        }
        // A list of numbers of which some are whole is one of numbers.
        let is_number = stated.is_some_and(|stated| stated.iter().any(|s| s == "number"));
        let kind = if kind == "integer" && is_number { "number" } else { kind };
        match groups.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, values)) => values.push(value),
            None => groups.push((kind, vec![value])),
        }
    }
    if groups.is_empty() {
        losses.add("`enum` is removed: none of its values is of its type");
        return vec![of_type("string")];
    }
    let variants = groups.into_iter().map(|(kind, mut values)| {
        let mut variant = of_type(kind);
        if kind == "string" && values.iter().any(|value| value == "") {
            values.retain(|value| value != "");
            losses.add("`enum` is said without the empty text, which is refused");
        }
        if kind != "null" && !values.is_empty() {
            variant.insert("enum".into(), values.into());
        }
        variant
    });
    variants.collect()
}

/// One variant for each type, with the keywords that are about it.
fn by_types(schema: &Object, stated: Option<Vec<String>>, losses: &mut Losses<'_>) -> Vec<Object> {
    let about =
        |keywords: &[&str]| keywords.iter().any(|keyword| *keyword != "format" && schema.contains_key(*keyword));
    let kinds = stated.unwrap_or_else(|| {
        let implied = KEYWORDS.iter().filter(|(kind, keywords)| *kind != "integer" && about(keywords));
        let implied: Vec<String> = implied.map(|(kind, _)| (*kind).to_owned()).collect();
        if !implied.is_empty() {
            return implied;
        }
        losses.add("may be anything: within lists and objects only texts are still said");
        KEYWORDS.iter().filter(|(kind, _)| *kind != "integer").map(|(kind, _)| (*kind).to_owned()).collect()
    });
    let is_both = kinds.iter().any(|kind| kind == "number");
    let variants = kinds.iter().filter(|kind| !(is_both && *kind == "integer")).map(|kind| {
        let mut variant = of_type(kind);
        let keywords = KEYWORDS.iter().find(|(known, _)| known == kind).map_or(&[][..], |(_, keywords)| *keywords);
        for keyword in keywords {
            if let Some(value) = schema.get(*keyword) {
                variant.insert((*keyword).into(), value.clone());
            }
        }
        variant
    });
    variants.collect()
}

fn of_type(kind: &str) -> Object {
    let mut schema = Object::from_iter([("type".into(), kind.into())]);
    if kind == "array" {
        schema.insert("items".into(), json!({"type": "string"}));
    }
    schema
}
