use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

use lru::LruCache;
use tokio::task::spawn_blocking;

use super::hooks::Hooks;
use crate::{
    Error, Result,
    catalog::{Aggregator, Catalog},
    json::Digest,
    retrieval::{Filter, Query, Ranking, Retriever, ToolIndex},
    tokens::CountCache,
};

/// What the turns of all sessions of a host share: servers, the index of the newest snapshot,
/// token counts, and the rankings of the last queries.
#[derive(Debug)]
pub struct Composer {
    pub(super) servers: Arc<Aggregator>,
    counts: Arc<CountCache>,
    retriever: Arc<dyn Retriever>,
    pub(super) hooks: Hooks,
    // Held while an index is made, so that turns that begin at once do not each make it.
    index: tokio::sync::Mutex<Option<(Digest, Arc<dyn ToolIndex>)>>,
    rankings: Mutex<LruCache<(Digest, Query, usize), Arc<Ranking>>>,
}

impl Composer {
    /// How many rankings are remembered: 256. Retried and repeated requests are recent ones.
    pub const RANKINGS: usize = 256;

    /// The longest query whose ranking is remembered: a pasted file would take room for nothing.
    const MAX_REMEMBERED_BYTES: usize = 8_192;

    /// Composes turns over `servers`.
    pub fn new(servers: Arc<Aggregator>, retriever: Arc<dyn Retriever>, counts: Arc<CountCache>) -> Self {
        let capacity = NonZeroUsize::new(Self::RANKINGS).unwrap_or(NonZeroUsize::MIN);
        Self {
            servers,
            counts,
            retriever,
            hooks: Hooks::new(),
            index: tokio::sync::Mutex::default(),
            rankings: Mutex::new(LruCache::new(capacity)),
        }
    }

    /// Sets what is added to retrieval. Default: nothing.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// What counts tokens, with what it remembers.
    pub fn counts(&self) -> &CountCache {
        &self.counts
    }

    /// The index of a snapshot: the one at hand, or a new one that takes over what did not change.
    ///
    /// # Errors
    /// What the retriever fails with.
    pub async fn index(&self, catalog: &Catalog) -> Result<Arc<dyn ToolIndex>> {
        let mut current = self.index.lock().await;
        let previous = match &*current {
            Some((digest, index)) if *digest == catalog.digest() => return Ok(Arc::clone(index)),
            previous => previous.as_ref().map(|(_, index)| Arc::clone(index)),
        };
        let (retriever, snapshot) = (Arc::clone(&self.retriever), catalog.clone());
        // Indexing thousands of tools takes its time: other tasks of the host go on meanwhile.
        let index = spawn_blocking(move || retriever.index(&snapshot, previous.as_ref()))
            .await
            .map_err(|error| Error::Index { reason: error.to_string(), source: Some(error.into()) })??;
        *current = Some((catalog.digest(), Arc::clone(&index)));
        Ok(index)
    }

    /// Searches, or remembers the answer. A filter may hold conditions that change: only
    /// unfiltered rankings are remembered.
    pub(super) fn search(
        &self,
        catalog: &Catalog,
        index: &dyn ToolIndex,
        query: &Query,
        filter: &Filter,
        limit: usize,
    ) -> Result<Arc<Ranking>> {
        if !filter.is_empty() || query.bytes() > Self::MAX_REMEMBERED_BYTES {
            return index.search(query, filter, limit).map(Arc::new);
        }
        let key = (catalog.digest(), query.clone(), limit);
        if let Some(ranking) = self.rankings.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(ranking));
        }
        let ranking = Arc::new(index.search(query, filter, limit)?);
        self.rankings.lock().unwrap_or_else(PoisonError::into_inner).put(key, Arc::clone(&ranking));
        Ok(ranking)
    }
}
