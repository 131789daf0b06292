use std::{
    fmt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use fastembed::TextRerank;
use futures_util::FutureExt;
use tokio::runtime::Handle;

use super::{Candidate, Query, Reranker};
use crate::{
    Result,
    client::BoxFuture,
    error::BoxError,
    index::{OnnxModel, fastembed::Session},
};

/// A reranker that runs a cross-encoder in ONNX form in this process: it reads the request and a
/// tool's text together, which is more exact than comparing two vectors, and takes a run of the
/// model for each tool.
///
/// It runs on tokio's threads for blocking work. When a turn no longer waits
/// ([`Hooks::timeout`](crate::session::Hooks::timeout)), it stops after the tool at hand.
///
/// ```no_run
/// use proem::{Host, retrieval::FastReranker};
///
/// let host = Host::builder().reranker(FastReranker::local("models/bge-reranker-base")?);
/// # Ok::<(), proem::Error>(())
/// ```
pub struct FastReranker {
    name: String,
    depth: usize,
    session: Arc<Session<TextRerank>>,
}

impl FastReranker {
    /// The model of a folder.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn local(folder: impl Into<PathBuf>) -> Result<Self> {
        Self::new(&OnnxModel::folder(folder))
    }

    /// A model that fastembed knows, downloaded on first use: see [`OnnxModel::named`].
    ///
    /// # Errors
    /// As [`Self::new`].
    #[cfg(feature = "fastembed-hub")]
    pub fn named(name: impl Into<String>) -> Result<Self> {
        Self::new(&OnnxModel::named(name))
    }

    /// A model with an output `logits`, whose first number is greater the better a text fits.
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File) if ONNX Runtime cannot be loaded, if files are missing,
    /// or hold no model or tokenizer; [`Error::Invalid`](crate::Error::Invalid) for a name that is
    /// not known.
    pub fn new(model: &OnnxModel) -> Result<Self> {
        Ok(Self { name: model.label(), depth: 20, session: Arc::new(model.rerank()?) })
    }

    /// Sets how many of the best hits are ordered again. Default: 20, so that models of 100 million
    /// parameters and more are done before a turn goes on without them.
    #[must_use]
    pub fn with_depth(mut self, hits: usize) -> Self {
        self.depth = hits;
        self
    }
}

impl Reranker for FastReranker {
    fn name(&self) -> &str {
        &self.name
    }

    /// Fails outside of a tokio runtime.
    fn rerank<'a>(
        &'a self,
        query: &'a Query,
        candidates: &'a [Candidate],
    ) -> BoxFuture<'a, std::result::Result<Vec<usize>, BoxError>> {
        async move {
            let asked = Asked::default();
            let (session, stop) = (Arc::clone(&self.session), Arc::clone(&asked.stop));
            let text: String = query.text.chars().take(Query::MAX_CHARS).collect();
            let texts: Vec<String> = candidates.iter().map(|candidate| candidate.text.clone()).collect();
            let task = Handle::try_current()?.spawn_blocking(move || order(&session, &text, &texts, &stop));
            Ok(task.await??)
        }
        .boxed()
    }

    fn depth(&self) -> usize {
        self.depth
    }
}

/// Who asked; once that is dropped, nobody waits for the answer.
#[derive(Default)]
struct Asked {
    stop: Arc<AtomicBool>,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The places of the texts, best first, equal ones in their old order.
fn order(
    session: &Session<TextRerank>,
    query: &str,
    texts: &[String],
    stop: &AtomicBool,
) -> Result<Vec<usize>, String> {
    let mut scored = Vec::with_capacity(texts.len());
    for (place, text) in texts.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            return Err("nobody waits".into());
        }
        // One at a time: no padding, and the same score whatever stands beside it.
        let scores = session.run(|model| model.rerank(query, [text.as_str()], false, Some(1)))?;
        match scores.first() {
            Some(result) if result.score.is_finite() => scored.push((place, result.score)),
            _ => return Err("a text without a score, or with one that is no number".into()),
        }
    }
    scored.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(scored.into_iter().map(|(place, _)| place).collect())
}

impl fmt::Debug for FastReranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FastReranker").field("name", &self.name).field("depth", &self.depth).finish_non_exhaustive()
    }
}
