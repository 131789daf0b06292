use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

use lru::LruCache;
use tokio::task::spawn_blocking;

use crate::{
    Error, Result,
    catalog::Catalog,
    json::Digest,
    retrieval::{Filter, Query, Ranking, Retriever, ToolIndex},
};

/// Searches the snapshots of one kind of item with a retriever: keeps the index of the newest one,
/// and the rankings of the last queries.
#[derive(Debug)]
pub(super) struct Searcher {
    retriever: Arc<dyn Retriever>,
    // Held while an index is made, so that turns that begin at once do not each make it.
    index: tokio::sync::Mutex<Option<(Digest, Arc<dyn ToolIndex>)>>,
    rankings: Mutex<LruCache<(Digest, Query, usize), Arc<Ranking>>>,
}

impl Searcher {
    /// How many rankings are remembered: 256. Retried and repeated requests are recent ones.
    pub(super) const RANKINGS: usize = 256;

    /// The longest query whose ranking is remembered: a pasted file would take room for nothing.
    const MAX_REMEMBERED_BYTES: usize = 8_192;

    pub(super) fn new(retriever: Arc<dyn Retriever>) -> Self {
        let capacity = NonZeroUsize::new(Self::RANKINGS).unwrap_or(NonZeroUsize::MIN);
        Self { retriever, index: tokio::sync::Mutex::default(), rankings: Mutex::new(LruCache::new(capacity)) }
    }

    /// The index of a snapshot: the one at hand unless it asks to be made again, or a new one that
    /// takes over what did not change.
    pub(super) async fn index(&self, catalog: &Catalog) -> Result<Arc<dyn ToolIndex>> {
        let mut current = self.index.lock().await;
        let previous = match &*current {
            Some((digest, index)) if *digest == catalog.digest() && !index.wants_reindex() => {
                return Ok(Arc::clone(index));
            }
            previous => previous.as_ref().map(|(_, index)| Arc::clone(index)),
        };
        let (retriever, snapshot) = (Arc::clone(&self.retriever), catalog.clone());
        // Indexing thousands of items takes its time: other tasks of the host go on meanwhile.
        let index = spawn_blocking(move || retriever.index(&snapshot, previous.as_ref())).await.map_err(stopped)??;
        *current = Some((catalog.digest(), Arc::clone(&index)));
        Ok(index)
    }

    /// Searches, or remembers the answer. A filter may hold conditions that change, and a channel
    /// that failed may work the next time: only unfiltered, whole rankings are remembered.
    pub(super) async fn search(
        &self,
        index: &Arc<dyn ToolIndex>,
        query: &Query,
        filter: &Filter,
        limit: usize,
    ) -> Result<Arc<Ranking>> {
        if !filter.is_empty() || query.bytes() > Self::MAX_REMEMBERED_BYTES {
            return search(index, query, filter, limit).await.map(Arc::new);
        }
        let key = (index.catalog().digest(), query.clone(), limit);
        if let Some(ranking) = self.rankings.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(ranking));
        }
        let ranking = Arc::new(search(index, query, filter, limit).await?);
        if !ranking.is_degraded() {
            self.rankings.lock().unwrap_or_else(PoisonError::into_inner).put(key, Arc::clone(&ranking));
        }
        Ok(ranking)
    }
}

/// Searches where it does not hold up other tasks.
async fn search(index: &Arc<dyn ToolIndex>, query: &Query, filter: &Filter, limit: usize) -> Result<Ranking> {
    if !index.may_block() {
        return index.search(query, filter, limit);
    }
    let (index, query, filter) = (Arc::clone(index), query.clone(), filter.clone());
    spawn_blocking(move || index.search(&query, &filter, limit)).await.map_err(stopped)?
}

/// A thread for blocking work that panicked or was stopped with its runtime.
pub(super) fn stopped(error: tokio::task::JoinError) -> Error {
    Error::Index { reason: error.to_string(), source: Some(error.into()) }
}
