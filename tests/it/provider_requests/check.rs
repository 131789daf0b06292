use std::{collections::BTreeSet, fmt::Display};

use serde_json::{Map, Value};

/// What is wrong with a request, each with the place where it is.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<String>);

impl Faults {
    pub(super) fn add(&mut self, at: &str, what: impl Display) {
        self.0.push(format!("{at}: {what}"));
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.0
    }

    pub(super) fn unless(&mut self, holds: bool, at: &str, what: impl Display) {
        if !holds {
            self.add(at, what);
        }
    }

    /// An object with all of `required` and else nothing but `optional`.
    pub(super) fn object<'v>(&mut self, at: &str, value: &'v Value, required: &[&str], optional: &[&str]) -> &'v Value {
        let Some(object) = value.as_object() else {
            self.add(at, "is no object");
            return &Value::Null;
        };
        for key in required.iter().filter(|key| !object.contains_key(**key)) {
            self.add(at, format!("lacks `{key}`"));
        }
        for key in object.keys().filter(|key| !required.contains(&key.as_str()) && !optional.contains(&key.as_str())) {
            self.add(at, format!("has `{key}`"));
        }
        value
    }

    /// An object of exactly one of `kinds`, and that one's name and value.
    pub(super) fn union<'v>(
        &mut self,
        at: &str,
        value: &'v Value,
        kinds: &[&'static str],
    ) -> (&'static str, &'v Value) {
        let members = self.object(at, value, &[], kinds).as_object().map_or(0, Map::len);
        self.unless(members == 1, at, format!("holds {members} members instead of one"));
        let found = kinds.iter().find_map(|kind| Some((*kind, value.get(*kind)?)));
        found.unwrap_or(("", &Value::Null))
    }

    /// A list that is not empty.
    pub(super) fn list<'v>(&mut self, at: &str, value: &'v Value) -> &'v [Value] {
        match value.as_array() {
            Some(items) if !items.is_empty() => items,
            Some(_) => {
                self.add(at, "is empty");
                &[]
            }
            None => {
                self.add(at, "is no list");
                &[]
            }
        }
    }

    /// A text that is not blank.
    pub(super) fn text<'v>(&mut self, at: &str, value: &'v Value) -> &'v str {
        let text = value.as_str().unwrap_or_default();
        self.unless(!text.trim().is_empty(), at, "is no text, or blank");
        text
    }

    /// One of `values`.
    pub(super) fn one_of<'v>(&mut self, at: &str, value: &'v Value, values: &[&str]) -> &'v str {
        let text = value.as_str().unwrap_or_default();
        self.unless(values.contains(&text), at, format!("is {value}, none of {values:?}"));
        text
    }

    pub(super) fn positive(&mut self, at: &str, value: Option<&Value>) {
        if let Some(value) = value {
            self.unless(value.as_u64().is_some_and(|n| n > 0), at, "is no positive number");
        }
    }

    /// A name or an id of letters, digits, `_` and `-`, at most 64 of them.
    pub(super) fn word<'v>(&mut self, at: &str, value: &'v Value) -> &'v str {
        let word = value.as_str().unwrap_or_default();
        let good = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        self.unless((1..=64).contains(&word.len()) && word.bytes().all(good), at, format!("is {value}"));
        word
    }

    /// Base64 in the usual alphabet, padded.
    pub(super) fn base64(&mut self, at: &str, value: &Value) {
        let text = value.as_str().unwrap_or_default();
        let digits = text.trim_end_matches('=');
        let good = |b: u8| b.is_ascii_alphanumeric() || b == b'+' || b == b'/';
        let padded = text.len().is_multiple_of(4) && text.len() - digits.len() <= 2;
        self.unless(!digits.is_empty() && padded && digits.bytes().all(good), at, "is no base64");
    }

    /// A picture as a data URL.
    pub(super) fn data_url(&mut self, at: &str, value: &Value) {
        let url = value.as_str().unwrap_or_default();
        let data = IMAGES.iter().find_map(|kind| url.strip_prefix(&format!("data:{kind};base64,")));
        match data {
            Some(data) => self.base64(at, &data.into()),
            None => self.add(at, "is no picture in a data URL"),
        }
    }

    /// A schema whose root is an object that says its properties by itself.
    pub(super) fn schema(&mut self, at: &str, value: &Value) {
        let Some(schema) = value.as_object() else { return self.add(at, "is no object") };
        self.unless(schema.get("type").is_some_and(|kind| kind == "object"), at, "asks for no object");
        for key in ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "enum"] {
            self.unless(!schema.contains_key(key), at, format!("has `{key}` at its root"));
        }
        self.unless(schema.get("properties").is_none_or(Value::is_object), at, "has properties that are no object");
    }

    /// Strict, a tool takes nothing that its schema does not name.
    pub(super) fn strict(&mut self, at: &str, strict: Option<&Value>, schema: &Value) {
        let Some(strict) = strict else { return };
        self.unless(strict.is_boolean(), at, "`strict` is no boolean");
        self.unless(strict != true || schema["additionalProperties"] == false, at, "is strict and open");
    }

    /// Names that the request has, each once.
    pub(super) fn unique<'v>(&mut self, at: &str, names: &[&'v str]) -> BTreeSet<&'v str> {
        let unique: BTreeSet<_> = names.iter().copied().collect();
        self.unless(unique.len() == names.len(), at, "has two tools of one name");
        unique
    }

    /// A name of `names`.
    pub(super) fn known(&mut self, at: &str, name: &Value, names: &BTreeSet<&str>) {
        self.unless(name.as_str().is_some_and(|name| names.contains(name)), at, format!("no tool is named {name}"));
    }
}

/// The types of pictures that every provider reads.
pub(super) const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Which calls wait for their results.
#[derive(Debug, Default)]
pub(super) struct Calls<'v> {
    seen: BTreeSet<&'v str>,
    waiting: Vec<&'v str>,
}

impl<'v> Calls<'v> {
    pub(super) fn call(&mut self, at: &str, id: &'v str, faults: &mut Faults) {
        faults.unless(self.seen.insert(id), at, format!("a second call has the id `{id}`"));
        self.waiting.push(id);
    }

    pub(super) fn result(&mut self, at: &str, id: &str, faults: &mut Faults) {
        match self.waiting.iter().position(|call| *call == id) {
            Some(call) => _ = self.waiting.remove(call),
            None => faults.add(at, format!("no call `{id}` waits for a result")),
        }
    }

    /// All results are to be here now.
    pub(super) fn answered(&mut self, at: &str, faults: &mut Faults) {
        for id in self.waiting.drain(..) {
            faults.add(at, format!("call `{id}` has no result"));
        }
    }
}

/// The roles of messages alternate, beginning with the user's.
pub(super) fn alternate(at: &str, roles: &[&str], user: &str, faults: &mut Faults) {
    faults.unless(roles.first() == Some(&user), at, "does not begin with the user");
    faults.unless(roles.windows(2).all(|pair| pair[0] != pair[1]), at, "has two messages of one role in a row");
}
