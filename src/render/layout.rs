use std::{borrow::Cow, cmp::Ordering, collections::BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{delimit, message::Message};
use crate::{
    catalog::ToolEntry,
    id::{ResourceId, ServerId, ToolId},
    protocol::Schema,
};

/// Everything that one request holds, as plain data: made by the layers above or by hand.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Layout {
    /// The model's name as the provider spells it. `None` leaves the key out, for hosts whose SDK
    /// sets it.
    pub model: Option<String>,
    /// The tools that the model may call, in any order.
    pub tools: Vec<ToolSpec>,
    /// The host's own text, in the host's order. Not sorted, not changed.
    pub system: Vec<String>,
    /// What servers say about themselves, in any order.
    pub instructions: Vec<(ServerId, String)>,
    /// What is attached, in any order.
    pub attachments: Vec<Attachment>,
    /// The conversation, oldest first. Neighbours of the same role are rendered as one message.
    pub messages: Vec<Message>,
    /// Whether the model must call a tool. Default: as it sees fit.
    pub tool_choice: ToolChoice,
    /// The exposed names that may be called in this request, for providers that can hold the others
    /// back without a change to the array of tools. `None`, the default: all.
    pub allowed: Option<BTreeSet<String>>,
    /// The most tokens that the model may answer with. `None` leaves it to the provider, see
    /// [`Anthropic::DEFAULT_MAX_TOKENS`](super::Anthropic::DEFAULT_MAX_TOKENS) for the one that requires it.
    pub max_tokens: Option<u32>,
    /// The most characters of one server's instructions; the rest is cut, with a notice in the
    /// text and a note in the report. Default [`Self::MAX_INSTRUCTION_CHARS`].
    pub max_instruction_chars: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            model: None,
            tools: Vec::new(),
            system: Vec::new(),
            instructions: Vec::new(),
            attachments: Vec::new(),
            messages: Vec::new(),
            tool_choice: ToolChoice::Auto,
            allowed: None,
            max_tokens: None,
            max_instruction_chars: Self::MAX_INSTRUCTION_CHARS,
        }
    }
}

impl Layout {
    /// The default bound of one server's instructions, in characters: the longest that well-known
    /// servers send stays whole, and one server cannot fill the prompt.
    pub const MAX_INSTRUCTION_CHARS: usize = 4_096;

    /// An empty layout.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn with_tool(mut self, tool: ToolSpec) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a piece of the host's own text.
    #[must_use]
    pub fn with_system(mut self, text: impl Into<String>) -> Self {
        self.system.push(text.into());
        self
    }

    /// Adds what a server says about itself.
    #[must_use]
    pub fn with_instructions(mut self, server: ServerId, text: impl Into<String>) -> Self {
        self.instructions.push((server, text.into()));
        self
    }

    /// Adds an attachment.
    #[must_use]
    pub fn with_attachment(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }

    /// Adds a message at the end.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.messages.push(message);
        self
    }

    /// Sets whether the model must call a tool.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Sets the exposed names that may be called in this request.
    #[must_use]
    pub fn with_allowed(mut self, exposed: impl IntoIterator<Item = String>) -> Self {
        self.allowed = Some(exposed.into_iter().collect());
        self
    }

    /// Sets the most tokens of the answer.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets the bound of one server's instructions, in characters.
    #[must_use]
    pub fn with_max_instruction_chars(mut self, chars: usize) -> Self {
        self.max_instruction_chars = chars;
        self
    }

    /// Attachments in the order in which they are rendered.
    pub(super) fn ordered_attachments(&self) -> Vec<&Attachment> {
        let mut attachments: Vec<_> = self.attachments.iter().collect();
        attachments.sort_by(|a, b| a.order(b));
        attachments
    }

    /// Instructions in the order in which they are rendered.
    pub(super) fn ordered_instructions(&self) -> Vec<&(ServerId, String)> {
        let mut instructions: Vec<_> = self.instructions.iter().collect();
        instructions.sort();
        instructions
    }
}

/// Whether the model must call a tool.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// As it sees fit. Nothing is written: it is every provider's default.
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must call one, whichever.
    Required,
    /// It must call this one, by its exposed name.
    Tool(String),
}

/// What a tool is there for.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolKind {
    /// The host's own, with which the model searches for tools that are not before it. Providers
    /// that know such a tool are told that it is one.
    Search,
    /// The host's own, with which the model calls a tool that it was told of in a message.
    Call,
    /// A server's.
    #[default]
    Server,
}

/// A tool as the model shall see it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Where it comes from: what a call by the exposed name is routed to.
    pub tool: ToolId,
    /// What it is there for. Default: a server's tool.
    #[serde(default)]
    pub kind: ToolKind,
    /// The name that the model uses: `[a-zA-Z_][a-zA-Z0-9_-]{0,62}`.
    pub exposed: String,
    /// What the model reads about it. Blank counts as absent; never cut here.
    pub description: Option<String>,
    /// JSON Schema of the arguments as the server sent it. Rendering repairs a copy.
    pub input_schema: Schema,
    /// Which part of the prefix it joined: 0 is the first. Sorts before everything else.
    pub generation: u32,
}

impl ToolSpec {
    /// A tool without description that takes any arguments.
    pub fn new(tool: ToolId, exposed: impl Into<String>) -> Self {
        let input_schema = Schema::any_object();
        Self { tool, kind: ToolKind::Server, exposed: exposed.into(), description: None, input_schema, generation: 0 }
    }

    /// A tool of a catalog, under the name that the catalog gave it. Where the server gives no
    /// description, its title stands for it.
    pub fn from_entry(entry: &ToolEntry) -> Self {
        let tool = &entry.tool;
        let text = tool.description.as_ref().filter(|text| !text.trim().is_empty());
        let title = tool.title.as_ref().or(tool.annotations.title.as_ref());
        Self {
            tool: entry.id.clone(),
            kind: ToolKind::Server,
            exposed: entry.exposed.as_str().into(),
            description: text.or(title).cloned(),
            input_schema: tool.input_schema.clone(),
            generation: 0,
        }
    }

    /// Says what it is there for.
    #[must_use]
    pub fn with_kind(mut self, kind: ToolKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the JSON Schema of the arguments; a value that is no object is ignored.
    #[must_use]
    pub fn with_input_schema(mut self, schema: Value) -> Self {
        if schema.is_object() {
            self.input_schema = schema.into();
        }
        self
    }

    /// Sets the part of the prefix that it joined.
    #[must_use]
    pub fn with_generation(mut self, generation: u32) -> Self {
        self.generation = generation;
        self
    }
}

/// A resource's text and pictures, as they are put before the model.
///
/// ```
/// use proem::id::{ResourceId, ServerId};
/// use proem::render::{Attachment, AttachedImage};
///
/// let plan = ResourceId::new(ServerId::new("wiki")?, "wiki://plan.png");
/// let attachment = Attachment::new(plan, "").with_image(AttachedImage::new("image/png", "iVBORw0KGgo="));
/// assert!(attachment.rendered().contains("[the picture follows]"));
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Attachment {
    /// Where it comes from.
    pub resource: ResourceId,
    /// What the model may call it, such as its title. `None` leaves the URI to speak.
    pub label: Option<String>,
    /// Its MIME type.
    pub mime_type: Option<String>,
    /// The text. Bounded by whoever selects it, never cut here.
    pub text: String,
    /// The pictures, in this order right after the text. What a provider does not read is described.
    pub images: Vec<AttachedImage>,
    /// Which part of the prefix it joined: 0 is the first. Sorts before everything else.
    pub generation: u32,
    /// It stands for what was attached of the resource before. Default: no.
    #[serde(default)]
    pub supersedes: bool,
}

impl Attachment {
    /// A text without label and MIME type.
    pub fn new(resource: ResourceId, text: impl Into<String>) -> Self {
        Self {
            resource,
            label: None,
            mime_type: None,
            text: text.into(),
            images: Vec::new(),
            generation: 0,
            supersedes: false,
        }
    }

    /// Sets what the model may call it.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets its MIME type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Adds a picture after those that are there.
    #[must_use]
    pub fn with_image(mut self, image: AttachedImage) -> Self {
        self.images.push(image);
        self
    }

    /// Sets the part of the prefix that it joined.
    #[must_use]
    pub fn with_generation(mut self, generation: u32) -> Self {
        self.generation = generation;
        self
    }

    /// Says that it stands for what was attached of the resource before: the delimiters tell the model.
    #[must_use]
    pub fn superseding(mut self) -> Self {
        self.supersedes = true;
        self
    }

    /// The text between its delimiters: exactly what every provider is given, for counting tokens.
    /// Where there are only pictures, a line says that they follow; what they cost is not in it.
    pub fn rendered(&self) -> String {
        let text: Cow<'_, str> = match self.images.len() {
            1 if self.text.trim().is_empty() => "[the picture follows]".into(),
            images @ 2.. if self.text.trim().is_empty() => format!("[{images} pictures follow]").into(),
            _ => self.text.as_str().into(),
        };
        delimit::attachment(&self.resource, self.label.as_deref(), self.mime_type.as_deref(), self.supersedes, &text)
    }

    /// By where it stands; by what it says only where two have the same place.
    fn order(&self, other: &Self) -> Ordering {
        (self.generation, &self.resource)
            .cmp(&(other.generation, &other.resource))
            .then_with(|| self.label.cmp(&other.label))
            .then_with(|| self.mime_type.cmp(&other.mime_type))
            .then_with(|| self.text.cmp(&other.text))
            .then_with(|| self.images.cmp(&other.images))
            .then_with(|| self.supersedes.cmp(&other.supersedes))
    }
}

/// A picture of an attachment.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[non_exhaustive]
pub struct AttachedImage {
    /// Such as `image/png`. PNG, JPEG, GIF and WebP are shown, everything else is described.
    pub mime_type: String,
    /// Base64. Never enters text.
    pub data: String,
}

impl AttachedImage {
    /// A picture of this type.
    pub fn new(mime_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self { mime_type: mime_type.into(), data: data.into() }
    }
}
