use std::{ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Dialect, forms, node::Document, settings};
use crate::{Result, json::Digest, render::SectionKind};

/// What of a request a prompt cache reads, in its order.
///
/// Plain data: a host that keeps it with a conversation can say later why a cache missed. It does
/// not have to hold the conversation for that, see [`without_conversation`](Self::without_conversation).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Prefix {
    /// Whose API the request is written for.
    pub dialect: Dialect,
    /// What stands beside the text and decides too, in a fixed order.
    pub settings: Vec<Setting>,
    /// From the front: tools, system text, messages, wherever they stand in the body. Tools whose
    /// loading is deferred are not among them where they are no part of the cached prefix; the text of
    /// a block that refers to one holds its definition, as the prompt does.
    pub segments: Vec<Segment>,
}

impl Prefix {
    /// Reads the body of a request, in one of the forms of [`Dialect`]. Which one is told by its keys;
    /// where a body could be of two, such as a plain question to a model without tools, they read alike.
    ///
    /// ```
    /// use proem::prefix::{Dialect, Prefix};
    ///
    /// let body = r#"{"messages": [{"role": "user", "content": "Hi"}], "system": "Be brief.",
    ///     "tools": [{"name": "merge", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]}"#;
    /// let prefix = Prefix::read(body)?;
    /// assert_eq!(prefix.dialect, Dialect::Anthropic);
    /// let paths: Vec<_> = prefix.segments.iter().map(|segment| segment.path.as_str()).collect();
    /// assert_eq!(paths, ["tools[0]", "system", "messages[0].content"]);
    /// let tool = &prefix.segments[0];
    /// assert_eq!(&*tool.text, r#"{"name":"merge","input_schema":{"type":"object"}}"#);
    /// assert_eq!(tool.mark.and_then(|mark| mark.ttl_seconds), Some(3_600));
    /// # Ok::<(), proem::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if the body is no JSON object of such a form, if it has
    /// more than 64 MiB, is nested deeper than 128, or if its tools, system text or messages are no lists
    /// of what they must be.
    pub fn read(body: &str) -> Result<Self> {
        let document = Document::read(body)?;
        Self::of(&document, Dialect::of(document.root())?)
    }

    /// The same for a body whose form is known.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_as(dialect: Dialect, body: &str) -> Result<Self> {
        Self::of(&Document::read(body)?, dialect)
    }

    /// Without the texts of messages, for a host that keeps the conversation elsewhere. Their digests
    /// stay, so that a difference is still found, though no longer shown.
    #[must_use]
    pub fn without_conversation(mut self) -> Self {
        for segment in &mut self.segments {
            if matches!(segment.section, SectionKind::Attachments | SectionKind::Messages) {
                segment.text = "".into();
            }
        }
        self
    }

    /// How many bytes its segments have together.
    pub fn bytes(&self) -> usize {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    fn of(document: &Document<'_>, dialect: Dialect) -> Result<Self> {
        let (segments, has_images) = forms::read(document.root(), dialect)?;
        Ok(Self { dialect, settings: settings::read(document.root(), dialect, has_images), segments })
    }
}

/// One unit of a prompt that a cached prefix can end after: a tool, a block of system text, a block
/// of a message.
///
/// Two are the same to a cache if section, role and text are. White space between tokens is no part
/// of the text, since a provider reads the JSON before it reads the prompt; the order of keys is,
/// since a definition is put before the model with its keys as they are sent. A block that holds
/// nothing but text is that text, a JSON string: `"Hi"` and `{"type": "text", "text": "Hi"}` say the
/// same to every provider.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Segment {
    /// The part of the request. Attachments are messages here: what a body shows is blocks of text.
    pub section: SectionKind,
    /// Where in the body, such as `tools[3]` or `messages[2].content[0]`.
    pub path: String,
    /// The name of a tool: its own, or for a tool that the provider runs, its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who speaks from here on, where a message begins with it; `None` inside of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Its bytes in the body, its cache mark included where it is one of its keys.
    pub range: Range<usize>,
    /// Its JSON without its cache mark: what decides, with the role, whether a cache hits. Empty after
    /// [`Prefix::without_conversation`].
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub text: Arc<str>,
    /// How many bytes `text` has, or had.
    pub bytes: usize,
    /// The digest of the role and [`text`](Self::text).
    pub digest: Digest,
    /// The cache mark that it carries, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
}

impl Segment {
    /// Whether a cache takes both for the same.
    pub fn is_same(&self, other: &Self) -> bool {
        self.section == other.section && self.digest == other.digest
    }
}

/// A cache mark: the provider is asked to keep the prefix up to here.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Mark {
    /// For how long, in seconds, where the mark says so.
    pub ttl_seconds: Option<u32>,
}

/// A value beside the text of the prompt that a cache depends on, such as the model.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Setting {
    /// Where in the body, such as `model` or `output_config.effort`; `images` for whether there are any.
    pub name: String,
    /// The value in canonical JSON.
    pub value: String,
    /// The first section that another value makes the cache forget; those before it stay.
    pub section: SectionKind,
}
