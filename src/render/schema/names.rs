//! Names of arguments that a provider does not take.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Losses, Object};
use crate::json::Digest;

/// The longest name of an argument, in bytes, and the characters that it may have: by the error that
/// Anthropic's API gives, `^[a-zA-Z0-9_.-]{1,64}$` for the properties of the root.
const MAX_NAME: usize = 64;

/// Renames the arguments whose names Anthropic refuses. Nothing is lost: the name is given back by
/// [`original_arguments`](super::original_arguments), and said in the description.
pub(super) fn safe(schema: &mut Object, _: &mut Losses<'_>) -> Result<(), String> {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return Ok(()) };
    if properties.keys().all(|name| is_safe(name)) {
        return Ok(());
    }
    let renamed = renamed(properties.keys());
    for (name, safe) in &renamed {
        if let Some(mut property) = properties.remove(name) {
            if let Value::Object(property) = &mut property {
                let told = format!("Named `{}`.", crate::error::excerpt(name));
                let text = match property.get("description").and_then(Value::as_str) {
                    Some(text) => format!("{text} ({told})"),
                    None => told,
                };
                property.insert("description".into(), text.into());
            }
            properties.insert(safe.clone(), property);
        }
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        for required in required {
            if let Some((_, safe)) = renamed.iter().find(|(name, _)| *required == **name) {
                *required = safe.clone().into();
            }
        }
    }
    Ok(())
}

/// The names that are refused, each with one that is not: other characters are `_`, and what would meet
/// another name, or is too long, ends with a digest.
pub(super) fn renamed<'a>(names: impl Iterator<Item = &'a String> + Clone) -> Vec<(String, String)> {
    let mut taken: BTreeSet<String> = names.clone().filter(|name| is_safe(name)).cloned().collect();
    let mut refused: Vec<&String> = names.filter(|name| !is_safe(name)).collect();
    refused.sort_unstable();
    let mut renamed = Vec::with_capacity(refused.len());
    for name in refused {
        let plain: String = name.chars().map(|c| if is_safe_char(c) { c } else { '_' }).take(MAX_NAME).collect();
        let is_whole = !plain.is_empty() && name.chars().count() <= MAX_NAME && !taken.contains(&plain);
        let safe = if is_whole {
            plain
        } else {
            let digest = Digest::of_bytes(name).short(12);
            let kept: String = plain.chars().take(MAX_NAME - digest.len() - 1).collect();
            format!("{kept}_{digest}")
        };
        taken.insert(safe.clone());
        renamed.push((name.clone(), safe));
    }
    renamed
}

/// Whether Anthropic takes a name.
pub(super) fn is_safe(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_safe_char)
}

fn is_safe_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}
