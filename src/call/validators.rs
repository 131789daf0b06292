use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use serde_json::{Map, Value};

use super::{
    compiled::Compiled,
    invalid::{Fault, Invalid},
};
use crate::{json, protocol::Schema};

/// Checks arguments against the schemas of tools, and remembers the schemas that it compiled: a
/// conversation calls the same tools again. One serves a whole host.
#[derive(Debug)]
pub struct Validators(Mutex<Remembered>);

/// What was found out about arguments that are not invalid.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Checked {
    /// What of the schema they could not be checked against, one sentence each, in words for the host: a
    /// server's schema that is at fault is no reason to refuse a call. Empty if all of it was checked.
    pub unchecked: Vec<String>,
}

impl Validators {
    /// The most bytes of arguments, as canonical JSON: 1 MiB, beyond what a model writes in one answer.
    pub const MAX_BYTES: usize = 1 << 20;

    /// The deepest arguments, in nested arrays and objects: [`json::MAX_DEPTH`].
    pub const MAX_DEPTH: usize = json::MAX_DEPTH;

    /// How many schemas are remembered: 256, more tools than a conversation is offered.
    pub const CAPACITY: usize = 256;

    /// How many bytes of schemas are remembered: 2 MiB, several times what 256 tools of real servers
    /// have. A compiled schema takes some times as much as its text.
    pub const CAPACITY_BYTES: usize = 2 << 20;

    /// Remembers nothing yet.
    pub fn new() -> Self {
        Self(Mutex::new(Remembered { compiled: LruCache::unbounded(), bytes: 0 }))
    }

    /// Checks the arguments of a call against the tool's schema as its server sent it.
    ///
    /// The dialect is the one that `$schema` declares (draft-04 to 2020-12), else 2020-12. `format` says
    /// nothing here: formats are annotations (JSON Schema 2020-12, validation, 7.2.1). No reference is
    /// followed out of the schema, patterns are matched in linear time, and work, memory and depth are
    /// bounded. What cannot be checked by these rules blocks nothing, and is told in [`Checked`].
    ///
    /// Arguments are never changed: a number that is given as text is a fault.
    ///
    /// # Errors
    /// [`Invalid`] if they do not fit the schema, or are larger than [`Self::MAX_BYTES`] or deeper than
    /// [`Self::MAX_DEPTH`].
    pub fn validate(&self, schema: &Schema, arguments: &Map<String, Value>) -> Result<Checked, Invalid> {
        let arguments = bounded(arguments)?;
        let compiled = self.compiled(schema);
        Ok(Checked { unchecked: compiled.check(&arguments)? })
    }

    fn compiled(&self, schema: &Schema) -> Arc<Compiled> {
        // The lock is not held while compiling.
        let known = self.remembered(|remembered| remembered.compiled.get(schema).map(Arc::clone));
        known.unwrap_or_else(|| {
            let compiled = Arc::new(Compiled::new(schema));
            self.remembered(|remembered| remembered.put(schema, Arc::clone(&compiled)));
            compiled
        })
    }

    fn remembered<T>(&self, work: impl FnOnce(&mut Remembered) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Validators {
    fn default() -> Self {
        Self::new()
    }
}

/// [`Validators::validate`] for one call: compiles the schema each time.
///
/// # Errors
/// As [`Validators::validate`].
pub fn validate(schema: &Schema, arguments: &Map<String, Value>) -> Result<Checked, Invalid> {
    Ok(Checked { unchecked: Compiled::new(schema).check(&bounded(arguments)?)? })
}

/// The arguments as a value, unless they are too large.
fn bounded(arguments: &Map<String, Value>) -> Result<Value, Invalid> {
    let (max_depth, max_bytes) = (Validators::MAX_DEPTH, Validators::MAX_BYTES);
    let depth = arguments.values().map(json::depth).max().unwrap_or_default() + 1;
    let fault = if depth > max_depth {
        Fault::new("", format!("an object nested {max_depth} deep at most"), format!("one nested {depth} deep"))
    } else {
        match json::canonical_object(arguments).len() {
            ..=Validators::MAX_BYTES => return Ok(Value::Object(arguments.clone())),
            bytes => Fault::new("", format!("{max_bytes} bytes at most"), format!("{bytes} bytes")),
        }
    };
    Err(Invalid::new(vec![fault]))
}

#[derive(Debug)]
struct Remembered {
    compiled: LruCache<Schema, Arc<Compiled>>,
    /// Of the schemas' texts.
    bytes: usize,
}

impl Remembered {
    fn put(&mut self, schema: &Schema, compiled: Arc<Compiled>) {
        let bytes = schema.as_str().len();
        if bytes > Validators::CAPACITY_BYTES {
            return;
        }
        // Another thread may have compiled it at the same time.
        if self.compiled.put(schema.clone(), compiled).is_none() {
            self.bytes += bytes;
        }
        while self.compiled.len() > Validators::CAPACITY || self.bytes > Validators::CAPACITY_BYTES {
            let Some((oldest, _)) = self.compiled.pop_lru() else { break };
            self.bytes -= oldest.as_str().len();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_remembered_is_bounded_and_gives_the_same_answers() {
        let validators = Validators::new();
        let arguments = json!({"a": 1}).as_object().cloned().unwrap();
        for round in 0..2 {
            for i in 0..Validators::CAPACITY + 50 {
                let schema = Schema::from(json!({"properties": {"a": {"minimum": i}}}));
                let answer = validators.validate(&schema, &arguments);
                assert_eq!(answer, validate(&schema, &arguments), "{round}");
                assert_eq!(answer.is_ok(), i <= 1);
            }
        }
        let long = "x".repeat(100_000);
        for i in 0..40 {
            let schema = Schema::from(json!({"title": long, "minProperties": i}));
            assert_eq!(validators.validate(&schema, &arguments).is_ok(), i <= 1);
        }
        validators.remembered(|remembered| {
            let bytes: usize = remembered.compiled.iter().map(|(schema, _)| schema.as_str().len()).sum();
            assert_eq!(bytes, remembered.bytes);
            assert!(bytes <= Validators::CAPACITY_BYTES && remembered.compiled.len() <= Validators::CAPACITY);
        });
    }
}
