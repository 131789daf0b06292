use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::{
    hooks::Hooks,
    searcher::{Searcher, stopped},
};
use crate::{
    Result,
    call::Validators,
    catalog::{Aggregator, Catalog},
    json::Digest,
    render::{AttachedImage, Attachment},
    resources::{
        Attached, AttachedResource, Attaching, Governance, KnownTexts, Relevance, ResourceOptions, attach, searchable,
        select,
    },
    retrieval::{Filter, Query, Ranking, Retriever, ToolIndex},
    tokens::{CountCache, TokenBudget},
};

/// What the turns of all sessions of a host share: servers, the indexes of the newest snapshot,
/// token counts, the rankings of the last queries, compiled schemas, what is known of the texts of resources, and the
/// host's rules for them.
#[derive(Debug)]
pub struct Composer {
    pub(super) servers: Arc<Aggregator>,
    counts: Arc<CountCache>,
    pub(super) hooks: Hooks,
    pub(super) governance: Arc<Governance>,
    pub(super) known: Arc<KnownTexts>,
    pub(super) validators: Validators,
    tools: Searcher,
    resources: Searcher,
    /// The resources as they are searched, by the snapshot and by what was known when they were made.
    searchable: tokio::sync::Mutex<Option<((Digest, u64), Catalog)>>,
}

impl Composer {
    /// How many rankings are remembered: 256. Retried and repeated requests are recent ones.
    pub const RANKINGS: usize = Searcher::RANKINGS;

    /// How many resources are found at most: far more than any budget takes.
    const MOST_RELEVANT: usize = 256;

    /// Composes turns over `servers`.
    pub fn new(servers: Arc<Aggregator>, retriever: Arc<dyn Retriever>, counts: Arc<CountCache>) -> Self {
        Self {
            servers,
            counts,
            hooks: Hooks::new(),
            governance: Arc::default(),
            known: Arc::default(),
            validators: Validators::new(),
            tools: Searcher::new(Arc::clone(&retriever)),
            resources: Searcher::new(retriever),
            searchable: tokio::sync::Mutex::default(),
        }
    }

    /// Sets what is added to retrieval. Default: nothing.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets what finds resources. Default: what finds tools.
    #[must_use]
    pub fn with_resource_retriever(mut self, retriever: Arc<dyn Retriever>) -> Self {
        self.resources = Searcher::new(retriever);
        self
    }

    /// Sets the host's rules for resources. Default: none.
    #[must_use]
    pub fn with_governance(mut self, governance: Governance) -> Self {
        self.governance = Arc::new(governance);
        self
    }

    /// What counts tokens, with what it remembers.
    pub fn counts(&self) -> &CountCache {
        &self.counts
    }

    /// The host's rules for resources.
    pub fn governance(&self) -> &Arc<Governance> {
        &self.governance
    }

    /// The index of a snapshot's tools: the one at hand unless it asks to be made again, or a new
    /// one that takes over what did not change.
    ///
    /// # Errors
    /// What the retriever fails with.
    pub async fn index(&self, catalog: &Catalog) -> Result<Arc<dyn ToolIndex>> {
        self.tools.index(catalog).await
    }

    /// How much the resources of a snapshot have to do with a query, by the same channels that find
    /// tools; `None` if the query says nothing.
    ///
    /// # Errors
    /// What the retriever fails with.
    pub async fn relevance(&self, catalog: &Catalog, query: &Query) -> Result<Option<Relevance>> {
        if query.text.trim().is_empty() && query.sub_queries.iter().all(|part| part.trim().is_empty()) {
            return Ok(None);
        }
        let resources = self.searchable(catalog).await?;
        let index = self.resources.index(&resources).await?;
        let ranking = self.resources.search(&index, query, &Filter::new(), Self::MOST_RELEVANT).await?;
        Ok(Some(Relevance::of(&ranking)))
    }

    /// Selects resources for a query, reads them, and keeps what fits, as each stands in a request.
    ///
    /// Never fails as a whole: a search that fails costs relevance, a server that fails its
    /// resource, and [`Attached`] says so.
    pub async fn attach(&self, catalog: &Catalog, query: &Query, options: &ResourceOptions) -> Attached {
        if options.budget == TokenBudget::ZERO && options.pins.is_empty() {
            return Attached::default();
        }
        let (relevance, trouble) = match self.relevance(catalog, query).await {
            Ok(relevance) => (relevance, None),
            Err(error) => (None, Some(format!("resources are ranked by priority and age alone: {error}"))),
        };
        let selection = select(catalog, &self.governance, relevance.as_ref(), &query.text, options);
        let rendered = |resource: &AttachedResource| attachment(resource).rendered();
        let with = Attaching::new(&self.servers, &self.counts, &rendered)
            .with_governance(&self.governance)
            .with_known(&self.known)
            .with_request(&query.text);
        let mut attached = attach(selection, options, &with).await;
        attached.notes.extend(trouble);
        attached
    }

    /// Searches the tools, or remembers the answer.
    pub(super) async fn search(
        &self,
        index: &Arc<dyn ToolIndex>,
        query: &Query,
        filter: &Filter,
        limit: usize,
    ) -> Result<Arc<Ranking>> {
        self.tools.search(index, query, filter, limit).await
    }

    async fn searchable(&self, catalog: &Catalog) -> Result<Catalog> {
        let key = (catalog.digest(), self.known.generation());
        let mut kept = self.searchable.lock().await;
        if let Some((_, resources)) = kept.as_ref().filter(|(of, _)| *of == key) {
            return Ok(resources.clone());
        }
        let (snapshot, known, governance) = (catalog.clone(), Arc::clone(&self.known), Arc::clone(&self.governance));
        let made = spawn_blocking(move || {
            searchable(&snapshot, &known, |entry| {
                let decision = governance.decide(&entry.id, entry.resource.mime_type.as_deref());
                decision.for_model(&entry.resource.annotations)
            })
        });
        let resources = made.await.map_err(stopped)?;
        *kept = Some((key, resources.clone()));
        Ok(resources)
    }
}

/// A resource as it is rendered.
pub(super) fn attachment(resource: &AttachedResource) -> Attachment {
    let mut attachment = Attachment::new(resource.id.clone(), resource.text.as_str()).with_label(&resource.label);
    attachment.mime_type.clone_from(&resource.mime_type);
    resource.images.iter().fold(attachment, |attachment, image| {
        attachment.with_image(AttachedImage::new(image.mime_type, image.data.as_str()))
    })
}
