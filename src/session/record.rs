use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde::{Deserialize, Serialize};

use super::delivery::Delivery;
use crate::{
    catalog::{Aggregator, Catalog},
    id::{ResourceId, ServerId, ToolId},
    json::{Digest, canonical_object},
    protocol::Role,
    render::{Attachment, Block, Layout, Message, ToolKind, ToolSpec, rendered_instructions},
};

/// What a conversation's prefix holds: written once, and rendered the same in every turn after.
///
/// The front stands before the conversation. Everything that comes later is an insertion: it stands
/// behind so many of the host's messages, and stays there.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Record {
    /// How tools are delivered, from its first turn on.
    pub(super) delivery: Option<Delivery>,
    pub(super) front: Front,
    tail: Vec<Insertion>,
    /// The host's messages as they were last seen.
    seen: Vec<Digest>,
    /// How many turns it has had.
    pub(super) turns: u32,
    /// The tools that were called, each once, most recently called last.
    used: Vec<ToolId>,
}

/// What stands before the conversation.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Front {
    /// The array of tools.
    pub(super) tools: Vec<ToolSpec>,
    /// What else there is to search for.
    pub(super) outline: Option<String>,
    pub(super) instructions: Vec<(ServerId, String)>,
    pub(super) attachments: Vec<Revision>,
}

/// An attachment, and which revision of its resource it shows.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Revision {
    pub(super) attachment: Attachment,
    /// Over what was read, before anything was trimmed.
    pub(super) digest: Digest,
    /// Over its entry in the list of resources then.
    listed: Option<Digest>,
    /// What its server had said of changes by then. Not kept: another process has heard other things.
    #[serde(skip)]
    heard: Option<u64>,
}

/// What joined the conversation behind so many of the host's messages.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Insertion {
    after: usize,
    what: Inserted,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Inserted {
    /// What servers say of themselves.
    Instructions(Vec<(ServerId, String)>),
    Attachment(Revision),
    /// Tools that the host adds.
    Tools(Vec<ToolSpec>),
    /// Tools as the result of a search that the host makes in the model's stead, for providers that
    /// take them nowhere else.
    Search {
        /// The call's id.
        id: String,
        /// The search tool's exposed name.
        name: String,
        query: String,
        tools: Vec<ToolSpec>,
    },
}

impl Record {
    /// Whether it has had no turn yet.
    pub(super) fn is_new(&self) -> bool {
        self.delivery.is_none()
    }

    /// Takes up the host's messages. What was inserted after the place where they differ from those
    /// of the last turn is gone; gives that place, if there is one.
    pub(super) fn follow(&mut self, messages: &[Message]) -> Option<usize> {
        let now: Vec<Digest> = messages.iter().map(digest).collect();
        let common = self.seen.iter().zip(&now).take_while(|(seen, now)| seen == now).count();
        let rewritten = (common < self.seen.len()).then_some(common);
        if let Some(place) = rewritten {
            self.tail.retain(|insertion| insertion.after <= place);
        }
        self.seen = now;
        rewritten
    }

    /// Adds what joins behind so many of the host's messages.
    pub(super) fn insert(&mut self, after: usize, what: Inserted) {
        // A turn that is asked again adds behind what was sent already.
        let last = self.tail.last().map_or(0, |insertion| insertion.after);
        self.tail.push(Insertion { after: after.max(last), what });
    }

    /// A tool was called.
    pub(super) fn used(&mut self, tool: &ToolId) {
        self.used.retain(|used| used != tool);
        self.used.push(tool.clone());
    }

    /// Begins anew: only what was called of this stretch is remembered, most recently called first.
    /// Gives these tools. A conversation that goes on keeps the host's messages, not what was inserted.
    pub(super) fn restart(&mut self) -> Vec<ToolId> {
        let used = std::mem::take(&mut self.used);
        *self = Self { turns: self.turns, ..Self::default() };
        used.into_iter().rev().collect()
    }

    /// The tools that the model was told of: those of the array, then those that joined, in the
    /// insertions and in the host's own messages. The first of a name stands.
    pub(super) fn tools<'a>(&'a self, messages: &'a [Message]) -> Vec<&'a ToolSpec> {
        let inserted = self.tail.iter().flat_map(|insertion| match &insertion.what {
            Inserted::Tools(tools) | Inserted::Search { tools, .. } => tools.as_slice(),
            Inserted::Instructions(_) | Inserted::Attachment(_) => &[],
        });
        let told = messages.iter().flat_map(|message| &message.content).flat_map(joined);
        let mut names = BTreeSet::new();
        let all = self.front.tools.iter().chain(inserted).chain(told);
        all.filter(|tool| tool.kind == ToolKind::Server && names.insert(tool.exposed.as_str())).collect()
    }

    /// The servers whose instructions the model was given.
    pub(super) fn instructed(&self) -> BTreeSet<&ServerId> {
        let inserted = self.tail.iter().flat_map(|insertion| match &insertion.what {
            Inserted::Instructions(texts) => texts.as_slice(),
            _ => &[],
        });
        self.front.instructions.iter().chain(inserted).map(|(server, _)| server).collect()
    }

    /// What the model was given of resources, oldest first.
    pub(super) fn revisions(&self) -> impl Iterator<Item = &Revision> {
        let inserted = self.tail.iter().filter_map(|insertion| match &insertion.what {
            Inserted::Attachment(revision) => Some(revision),
            _ => None,
        });
        self.front.attachments.iter().chain(inserted)
    }

    /// The resources that the model was given and that may have changed since.
    pub(super) fn outdated(&self, catalog: &Catalog, servers: &Aggregator) -> Vec<ResourceId> {
        let mut newest: BTreeMap<&ResourceId, &Revision> = BTreeMap::new();
        newest.extend(self.revisions().map(|revision| (&revision.attachment.resource, revision)));
        let listed = |id| catalog.resource(id).map(|entry| entry.digest);
        let outdated = newest.into_iter().filter(|(id, revision)| {
            revision.heard != Some(servers.news_of(&id.server))
                || (listed(id).is_some() && listed(id) != revision.listed)
        });
        outdated.map(|(id, _)| id.clone()).collect()
    }

    /// A resource was read again and is as the model was given it.
    pub(super) fn confirm(&mut self, resource: &ResourceId, listed: Option<Digest>, heard: u64) {
        let inserted = self.tail.iter_mut().filter_map(|insertion| match &mut insertion.what {
            Inserted::Attachment(revision) => Some(revision),
            _ => None,
        });
        let all = self.front.attachments.iter_mut().chain(inserted);
        for revision in all.filter(|revision| revision.attachment.resource == *resource) {
            (revision.listed, revision.heard) = (listed, Some(heard));
        }
    }

    /// Writes the record into a layout, around the host's messages.
    pub(super) fn lay_out(&self, layout: &mut Layout, messages: &[Message]) {
        layout.tools.clone_from(&self.front.tools);
        layout.system.extend(self.front.outline.clone());
        layout.instructions.clone_from(&self.front.instructions);
        layout.attachments = self.front.attachments.iter().map(|revision| revision.attachment.clone()).collect();
        let mut tail = self.tail.iter().peekable();
        for (i, message) in messages.iter().enumerate() {
            while let Some(insertion) = tail.next_if(|insertion| insertion.after <= i) {
                layout.messages.extend(insertion.what.messages());
            }
            layout.messages.push(message.clone());
        }
        layout.messages.extend(tail.flat_map(|insertion| insertion.what.messages()));
    }
}

impl Revision {
    /// `listed` and `heard` say when it is to be read again.
    pub(super) fn new(attachment: Attachment, digest: Digest, listed: Option<Digest>, heard: u64) -> Self {
        Self { attachment, digest, listed, heard: Some(heard) }
    }
}

impl Inserted {
    fn messages(&self) -> Vec<Message> {
        let user = |blocks: Vec<Block>| Message { role: Role::User, content: blocks };
        match self {
            Self::Instructions(texts) => {
                let block = |(server, text): &(ServerId, String)| Block::Text(rendered_instructions(server, text));
                vec![user(texts.iter().map(block).collect())]
            }
            Self::Attachment(revision) => vec![user(vec![Block::Attachment(revision.attachment.clone())])],
            Self::Tools(tools) => vec![user(vec![Block::Tools { tools: tools.clone() }])],
            Self::Search { id, name, query, tools } => {
                let mut arguments = serde_json::Map::new();
                arguments.insert("query".into(), query.as_str().into());
                let call = Block::ToolCall { id: id.clone(), name: name.clone(), arguments };
                let content = vec![Block::Tools { tools: tools.clone() }];
                let result = Block::ToolResult { call_id: id.clone(), content, is_error: false };
                vec![Message::new(Role::Assistant).with_block(call), user(vec![result])]
            }
        }
    }
}

/// The tools that join in a block.
fn joined(block: &Block) -> Vec<&ToolSpec> {
    match block {
        Block::Tools { tools } => tools.iter().collect(),
        Block::ToolResult { content, .. } => content.iter().flat_map(joined).collect(),
        _ => Vec::new(),
    }
}

/// The digest of a message, whatever the order of keys in memory.
fn digest(message: &Message) -> Digest {
    let mut parts = vec![Cow::from(message.role.as_str())];
    message.content.iter().for_each(|block| add_parts(block, &mut parts));
    Digest::of_parts(parts.iter().map(|part| part.as_bytes()))
}

fn add_parts<'a>(block: &'a Block, parts: &mut Vec<Cow<'a, str>>) {
    match block {
        Block::Text(text) => parts.extend(["text".into(), text.into()]),
        Block::Image { mime_type, data } => parts.extend(["image".into(), mime_type.into(), data.into()]),
        Block::Attachment(attachment) => parts.extend(["attachment".into(), attachment.rendered().into()]),
        Block::ToolCall { id, name, arguments, .. } => {
            parts.extend(["call".into(), id.into(), name.into(), canonical_object(arguments).into()]);
        }
        Block::ToolResult { call_id, content, is_error } => {
            let failed = if *is_error { "failed" } else { "done" };
            parts.extend(["result".into(), call_id.into(), failed.into(), content.len().to_string().into()]);
            content.iter().for_each(|block| add_parts(block, parts));
        }
        Block::Signature(signature) => parts.extend(["signature".into(), signature.into()]),
        Block::Tools { tools } => {
            parts.extend(["tools".into(), tools.len().to_string().into()]);
            for tool in tools {
                let description = tool.description.as_deref().unwrap_or_default();
                parts.extend([tool.exposed.as_str().into(), description.into(), tool.input_schema.as_str().into()]);
            }
        }
    }
}
