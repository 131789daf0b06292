use std::{fmt, sync::Arc};

use super::embedder::{Embedder, TextKind};
use crate::{
    Error, Result,
    error::{BoxError, excerpt},
};

/// An embedder that is a function of the host's own.
///
/// ```
/// use proem::index::{CallbackEmbedder, Embedder, TextKind};
///
/// // A real one runs a model.
/// let lengths = CallbackEmbedder::new("lengths/1", 2, |texts, _kind| {
///     Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
/// });
/// assert_eq!(lengths.embed(&["four"], TextKind::Query)?, [[4.0, 1.0]]);
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone)]
pub struct CallbackEmbedder {
    identity: String,
    dimensions: usize,
    max_batch: usize,
    may_block: bool,
    function: Arc<Function>,
    covers: Option<Arc<Coverage>>,
}

type Coverage = dyn Fn(&str) -> f32 + Send + Sync;
type Function = dyn Fn(&[&str], TextKind) -> Result<Vec<Vec<f32>>, BoxError> + Send + Sync;

impl CallbackEmbedder {
    /// An embedder of this [identity](Embedder::identity) and vectors of this length. `function`
    /// gives one vector for each text.
    pub fn new(
        identity: impl Into<String>,
        dimensions: usize,
        function: impl Fn(&[&str], TextKind) -> Result<Vec<Vec<f32>>, BoxError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            identity: identity.into(),
            dimensions,
            max_batch: 64,
            may_block: true,
            function: Arc::new(function),
            covers: None,
        }
    }

    /// Sets the most texts of one call, at least 1. Default 64.
    #[must_use]
    pub fn with_max_batch(mut self, texts: usize) -> Self {
        self.max_batch = texts.max(1);
        self
    }

    /// Says that the function neither waits nor takes long for a query: it is then called where
    /// the turn is built. Default: it may block, and is called on a thread for that.
    #[must_use]
    pub fn quick(mut self) -> Self {
        self.may_block = false;
        self
    }

    /// Sets how much of a text is in a language that the model knows: see [`Embedder::covers`]. Default: all.
    #[must_use]
    pub fn with_coverage(mut self, covers: impl Fn(&str) -> f32 + Send + Sync + 'static) -> Self {
        self.covers = Some(Arc::new(covers));
        self
    }
}

impl Embedder for CallbackEmbedder {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Vec<Vec<f32>>> {
        (self.function)(texts, kind).map_err(|error| failed(&self.identity, error))
    }

    fn max_batch(&self) -> usize {
        self.max_batch
    }

    fn may_block(&self) -> bool {
        self.may_block
    }

    fn covers(&self, text: &str) -> f32 {
        self.covers.as_ref().map_or(1.0, |covers| covers(text))
    }
}

impl fmt::Debug for CallbackEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallbackEmbedder")
            .field("identity", &self.identity)
            .field("dimensions", &self.dimensions)
            .finish_non_exhaustive()
    }
}

/// The host's error, named; its text may be a service's and is bounded.
pub(super) fn failed(embedder: &str, error: BoxError) -> Error {
    Error::Embedder { embedder: embedder.into(), reason: excerpt(&error.to_string()), source: Some(error) }
}
