use serde_json::{Map, Value};

use crate::json::Digest;

/// Puts arguments into every string of a value. A string that is nothing but one placeholder takes
/// the argument as it is, with its type.
pub(super) fn fill(value: &Value, arguments: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => match whole_placeholder(text) {
            Some((name, default)) if name != "#" => arguments.get(name).cloned().unwrap_or_else(|| typed(default)),
            _ => fill_text(text, arguments).into(),
        },
        Value::Array(items) => items.iter().map(|item| fill(item, arguments)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (key.clone(), fill(value, arguments)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

/// Replaces `{argument}`, `{argument=default}` and `{#}`; every other brace stays as it is.
pub(super) fn fill_text(text: &str, arguments: &Map<String, Value>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let found = after.split_once('}').and_then(|(inside, tail)| Some((placeholder(inside)?, tail)));
        let Some(((name, default), tail)) = found else {
            out.push('{');
            rest = after;
            continue;
        };
        match arguments.get(name) {
            _ if name == "#" => out.push_str(&digits(arguments)),
            Some(Value::String(value)) => out.push_str(value),
            Some(value) => out.push_str(&value.to_string()),
            None => out.push_str(default.unwrap_or_default()),
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}

fn whole_placeholder(text: &str) -> Option<(&str, Option<&str>)> {
    placeholder(text.strip_prefix('{')?.strip_suffix('}')?)
}

fn placeholder(inside: &str) -> Option<(&str, Option<&str>)> {
    let (name, default) = inside.split_once('=').map_or((inside, None), |(name, default)| (name, Some(default)));
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (name == "#" || is_name).then_some((name, default))
}

/// A default in data: a number or a boolean where it reads as one.
fn typed(default: Option<&str>) -> Value {
    default.map_or(Value::Null, |text| serde_json::from_str(text).unwrap_or_else(|_| text.into()))
}

fn digits(arguments: &Map<String, Value>) -> String {
    let digest = Digest::of(&Value::Object(arguments.clone()));
    let number = digest.as_bytes().iter().take(4).fold(0_u32, |sum, byte| (sum << 8) | u32::from(*byte));
    format!("{:04}", number % 10_000)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_keep_their_type_where_they_stand_alone() {
        let arguments = json!({"n": 3, "who": "mira"});
        let arguments = arguments.as_object().unwrap();
        let filled = fill(&json!({"a": "{n}", "b": "{n} for {who}", "c": "{weeks=2}", "d": "{ 150 }"}), arguments);
        assert_eq!(filled, json!({"a": 3, "b": "3 for mira", "c": 2, "d": "{ 150 }"}));
        assert_eq!(fill_text("{#}", arguments), fill_text("{#}", arguments));
        assert_eq!(fill_text("open { and {x", arguments), "open { and {x");
    }
}
