//! Arrays: what they hold, and tuples.

use serde_json::{Value, json};

use super::{Losses, Object, walk};

/// A tuple is an array of what its places may hold.
pub(super) fn tuples(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::children_first(schema, losses, &mut |schema, losses| {
        let mut places = match schema.remove("prefixItems") {
            Some(Value::Array(places)) => places,
            _ => Vec::new(),
        };
        if places.is_empty() && schema.get("items").is_none_or(|items| *items != false) {
            return;
        }
        let rest = schema.remove("items");
        let length = places.len();
        if rest.as_ref().is_some_and(|rest| *rest == false) {
            let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX);
            schema.insert("maxItems".into(), most.min(length as u64).into());
        } else {
            places.extend(rest.filter(|rest| rest.as_object().is_some_and(|rest| !rest.is_empty())));
        }
        let mut kinds: Vec<Value> = Vec::new();
        for place in places {
            if !kinds.contains(&place) {
                kinds.push(place);
            }
        }
        if kinds.len() > 1 {
            losses.add("`prefixItems` is `items`: which value stands where is no longer said");
        }
        let items = if kinds.len() > 1 { json!({"anyOf": kinds}) } else { kinds.pop().unwrap_or_else(|| json!({})) };
        schema.insert("items".into(), items);
    });
    Ok(())
}

/// An array says what it holds, be it anything: OpenAI and Gemini refuse one that does not.
pub(super) fn items(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::parents_first(schema, losses, &mut |schema, _| {
        let is_array = match schema.get("type") {
            Some(Value::String(kind)) => kind == "array",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
            _ => false,
        };
        if is_array {
            schema.entry("items").or_insert_with(|| json!({}));
        }
    });
    Ok(())
}
