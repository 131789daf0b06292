use serde_json::{Map, Value};

use super::{
    annotations::Role,
    content::ContentBlock,
    fields::{Fields, Read, Writer},
};

/// A prompt's description (`prompts/list`). Prompts are invoked by the user, never by a server's wish.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// Unique within its server.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// What the user fills in.
    pub arguments: Vec<PromptArgument>,
    /// Everything else, as sent.
    pub extra: Map<String, Value>,
}

impl Prompt {
    /// A prompt without arguments, for hosts and tests.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: Some(description.into()), ..Self::default() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with_argument(mut self, name: impl Into<String>, required: bool) -> Self {
        self.arguments.push(PromptArgument { name: name.into(), required, ..PromptArgument::default() });
        self
    }

    /// Reads one item of a list. An argument that cannot be read is left out and noted; the
    /// arguments as sent are then in `extra`.
    ///
    /// # Errors
    /// A sentence, if there is no `name`.
    pub fn read(value: Value) -> Result<Read<Self>, String> {
        let mut fields = Fields::new(value)?;
        let name = fields.required_string("name")?;
        if name.is_empty() {
            return Err("`name` is empty".into());
        }
        let title = fields.string("title");
        let description = fields.string("description");
        let sent = fields.array("arguments");
        let mut arguments = Vec::new();
        let (mut bad, mut noted) = (false, Vec::new());
        for (i, value) in sent.iter().flatten().enumerate() {
            match PromptArgument::read(value.clone()) {
                Ok(Read { item, notes }) => {
                    arguments.push(item);
                    noted.extend(notes.into_iter().map(|note| format!("arguments[{i}]: {note}")));
                }
                Err(reason) => {
                    bad = true;
                    noted.push(format!("arguments[{i}]: {reason}"));
                }
            }
        }
        let (mut extra, mut notes) = fields.finish();
        if let Some(sent) = sent.filter(|sent| bad || sent.is_empty()) {
            extra.insert("arguments".into(), Value::Array(sent));
        }
        notes.append(&mut noted);
        Ok(Read { item: Self { name, title, description, arguments, extra }, notes })
    }

    /// The description as it was sent.
    pub fn to_value(&self) -> Value {
        let arguments: Vec<Value> = self.arguments.iter().map(PromptArgument::to_value).collect();
        let as_sent =
            self.extra.get("arguments").is_some_and(|sent| sent.as_array().is_some_and(|sent| !sent.is_empty()));
        Value::Object(
            Writer::new(&self.extra)
                .put("name", Some(self.name.as_str()))
                .put("title", self.title.as_deref())
                .put("description", self.description.as_deref())
                .put("arguments", (!arguments.is_empty() && !as_sent).then_some(arguments))
                .finish(),
        )
    }
}

/// What the user fills in.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Unique within the prompt.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// The prompt cannot be got without it. Absent counts as false.
    pub required: bool,
    /// Everything else, as sent.
    pub extra: Map<String, Value>,
}

impl PromptArgument {
    fn read(value: Value) -> Result<Read<Self>, String> {
        let mut fields = Fields::new(value)?;
        let name = fields.required_string("name")?;
        let title = fields.string("title");
        let description = fields.string("description");
        let required = fields.boolean("required");
        let (mut extra, notes) = fields.finish();
        if required == Some(false) {
            // The same as saying nothing, but it was said.
            extra.insert("required".into(), false.into());
        }
        Ok(Read { item: Self { name, title, description, required: required.unwrap_or(false), extra }, notes })
    }

    fn to_value(&self) -> Value {
        Value::Object(
            Writer::new(&self.extra)
                .put("name", Some(self.name.as_str()))
                .put("title", self.title.as_deref())
                .put("description", self.description.as_deref())
                .put("required", self.required.then_some(true))
                .finish(),
        )
    }
}

/// One message of a prompt: one role, one block.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: ContentBlock,
}

impl PromptMessage {
    /// A message of one block.
    pub fn new(role: Role, content: ContentBlock) -> Self {
        Self { role, content }
    }
}

/// The answer to `prompts/get`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// For people.
    pub description: Option<String>,
    /// The messages in the server's order.
    pub messages: Vec<PromptMessage>,
    /// What could not be read, such as a message of a role that is neither user nor assistant.
    pub notes: Vec<String>,
}

impl GetPromptResult {
    /// Reads an answer; a message without a known role is left out and noted.
    ///
    /// # Errors
    /// A sentence, if it is no object with `messages`.
    pub fn read(value: Value) -> Result<Read<Self>, String> {
        let mut fields = Fields::new(value)?;
        let description = fields.string("description");
        let sent = fields.array("messages").ok_or("`messages` is missing or no array")?;
        let (_, mut notes) = fields.finish();
        let mut messages = Vec::with_capacity(sent.len());
        for (i, mut message) in sent.into_iter().enumerate() {
            let role = message.get("role").and_then(Value::as_str).and_then(Role::parse);
            let content = message.get_mut("content").map(Value::take);
            match (role, content) {
                (Some(role), Some(content)) => messages.push(PromptMessage::new(role, ContentBlock::read(content))),
                (None, _) => notes.push(format!("messages[{i}]: role is neither user nor assistant")),
                (_, None) => notes.push(format!("messages[{i}]: content is missing")),
            }
        }
        Ok(Read { item: Self { description, messages, notes: notes.clone() }, notes })
    }
}
