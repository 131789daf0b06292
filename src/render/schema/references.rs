//! References within a schema: followed where a provider does not follow them.

use serde_json::{Value, json};

use super::{
    Losses, MAX_BYTES, Object,
    walk::{self, Holds},
};
use crate::{error::excerpt, json::MAX_DEPTH};

/// How many references may lie within each other: real schemas stay under ten.
const MAX_OPEN: usize = 24;

/// The object that a reference within the schema means.
pub(super) fn local<'a>(schema: &'a Object, reference: &str) -> Option<&'a Object> {
    let pointer = decoded(reference.strip_prefix('#')?);
    if pointer.is_empty() {
        return Some(schema);
    }
    let mut steps = pointer.strip_prefix('/')?.split('/').map(|step| step.replace("~1", "/").replace("~0", "~"));
    let mut found = schema.get(&steps.next()?)?;
    for step in steps {
        found = match found {
            Value::Object(object) => object.get(&step)?,
            Value::Array(list) => list.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    found.as_object()
}

/// A fragment's `%20` is a space.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| byte == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| fragment.to_owned())
}

/// Removes references that point at nothing in the schema: no provider fetches one. The others stay.
pub(super) fn resolvable(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    // Most schemas hold none, and the copy is for those that do.
    let mut holds_any = false;
    walk::parents_first(schema, losses, &mut |schema, _| holds_any |= schema.contains_key("$ref"));
    if !holds_any {
        return Ok(());
    }
    let whole = schema.clone();
    walk::parents_first(schema, losses, &mut |schema, losses| {
        let Some(Value::String(reference)) = schema.get("$ref") else { return };
        // The root's own is followed by a rule of its own, which fails where this would leave nothing.
        if !losses.is_at_root() && local(&whole, reference).is_none() {
            losses.add(format_args!("refers to {}, which the schema does not hold", excerpt(reference)));
            schema.remove("$ref");
        }
    });
    Ok(())
}

/// Puts in the place of each reference what it points at. Where a definition holds itself, or where the
/// copies would grow too large, an object stands that says no more.
pub(super) fn inline(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    let whole = std::mem::take(schema);
    *schema = Inliner { whole: &whole, open: Vec::new(), bytes: 0 }.copy(&whole, 1, losses);
    Ok(())
}

struct Inliner<'a> {
    whole: &'a Object,
    /// The references that are being followed, outermost first.
    open: Vec<&'a str>,
    /// What was copied so far.
    bytes: usize,
}

impl<'a> Inliner<'a> {
    /// A copy without references and definitions.
    fn copy(&mut self, schema: &'a Object, depth: usize, losses: &mut Losses<'_>) -> Object {
        let mut out = Object::new();
        let mut entries: Vec<_> = schema.iter().collect();
        entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
        for (keyword, value) in entries {
            if matches!(keyword.as_str(), "$defs" | "$ref" | "$recursiveRef" | "definitions") {
                continue;
            }
            self.bytes += keyword.len() + 4;
            let copied = match (Holds::of(keyword), value) {
                (Some(Holds::Schema | Holds::Items), Value::Object(child)) => {
                    losses.at(keyword, |losses| self.copy(child, depth + 1, losses)).into()
                }
                (Some(Holds::Schemas | Holds::Items), Value::Array(list)) => {
                    let copies = list.iter().enumerate().map(|(i, child)| {
                        losses.listed(keyword, i, |losses| self.copy_value(child, depth + 2, losses))
                    });
                    copies.collect()
                }
                (Some(Holds::Named | Holds::Dependencies), Value::Object(named)) => {
                    let mut names: Vec<_> = named.iter().collect();
                    names.sort_unstable_by(|a, b| a.0.cmp(b.0));
                    let copies = names.into_iter().map(|(name, child)| {
                        self.bytes += name.len() + 4;
                        let copy = losses.named(keyword, name, |losses| self.copy_value(child, depth + 2, losses));
                        (name.clone(), copy)
                    });
                    Value::Object(copies.collect())
                }
                _ => {
                    self.bytes += weight(value);
                    value.clone()
                }
            };
            out.insert(keyword.clone(), copied);
        }
        let reference = schema.get("$ref").or_else(|| schema.get("$recursiveRef"));
        match reference.and_then(Value::as_str) {
            Some(reference) => self.follow(reference, out, depth, losses),
            None => out,
        }
    }

    fn copy_value(&mut self, value: &'a Value, depth: usize, losses: &mut Losses<'_>) -> Value {
        match value {
            Value::Object(schema) => self.copy(schema, depth, losses).into(),
            _ => {
                self.bytes += weight(value);
                value.clone()
            }
        }
    }

    /// What a reference points at, with what stands beside it.
    fn follow(&mut self, reference: &'a str, beside: Object, depth: usize, losses: &mut Losses<'_>) -> Object {
        let Some(target) = local(self.whole, reference) else {
            losses.add(format_args!("refers to {}, which the schema does not hold", excerpt(reference)));
            return beside;
        };
        let name = excerpt(reference.rsplit('/').next().unwrap_or(reference));
        let holds_itself = self.open.contains(&reference) || reference == "#";
        let is_cut = holds_itself || self.open.len() >= MAX_OPEN || depth >= MAX_DEPTH / 2 || self.bytes > MAX_BYTES;
        let mut copy = if is_cut {
            losses.add(match holds_itself {
                true => format!("is a `{name}` within a `{name}`: what it holds is no longer said"),
                false => format!("is a `{name}`, for which there is no room: what it holds is no longer said"),
            });
            cut(target, &name, holds_itself)
        } else {
            self.open.push(reference);
            let copy = self.copy(target, depth, losses);
            self.open.pop();
            copy
        };
        // Words beside a reference are about this use of it; conditions beside it hold too.
        let mut conditions = Object::new();
        for (keyword, value) in beside {
            match copy.get(&keyword) {
                None => _ = copy.insert(keyword, value),
                Some(same) if *same == value => {}
                Some(_) if matches!(keyword.as_str(), "default" | "description" | "examples" | "title") => {
                    copy.insert(keyword, value);
                }
                Some(_) => _ = conditions.insert(keyword, value),
            }
        }
        if !conditions.is_empty() {
            match copy.entry("allOf").or_insert_with(|| json!([])) {
                Value::Array(all) => all.push(conditions.into()),
                other => *other = json!([conditions]),
            }
        }
        copy
    }
}

/// What stands for a definition that is not copied once more.
fn cut(target: &Object, name: &str, holds_itself: bool) -> Object {
    let kind = target.get("type").cloned().unwrap_or_else(|| "object".into());
    let mut out = Object::from_iter([("type".into(), kind)]);
    if holds_itself {
        out.insert("description".into(), format!("A `{name}` again, of the form it has further out.").into());
    }
    out
}

/// About how many bytes a value takes.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(weight).sum::<usize>() + 2,
        Value::Object(object) => object.iter().map(|(key, value)| key.len() + weight(value) + 4).sum::<usize>() + 2,
    }
}
