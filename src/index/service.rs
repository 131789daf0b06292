use std::{
    fmt,
    sync::{Arc, mpsc},
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::BoxFuture,
    stream::{self, StreamExt, TryStreamExt},
};
use tokio::runtime::Handle;

use super::{
    callback::failed,
    embedder::{Embedder, TextKind},
};
use crate::{Error, Result, error::BoxError};

/// An embedder that is an async function of the host's own, such as a request to an embedding service.
///
/// Requests run on the runtime of the [`Handle`] that the host gives, at most
/// [`concurrency`](Self::with_concurrency) at once and each with a time limit, while the thread
/// that asked waits. A request that is out of time is dropped.
///
/// ```
/// use proem::index::{Embedder, ServiceEmbedder, TextKind};
///
/// let runtime = tokio::runtime::Runtime::new()?;
/// let service = ServiceEmbedder::new("lengths/1", 2, runtime.handle().clone(), |texts, _kind| async move {
///     // A real one sends a request.
///     Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
/// });
/// assert_eq!(service.embed(&["four"], TextKind::Query)?, [[4.0, 1.0]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ServiceEmbedder {
    identity: Arc<str>,
    dimensions: usize,
    runtime: Handle,
    function: Arc<Function>,
    batch: usize,
    concurrency: usize,
    query_timeout: Duration,
    document_timeout: Duration,
}

type Function = dyn Fn(Vec<String>, TextKind) -> BoxFuture<'static, Result<Vec<Vec<f32>>, BoxError>> + Send + Sync;

impl ServiceEmbedder {
    /// An embedder of this [identity](Embedder::identity) and vectors of this length. `function`
    /// gives one vector for each text; it runs on `runtime`.
    pub fn new<F>(
        identity: impl Into<Arc<str>>,
        dimensions: usize,
        runtime: Handle,
        function: impl Fn(Vec<String>, TextKind) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Vec<Vec<f32>>, BoxError>> + Send + 'static,
    {
        Self {
            identity: identity.into(),
            dimensions,
            runtime,
            function: Arc::new(move |texts, kind| function(texts, kind).boxed()),
            batch: 64,
            concurrency: 4,
            query_timeout: Duration::from_secs(2),
            document_timeout: Duration::from_secs(30),
        }
    }

    /// Sets the most texts of one request, at least 1. Default 64: services limit what one may hold.
    #[must_use]
    pub fn with_batch(mut self, texts: usize) -> Self {
        self.batch = texts.max(1);
        self
    }

    /// Sets the most requests at once, at least 1. Default 4: services limit the rate.
    #[must_use]
    pub fn with_concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests.max(1);
        self
    }

    /// Sets how long a request may take. Default 2 seconds for a query, since a turn waits for it,
    /// and 30 for documents.
    #[must_use]
    pub fn with_timeout(mut self, kind: TextKind, timeout: Duration) -> Self {
        match kind {
            TextKind::Query => self.query_timeout = timeout,
            TextKind::Document => self.document_timeout = timeout,
        }
        self
    }

    fn timeout(&self, kind: TextKind) -> Duration {
        match kind {
            TextKind::Query => self.query_timeout,
            TextKind::Document => self.document_timeout,
        }
    }

    /// All requests for some texts; ends with the first that fails.
    async fn ask(self, texts: Vec<String>, kind: TextKind) -> Result<Vec<Vec<f32>>> {
        let after = self.timeout(kind);
        let requests = texts.chunks(self.batch).map(|texts| {
            let (request, expected) = ((self.function)(texts.to_vec(), kind), texts.len());
            let identity = Arc::clone(&self.identity);
            async move {
                match tokio::time::timeout(after, request).await {
                    // Requests of wrong sizes could make up for each other.
                    Ok(Ok(vectors)) if vectors.len() != expected => {
                        let reason = format!("{} vectors for {expected} texts", vectors.len());
                        Err(Error::Embedder { embedder: identity.to_string(), reason, source: None })
                    }
                    Ok(vectors) => vectors.map_err(|error| failed(&identity, error)),
                    Err(_) => Err(late(&identity, after)),
                }
            }
        });
        let requests: Vec<_> = requests.collect();
        let answers: Vec<_> = stream::iter(requests).buffered(self.concurrency).try_collect().await?;
        Ok(answers.into_iter().flatten().collect())
    }
}

impl Embedder for ServiceEmbedder {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Vec<Vec<f32>>> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let rounds = texts.len().div_ceil(self.batch).div_ceil(self.concurrency).max(1);
        // The limits of all requests one after the other, and time for the runtime to take them
        // up: a runtime that is shut down or stands still must not hold this thread.
        let longest = self.timeout(kind).saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX)) + GRACE;
        let (sender, receiver) = mpsc::sync_channel(1);
        let asked = self.clone();
        let task = self.runtime.spawn(async move {
            // Whoever waits may have left.
            let _ = sender.send(asked.ask(texts, kind).await);
        });
        receiver.recv_timeout(longest).unwrap_or_else(|error| {
            task.abort();
            Err(match error {
                mpsc::RecvTimeoutError::Timeout => late(&self.identity, longest),
                mpsc::RecvTimeoutError::Disconnected => Error::Embedder {
                    embedder: self.identity.to_string(),
                    reason: "its function panicked, or its runtime is shut down".into(),
                    source: None,
                },
            })
        })
    }

    fn max_batch(&self) -> usize {
        self.batch.saturating_mul(self.concurrency)
    }
}

impl fmt::Debug for ServiceEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceEmbedder")
            .field("identity", &self.identity)
            .field("dimensions", &self.dimensions)
            .field("batch", &self.batch)
            .field("concurrency", &self.concurrency)
            .finish_non_exhaustive()
    }
}

const GRACE: Duration = Duration::from_millis(500);

fn late(embedder: &str, after: Duration) -> Error {
    Error::Embedder { embedder: embedder.into(), reason: format!("no answer within {after:?}"), source: None }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn lengths(texts: &[String]) -> Vec<Vec<f32>> {
        texts.iter().map(|text| vec![text.len() as f32]).collect()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn requests_are_bounded_and_answers_keep_their_order() {
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (now, seen) = (Arc::clone(&running), Arc::clone(&most));
        let service = ServiceEmbedder::new("s", 1, Handle::current(), move |texts, _| {
            let (now, seen) = (Arc::clone(&now), Arc::clone(&seen));
            async move {
                assert!(texts.len() <= 3);
                seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(30 / texts.len() as u64)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(lengths(&texts))
            }
        });
        let service = service.with_batch(3).with_concurrency(2);
        let texts: Vec<String> = (0..16).map(|i| "x".repeat(i)).collect();
        let expected = lengths(&texts);
        let embedded = tokio::task::spawn_blocking(move || {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            service.embed(&texts, TextKind::Document)
        });
        assert_eq!(embedded.await.unwrap().unwrap(), expected);
        assert_eq!(most.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn what_never_comes_ends() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let service = ServiceEmbedder::new("slow", 1, runtime.handle().clone(), |_, _| std::future::pending())
            .with_timeout(TextKind::Query, Duration::from_millis(20));
        let error = service.embed(&["a"], TextKind::Query).unwrap_err();
        assert_eq!(error.to_string(), "embedder `slow`: no answer within 20ms");
        runtime.shutdown_background();
        let error = service.embed(&["a"], TextKind::Query).unwrap_err();
        assert_eq!(error.to_string(), "embedder `slow`: its function panicked, or its runtime is shut down");
        // A runtime that nobody drives.
        let idle = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let service = ServiceEmbedder { runtime: idle.handle().clone(), ..service };
        let error = service.embed(&["a"], TextKind::Query).unwrap_err();
        assert_eq!(error.to_string(), "embedder `slow`: no answer within 520ms");
    }

    #[test]
    fn errors_and_wrong_sizes_are_named() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let service = ServiceEmbedder::new("s", 1, runtime.handle().clone(), |texts, kind| async move {
            match kind {
                TextKind::Query => Err(format!("status 500\n{}", "x".repeat(500)).into()),
                // One too many, then one too few.
                TextKind::Document => Ok(vec![vec![1.0]; if texts[0] == "a" { 2 } else { 0 }]),
            }
        });
        let service = service.with_batch(1);
        let error = service.embed(&["a"], TextKind::Query).unwrap_err().to_string();
        assert!(error.starts_with("embedder `s`: status 500 xxx") && error.len() < 300, "{error}");
        let error = service.embed(&["a", "b"], TextKind::Document).unwrap_err();
        assert_eq!(error.to_string(), "embedder `s`: 2 vectors for 1 texts");
    }
}
