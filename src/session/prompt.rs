use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    catalog::PromptEntry,
    id::{PromptId, ResourceId, ServerId},
    json::Digest,
    prompts::{Invoked, LeftOut, LeftOutReason, PromptAnswer},
    protocol::{ContentBlock, PromptMessage, Resource, ResourceContents, Role},
    render::{Block, Message},
    resources::IMAGE_TOKENS,
    retrieval::Query,
    tokens::{CountCache, TokenBudget},
};

/// What an invoked prompt says, in the form that a model can be given: for
/// [`Turn::prompt`](super::Turn::prompt), which puts it into a conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RenderedPrompt {
    /// The prompt, as it was listed when it was invoked. Every message is its server's.
    pub entry: Arc<PromptEntry>,
    /// For people; untrusted.
    pub description: Option<String>,
    /// The messages in the server's order.
    pub messages: Vec<Message>,
    /// The resources that it points to, each once, for the host to attach: links, and embedded
    /// resources that did not fit. Nothing of them was read, and a server need not list them.
    pub links: Vec<Resource>,
    /// What the model is not given as it was sent, in the order of the messages.
    pub left_out: Vec<LeftOut>,
    /// What else a person should know: messages that could not be read, an answer without any.
    pub notes: Vec<String>,
    /// What the messages cost together; a picture counts as [`IMAGE_TOKENS`].
    pub tokens: usize,
    /// Over the messages: the same for the same text whoever renders it. The digest of what
    /// [`to_value`](Self::to_value) has under `messages`.
    pub digest: Digest,
    query: String,
}

impl RenderedPrompt {
    /// Renders an answer. Embedded resources and links are taken in their order as far as `budget`
    /// goes, which bounds nothing else.
    pub fn new(answer: PromptAnswer, budget: TokenBudget, counts: &CountCache) -> Self {
        let mut fit = Fit {
            server: &answer.entry.id.server,
            counts,
            left: budget.tokens(),
            links: Vec::new(),
            left_out: answer.left_out.clone(),
        };
        let (mut messages, mut tokens) = (Vec::with_capacity(answer.messages.len()), 0);
        for (place, sent, most) in answer.placed() {
            if let Some((message, cost)) = fit.take(place, sent, most) {
                messages.push(message);
                tokens += cost;
            }
        }
        let Fit { links, mut left_out, .. } = fit;
        left_out.sort_by_key(|piece| piece.message);
        Self {
            digest: Digest::of(&values(&messages)),
            query: query(&answer.messages),
            entry: Arc::clone(&answer.entry),
            description: answer.description,
            messages,
            links,
            left_out,
            notes: answer.notes,
            tokens,
        }
    }

    /// Which prompt.
    pub fn id(&self) -> &PromptId {
        &self.entry.id
    }

    /// The resources that it points to, to be [picked](super::Turn::pick).
    pub fn linked(&self) -> impl Iterator<Item = ResourceId> {
        self.links.iter().map(|link| ResourceId::new(self.entry.id.server.clone(), link.uri.as_str()))
    }

    /// What a conversation remembers of it.
    pub fn invoked(&self) -> Invoked {
        Invoked::new(Arc::clone(&self.entry), self.digest)
    }

    /// All of it as JSON: `server`, `name`, `definition` (the digest of its definition),
    /// `description`, `messages` with `role` and `content`, `links`, `left_out`, `notes`, `tokens`, `digest`.
    pub fn to_value(&self) -> Value {
        json!({
            "server": self.entry.id.server,
            "name": self.entry.id.name,
            "definition": self.entry.digest,
            "description": self.description,
            "messages": values(&self.messages),
            "links": self.links.iter().map(Resource::to_value).collect::<Vec<_>>(),
            "left_out": self.left_out,
            "notes": self.notes,
            "tokens": self.tokens,
            "digest": self.digest,
        })
    }

    /// What it says on the user's behalf in its own words: what tools are searched with.
    pub(super) fn query(&self) -> &str {
        &self.query
    }
}

/// What is left of a budget, and what came of spending it.
struct Fit<'a> {
    server: &'a ServerId,
    counts: &'a CountCache,
    left: usize,
    links: Vec<Resource>,
    left_out: Vec<LeftOut>,
}

impl Fit<'_> {
    /// The message for the model and what it costs. `place` is where it stands in the answer, `most`
    /// what it may cost by itself.
    fn take(&mut self, place: usize, sent: &PromptMessage, most: Option<usize>) -> Option<(Message, usize)> {
        let message = Message::from_prompt(self.server, sent);
        let cost = cost(&message, self.counts);
        match &sent.content {
            ContentBlock::Audio { .. } => self.leave_out(place, "audio", None, LeftOutReason::Described),
            ContentBlock::Other(_) => self.leave_out(place, "unknown", None, LeftOutReason::Described),
            ContentBlock::ResourceLink(resource) => {
                self.link(resource);
                if cost > self.left {
                    let reason = LeftOutReason::DoesNotFit { tokens: cost, left: self.left };
                    self.leave_out(place, "resource_link", Some(&resource.uri), reason);
                    return None;
                }
                self.left -= cost;
            }
            ContentBlock::Resource { contents, .. } => {
                let room = most.map_or(self.left, |most| self.left.min(most));
                if cost > room {
                    let reason = LeftOutReason::DoesNotFit { tokens: cost, left: room };
                    self.leave_out(place, "resource", Some(&contents.uri), reason);
                    return Some(self.name(sent.role, contents));
                }
                if contents.text.is_none() && !matches!(message.content[..], [Block::Image { .. }]) {
                    self.leave_out(place, "resource", Some(&contents.uri), LeftOutReason::Described);
                }
                self.left -= cost;
            }
            _ => {}
        }
        Some((message, cost))
    }

    /// What stands for a resource whose content does not fit: a link to it.
    fn name(&mut self, role: Role, contents: &ResourceContents) -> (Message, usize) {
        let mut resource = Resource::new(&contents.uri, &contents.uri);
        resource.mime_type.clone_from(&contents.mime_type);
        resource.size = contents.text.as_ref().and_then(|text| u64::try_from(text.len()).ok());
        self.link(&resource);
        let link = ContentBlock::ResourceLink(Box::new(resource));
        let message = Message::from_prompt(self.server, &PromptMessage::new(role, link));
        let cost = cost(&message, self.counts);
        self.left = self.left.saturating_sub(cost);
        (message, cost)
    }

    fn link(&mut self, resource: &Resource) {
        // As many as a prompt has messages at most.
        if self.links.iter().all(|link| link.uri != resource.uri) {
            self.links.push(resource.clone());
        }
    }

    fn leave_out(&mut self, message: usize, kind: &'static str, uri: Option<&str>, reason: LeftOutReason) {
        let resource = uri.map(|uri| ResourceId::new(self.server.clone(), uri));
        self.left_out.push(LeftOut { message, kind, resource, reason });
    }
}

fn cost(message: &Message, counts: &CountCache) -> usize {
    let cost = |block: &Block| match block {
        Block::Text(text) => counts.count(text),
        Block::Image { .. } => IMAGE_TOKENS,
        // A prompt holds neither calls nor results.
        _ => 0,
    };
    message.content.iter().map(cost).sum()
}

fn query(messages: &[PromptMessage]) -> String {
    let mut query = String::new();
    for message in messages.iter().filter(|message| message.role == Role::User) {
        if let ContentBlock::Text { text, .. } = &message.content {
            query.extend(text.chars().take(Query::MAX_CHARS));
            query.push('\n');
        }
    }
    query.chars().take(Query::MAX_CHARS).collect()
}

/// Messages as plain JSON, as the protocol writes them.
fn values(messages: &[Message]) -> Value {
    let block = |block: &Block| match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Image { mime_type, data } => json!({"type": "image", "mimeType": mime_type, "data": data}),
        _ => Value::Null,
    };
    let message = |message: &Message| {
        let content: Vec<Value> = message.content.iter().map(block).collect();
        json!({"role": message.role.as_str(), "content": content})
    };
    messages.iter().map(message).collect()
}
