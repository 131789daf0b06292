use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::keywords::{EXACT, REFERENCES, keyword, schemas};
use crate::error::excerpt;

/// Where the references of a schema lead, and what else its structure says.
#[derive(Debug, Default)]
pub(super) struct References {
    /// The JSON pointer that each reference means.
    targets: BTreeMap<String, String>,
    /// The JSON pointers of references that mean nothing in the schema, with why.
    pub(super) broken: Vec<(String, String)>,
    /// Whether it holds one of the keywords that cannot be checked in part.
    pub(super) is_exact: bool,
    /// The patterns in it.
    pub(super) patterns: usize,
}

impl References {
    /// Follows all references of a schema in a dialect that writes ids as `id`. The error is why it cannot
    /// be followed.
    ///
    /// No reference is followed out of the schema: what it means is not for the network to say.
    pub(super) fn of(root: &Value, id: &str) -> Result<Self, String> {
        let mut found = Self::default();
        let mut anchors = BTreeMap::new();
        let mut asked = Vec::new();
        let mut seen = BTreeSet::new();
        let mut left = vec![String::new()];
        loop {
            while let Some(pointer) = left.pop() {
                if !seen.insert(pointer.clone()) {
                    continue;
                }
                let Some(Value::Object(schema)) = root.pointer(&pointer) else { continue };
                found.read(schema, id, &pointer, &mut anchors, &mut asked)?;
                for (key, value) in schema {
                    let Some((holds, _)) = keyword(key) else { continue };
                    let below = schemas(holds, value).into_iter().map(|(at, _)| match at {
                        Some(at) => join(&join(&pointer, key), &at),
                        None => join(&pointer, key),
                    });
                    left.extend(below);
                }
            }
            // Anchors may stand behind the references to them, so those are followed last. What they lead to
            // may stand where no keyword does.
            let Some((at, reference)) = asked.pop() else { break };
            match target(root, id, &anchors, &reference) {
                Ok(pointer) => {
                    left.push(pointer.clone());
                    found.targets.insert(reference, pointer);
                }
                Err(reason) => found.broken.push((at, reason)),
            }
        }
        found.broken.sort();
        Ok(found)
    }

    /// The schema that a reference means.
    pub(super) fn target<'a>(&self, root: &'a Value, reference: &str) -> Option<&'a Value> {
        root.pointer(self.targets.get(reference)?)
    }

    fn read(
        &mut self,
        schema: &Map<String, Value>,
        id: &str,
        pointer: &str,
        anchors: &mut BTreeMap<String, String>,
        asked: &mut Vec<(String, String)>,
    ) -> Result<(), String> {
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        if let Some(id) = text(id).filter(|_| !pointer.is_empty()) {
            let Some(anchor) = id.strip_prefix('#') else {
                return Err(format!("it holds a schema with an id of its own, {}", excerpt(id)));
            };
            anchors.insert(anchor.into(), pointer.into());
        }
        for anchor in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
            anchors.insert(anchor.into(), pointer.into());
        }
        for key in REFERENCES {
            asked.extend(text(key).map(|reference| (join(pointer, key), reference.into())));
        }
        self.is_exact |= EXACT.iter().any(|key| schema.contains_key(*key));
        self.patterns += usize::from(schema.contains_key("pattern"));
        self.patterns += schema.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
        Ok(())
    }
}

/// The JSON pointer that a reference means.
fn target(root: &Value, id: &str, anchors: &BTreeMap<String, String>, reference: &str) -> Result<String, String> {
    let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let id = root.get(id).and_then(Value::as_str).map(|id| id.trim_end_matches('#'));
    if !document.is_empty() && id != Some(document) {
        return Err(format!("it refers to {}, which is not looked up", excerpt(reference)));
    }
    let fragment = decoded(fragment);
    let pointer = if fragment.is_empty() || fragment.starts_with('/') {
        Some(&fragment).filter(|pointer| root.pointer(pointer).is_some())
    } else {
        anchors.get(&fragment)
    };
    pointer.cloned().ok_or_else(|| format!("it refers to {}, which the schema does not hold", excerpt(reference)))
}

/// A pointer one step deeper.
pub(super) fn join(pointer: &str, segment: &str) -> String {
    format!("{pointer}/{}", segment.replace('~', "~0").replace('/', "~1"))
}

/// The segments of a pointer.
pub(super) fn segments(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~"))
}

/// With each `%` and its two digits as the byte that they stand for; as it is where that gives no text.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut parts = fragment.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(part.get(2..).unwrap_or_default().as_bytes());
            }
            None => {
                bytes.push(b'%');
                bytes.extend_from_slice(part.as_bytes());
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| fragment.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_followed_within_the_schema() {
        let root = json!({
            "$id": "https://example.com/root#",
            "$defs": {"a b": {"$anchor": "named", "type": "string"}, "x/y": {"items": {"$ref": "#"}}},
            "components": {"deep": {"properties": {"q": {"$ref": "#/$defs/a%20b"}}}},
            "properties": {
                "a": {"$ref": "#named"},
                "b": {"$ref": "#/$defs/x~1y"},
                "c": {"$ref": "#/components/deep"},
                "d": {"$ref": "https://example.com/root#/$defs/a%20b"},
                "$ref": {"enum": [{"$ref": "https://data.example"}]},
            },
        });
        let found = References::of(&root, "$id").unwrap();
        assert_eq!(found.broken, []);
        assert_eq!(found.target(&root, "#named").unwrap()["type"], "string");
        assert_eq!(found.target(&root, "#/$defs/a%20b").unwrap()["type"], "string");
        assert_eq!(found.targets.len(), 6);
    }

    #[test]
    fn what_leads_nowhere_is_named() {
        let root = json!({"properties": {
            "a": {"$ref": "https://example.com/other.json"},
            "b": {"$ref": "#/$defs/gone"},
            "c": {"$dynamicRef": "#gone"},
            "d": {"$ref": "other.json#/x"},
        }});
        let broken = References::of(&root, "$id").unwrap().broken;
        let at: Vec<&str> = broken.iter().map(|(at, _)| at.as_str()).collect();
        assert_eq!(at, ["/properties/a/$ref", "/properties/b/$ref", "/properties/c/$dynamicRef", "/properties/d/$ref"]);
        assert!(broken[0].1.contains("not looked up") && broken[1].1.contains("does not hold"), "{broken:?}");
        assert!(References::of(&json!({"items": {"$id": "inner.json"}}), "$id").is_err());
        assert!(References::of(&json!({"items": {"id": "User"}}), "$id").is_ok(), "a word of the server's own");
    }

    #[test]
    fn only_whole_escapes_are_decoded() {
        for (text, expected) in [("a%20b", "a b"), ("%", "%"), ("%zz%2", "%zz%2"), ("%ff", "%ff"), ("%é", "%é")] {
            assert_eq!(decoded(text), expected);
        }
    }
}
