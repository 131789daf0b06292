use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::json::{canonical, canonical_object};

/// A JSON Schema as its server sent it, kept as canonical JSON text.
///
/// Text, and not a tree: a catalog holds thousands of schemas, a turn looks into a few of them,
/// and a request takes them as they are. A clone shares the text.
///
/// ```
/// use proem::protocol::Schema;
/// use serde_json::json;
///
/// let schema = Schema::from(json!({"type": "object", "properties": {}}));
/// assert_eq!(schema.as_str(), r#"{"properties":{},"type":"object"}"#);
/// assert!(schema.is_object());
/// ```
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Schema(Arc<str>);

impl Schema {
    /// Any object: `{"type":"object"}`.
    pub fn any_object() -> Self {
        Self(r#"{"type":"object"}"#.into())
    }

    /// A schema whose text is known to be canonical.
    pub(crate) fn from_canonical(text: String) -> Self {
        Self(text.into())
    }

    /// Canonical JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is an object, as the schema of arguments must be; `true` and `false` are schemas too.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// How many arrays and objects are nested in it.
    pub fn depth(&self) -> usize {
        let (mut open, mut deepest) = (0_usize, 0);
        let (mut in_string, mut escaped) = (false, false);
        for byte in self.0.bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = in_string,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => {
                    open += 1;
                    deepest = deepest.max(open);
                }
                b'}' | b']' if !in_string => open = open.saturating_sub(1),
                _ => {}
            }
        }
        deepest
    }

    /// The schema as a value; null if it was made by hand and is nested deeper than 127.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// The schema as an object; empty if it is none.
    pub fn to_map(&self) -> Map<String, Value> {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl Serialize for Schema {
    /// As the JSON that it is.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

/// [`Schema::any_object`]: what a tool without a schema of its own takes.
impl Default for Schema {
    fn default() -> Self {
        Self::any_object()
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.as_str()).finish()
    }
}

impl From<Value> for Schema {
    fn from(schema: Value) -> Self {
        Self(canonical(&schema).into())
    }
}

impl From<Map<String, Value>> for Schema {
    fn from(schema: Map<String, Value>) -> Self {
        Self(canonical_object(&schema).into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::json;

    proptest! {
        #[test]
        fn depth_is_that_of_the_value(text in "[\\[\\]{}\"\\\\a]{0,12}", levels in 0_usize..40) {
            let mut value = json!({ text.as_str(): [text] });
            for _ in 0..levels {
                value = json!([value]);
            }
            let schema = Schema::from(value.clone());
            prop_assert_eq!(schema.depth(), json::depth(&value));
            prop_assert_eq!(schema.to_value(), value);
        }
    }
}
