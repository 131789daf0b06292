//! Canonical JSON and its digest: the ground of "same input, same bytes".
//!
//! [`canonical`] writes a value with its object keys sorted by code point, no insignificant white
//! space and numbers in one form, so that the bytes depend on the value alone: not on the order
//! in which a server wrote its keys, and not on `serde_json`'s features `preserve_order` and
//! `arbitrary_precision`, which any crate of the final binary may switch on.
//!
//! It is RFC 8785 with two differences, both so that nothing is lost: integers beyond 2^53 keep
//! all their digits, and keys are sorted by code point rather than by UTF-16 unit.
//!
//! ```
//! use proem::json::{Digest, canonical};
//! use serde_json::json;
//!
//! assert_eq!(canonical(&json!({"b": 1.0, "a": [true, null]})), r#"{"a":[true,null],"b":1}"#);
//! assert_eq!(Digest::of(&json!({"a": 1, "b": 2})), Digest::of(&json!({"b": 2, "a": 1})));
//! ```

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Number, Value};
use sha2::{Digest as _, Sha256};

use crate::{Error, Result};

/// The deepest value that any part of this crate accepts from a server, in nested arrays and objects.
///
/// `serde_json` itself stops at 128; real schemas stay under 20.
pub const MAX_DEPTH: usize = 96;

/// Writes `value` in canonical form.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

/// Writes an object in canonical form.
pub fn canonical_object(object: &Map<String, Value>) -> String {
    let mut out = String::new();
    write_object(&mut out, object);
    out
}

/// How many arrays and objects are nested in `value`: 0 for a scalar, 1 for `{}`.
pub fn depth(value: &Value) -> usize {
    // Iterative, since this is what guards the recursive walks.
    let mut deepest = 0;
    let mut open = vec![(value, 0)];
    while let Some((value, level)) = open.pop() {
        deepest = deepest.max(level);
        match value {
            Value::Array(items) => {
                deepest = deepest.max(level + 1);
                open.extend(items.iter().map(|v| (v, level + 1)));
            }
            Value::Object(map) => {
                deepest = deepest.max(level + 1);
                open.extend(map.values().map(|v| (v, level + 1)));
            }
            _ => {}
        }
    }
    deepest
}

/// Writes `text` as a JSON string with the least escaping.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    loop {
        let plain = plain_bytes(rest.as_bytes());
        let (written, from) = rest.split_at(plain);
        out.push_str(written);
        // What is escaped is one byte long.
        let Some(&byte) = from.as_bytes().first() else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            _ => out.push_str(&format!("\\u{byte:04x}")),
        }
        rest = from.get(1..).unwrap_or_default();
    }
    out.push('"');
}

/// How many bytes from the first on stand for themselves in a JSON string.
pub(crate) fn plain_bytes(bytes: &[u8]) -> usize {
    // Without `||`, so that the bytes of a step are compared at once.
    let is_escaped = |byte: u8| (byte == b'"') | (byte == b'\\') | (byte < 0x20);
    let (steps, _) = bytes.as_chunks::<32>();
    let has_none = |step: &&[u8; 32]| !step.iter().fold(false, |any, byte| any | is_escaped(*byte));
    let start = steps.iter().take_while(has_none).count() * 32;
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().position(|byte| is_escaped(*byte)).unwrap_or(rest.len())
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(object) => write_object(out, object),
    }
}

fn write_object(out: &mut String, object: &Map<String, Value>) {
    let mut entries: Vec<_> = object.iter().collect();
    // Already sorted unless `preserve_order` is on, and then the sort is what makes it so.
    entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
    out.push('{');
    for (i, (key, value)) in entries.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_string(out, key);
        out.push(':');
        write_value(out, value);
    }
    out.push('}');
}

fn write_number(out: &mut String, number: &Number) {
    if let Some(n) = number.as_i64() {
        out.push_str(&n.to_string());
    } else if let Some(n) = number.as_u64() {
        out.push_str(&n.to_string());
    } else if let Some(n) = number.as_f64().filter(|n| n.is_finite()) {
        out.push_str(ryu_js::Buffer::new().format_finite(n));
    } else {
        // Only `arbitrary_precision` can hold a number that no f64 reaches.
        out.push_str(&number.to_string());
    }
}

/// SHA-256 over canonical JSON or raw bytes; shown as 64 hexadecimal digits.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a value's canonical form.
    pub fn of(value: &Value) -> Self {
        Self::of_bytes(canonical(value))
    }

    /// The digest of bytes as they are.
    pub fn of_bytes(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// The digest of a sequence of parts: each enters with its length, so parts cannot run together.
    pub fn of_parts<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            let part = part.as_ref();
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digest that was written as these bytes.
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A digest of the same thing in one of several forms, for keys in memory: cheaper than another
    /// SHA-256, and as unlikely to meet another as `salt` is.
    pub(crate) fn salted(mut self, salt: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        for (byte, salt) in self.0.iter_mut().zip(hasher.finish().to_le_bytes()) {
            *byte ^= salt;
        }
        self
    }

    /// The first `digits` hexadecimal digits (64 at most), for names and reports.
    pub fn short(&self, digits: usize) -> String {
        let mut hex = self.to_string();
        hex.truncate(digits);
        hex
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short(12))
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(hex: &str) -> Result<Self> {
        let invalid = || Error::invalid("digest", "it must be 64 hexadecimal digits");
        if hex.len() != 64 || !hex.is_ascii() {
            return Err(invalid());
        }
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).map_err(|_| invalid())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map(".*", inner, 0..6).prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn canonical_text_is_json_and_a_fixed_point(value in values()) {
            let text = canonical(&value);
            let again: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(canonical(&again), text);
        }

        #[test]
        fn digests_survive_text(bytes in any::<[u8; 32]>()) {
            let digest = Digest(bytes);
            prop_assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        }
    }

    #[test]
    fn numbers_have_one_form() {
        for (text, expected) in [
            ("1.0", "1"),
            ("1e2", "100"),
            ("-0.0", "0"),
            ("1e21", "1e+21"),
            ("0.000001", "0.000001"),
            ("18446744073709551615", "18446744073709551615"),
            ("333333333.33333329", "333333333.3333333"),
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(canonical(&value), expected, "{text}");
        }
    }

    #[test]
    fn control_characters_are_escaped_and_the_rest_stands() {
        assert_eq!(canonical(&json!("a\u{1}\u{7f}é\u{2028}\"\\\n")), "\"a\\u0001\u{7f}é\u{2028}\\\"\\\\\\n\"");
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(Digest::of_parts(["ab", "c"]), Digest::of_parts(["a", "bc"]));
    }

    #[test]
    fn depth_counts_nesting() {
        assert_eq!(depth(&json!(1)), 0);
        assert_eq!(depth(&json!({})), 1);
        assert_eq!(depth(&json!([1, {"a": [2]}])), 3);
    }
}
