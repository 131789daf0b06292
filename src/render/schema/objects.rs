//! Objects: names that are required, and properties where there must be some.

use serde_json::{Value, json};

use super::{Losses, Object, walk};

/// The property that stands for all of an object that takes any names.
const ANY_NAME: &str = "any_name";

/// A required name is one of the properties: one that is not becomes a property that may be anything, or is
/// no longer required where the object takes no other names.
pub(super) fn required(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::parents_first(schema, losses, &mut |schema, losses| {
        let Some(Value::Array(names)) = schema.get("required") else { return };
        let known = schema.get("properties").and_then(Value::as_object);
        let is_known = |name: &Value| name.as_str().is_some_and(|name| known.is_some_and(|k| k.contains_key(name)));
        let unknown: Vec<String> =
            names.iter().filter(|name| !is_known(name)).filter_map(|name| name.as_str().map(String::from)).collect();
        if unknown.is_empty() {
            return;
        }
        if schema.get("additionalProperties").is_some_and(|more| *more == false) {
            if let Some(Value::Array(names)) = schema.get_mut("required") {
                names.retain(|name| !unknown.iter().any(|unknown| name == unknown));
            }
            losses.add("`required` names what is no property: it is no longer required");
            return;
        }
        let any = schema.get("additionalProperties").filter(|more| more.is_object()).cloned();
        if let Value::Object(properties) = schema.entry("properties").or_insert_with(|| Value::Object(Object::new())) {
            let any = any.unwrap_or_else(|| json!({}));
            properties.extend(unknown.into_iter().map(|name| (name, any.clone())));
        }
    });
    Ok(())
}

/// An object within the root has properties, which Gemini asks for. One that takes any names gets an
/// optional one that stands for them.
pub(super) fn some_property(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::parents_first(schema, losses, &mut |schema, losses| {
        let is_object = schema.get("type").is_some_and(|kind| kind == "object");
        let has_some = schema.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
        let rest = schema.get("additionalProperties").or_else(|| schema.get("unevaluatedProperties"));
        if !is_object || has_some || losses.is_at_root() && !rest.is_some_and(is_told) {
            return;
        }
        let is_closed = rest.is_some_and(|rest| *rest == false);
        let value = rest.filter(|rest| is_told(rest)).cloned().unwrap_or_else(|| json!({"type": "string"}));
        let names = schema.get("propertyNames").and_then(|names| names.get("enum")).and_then(Value::as_array);
        let names: Vec<String> = names.into_iter().flatten().filter_map(Value::as_str).map(String::from).collect();
        let properties = if !is_closed && !names.is_empty() {
            names.into_iter().map(|name| (name, value.clone())).collect()
        } else {
            losses.add(match is_closed {
                true => "takes no properties: that is no longer said",
                false => "takes any names: they are no longer said",
            });
            let mut value = value;
            if let Value::Object(value) = &mut value {
                let told = match is_closed {
                    true => "There is no property: leave it out.",
                    false => "Stands for any name.",
                };
                if !value.contains_key("anyOf") {
                    value.entry("description").or_insert_with(|| told.into());
                }
            }
            Object::from_iter([(ANY_NAME.into(), value)])
        };
        schema.remove("additionalProperties");
        schema.remove("propertyNames");
        schema.insert("properties".into(), properties.into());
    });
    Ok(())
}

/// A root without properties is bare, which tells the renderer to leave it out.
pub(super) fn bare_root(schema: &mut Object, _: &mut Losses<'_>) -> Result<(), String> {
    if schema.get("properties").and_then(Value::as_object).is_none_or(Object::is_empty) {
        schema.retain(|keyword, _| keyword == "type");
    }
    Ok(())
}

/// Whether further properties are of a form that can be said.
fn is_told(rest: &Value) -> bool {
    rest.as_object().is_some_and(|rest| !rest.is_empty())
}
