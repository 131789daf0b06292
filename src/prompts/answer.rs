use std::{fmt, sync::Arc};

use serde::{Serialize, Serializer};

use super::options::PromptOptions;
use crate::{
    Result,
    catalog::{Catalog, PromptEntry},
    error::{ClientError, excerpt},
    id::ResourceId,
    protocol::{Annotations, ContentBlock, GetPromptResult, PromptMessage},
};

/// What a server answered to an invocation, within bounds and without what is not for the model.
/// All of it is that server's.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptAnswer {
    /// The prompt, as it was listed when it was invoked.
    pub entry: Arc<PromptEntry>,
    /// For people; untrusted.
    pub description: Option<String>,
    /// The messages that may reach the model, in the server's order.
    pub messages: Vec<PromptMessage>,
    /// What may not, in the same order.
    pub left_out: Vec<LeftOut>,
    /// What else a person should know: messages that could not be read, an answer without any.
    pub notes: Vec<String>,
}

/// A piece of a prompt that the model is not given as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// In which message of the answer, counted from 0.
    pub message: usize,
    /// `text`, `image`, `audio`, `resource_link`, `resource` or `unknown`.
    pub kind: &'static str,
    /// The resource, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceId>,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why a piece of a prompt is left out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// Its server says that it is for the user only, in the prompt or in its list of resources.
    ForUser,
    /// No request can carry it: a sentence says what it was.
    Described,
    /// It would have cost `tokens`, and `left` were left: an embedded resource is named instead, a
    /// link is left out. Both are among the links, for the host to attach.
    DoesNotFit {
        /// What it would have cost.
        tokens: usize,
        /// What was left.
        left: usize,
    },
}

impl PromptAnswer {
    /// The most notes about messages that could not be read.
    const MAX_NOTES: usize = 16;

    /// Checks an answer, for hosts that ask a server themselves. A resource that `catalog` lists for
    /// the user only stays with the user, whatever the answer says.
    ///
    /// # Errors
    /// [`Error::Server`](crate::Error::Server) for more messages or bytes than `options` take: a part
    /// of a prompt could mean something else than the whole.
    pub fn new(
        catalog: &Catalog,
        entry: &Arc<PromptEntry>,
        result: GetPromptResult,
        options: &PromptOptions,
    ) -> Result<Self> {
        let server = &entry.id.server;
        let too_much = |what: &str, is: usize, most: usize| {
            let reason = format!("prompt `{}` has {is} {what}, more than {most}", excerpt(&entry.id.name));
            ClientError::malformed(reason).at(server, "prompts/get")
        };
        let bytes = result.messages.iter().map(|message| bytes(&message.content)).sum();
        if result.messages.len() > options.messages {
            return Err(too_much("messages", result.messages.len(), options.messages));
        }
        if bytes > options.bytes {
            return Err(too_much("bytes", bytes, options.bytes));
        }
        let mut answer = Self {
            entry: Arc::clone(entry),
            description: result.description,
            messages: Vec::with_capacity(result.messages.len()),
            left_out: Vec::new(),
            notes: result.notes.iter().take(Self::MAX_NOTES).map(|note| excerpt(note)).collect(),
        };
        if result.notes.len() > Self::MAX_NOTES {
            answer.notes.push(format!("and {} more", result.notes.len() - Self::MAX_NOTES));
        }
        if result.messages.is_empty() {
            answer.notes.push("the server gave no message".into());
        }
        for (i, message) in result.messages.into_iter().enumerate() {
            let piece = Piece::of(&message.content);
            let resource = piece.uri.map(|uri| ResourceId::new(server.clone(), uri));
            let listed = resource.as_ref().and_then(|id| catalog.resource(id));
            let for_model = [piece.annotations, listed.map(|listed| &listed.resource.annotations)]
                .into_iter()
                .flatten()
                .all(Annotations::for_model);
            if for_model {
                answer.messages.push(message);
            } else {
                let (kind, reason) = (piece.kind, LeftOutReason::ForUser);
                answer.left_out.push(LeftOut { message: i, kind, resource, reason });
            }
        }
        if answer.messages.is_empty() && !answer.left_out.is_empty() {
            answer.notes.push("nothing of it is for the model".into());
        }
        Ok(answer)
    }
}

/// What a block says of itself.
struct Piece<'a> {
    kind: &'static str,
    uri: Option<&'a str>,
    annotations: Option<&'a Annotations>,
}

impl<'a> Piece<'a> {
    fn of(content: &'a ContentBlock) -> Self {
        let (kind, uri, annotations) = match content {
            ContentBlock::Text { annotations, .. } => ("text", None, Some(annotations)),
            ContentBlock::Image { annotations, .. } => ("image", None, Some(annotations)),
            ContentBlock::Audio { annotations, .. } => ("audio", None, Some(annotations)),
            ContentBlock::ResourceLink(resource) => {
                ("resource_link", Some(resource.uri.as_str()), Some(&resource.annotations))
            }
            ContentBlock::Resource { contents, annotations } => {
                ("resource", Some(contents.uri.as_str()), Some(annotations))
            }
            ContentBlock::Other(_) => ("unknown", None, None),
        };
        Self { kind, uri, annotations }
    }
}

/// What counts against the bound: texts and base64, and the names of resources.
fn bytes(content: &ContentBlock) -> usize {
    match content {
        ContentBlock::Text { text, .. } => text.len(),
        ContentBlock::Image { data, mime_type, .. } | ContentBlock::Audio { data, mime_type, .. } => {
            data.len() + mime_type.len()
        }
        ContentBlock::ResourceLink(resource) => {
            let texts = [&resource.title, &resource.description, &resource.mime_type];
            let texts: usize = texts.into_iter().flatten().map(String::len).sum();
            resource.uri.len() + resource.name.len() + texts
        }
        ContentBlock::Resource { contents, .. } => {
            let texts = [&contents.text, &contents.blob, &contents.mime_type];
            contents.uri.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
        }
        // Never looked into: a fixed sentence stands for it.
        ContentBlock::Other(_) => 0,
    }
}

/// As a sentence.
impl Serialize for LeftOutReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForUser => f.write_str("it is for the user only"),
            Self::Described => f.write_str("no request can carry it: it is described"),
            Self::DoesNotFit { tokens, left } => write!(f, "it costs {tokens} tokens, and {left} are left"),
        }
    }
}
