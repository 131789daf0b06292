use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Value, json};

use crate::{
    catalog::PromptEntry,
    id::{PromptId, ResourceId},
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
        let server = &answer.entry.id.server;
        let mut left_out = answer.left_out;
        let gone: BTreeSet<usize> = left_out.iter().map(|piece| piece.message).collect();
        let mut links = BTreeMap::new();
        let (mut messages, mut tokens, mut left) = (Vec::with_capacity(answer.messages.len()), 0, budget.tokens());
        for (i, sent) in (0..).filter(|i| !gone.contains(i)).zip(&answer.messages) {
            let mut message = Message::from_prompt(server, sent);
            let mut cost = cost(&message, counts);
            let mut leave_out = |kind, uri: Option<&str>, reason| {
                let resource = uri.map(|uri| ResourceId::new(server.clone(), uri));
                left_out.push(LeftOut { message: i, kind, resource, reason });
            };
            match &sent.content {
                ContentBlock::Text { .. } | ContentBlock::Image { .. } => {}
                ContentBlock::Audio { .. } => leave_out("audio", None, LeftOutReason::Described),
                ContentBlock::Other(_) => leave_out("unknown", None, LeftOutReason::Described),
                ContentBlock::ResourceLink(resource) => {
                    let at = links.len();
                    links.entry(resource.uri.as_str()).or_insert_with(|| (at, (**resource).clone()));
                    if cost > left {
                        let reason = LeftOutReason::DoesNotFit { tokens: cost, left };
                        leave_out("resource_link", Some(&resource.uri), reason);
                        continue;
                    }
                    left -= cost;
                }
                ContentBlock::Resource { contents, .. } if cost > left => {
                    let reason = LeftOutReason::DoesNotFit { tokens: cost, left };
                    leave_out("resource", Some(&contents.uri), reason);
                    let at = links.len();
                    links.entry(contents.uri.as_str()).or_insert_with(|| (at, named(contents)));
                    let link = ContentBlock::ResourceLink(Box::new(named(contents)));
                    message = Message::from_prompt(server, &PromptMessage::new(sent.role, link));
                    cost = self::cost(&message, counts);
                    left = left.saturating_sub(cost);
                }
                ContentBlock::Resource { contents, .. } => {
                    if contents.text.is_none() && !matches!(message.content[..], [Block::Image { .. }]) {
                        leave_out("resource", Some(&contents.uri), LeftOutReason::Described);
                    }
                    left -= cost;
                }
            }
            tokens += cost;
            messages.push(message);
        }
        left_out.sort_by_key(|piece| piece.message);
        let mut links: Vec<(usize, Resource)> = links.into_values().collect();
        links.sort_by_key(|(at, _)| *at);
        Self {
            digest: Digest::of(&values(&messages)),
            query: query(&answer.messages),
            entry: Arc::clone(&answer.entry),
            description: answer.description,
            messages,
            links: links.into_iter().map(|(_, resource)| resource).collect(),
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

/// What stands for a resource whose content is not there.
fn named(contents: &ResourceContents) -> Resource {
    let mut resource = Resource::new(&contents.uri, &contents.uri);
    resource.mime_type.clone_from(&contents.mime_type);
    resource.size = contents.text.as_ref().and_then(|text| u64::try_from(text.len()).ok());
    resource
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
