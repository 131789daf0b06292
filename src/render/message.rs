use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    delimit,
    layout::{Attachment, ToolSpec},
};
use crate::{
    error::excerpt,
    id::{ResourceId, ServerId},
    json::canonical,
    protocol::{CallToolResult, ContentBlock, PromptMessage, ResourceContents, Role},
    resources::{Content, TextContent, classify},
};

/// One message of the conversation.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said, in order.
    pub content: Vec<Block>,
}

impl Message {
    /// A message without content, to which blocks are added.
    pub fn new(role: Role) -> Self {
        Self { role, content: Vec::new() }
    }

    /// A text by the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, content: vec![Block::Text(text.into())] }
    }

    /// A text by the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, content: vec![Block::Text(text.into())] }
    }

    /// A message of a prompt, in the form that a model can be given. `server` is whose prompt it is.
    ///
    /// An embedded text stands between delimiters like an attachment. The prompt's own text stands as
    /// it is, since the user invoked it, but cannot open or close a delimiter: it is its server's. What
    /// a request cannot carry (sounds, binary files, kinds that are not known) becomes a sentence that
    /// says what it was.
    pub fn from_prompt(server: &ServerId, message: &PromptMessage) -> Self {
        let block = match &message.content {
            ContentBlock::Text { text, .. } => Block::Text(delimit::neutral(text)),
            content => Block::from_content(server, content),
        };
        Self { role: message.role, content: vec![block] }
    }

    /// Adds a block at the end.
    #[must_use]
    pub fn with_block(mut self, block: Block) -> Self {
        self.content.push(block);
        self
    }
}

/// One piece of a message.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Text. Blank text is left out: providers refuse it.
    Text(String),
    /// A picture: PNG, JPEG, GIF or WebP, by the user. Everything else is described instead.
    Image {
        /// Such as `image/png`.
        mime_type: String,
        /// Base64. Never enters text.
        data: String,
    },
    /// A resource that the host attaches here, in a message of the user: between its delimiters, as
    /// those before the conversation.
    Attachment(Attachment),
    /// A call that the model made, in a message of the model. Every call needs its result in the
    /// next message: providers refuse a request that lacks one, so the model is told where one is missing.
    ToolCall {
        /// The provider's id of the call; empty where it gives none.
        id: String,
        /// The name that the model used.
        name: String,
        /// The arguments that the model gave.
        arguments: Map<String, Value>,
    },
    /// What a call gave, in a message of the user.
    ToolResult {
        /// The provider's id of the call.
        call_id: String,
        /// Texts and pictures.
        content: Vec<Self>,
        /// The call failed, and the model should see why.
        is_error: bool,
    },
    /// Tools that join the conversation here, and are offered from here on: what a call of a
    /// [search tool](super::ToolKind::Search) found, in its result; or what the host adds, in a message
    /// of the user. The array of tools stays as it is. Each provider is given them in the form that
    /// it knows, see [`Deferral`](super::Deferral).
    Tools {
        /// The tools, in this order.
        tools: Vec<ToolSpec>,
    },
    /// What the provider gave with the block before it, in a message of the model: to be handed back
    /// unread with the next request. Gemini's `thoughtSignature`; other providers are not sent it.
    Signature(String),
}

impl Block {
    /// A tool's answer in the form that a model can be given. `server` is whose tool it is.
    ///
    /// `structuredContent` is put before the model only where the answer holds nothing else:
    /// servers should repeat it as text (MCP 2026-07-28, tools).
    pub fn tool_result(server: &ServerId, call_id: impl Into<String>, result: &CallToolResult) -> Self {
        let mut content: Vec<_> = result.content.iter().map(|content| Self::from_content(server, content)).collect();
        if let (true, Some(structured)) = (content.is_empty(), &result.structured_content) {
            content.push(Self::Text(canonical(structured)));
        }
        Self::ToolResult { call_id: call_id.into(), content, is_error: result.is_error }
    }

    fn from_content(server: &ServerId, content: &ContentBlock) -> Self {
        match content {
            ContentBlock::Text { text, .. } => Self::Text(text.clone()),
            ContentBlock::Image { data, mime_type, .. } => {
                Self::Image { mime_type: mime_type.clone(), data: data.clone() }
            }
            ContentBlock::Audio { data, mime_type, .. } => Self::Text(left_out("sound", mime_type, decoded_len(data))),
            ContentBlock::ResourceLink(resource) => Self::Text(format!(
                "[resource {} on server {}: {}]",
                delimit::attribute(&resource.uri),
                delimit::attribute(server.as_str()),
                delimit::attribute(resource.label()),
            )),
            ContentBlock::Resource { contents, .. } => Self::from_contents(server, contents),
            ContentBlock::Other(_) => Self::Text("[content of a kind that is not known, left out]".into()),
        }
    }

    /// By what it is, as attachments are.
    fn from_contents(server: &ServerId, contents: &ResourceContents) -> Self {
        match classify(contents) {
            Content::Text(TextContent { mime_type, text, .. }) => {
                let resource = ResourceId::new(server.clone(), contents.uri.as_str());
                Self::Text(delimit::attachment(&resource, None, mime_type.as_deref(), false, &text))
            }
            Content::Image(image) => Self::Image { mime_type: image.mime_type.into(), data: image.data },
            Content::Audio { mime_type, bytes } => Self::Text(left_out("sound", &mime_type, bytes)),
            Content::Binary { mime_type, bytes, .. } => {
                Self::Text(left_out("file", mime_type.as_deref().unwrap_or("of unknown type"), bytes))
            }
        }
    }
}

/// What stands for content that a request cannot carry.
pub(super) fn left_out(what: &str, mime_type: &str, bytes: usize) -> String {
    format!("[{what}, {}, about {bytes} bytes, left out]", delimit::attribute(&excerpt(mime_type)))
}

/// About as many bytes as base64 stands for.
pub(super) fn decoded_len(base64: &str) -> usize {
    base64.len() / 4 * 3
}
