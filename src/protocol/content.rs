use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    annotations::Annotations,
    fields::{Fields, Read},
    resource::Resource,
    server::{CacheScope, ttl},
};

/// One piece of what a prompt, a tool or a resource says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Plain text.
    Text {
        /// The text.
        text: String,
        /// Hints.
        annotations: Annotations,
    },
    /// A picture.
    Image {
        /// Base64.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
        /// Hints.
        annotations: Annotations,
    },
    /// A sound.
    Audio {
        /// Base64.
        data: String,
        /// Such as `audio/wav`.
        mime_type: String,
        /// Hints.
        annotations: Annotations,
    },
    /// A pointer to a resource, which need not stand in any list.
    ResourceLink(Box<Resource>),
    /// A resource with its content.
    Resource {
        /// The content.
        contents: ResourceContents,
        /// Hints; accepted beside the resource and inside it (the specification shows both). If one
        /// of the two places keeps the model out, the other cannot let it in.
        annotations: Annotations,
    },
    /// A kind that this crate does not know, or a block that lacks what its kind requires, as sent.
    Other(Value),
}

impl ContentBlock {
    /// A text block without hints.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), annotations: Annotations::default() }
    }

    /// Reads a block; never fails, see [`Self::Other`].
    pub fn read(value: Value) -> Self {
        Self::try_read(&value).unwrap_or(Self::Other(value))
    }

    fn try_read(value: &Value) -> Option<Self> {
        let mut fields = Fields::new(value.clone()).ok()?;
        let kind = fields.required_string("type").ok()?;
        if kind == "resource_link" {
            return Some(Self::ResourceLink(Box::new(Resource::read(value.clone()).ok()?.item)));
        }
        let annotations = fields.nested("annotations", Annotations::take).unwrap_or_default();
        match kind.as_str() {
            "text" => Some(Self::Text { text: fields.required_string("text").ok()?, annotations }),
            "image" | "audio" => {
                let data = fields.required_string("data").ok()?;
                let mime_type = fields.required_string("mimeType").ok()?;
                Some(if kind == "image" {
                    Self::Image { data, mime_type, annotations }
                } else {
                    Self::Audio { data, mime_type, annotations }
                })
            }
            "resource" => {
                let inner = Value::Object(fields.required_object("resource").ok()?);
                let inside = Fields::new(inner.clone()).ok()?.nested("annotations", Annotations::take);
                Some(Self::Resource {
                    contents: ResourceContents::read(inner).ok()?,
                    annotations: annotations.or(inside.unwrap_or_default()),
                })
            }
            _ => None,
        }
    }
}

/// One content of a resource. A read may give several, each with a URI of its own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceContents {
    /// What it is, which may differ from the URI that was asked for.
    pub uri: String,
    /// Its MIME type as the server says.
    pub mime_type: Option<String>,
    /// The text, or `None` for a blob.
    pub text: Option<String>,
    /// Base64, or `None` for a text.
    pub blob: Option<String>,
}

impl ResourceContents {
    /// A text, for hosts and tests.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, text: Some(text.into()), blob: None }
    }

    /// Bytes in base64, for hosts and tests. What is given is not checked.
    pub fn blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, text: None, blob: Some(base64.into()) }
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Reads one content.
    ///
    /// # Errors
    /// A sentence, if it has no `uri`, or neither `text` nor `blob`.
    pub fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::new(value)?;
        let contents = Self {
            uri: fields.required_string("uri")?,
            mime_type: fields.string("mimeType"),
            text: fields.string("text"),
            blob: fields.string("blob"),
        };
        if contents.text.is_none() && contents.blob.is_none() {
            return Err("it has neither `text` nor `blob`".into());
        }
        Ok(contents)
    }
}

/// The answer to `resources/read`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The contents in the server's order. Empty does not mean "not found".
    pub contents: Vec<ResourceContents>,
    /// How long it may be reused (`ttlMs`). `None` (legacy, or not said) counts as zero.
    pub ttl: Option<Duration>,
    /// Who may be given it again.
    pub scope: CacheScope,
    /// Everything else, as sent.
    pub extra: Map<String, Value>,
}

impl ReadResourceResult {
    /// An answer that may not be reused.
    pub fn new(contents: impl IntoIterator<Item = ResourceContents>) -> Self {
        Self { contents: contents.into_iter().collect(), ..Self::default() }
    }

    /// Reads an answer; a content that cannot be read is left out and noted.
    ///
    /// # Errors
    /// A sentence, if it is no object with `contents`.
    pub fn read(value: Value) -> Result<Read<Self>, String> {
        let mut fields = Fields::new(value)?;
        let sent = fields.array("contents").ok_or("`contents` is missing or no array")?;
        let mut contents = Vec::with_capacity(sent.len());
        let mut notes = Vec::new();
        for (i, value) in sent.into_iter().enumerate() {
            match ResourceContents::read(value) {
                Ok(content) => contents.push(content),
                Err(reason) => notes.push(format!("contents[{i}]: {reason}")),
            }
        }
        let ttl = fields.number("ttlMs").and_then(ttl);
        let scope = CacheScope::parse(fields.string("cacheScope").as_deref());
        let (extra, more) = fields.finish();
        notes.extend(more);
        Ok(Read { item: Self { contents, ttl, scope, extra }, notes })
    }
}
