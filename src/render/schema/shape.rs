//! Keywords that are not of their form, by the meta-schema of 2020-12.

use serde_json::Value;

use super::{Losses, Object, patterns, walk};

/// The simple types of JSON Schema.
pub(super) const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Takes away what the meta-schema refuses. One such keyword anywhere fails a whole request.
pub(super) fn well_formed(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    if schema.get("properties").is_some_and(|properties| !is_map(properties)) {
        return Err("`properties` of its schema is no object".into());
    }
    walk::parents_first(schema, losses, &mut |schema, losses| {
        let formed = |(keyword, value): (&String, &mut Value)| Some((keyword.clone(), form(keyword, value)?));
        let mut others: Vec<_> = schema.iter_mut().filter_map(formed).collect();
        others.sort_unstable();
        for (keyword, formed) in others {
            schema.remove(&keyword);
            if formed == Formed::Lost {
                losses.add(format_args!("`{keyword}` is not of its form: it is removed"));
            }
        }
    });
    Ok(())
}

/// `true` and `false` as schemas become objects, for providers that read nothing else. They stay at
/// `additionalProperties` and its like, where every provider that knows the keyword takes them.
pub(super) fn no_booleans(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::parents_first(schema, losses, &mut |schema, losses| {
        for keyword in ["items", "contains", "propertyNames", "not", "if", "then", "else"] {
            // `items: false` closes a tuple, and is read with it.
            if schema.get(keyword) == Some(&Value::Bool(true)) {
                schema.insert(keyword.into(), Object::new().into());
            }
        }
        for keyword in ["contains", "propertyNames", "not", "if", "then", "else"] {
            if schema.get(keyword).is_some_and(Value::is_boolean) {
                schema.remove(keyword);
                losses.add(format_args!("`{keyword}` is removed: that nothing fits it is no longer said"));
            }
        }
        for keyword in ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"] {
            let Some(Value::Object(named)) = schema.get_mut(keyword) else { continue };
            let mut refused: Vec<_> = named.iter().filter(|(_, v)| **v == false).map(|(k, _)| k.clone()).collect();
            refused.sort_unstable();
            for name in refused {
                named.remove(&name);
                losses.named(keyword, &name, |losses| losses.add("is removed: that it is refused is no longer said"));
            }
            named.values_mut().filter(|schema| **schema == true).for_each(|schema| *schema = Object::new().into());
        }
        for keyword in ["allOf", "anyOf", "oneOf", "prefixItems"] {
            let Some(Value::Array(list)) = schema.get_mut(keyword) else { continue };
            if matches!(keyword, "anyOf" | "oneOf") {
                list.retain(|schema| *schema != false);
            }
            list.iter_mut().filter(|schema| schema.is_boolean()).for_each(|schema| *schema = Object::new().into());
            if list.is_empty() {
                schema.remove(keyword);
                losses.add(format_args!("`{keyword}` is removed: that nothing fits it is no longer said"));
            }
        }
    });
    Ok(())
}

/// Why a keyword goes.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Formed {
    /// It said nothing.
    Dropped,
    Lost,
}

impl Formed {
    fn kept_if(fits: bool) -> Option<Self> {
        (!fits).then_some(Self::Lost)
    }
}

/// Puts a keyword's value into its form; says so if that cannot be.
fn form(keyword: &str, value: &mut Value) -> Option<Formed> {
    match keyword {
        "type" => types(value),
        "enum" => values(value),
        "required" => names(value),
        "$ref" | "$id" | "$schema" | "$anchor" | "$comment" | "$dynamicRef" | "description" | "format" | "title" => {
            Formed::kept_if(value.is_string())
        }
        "pattern" => Formed::kept_if(value.as_str().is_some_and(patterns::is_regex)),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Formed::kept_if(value.is_number()),
        "multipleOf" => Formed::kept_if(value.as_f64().is_some_and(|step| step > 0.0)),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
        | "maxContains" => Formed::kept_if(value.is_u64()),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => Formed::kept_if(value.is_boolean()),
        "examples" => Formed::kept_if(value.is_array()),
        "dependentRequired" => named_names(value),
        _ => match walk::Holds::of(keyword) {
            Some(walk::Holds::Schema | walk::Holds::Items) => Formed::kept_if(is_schema(value)),
            Some(walk::Holds::Schemas) => schemas(value),
            Some(walk::Holds::Named | walk::Holds::Dependencies) => named(keyword, value),
            None => None,
        },
    }
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// An object, or what some languages write for an empty one.
fn is_map(value: &Value) -> bool {
    value.is_object() || says_nothing(value)
}

fn says_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// Types that there are, each once.
fn types(value: &mut Value) -> Option<Formed> {
    match value {
        Value::String(name) if name == "any" => Some(Formed::Dropped),
        Value::String(name) => Formed::kept_if(TYPES.contains(&name.as_str())),
        Value::Array(names) => {
            let mut seen = Vec::with_capacity(names.len().min(TYPES.len()));
            names.retain(|name| {
                let Some(name) = name.as_str().and_then(|name| TYPES.iter().find(|known| **known == name)) else {
                    return false;
                };
                let is_new = !seen.contains(name);
                seen.extend(is_new.then_some(*name));
                is_new
            });
            Formed::kept_if(!names.is_empty())
        }
        _ => Some(Formed::Lost),
    }
}

/// Values, each once, at least one.
fn values(value: &mut Value) -> Option<Formed> {
    let Value::Array(values) = value else { return Some(Formed::Lost) };
    let mut seen = std::collections::BTreeSet::new();
    values.retain(|value| seen.insert(crate::json::canonical(value)));
    Formed::kept_if(!values.is_empty())
}

/// Names, each once.
fn names(value: &mut Value) -> Option<Formed> {
    if value.is_null() {
        return Some(Formed::Dropped);
    }
    let Value::Array(names) = value else { return Some(Formed::Lost) };
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| name.as_str().is_some_and(|name| seen.insert(name.to_owned())));
    None
}

fn named_names(value: &mut Value) -> Option<Formed> {
    let Value::Object(named) = value else { return Some(Formed::Lost) };
    for list in named.values_mut() {
        if names(list).is_some() {
            *list = Vec::<Value>::new().into();
        }
    }
    None
}

/// At least one schema.
fn schemas(value: &mut Value) -> Option<Formed> {
    let Value::Array(list) = value else { return Some(Formed::Lost) };
    list.retain(is_schema);
    Formed::kept_if(!list.is_empty())
}

/// Schemas by name; what is none says nothing.
fn named(keyword: &str, value: &mut Value) -> Option<Formed> {
    if says_nothing(value) {
        return Some(Formed::Dropped);
    }
    let Value::Object(named) = value else { return Some(Formed::Lost) };
    if keyword == "patternProperties" {
        named.retain(|pattern, _| patterns::is_regex(pattern));
    }
    named.values_mut().filter(|schema| !is_schema(schema)).for_each(|schema| *schema = Object::new().into());
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::losses::Told, *};

    fn repaired(schema: Value) -> (Value, usize) {
        let mut schema = schema.as_object().cloned().unwrap();
        let mut told = Told::default();
        well_formed(&mut schema, &mut told.root()).unwrap();
        (schema.into(), told.into_sentences().len())
    }

    #[test]
    fn what_is_not_of_its_form_goes_and_is_told() {
        for (keyword, value) in [
            ("type", json!("text")),
            ("type", json!([])),
            ("enum", json!([])),
            ("required", json!("a")),
            ("description", json!(["a"])),
            ("pattern", json!("(")),
            ("minimum", json!("1")),
            ("multipleOf", json!(0)),
            ("minLength", json!(-1)),
            ("maxItems", json!(1.5)),
            ("items", json!(3)),
            ("anyOf", json!([1])),
            ("$defs", json!("a")),
        ] {
            assert_eq!(repaired(json!({keyword: value})), (json!({}), 1), "{keyword}");
        }
    }

    #[test]
    fn what_can_be_read_is_read() {
        for (schema, expected) in [
            (json!({"properties": []}), json!({})),
            (json!({"required": null, "type": "any"}), json!({})),
            (json!({"type": ["string", "string", "text"]}), json!({"type": ["string"]})),
            (json!({"enum": [1, 1, "1"]}), json!({"enum": [1, "1"]})),
            (json!({"required": ["a", "a", 1]}), json!({"required": ["a"]})),
            (json!({"properties": {"a": 1, "required": {}}}), json!({"properties": {"a": {}, "required": {}}})),
            (json!({"default": {"type": "text"}}), json!({"default": {"type": "text"}})),
        ] {
            assert_eq!(repaired(schema), (expected, 0));
        }
    }
}
