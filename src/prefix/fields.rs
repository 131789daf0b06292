use serde::Serialize;
use serde_json::Value;

use crate::{
    json::{canonical, write_string},
    prompts::shown,
};

/// Where two texts of one item differ.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FieldChange {
    /// JSON Pointer (RFC 6901) of the value inside of the item; empty for the item as a whole.
    pub pointer: String,
    /// What the older one says there, shortened to where the two part; absent if it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// What the newer one says there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

/// In what way two texts of one item differ.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Nature {
    /// They say something else: in so many values, of which the first few are shown.
    Meaning { shown: Vec<FieldChange>, all: usize },
    /// They hold the same, with keys in another order.
    KeyOrder,
    /// They hold the same, with numbers or characters written otherwise.
    Spelling,
}

/// The most values that are shown of one item: enough to see what happened, in a few lines.
const MAX_SHOWN: usize = 8;

/// The most characters of a pointer: its keys are a server's.
const MAX_POINTER: usize = 200;

/// Compares the JSON of one item, before and after.
pub(super) fn compare(old: &str, new: &str) -> Nature {
    let parsed = (serde_json::from_str(old), serde_json::from_str(new));
    // Deeper than the parser goes, or not kept: it is still text.
    let (old_value, new_value) = match parsed {
        (Ok(old), Ok(new)) => (old, new),
        _ => (Value::from(old), Value::from(new)),
    };
    let mut walk = Walk::default();
    walk.value(Some(&old_value), Some(&new_value));
    if walk.all > 0 {
        return Nature::Meaning { shown: walk.shown, all: walk.all };
    }
    // What says the same in the same bytes, only elsewhere, is in another order.
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    if sorted(old) == sorted(new) { Nature::KeyOrder } else { Nature::Spelling }
}

#[derive(Default)]
struct Walk {
    pointer: String,
    shown: Vec<FieldChange>,
    all: usize,
}

impl Walk {
    fn value(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                let mut keys: Vec<&String> = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))).collect();
                keys.sort_unstable();
                for key in keys {
                    self.inside(&key.replace('~', "~0").replace('/', "~1"), a.get(key), b.get(key));
                }
            }
            (Some(Value::Array(a)), Some(Value::Array(b))) => {
                for i in 0..a.len().max(b.len()) {
                    self.inside(&i.to_string(), a.get(i), b.get(i));
                }
            }
            (Some(a), Some(b)) if a == b || canonical(a) == canonical(b) => {}
            (old, new) => {
                self.all += 1;
                if self.shown.len() < MAX_SHOWN {
                    let (old, new) = excerpts(old, new);
                    self.shown.push(FieldChange { pointer: shown(&self.pointer, MAX_POINTER), old, new });
                }
            }
        }
    }

    fn inside(&mut self, token: &str, old: Option<&Value>, new: Option<&Value>) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(token);
        self.value(old, new);
        self.pointer.truncate(length);
    }
}

/// How much is shown before and after the first character that differs.
const BEFORE: usize = 24;
const AFTER: usize = 48;

/// Both values, each on a line and shortened to where they part. Strings stand in quotes.
fn excerpts(old: Option<&Value>, new: Option<&Value>) -> (Option<String>, Option<String>) {
    let text = |value: &Value| value.as_str().map_or_else(|| canonical(value), str::to_owned);
    let same = match (old, new) {
        (Some(old), Some(new)) => text(old).chars().zip(text(new).chars()).take_while(|(a, b)| a == b).count(),
        _ => 0,
    };
    let window = |value: &Value| {
        let text = text(value);
        let skipped = same.saturating_sub(BEFORE);
        let mut rest = text.chars().skip(skipped);
        // Characters that cannot be seen are written out: they may be all that differs.
        let mut part = shown(&rest.by_ref().take(same - skipped + AFTER).collect::<String>(), usize::MAX);
        if value.is_string() {
            let inside = std::mem::take(&mut part);
            write_string(&mut part, &inside);
        }
        format!("{}{part}{}", if skipped > 0 { "…" } else { "" }, if rest.next().is_some() { "…" } else { "" })
    };
    (old.map(window), new.map(window))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shown(old: &str, new: &str) -> Vec<(String, Option<String>, Option<String>)> {
        match compare(old, new) {
            Nature::Meaning { shown, .. } => shown.into_iter().map(|f| (f.pointer, f.old, f.new)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_that_differ_are_named_by_pointer() {
        let old = r#"{"name":"merge","input":{"a/b":{"type":"string"},"required":["x"]}}"#;
        let new = r#"{"name":"merge","input":{"a/b":{"type":"number"},"required":["x","y"]},"strict":true}"#;
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            shown(old, new),
            [
                ("/input/a~1b/type".into(), some("\"string\""), some("\"number\"")),
                ("/input/required/1".into(), None, some("\"y\"")),
                ("/strict".into(), None, some("true")),
            ]
        );
    }

    #[test]
    fn texts_are_shown_where_they_part() {
        let text = |time: &str| format!("\"{}It is {time} on Monday. {}\"", "x".repeat(90), "y".repeat(90));
        let [(pointer, old, new)] = shown(&text("10:41"), &text("10:42")).try_into().unwrap();
        assert_eq!(pointer, "");
        assert_eq!(old.unwrap(), format!("…\"xxxxxxxxxxxxxxIt is 10:41 on Monday. {}\"…", "y".repeat(35)));
        assert!(new.unwrap().contains("10:42"));
    }

    #[test]
    fn what_holds_the_same_says_how_it_is_written() {
        assert_eq!(compare(r#"{"a":1,"b":[2]}"#, r#"{"b":[2],"a":1}"#), Nature::KeyOrder);
        assert_eq!(compare(r#"{"a":1.0}"#, r#"{"a":1}"#), Nature::Spelling);
        assert_eq!(compare(r#""\u00e9""#, r#""é""#), Nature::Spelling);
    }

    #[test]
    fn what_is_shown_is_bounded_and_harmless() {
        let list = |from: usize| serde_json::to_string(&(from..from + 100).collect::<Vec<_>>()).unwrap();
        let Nature::Meaning { shown: list, all } = compare(&list(0), &list(1)) else { panic!() };
        assert_eq!((list.len(), all), (MAX_SHOWN, 100));
        let [(_, old, _)] = shown(r#""a\u001b[31m\nb""#, r#""c""#).try_into().unwrap();
        assert_eq!(old.unwrap(), r#""a [31m b""#);
    }
}
