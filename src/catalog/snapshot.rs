use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use super::{
    entry::{PromptEntry, ResourceEntry, ServerEntry, TemplateEntry, ToolEntry},
    names::{Naming, expose, renamed},
    parts::{MAX_FINDINGS, ServerParts},
    trust::TrustTier,
};
use crate::{
    Error,
    evidence::{Finding, FindingKind},
    id::{PromptId, ResourceId, ServerId, TemplateId, ToolId},
    json::Digest,
    protocol::{Prompt, Resource, ResourceTemplate, ServerInfo, Tool},
};

/// An immutable snapshot of what all servers offer. Cheap to clone.
#[derive(Clone)]
pub struct Catalog(Arc<Inner>);

struct Inner {
    servers: Vec<ServerEntry>,
    tools: Vec<Arc<ToolEntry>>,
    resources: Vec<Arc<ResourceEntry>>,
    templates: Vec<Arc<TemplateEntry>>,
    prompts: Vec<Arc<PromptEntry>>,
    by_exposed: HashMap<String, usize>,
    findings: Vec<Finding>,
    digest: Digest,
}

impl Catalog {
    /// Starts a catalog made by hand; a host makes its own from its servers.
    pub fn builder() -> CatalogBuilder {
        CatalogBuilder::default()
    }

    /// The servers, by id.
    pub fn servers(&self) -> &[ServerEntry] {
        &self.0.servers
    }

    /// The tools, by server and name.
    pub fn tools(&self) -> &[Arc<ToolEntry>] {
        &self.0.tools
    }

    /// The resources, by server and URI.
    pub fn resources(&self) -> &[Arc<ResourceEntry>] {
        &self.0.resources
    }

    /// The resource templates, by server and template.
    pub fn templates(&self) -> &[Arc<TemplateEntry>] {
        &self.0.templates
    }

    /// The prompts, by server and name.
    pub fn prompts(&self) -> &[Arc<PromptEntry>] {
        &self.0.prompts
    }

    /// The servers whose last refresh failed, and why. What they offered before still stands in
    /// the lists, marked by [`ServerEntry::age`].
    pub fn failures(&self) -> impl Iterator<Item = (&ServerId, &Error)> {
        self.0.servers.iter().filter_map(|server| Some((&server.id, &**server.failure.as_ref()?)))
    }

    /// What was wrong with what the servers sent, by server.
    pub fn findings(&self) -> &[Finding] {
        &self.0.findings
    }

    /// Over all servers' digests, their tiers and the exposed names. Equal digests mean equal requests; what
    /// failed, its age and findings do not enter.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// A server by id.
    pub fn server(&self, id: &ServerId) -> Option<&ServerEntry> {
        self.0.servers.binary_search_by(|entry| entry.id.cmp(id)).ok().map(|i| &self.0.servers[i])
    }

    /// How far the host trusts a server; the default of one that is not here.
    pub fn trust(&self, id: &ServerId) -> TrustTier {
        self.server(id).map(|server| server.trust).unwrap_or_default()
    }

    /// A tool by id.
    pub fn tool(&self, id: &ToolId) -> Option<&Arc<ToolEntry>> {
        self.position(id).map(|i| &self.0.tools[i])
    }

    /// Where a tool stands among [`Self::tools`].
    pub(crate) fn position(&self, id: &ToolId) -> Option<usize> {
        self.0.tools.binary_search_by(|entry| entry.id.cmp(id)).ok()
    }

    /// A tool by the name that a model knows.
    pub fn exposed(&self, name: &str) -> Option<&Arc<ToolEntry>> {
        self.0.by_exposed.get(name).map(|i| &self.0.tools[*i])
    }

    /// A resource by id.
    pub fn resource(&self, id: &ResourceId) -> Option<&Arc<ResourceEntry>> {
        self.0.resources.binary_search_by(|entry| entry.id.cmp(id)).ok().map(|i| &self.0.resources[i])
    }

    /// A resource template by id.
    pub fn template(&self, id: &TemplateId) -> Option<&Arc<TemplateEntry>> {
        self.0.templates.binary_search_by(|entry| entry.id.cmp(id)).ok().map(|i| &self.0.templates[i])
    }

    /// A prompt by id.
    pub fn prompt(&self, id: &PromptId) -> Option<&Arc<PromptEntry>> {
        self.0.prompts.binary_search_by(|entry| entry.id.cmp(id)).ok().map(|i| &self.0.prompts[i])
    }
}

impl Default for Catalog {
    fn default() -> Self {
        Self::builder().build()
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("digest", &self.0.digest)
            .field("servers", &self.0.servers.len())
            .field("tools", &self.0.tools.len())
            .field("resources", &self.0.resources.len())
            .field("prompts", &self.0.prompts.len())
            .finish_non_exhaustive()
    }
}

/// Collects servers and their items into a [`Catalog`]. The order of calls for different servers
/// does not matter.
///
/// ```
/// use proem::{catalog::Catalog, id::ServerId, protocol::Tool};
///
/// let catalog = Catalog::builder()
///     .tool(ServerId::new("git")?, Tool::new("merge", "Merge a branch"))
///     .build();
/// assert_eq!(catalog.exposed("merge").map(|tool| tool.id.to_string()).as_deref(), Some("git/merge"));
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct CatalogBuilder {
    naming: Naming,
    servers: BTreeMap<ServerId, ServerParts>,
    trust: BTreeMap<ServerId, TrustTier>,
}

impl CatalogBuilder {
    /// Sets when exposed names carry their server's name.
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Sets how far a server is trusted. Default [`TrustTier::Standard`].
    #[must_use]
    pub fn trust(mut self, server: ServerId, tier: TrustTier) -> Self {
        self.trust.insert(server, tier);
        self
    }

    /// Adds a server, or sets what it says of itself.
    #[must_use]
    pub fn server(mut self, server: ServerId, info: ServerInfo) -> Self {
        self.parts(&server).info = info;
        self
    }

    /// Adds a tool; a second one of the same name becomes a finding.
    #[must_use]
    pub fn tool(self, server: ServerId, tool: Tool) -> Self {
        let digest = Digest::of(&tool.to_value());
        self.digested_tool(server, tool, digest)
    }

    /// Adds a tool whose digest is known, for those that are made by the thousand.
    pub(crate) fn digested_tool(mut self, server: ServerId, tool: Tool, digest: Digest) -> Self {
        self.parts(&server).add_tool(&server, tool, digest);
        self
    }

    /// Adds a resource; a second one of the same URI becomes a finding.
    #[must_use]
    pub fn resource(mut self, server: ServerId, resource: Resource) -> Self {
        let digest = Digest::of(&resource.to_value());
        self.parts(&server).add_resource(&server, resource, digest);
        self
    }

    /// Adds a resource template; a second one of the same template becomes a finding.
    #[must_use]
    pub fn template(mut self, server: ServerId, template: ResourceTemplate) -> Self {
        let digest = Digest::of(&template.to_value());
        self.parts(&server).add_template(&server, template, digest);
        self
    }

    /// Adds a prompt; a second one of the same name becomes a finding.
    #[must_use]
    pub fn prompt(mut self, server: ServerId, prompt: Prompt) -> Self {
        let digest = Digest::of(&prompt.to_value());
        self.parts(&server).add_prompt(&server, prompt, digest);
        self
    }

    /// Adds a server with all that was read of it.
    pub(super) fn server_parts(mut self, server: ServerId, parts: ServerParts) -> Self {
        self.servers.insert(server, parts);
        self
    }

    /// Makes the snapshot: sorts, names and digests.
    pub fn build(self) -> Catalog {
        let mut inner = Inner {
            servers: Vec::with_capacity(self.servers.len()),
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
            by_exposed: HashMap::new(),
            findings: Vec::new(),
            digest: Digest::of_bytes([]),
        };
        let ids: Vec<ToolId> = self
            .servers
            .iter()
            .flat_map(|(server, parts)| parts.tools.keys().map(|name| ToolId::new(server.clone(), Arc::clone(name))))
            .collect();
        let mut exposed = expose(&ids, self.naming).into_iter();
        let mut ids = ids.into_iter();
        for (server, parts) in self.servers {
            let trust = self.trust.get(&server).copied().unwrap_or_default();
            inner.servers.push(parts.entry(server.clone(), trust));
            inner.findings.extend(parts.findings.into_values().flatten());
            let mut renames = 0;
            for ((tool, digest), (id, exposed)) in parts.tools.into_values().zip(ids.by_ref().zip(exposed.by_ref())) {
                if renamed(&exposed, &id) {
                    renames += 1;
                    if renames <= MAX_FINDINGS {
                        let message = format!(
                            "the model knows it as {exposed}: too long or no ASCII for providers, or another tool has it"
                        );
                        inner.findings.push(Finding::new(server.clone(), &id.name, FindingKind::Renamed, message));
                    }
                }
                inner.by_exposed.insert(exposed.as_str().to_owned(), inner.tools.len());
                inner.tools.push(Arc::new(ToolEntry { id, exposed, tool, digest }));
            }
            if renames > MAX_FINDINGS {
                let message = format!("{} more tools are renamed", renames - MAX_FINDINGS);
                inner.findings.push(Finding::new(server, "tools/list", FindingKind::Renamed, message));
            }
            inner.resources.extend(parts.resources.into_values());
            inner.templates.extend(parts.templates.into_values());
            inner.prompts.extend(parts.prompts.into_values());
        }
        let servers = inner.servers.iter().flat_map(|s| [s.id.as_str().as_bytes(), s.digest.as_bytes()]);
        let names = inner.tools.iter().map(|tool| tool.exposed.as_str().as_bytes());
        // Behind a part that is no name.
        let tiers = inner.servers.iter().filter(|s| s.trust != TrustTier::Standard);
        let tiers = tiers.flat_map(|s| [&[], s.id.as_str().as_bytes(), s.trust.as_str().as_bytes()]);
        inner.digest = Digest::of_parts(servers.chain(names).chain(tiers));
        Catalog(Arc::new(inner))
    }

    fn parts(&mut self, server: &ServerId) -> &mut ServerParts {
        self.servers.entry(server.clone()).or_default()
    }
}
