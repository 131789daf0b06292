use serde_json::{Map, Value};

/// An item read from JSON, with what was wrong about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Read<T> {
    /// The item.
    pub item: T,
    /// Fields that could not be used, one sentence each. Empty for a clean item.
    pub notes: Vec<String>,
}

/// Takes known fields out of an object; what it cannot use stays behind and is noted.
pub(super) struct Fields {
    path: String,
    rest: Map<String, Value>,
    notes: Vec<String>,
}

impl Fields {
    /// # Errors
    /// A sentence, if `value` is no object.
    pub(super) fn new(value: Value) -> Result<Self, String> {
        match value {
            Value::Object(rest) => Ok(Self { path: String::new(), rest, notes: Vec::new() }),
            other => Err(format!("it is {}, not an object", kind(&other))),
        }
    }

    /// A field that the protocol requires.
    pub(super) fn required_string(&mut self, name: &str) -> Result<String, String> {
        match self.rest.remove(name) {
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(format!("`{}` is {}, not a string", self.name(name), kind(&other))),
            None => Err(format!("`{}` is missing", self.name(name))),
        }
    }

    /// A field that the protocol requires.
    pub(super) fn required_object(&mut self, name: &str) -> Result<Map<String, Value>, String> {
        match self.rest.remove(name) {
            Some(Value::Object(map)) => Ok(map),
            Some(other) => Err(format!("`{}` is {}, not an object", self.name(name), kind(&other))),
            None => Err(format!("`{}` is missing", self.name(name))),
        }
    }

    pub(super) fn string(&mut self, name: &str) -> Option<String> {
        self.take(name, "a string", |value| match value {
            Value::String(text) => Ok(text),
            other => Err(other),
        })
    }

    pub(super) fn boolean(&mut self, name: &str) -> Option<bool> {
        self.take(name, "a boolean", |value| value.as_bool().ok_or(value))
    }

    /// A number from 0 to 1.
    pub(super) fn fraction(&mut self, name: &str) -> Option<f64> {
        self.take(name, "a number from 0 to 1", |value| value.as_f64().filter(|n| (0.0..=1.0).contains(n)).ok_or(value))
    }

    /// A whole number that is not negative; `1.0` counts as 1, since some servers write floats.
    pub(super) fn size(&mut self, name: &str) -> Option<u64> {
        self.take(name, "a whole number", |value| {
            let float = value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n));
            value.as_u64().or(float.map(|n| n as u64)).ok_or(value)
        })
    }

    pub(super) fn number(&mut self, name: &str) -> Option<f64> {
        self.take(name, "a number", |value| value.as_f64().ok_or(value))
    }

    pub(super) fn array(&mut self, name: &str) -> Option<Vec<Value>> {
        self.take(name, "an array", |value| match value {
            Value::Array(items) => Ok(items),
            other => Err(other),
        })
    }

    pub(super) fn value(&mut self, name: &str) -> Option<Value> {
        self.rest.remove(name)
    }

    /// A nested object, read by `read`; what it leaves is put back under its name.
    pub(super) fn nested<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let map = self.take(name, "an object", |value| match value {
            Value::Object(map) => Ok(map),
            other => Err(other),
        })?;
        // An object that says nothing leaves no typed trace: it stays as it is.
        let silent = map.values().all(Value::is_null);
        let mut inner = Self { path: self.name(name), rest: map, notes: Vec::new() };
        let item = read(&mut inner);
        self.notes.append(&mut inner.notes);
        if silent || !inner.rest.is_empty() {
            self.rest.insert(name.to_owned(), Value::Object(inner.rest));
        }
        Some(item)
    }

    /// Keeps a value that was taken but cannot be used.
    pub(super) fn keep(&mut self, name: &str, value: Value, note: &str) {
        let full = self.name(name);
        self.notes.push(format!("{full} {note}"));
        self.rest.insert(name.to_owned(), value);
    }

    /// What was not taken, and the notes.
    pub(super) fn finish(self) -> (Map<String, Value>, Vec<String>) {
        (self.rest, self.notes)
    }

    fn take<T>(&mut self, name: &str, expected: &str, read: impl FnOnce(Value) -> Result<T, Value>) -> Option<T> {
        match self.rest.remove(name) {
            None | Some(Value::Null) => None,
            Some(value) => match read(value) {
                Ok(item) => Some(item),
                Err(value) => {
                    self.keep(name, value, &format!("is not {expected}"));
                    None
                }
            },
        }
    }

    fn name(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

/// Puts typed fields back beside what was not understood.
pub(super) struct Writer(Map<String, Value>);

impl Writer {
    pub(super) fn new(extra: &Map<String, Value>) -> Self {
        Self(extra.clone())
    }

    pub(super) fn put(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
        self
    }

    /// A nested object joins what stayed behind of it.
    pub(super) fn put_nested(mut self, name: &str, map: Map<String, Value>) -> Self {
        if !map.is_empty() {
            match self.0.get_mut(name) {
                Some(Value::Object(rest)) => rest.extend(map),
                _ => _ = self.0.insert(name.to_owned(), Value::Object(map)),
            }
        }
        self
    }

    pub(super) fn finish(self) -> Map<String, Value> {
        self.0
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
