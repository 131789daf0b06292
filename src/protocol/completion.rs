use std::collections::BTreeMap;

use serde_json::Value;

use super::fields::{Fields, Read};

/// What values an argument may have (`completion/complete`): of a prompt, or of a resource template.
///
/// ```
/// use proem::protocol::{CompletionRequest, CompletionTarget};
///
/// let request = CompletionRequest::new(CompletionTarget::template("deploy://{environment}/{service}/env"), "service")
///     .with_value("w")
///     .with_known("environment", "staging");
/// assert_eq!(request.known["environment"], "staging");
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct CompletionRequest {
    /// Whose argument it is.
    pub target: CompletionTarget,
    /// The argument's name.
    pub argument: String,
    /// What was typed of it so far. Default: nothing.
    pub value: String,
    /// The arguments that are settled already (`context.arguments`, since MCP 2025-06-18).
    pub known: BTreeMap<String, String>,
}

/// Whose argument is completed, by the name or template that its server gives it.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum CompletionTarget {
    /// A prompt, by its name (`ref/prompt`).
    Prompt(String),
    /// A resource template, by its URI template (`ref/resource`).
    Template(String),
}

impl CompletionTarget {
    /// A prompt.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt(name.into())
    }

    /// A resource template.
    pub fn template(uri_template: impl Into<String>) -> Self {
        Self::Template(uri_template.into())
    }
}

impl CompletionRequest {
    /// Asks for all values of an argument.
    pub fn new(target: CompletionTarget, argument: impl Into<String>) -> Self {
        Self { target, argument: argument.into(), value: String::new(), known: BTreeMap::new() }
    }

    /// Sets what was typed so far.
    #[must_use]
    pub fn with_value(mut self, value: impl Into<String>) -> Self {
        self.value = value.into();
        self
    }

    /// Adds an argument that is settled already.
    #[must_use]
    pub fn with_known(mut self, argument: impl Into<String>, value: impl Into<String>) -> Self {
        self.known.insert(argument.into(), value.into());
        self
    }
}

/// The answer to `completion/complete`: suggestions, never a constraint.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Completion {
    /// The values in the server's order, at most [`Self::MAX_VALUES`].
    pub values: Vec<String>,
    /// How many there are altogether, where the server says so.
    pub total: Option<u64>,
    /// There are more than these.
    pub has_more: bool,
}

impl Completion {
    /// The most values of one answer, by the specification; more are left out and counted as more.
    pub const MAX_VALUES: usize = 100;

    /// All values there are.
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut values: Vec<String> = values.into_iter().map(Into::into).collect();
        let total = values.len();
        values.truncate(Self::MAX_VALUES);
        Self { has_more: values.len() < total, total: u64::try_from(total).ok(), values }
    }

    /// Reads an answer; a value that is no string is left out and noted.
    ///
    /// # Errors
    /// A sentence, if it is no object with a `completion` that has `values`.
    pub fn read(value: Value) -> Result<Read<Self>, String> {
        let mut fields = Fields::new(value)?;
        let mut inner = Fields::new(Value::Object(fields.required_object("completion")?))?;
        let sent = inner.array("values").ok_or("`completion.values` is missing or no array")?;
        let (total, more) = (inner.size("total"), inner.boolean("hasMore"));
        let (_, mut notes) = inner.finish();
        let mut values = Vec::with_capacity(sent.len().min(Self::MAX_VALUES));
        let cut = sent.len() > Self::MAX_VALUES;
        for (i, value) in sent.into_iter().take(Self::MAX_VALUES).enumerate() {
            match value {
                Value::String(text) => values.push(text),
                _ => notes.push(format!("completion.values[{i}] is not a string")),
            }
        }
        if cut {
            notes.push(format!("completion.values has more than {} values", Self::MAX_VALUES));
        }
        // A total above what is there says as much, where the server says nothing of more.
        let beyond = total.is_some_and(|total| total > values.len() as u64);
        Ok(Read { item: Self { has_more: cut || more.unwrap_or(beyond), values, total }, notes })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_read_leniently_and_bounded() {
        let sent = json!({"completion": {"values": ["a", 7, "b"], "total": 5}});
        let read = Completion::read(sent).unwrap();
        assert_eq!(
            (read.item.values, read.item.total, read.item.has_more),
            (vec!["a".into(), "b".into()], Some(5), true)
        );
        assert_eq!(read.notes, ["completion.values[1] is not a string"]);

        let many: Vec<String> = (0..101).map(|i| i.to_string()).collect();
        let read = Completion::read(json!({"completion": {"values": many, "hasMore": false}})).unwrap();
        assert_eq!((read.item.values.len(), read.item.has_more), (100, true));

        for broken in [json!([]), json!({}), json!({"completion": {}}), json!({"completion": {"values": "a"}})] {
            assert!(Completion::read(broken).is_err());
        }
    }
}
