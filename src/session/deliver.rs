use std::collections::BTreeSet;

use super::{
    composer::attachment,
    delivery::Delivery,
    instructions::Instructions,
    options::SessionOptions,
    record::{Front, Inserted, Record, Revision},
};
use crate::{
    catalog::{Aggregator, Catalog, ToolEntry},
    discovery::{self, Outline},
    id::{ResourceId, ServerId, ToolId},
    json::Digest,
    render::{Deferral, Message, ToolSpec},
    resources::{Attached, AttachedResource},
    retrieval::Filter,
    selection::{Definition, Form, SelectedTool, Selection},
    tokens::{CountCache, TokenBudget},
};

/// What a turn has to give, and what it may cost.
pub(super) struct Offer<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) filter: &'a Filter,
    pub(super) selection: &'a Selection,
    /// The tools of what came before that go on, most recently called first.
    pub(super) carried: &'a [ToolId],
    pub(super) attached: &'a Attached,
    pub(super) servers: &'a Aggregator,
    /// What servers' instructions may cost.
    pub(super) instructions: TokenBudget,
    /// What tool definitions may cost, and how many the provider takes.
    pub(super) tools: (TokenBudget, usize),
    pub(super) options: &'a SessionOptions,
    pub(super) counts: &'a CountCache,
    /// The host's messages, and which of them is the newest question.
    pub(super) messages: &'a [Message],
    pub(super) newest: usize,
    pub(super) query: &'a str,
}

/// What of an offer joined.
#[derive(Default)]
pub(super) struct Taken {
    /// Tools that the model can call from this turn on.
    pub(super) joined: Vec<ToolId>,
    /// Tools that the turn needs and the policy leaves out.
    pub(super) withheld: Vec<ToolId>,
    pub(super) instructions: Instructions,
    pub(super) notes: Vec<String>,
}

impl Record {
    /// Takes what a turn offers, as the policy says: into the front if this is the first turn of it,
    /// else at the tail.
    pub(super) fn take(&mut self, delivery: Delivery, offer: &Offer<'_>) -> Taken {
        let first = self.delivery.is_none();
        self.delivery = Some(delivery);
        self.turns = self.turns.saturating_add(1);
        if first || delivery == Delivery::PerTurn {
            return self.take_front(delivery, offer);
        }
        self.take_attachments(offer);
        self.take_tools(delivery, offer)
    }

    fn take_front(&mut self, delivery: Delivery, offer: &Offer<'_>) -> Taken {
        let mut taken = Taken::default();
        let mut tools: Vec<ToolSpec> = match delivery {
            Delivery::All => offer.all(&mut taken.notes),
            _ => offer.selection.tools.iter().map(spec).collect(),
        };
        tools.extend(offer.carried(&tools, &mut taken.notes));
        let servers = tools.iter().map(|tool| tool.tool.server.clone());
        taken.instructions = offer.instructions(servers, &BTreeSet::new());
        taken.joined = tools.iter().map(|tool| tool.tool.clone()).collect();
        let mut outline = None;
        if delivery.can_search() {
            tools.push(discovery::search_tool());
            tools.extend((delivery == Delivery::Bridge).then(discovery::call_tool));
            outline = Some(Outline::new(offer.catalog, offer.filter).text(offer.options.outline, offer.counts));
        }
        self.front = Front {
            tools,
            outline: outline.filter(|text| !text.is_empty()),
            instructions: taken.instructions.by_server(),
            attachments: offer.attached.resources.iter().map(|resource| offer.revision(resource)).collect(),
        };
        taken
    }

    fn take_tools(&mut self, delivery: Delivery, offer: &Offer<'_>) -> Taken {
        let mut taken = Taken::default();
        let known: BTreeSet<&str> = self.tools(offer.messages).into_iter().map(|tool| tool.exposed.as_str()).collect();
        let new: Vec<ToolSpec> =
            offer.selection.tools.iter().filter(|tool| !known.contains(tool.exposed.as_str())).map(spec).collect();
        let ids = new.iter().map(|tool| tool.tool.clone()).collect();
        if matches!(delivery, Delivery::All | Delivery::Frozen) || new.is_empty() {
            taken.withheld = ids;
            return taken;
        }
        taken.joined = ids;
        let servers = new.iter().map(|tool| tool.tool.server.clone());
        taken.instructions = offer.instructions(servers, &self.instructed());
        if !taken.instructions.texts.is_empty() {
            self.insert(offer.newest, Inserted::Instructions(taken.instructions.by_server()));
        }
        if delivery == Delivery::Append {
            let generation = self.turns;
            self.front.tools.extend(new.into_iter().map(|tool| tool.with_generation(generation)));
            return taken;
        }
        let after = offer.messages.len();
        let what = match offer.options.deferral() {
            Deferral::Results if delivery == Delivery::Deferred => Inserted::Search {
                id: format!("{}_{}", discovery::SEARCH_TOOLS, self.turns),
                name: discovery::SEARCH_TOOLS.to_owned(),
                query: offer.query.to_owned(),
                tools: new,
            },
            _ => Inserted::Tools(new),
        };
        self.insert(after, what);
        taken
    }

    /// Adds the resources that the model was not given yet, and those that it was given otherwise.
    fn take_attachments(&mut self, offer: &Offer<'_>) {
        for resource in &offer.attached.resources {
            let mut new = offer.revision(resource);
            let (mut known, mut newest) = (false, None);
            for old in self.revisions().filter(|old| old.attachment.resource == resource.id) {
                // What is whole says all that another excerpt of it could.
                let same = old.attachment.text == new.attachment.text || resource.cut.is_none();
                known = old.digest == new.digest && same;
                newest = Some(old.digest);
            }
            if known {
                self.confirm(&resource.id, offer.listed(&resource.id), offer.servers.news_of(&resource.id.server));
            } else {
                new.attachment.supersedes = newest.is_some_and(|digest| digest != new.digest);
                self.insert(offer.newest, Inserted::Attachment(new));
            }
        }
    }
}

impl Offer<'_> {
    /// Every tool that may be offered, by id, as far as the provider takes them.
    fn all(&self, notes: &mut Vec<String>) -> Vec<ToolSpec> {
        let permitted = || self.catalog.tools().iter().filter(|entry| self.filter.passes(entry));
        let (count, cap) = (permitted().count(), self.tools.1);
        if count > cap {
            notes.push(format!("{} of {count} tools are left out: the provider takes {cap}", count - cap));
        }
        permitted().take(cap).map(|entry| ToolSpec::from_entry(entry)).collect()
    }

    /// The tools that go on, as far as they fit beside those that are there.
    fn carried(&self, there: &[ToolSpec], notes: &mut Vec<String>) -> Vec<ToolSpec> {
        let mut left = self.tools.0.tokens().saturating_sub(self.selection.tokens);
        let (mut carried, mut dropped) = (Vec::new(), Vec::new());
        for id in self.carried.iter().filter(|id| there.iter().all(|tool| tool.tool != **id)) {
            let Some(entry) = self.catalog.tool(id).filter(|entry| self.filter.passes(entry)) else { continue };
            let tokens = crate::selection::form_tokens(entry, Form::Full, self.counts);
            if tokens <= left && there.len() + carried.len() < self.tools.1 {
                left -= tokens;
                carried.push(ToolSpec::from_entry(entry));
            } else {
                dropped.push(id.to_string());
            }
        }
        if !dropped.is_empty() {
            notes.push(format!("called before and not carried over, they do not fit: {}", dropped.join(", ")));
        }
        carried
    }

    fn revision(&self, resource: &AttachedResource) -> Revision {
        let heard = self.servers.news_of(&resource.id.server);
        Revision::new(attachment(resource), resource.digest, self.listed(&resource.id), heard)
    }

    fn listed(&self, resource: &ResourceId) -> Option<Digest> {
        self.catalog.resource(resource).map(|entry| entry.digest)
    }

    fn instructions(&self, servers: impl Iterator<Item = ServerId>, given: &BTreeSet<&ServerId>) -> Instructions {
        let mut new: Vec<ServerId> = Vec::new();
        for server in servers {
            if !given.contains(&server) && !new.contains(&server) {
                new.push(server);
            }
        }
        Instructions::select(self.catalog, &new, self.instructions, self.counts)
    }
}

/// A selected tool as it is rendered.
pub(super) fn spec(tool: &SelectedTool) -> ToolSpec {
    let mut spec = ToolSpec::new(tool.id.clone(), tool.exposed.as_str());
    spec.description.clone_from(&tool.definition.description);
    spec.input_schema.clone_from(&tool.definition.input_schema);
    spec
}

/// Whether a tool is listed as the model was told, in one form or another.
pub(super) fn is_current(told: &ToolSpec, entry: &ToolEntry) -> bool {
    let as_listed = ToolSpec::from_entry(entry);
    if (&told.description, &told.input_schema) == (&as_listed.description, &as_listed.input_schema) {
        return true;
    }
    Form::ALL.into_iter().any(|form| {
        let Definition { description, input_schema } = Definition::of(&entry.tool, form);
        (&told.description, &told.input_schema) == (&description, &input_schema)
    })
}
