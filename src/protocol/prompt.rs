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

    /// Reads one item of a list. An argument that cannot be read is left out and noted.
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
        let mut arguments = Vec::new();
        let mut bad = Vec::new();
        for (i, value) in fields.array("arguments").unwrap_or_default().into_iter().enumerate() {
            match PromptArgument::read(value) {
                Ok(argument) => arguments.push(argument),
                Err(reason) => bad.push(format!("arguments[{i}]: {reason}")),
            }
        }
        let (extra, mut notes) = fields.finish();
        notes.append(&mut bad);
        Ok(Read { item: Self { name, title, description, arguments, extra }, notes })
    }

    /// The description as it was sent.
    pub fn to_value(&self) -> Value {
        let arguments: Vec<Value> = self.arguments.iter().map(PromptArgument::to_value).collect();
        Value::Object(
            Writer::new(&self.extra)
                .put("name", Some(self.name.as_str()))
                .put("title", self.title.as_deref())
                .put("description", self.description.as_deref())
                .put("arguments", (!arguments.is_empty()).then_some(arguments))
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
    fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::new(value)?;
        let name = fields.required_string("name")?;
        let title = fields.string("title");
        let description = fields.string("description");
        let required = fields.boolean("required").unwrap_or(false);
        Ok(Self { name, title, description, required, extra: fields.finish().0 })
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
        Ok(Read { item: Self { description, messages }, notes })
    }
}
