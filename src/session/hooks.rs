use std::{future::Future, sync::Arc, time::Duration};

use tokio::time::timeout;

use crate::{
    catalog::Catalog,
    error::{BoxError, excerpt},
    retrieval::{Query, Ranking, Reranker, Rewriter, candidates, reorder},
};

/// What a host adds to retrieval. Nothing by default, and nothing of it can fail a turn: what goes
/// wrong is told in [`Context::notes`](super::Context::notes).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Hooks {
    /// Takes requests apart that have no sub-queries yet.
    pub rewriter: Option<Arc<dyn Rewriter>>,
    /// Orders the best hits again.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// What each may take. Default: 5 seconds; a user waits for no longer than that, and a small
    /// model answers in one.
    pub timeout: Duration,
}

impl Hooks {
    /// No hooks.
    pub fn new() -> Self {
        Self { rewriter: None, reranker: None, timeout: Duration::from_secs(5) }
    }

    /// Gives the query its sub-queries.
    pub(super) async fn rewrite(&self, query: &mut Query, notes: &mut Vec<String>) {
        let Some(rewriter) = &self.rewriter else { return };
        if !query.sub_queries.is_empty() || query.text.trim().is_empty() {
            return;
        }
        let answer = self.within(rewriter.rewrite(query)).await;
        match answer {
            Ok(parts) => {
                let filled = parts.into_iter().filter(|part| !part.trim().is_empty());
                query.sub_queries = filled.take(Query::MAX_PARTS).collect();
            }
            Err(why) => notes.push(format!("rewriter {}: {why}; the request is searched as it is", rewriter.name())),
        }
    }

    /// Orders the best hits again.
    pub(super) async fn rerank(
        &self,
        query: &Query,
        catalog: &Catalog,
        ranking: Arc<Ranking>,
        notes: &mut Vec<String>,
    ) -> Arc<Ranking> {
        let Some(reranker) = &self.reranker else { return ranking };
        let candidates = candidates(catalog, &ranking, reranker.depth());
        if candidates.len() < 2 {
            return ranking;
        }
        let answer = self.within(reranker.rerank(query, &candidates)).await;
        match answer {
            Ok(order) => Arc::new(reorder(&ranking, candidates, &order)),
            Err(why) => {
                notes.push(format!("reranker {}: {why}; the ranking stays as it is", reranker.name()));
                ranking
            }
        }
    }

    async fn within<T>(&self, answer: impl Future<Output = Result<T, BoxError>>) -> Result<T, String> {
        match timeout(self.timeout, answer).await {
            Ok(answer) => answer.map_err(|error| excerpt(&error.to_string())),
            Err(_) => Err(format!("no answer within {:?}", self.timeout)),
        }
    }
}

impl Default for Hooks {
    fn default() -> Self {
        Self::new()
    }
}
