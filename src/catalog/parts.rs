use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, value::RawValue};

use super::{
    entry::{PromptEntry, ResourceEntry, ServerEntry, TemplateEntry},
    trust::TrustTier,
};
use crate::{
    Error,
    client::{ListKind, Listing},
    evidence::{Finding, FindingKind},
    id::{PromptId, ResourceId, ServerId, TemplateId},
    json::{self, Digest},
    protocol::{CacheScope, Prompt, Read, Resource, ResourceTemplate, ServerInfo, Tool},
};

/// One server's items, read and in order.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerParts {
    pub(super) info: ServerInfo,
    pub(super) scopes: BTreeMap<ListKind, CacheScope>,
    pub(super) failure: Option<Arc<Error>>,
    pub(super) age: Duration,
    pub(super) tools: BTreeMap<Arc<str>, (Arc<Tool>, Digest)>,
    pub(super) resources: BTreeMap<Arc<str>, Arc<ResourceEntry>>,
    pub(super) templates: BTreeMap<Arc<str>, Arc<TemplateEntry>>,
    pub(super) prompts: BTreeMap<Arc<str>, Arc<PromptEntry>>,
    pub(super) findings: BTreeMap<ListKind, Vec<Finding>>,
}

/// The most findings kept of one list: enough to see what is wrong with it.
pub(super) const MAX_FINDINGS: usize = 100;

impl ServerParts {
    /// Puts one list of `read` in place of what was known of it.
    pub(super) fn replace(&mut self, kind: ListKind, mut read: Self) {
        match kind {
            ListKind::Tools => self.tools = read.tools,
            ListKind::Resources => self.resources = read.resources,
            ListKind::ResourceTemplates => self.templates = read.templates,
            ListKind::Prompts => self.prompts = read.prompts,
        }
        put(&mut self.findings, kind, read.findings.remove(&kind));
        put(&mut self.scopes, kind, read.scopes.remove(&kind));
    }

    fn find(&mut self, kind: ListKind, finding: Finding) {
        let findings = self.findings.entry(kind).or_default();
        match findings.len() {
            n if n < MAX_FINDINGS => findings.push(finding),
            MAX_FINDINGS => {
                let message = format!("more than {MAX_FINDINGS} findings in this list: the rest is left out");
                findings.push(Finding::new(finding.server, kind.method(), finding.kind, message));
            }
            _ => {}
        }
    }

    /// Reads one list. An item that cannot be read becomes a finding, and costs itself only.
    pub(super) fn read_list(&mut self, server: &ServerId, kind: ListKind, listing: &Listing, max_bytes: usize) {
        for (i, raw) in listing.items().enumerate() {
            if let Err((fault, reason)) = self.read_item(server, kind, raw, max_bytes) {
                let item = format!("{}[{i}]", kind.method());
                self.find(kind, Finding::new(server.clone(), item, fault, format!("{reason}: left out")));
            }
        }
        // A list that the server does not have is nobody's secret.
        if !listing.pages.is_empty() {
            self.scopes.insert(kind, listing.scope());
        }
        if let Some(cut) = listing.cut {
            self.find(kind, Finding::new(server.clone(), kind.method(), FindingKind::ListCut, cut.to_string()));
        }
    }

    fn read_item(
        &mut self,
        server: &ServerId,
        kind: ListKind,
        raw: &RawValue,
        max_bytes: usize,
    ) -> Result<(), (FindingKind, String)> {
        let text = raw.get();
        if text.len() > max_bytes {
            return Err((FindingKind::TooLarge, format!("it has {} bytes, more than {max_bytes}", text.len())));
        }
        let malformed = |reason| (FindingKind::MalformedItem, reason);
        let value: Value = serde_json::from_str(text).map_err(|error| {
            // serde_json stops at 128 levels and says so in words only.
            let deep = error.to_string().starts_with("recursion limit");
            (
                if deep { FindingKind::TooLarge } else { FindingKind::MalformedItem },
                format!("it cannot be read ({error})"),
            )
        })?;
        if json::depth(&value) > json::MAX_DEPTH {
            return Err((FindingKind::TooLarge, format!("it is nested deeper than {} levels", json::MAX_DEPTH)));
        }
        let digest = Digest::of(&value);
        match kind {
            ListKind::Tools => {
                let tool = self.noted(server, kind, Tool::read(value).map_err(malformed)?, |tool| &tool.name);
                self.add_tool(server, tool, digest);
            }
            ListKind::Resources => {
                let resource = self.noted(server, kind, Resource::read(value).map_err(malformed)?, |item| &item.uri);
                self.add_resource(server, resource, digest);
            }
            ListKind::ResourceTemplates => {
                let read = ResourceTemplate::read(value).map_err(malformed)?;
                let template = self.noted(server, kind, read, |item| &item.uri_template);
                self.add_template(server, template, digest);
            }
            ListKind::Prompts => {
                let prompt = self.noted(server, kind, Prompt::read(value).map_err(malformed)?, |prompt| &prompt.name);
                self.add_prompt(server, prompt, digest);
            }
        }
        Ok(())
    }

    fn noted<T>(&mut self, server: &ServerId, kind: ListKind, read: Read<T>, name: impl Fn(&T) -> &String) -> T {
        for note in &read.notes {
            let message = format!("{note}: kept as sent, not used");
            let finding = Finding::new(server.clone(), name(&read.item), FindingKind::MalformedField, message);
            self.find(kind, finding);
        }
        read.item
    }

    pub(super) fn add_tool(&mut self, server: &ServerId, tool: Tool, digest: Digest) {
        let name: Arc<str> = tool.name.as_str().into();
        self.insert(ListKind::Tools, server, |parts| &mut parts.tools, name, (Arc::new(tool), digest));
    }

    pub(super) fn add_resource(&mut self, server: &ServerId, resource: Resource, digest: Digest) {
        let uri: Arc<str> = resource.uri.as_str().into();
        let id = ResourceId::new(server.clone(), Arc::clone(&uri));
        let entry = Arc::new(ResourceEntry { id, resource, digest });
        self.insert(ListKind::Resources, server, |parts| &mut parts.resources, uri, entry);
    }

    pub(super) fn add_template(&mut self, server: &ServerId, template: ResourceTemplate, digest: Digest) {
        let text: Arc<str> = template.uri_template.as_str().into();
        let id = TemplateId::new(server.clone(), Arc::clone(&text));
        let entry = Arc::new(TemplateEntry { id, template, digest });
        self.insert(ListKind::ResourceTemplates, server, |parts| &mut parts.templates, text, entry);
    }

    pub(super) fn add_prompt(&mut self, server: &ServerId, prompt: Prompt, digest: Digest) {
        let name: Arc<str> = prompt.name.as_str().into();
        let id = PromptId::new(server.clone(), Arc::clone(&name));
        let entry = Arc::new(PromptEntry { id, prompt, digest });
        self.insert(ListKind::Prompts, server, |parts| &mut parts.prompts, name, entry);
    }

    /// Over what the server says of itself and the digests of all items, list by list.
    pub(super) fn digest(&self) -> Digest {
        let instructions = self.info.instructions.as_deref().unwrap_or_default().as_bytes();
        // Searched with, so another one is another catalog.
        let implementation = self.info.implementation.as_ref().map(json::canonical).unwrap_or_default();
        let counts = [self.tools.len(), self.resources.len(), self.templates.len(), self.prompts.len()];
        let counts = counts.map(|n| (n as u64).to_le_bytes());
        let tools = self.tools.values().map(|(_, digest)| digest.as_bytes().as_slice());
        let resources = self.resources.values().map(|entry| entry.digest.as_bytes().as_slice());
        let templates = self.templates.values().map(|entry| entry.digest.as_bytes().as_slice());
        let prompts = self.prompts.values().map(|entry| entry.digest.as_bytes().as_slice());
        let head = [instructions, implementation.as_bytes()].into_iter().chain(counts.iter().map(|n| n.as_slice()));
        Digest::of_parts(head.chain(tools).chain(resources).chain(templates).chain(prompts))
    }

    pub(super) fn entry(&self, id: ServerId, trust: TrustTier) -> ServerEntry {
        ServerEntry {
            id,
            info: self.info.clone(),
            digest: self.digest(),
            // Private above public, and private where nothing was said.
            scope: self.scopes.values().copied().max().unwrap_or_default(),
            failure: self.failure.clone(),
            age: self.age,
            trust,
        }
    }

    /// The first item of a name stands: a server's list order is all there is to go by.
    fn insert<T>(
        &mut self,
        kind: ListKind,
        server: &ServerId,
        items: impl Fn(&mut Self) -> &mut BTreeMap<Arc<str>, T>,
        name: Arc<str>,
        item: T,
    ) {
        match items(self).entry(name) {
            Entry::Vacant(entry) => _ = entry.insert(item),
            Entry::Occupied(entry) => {
                let message = "the server lists this name twice: the first one stands";
                let finding = Finding::new(server.clone(), entry.key(), FindingKind::Duplicate, message);
                self.find(kind, finding);
            }
        }
    }
}

fn put<T>(map: &mut BTreeMap<ListKind, T>, kind: ListKind, value: Option<T>) {
    match value {
        Some(value) => _ = map.insert(kind, value),
        None => _ = map.remove(&kind),
    }
}
