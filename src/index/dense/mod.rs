mod build;
mod outcome;

use std::{
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use lru::LruCache;

use self::build::Builder;
use super::{
    embedder::{Embedder, TextKind, coverage, embed},
    hints::Hints,
    pause::Pause,
    unaided::NEAREST,
    vector_cache::VectorCache,
    vectors::{VectorStorage, Vectors},
};
use crate::{Error, Result, catalog::Catalog, json::Digest};

/// How tools are embedded and their vectors kept.
#[derive(Clone, Debug)]
pub struct DenseOptions {
    storage: VectorStorage,
    hints: Arc<Hints>,
    retry_after: Duration,
    cache: Option<VectorCache>,
}

impl DenseOptions {
    /// Sets how vectors are kept. Default [`VectorStorage::Int8`].
    #[must_use]
    pub fn with_storage(mut self, storage: VectorStorage) -> Self {
        self.storage = storage;
        self
    }

    /// Sets example requests for tools; they are embedded with the tool's own text. Default none.
    #[must_use]
    pub fn with_hints(mut self, hints: Hints) -> Self {
        self.hints = Arc::new(hints);
        self
    }

    /// Sets how long an embedder that failed is not asked again. Default 30 seconds: a service
    /// that does not answer holds up one turn, not each.
    #[must_use]
    pub fn with_retry_after(mut self, pause: Duration) -> Self {
        self.retry_after = pause;
        self
    }

    /// Sets where vectors are kept on disk. Default nowhere: a host that starts again embeds all
    /// tools again.
    #[must_use]
    pub fn with_cache(mut self, cache: VectorCache) -> Self {
        self.cache = Some(cache);
        self
    }
}

impl Default for DenseOptions {
    fn default() -> Self {
        Self {
            storage: VectorStorage::default(),
            hints: Arc::default(),
            retry_after: Duration::from_secs(30),
            cache: None,
        }
    }
}

/// An embedder with all that is kept of it from snapshot to snapshot.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) options: DenseOptions,
    pause: Pause,
    /// By identity and text: requests are repeated with other filters, and in retries.
    queries: Mutex<QueryVectors>,
}

type QueryVectors = LruCache<(String, String), Arc<[f32]>>;

/// How many query vectors are remembered, and the longest text whose vector is.
const QUERIES: usize = 256;
const MAX_REMEMBERED_BYTES: usize = 8_192;

impl Channel {
    pub(crate) fn new(embedder: Arc<dyn Embedder>, options: DenseOptions) -> Self {
        let pause = Pause::new(options.retry_after);
        let capacity = NonZeroUsize::new(QUERIES).unwrap_or(NonZeroUsize::MIN);
        Self { embedder, options, pause, queries: Mutex::new(LruCache::new(capacity)) }
    }
}

/// The vectors of one catalog snapshot.
///
/// A vector belongs to a text and an embedder's identity: tools whose text was embedded before
/// keep their vectors, wherever they stand now, and an embedder with another identity starts anew.
#[derive(Clone)]
pub(crate) struct DenseIndex {
    catalog: Catalog,
    channel: Arc<Channel>,
    identity: String,
    /// By position in the catalog, as the rows of `vectors` are.
    rows: Vec<Row>,
    vectors: Arc<Vectors>,
    /// Of the requests that need no tool; `None` if they could not be embedded.
    unaided: Option<Arc<Vectors>>,
    missing: usize,
    /// Why vectors are missing.
    failure: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Row {
    /// Of the text that was embedded.
    text: Digest,
    state: State,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Embedded,
    /// The embedder knows nothing of the text.
    Blank,
    /// The embedder takes other texts, but not this one.
    Refused,
    /// Not embedded yet.
    Missing,
}

/// The cosines of all tools with one query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cosines {
    /// By position in the catalog; 0 where there is none.
    pub(crate) scores: Vec<f32>,
    /// How much the scores of this query are worth, 0 to 1.
    pub(crate) confidence: f32,
    /// The least and the greatest.
    pub(crate) range: (f32, f32),
    /// By how much the query is nearer to the best tool than to requests that need none, -2 to 2;
    /// `None` if nothing is known of it.
    pub(crate) lead: Option<f32>,
}

impl DenseIndex {
    /// Indexes a catalog. Never fails: tools that could not be embedded have no vector, and
    /// [`Self::note`] says so.
    pub(crate) fn build(catalog: &Catalog, channel: &Arc<Channel>, previous: Option<&Self>) -> Self {
        Builder::new(catalog, channel, previous).build()
    }

    /// The snapshot that it is of.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Whether searching it may hold up an executor.
    pub(crate) fn may_block(&self) -> bool {
        self.channel.embedder.may_block()
    }

    /// Whether indexing the same snapshot again may give vectors that are missing.
    pub(crate) fn wants_reindex(&self) -> bool {
        let wanting = self.missing > 0 || self.unaided.is_none() || self.channel.embedder.identity() != self.identity;
        wanting && self.channel.pause.reason().is_none()
    }

    /// Whether the tool at a position has a vector.
    pub(crate) fn holds(&self, position: usize) -> bool {
        self.rows.get(position).is_some_and(|row| row.state == State::Embedded)
    }

    /// What a reader of a ranking should know of the vectors.
    pub(crate) fn note(&self) -> Option<String> {
        let without = self.rows.iter().filter(|row| matches!(row.state, State::Missing | State::Refused)).count();
        let reason = self.failure.as_deref().unwrap_or("the embedder refused their text");
        (without > 0).then(|| format!("{without} of {} tools have no vector: {reason}", self.rows.len()))
    }

    /// Compares all tools that are `allowed` with a query.
    ///
    /// # Errors
    /// [`Error::Embedder`] if there is no vector of the query.
    pub(crate) fn search(&self, text: &str, allowed: impl Fn(usize) -> bool) -> Result<Cosines> {
        let covers = coverage(&*self.channel.embedder, text);
        let nothing = Cosines { scores: vec![0.0; self.rows.len()], confidence: 0.0, range: (0.0, 0.0), lead: None };
        if covers == 0.0 {
            return Ok(nothing);
        }
        let query = self.query(text)?;
        let wanted = |row| self.holds(row) && allowed(row);
        let scores = self.vectors.scores(&query, wanted);
        let held = scores.iter().enumerate().filter(|(row, _)| wanted(*row)).map(|(_, score)| *score);
        let Some(range) = held.fold(None, |range: Option<(f32, f32)>, score| {
            let (least, most) = range.unwrap_or((score, score));
            Some((least.min(score), most.max(score)))
        }) else {
            return Ok(nothing);
        };
        let lead = self.unaided.as_ref().map(|unaided| {
            let mut near = unaided.scores(&query, |_| true);
            near.sort_by(|a, b| b.total_cmp(a));
            range.1 - near.iter().take(NEAREST).sum::<f32>() / NEAREST as f32
        });
        // With one tool there is nothing to differ from but 0, which is what unrelated texts have.
        let alone = (0..self.rows.len()).filter(|row| wanted(*row)).nth(1).is_none();
        let range = if alone { (range.0.min(0.0), range.1.max(0.0)) } else { range };
        // Scores that hardly differ say nothing, and bringing them to one scale would make noise of it.
        let spread = ((range.1 - range.0) / CLEAR_SPREAD).clamp(0.0, 1.0);
        Ok(Cosines { scores, confidence: covers * spread, range, lead })
    }

    fn query(&self, text: &str) -> Result<Arc<[f32]>> {
        let Channel { embedder, pause, queries, .. } = &*self.channel;
        let failed = |reason: String| Error::Embedder { embedder: self.identity.clone(), reason, source: None };
        if embedder.identity() != self.identity {
            return Err(failed("it is another one than when the tools were indexed".into()));
        }
        let queries = || queries.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.identity.clone(), text.to_owned());
        if let Some(vector) = queries().get(&key) {
            return Ok(Arc::clone(vector));
        }
        if let Some(reason) = pause.reason() {
            return Err(failed(format!("not asked again yet after a failure: {reason}")));
        }
        let mut vectors =
            embed(&**embedder, &[text], TextKind::Query).inspect_err(|error| pause.begin(reason_of(error)))?;
        let vector: Arc<[f32]> = vectors.pop().unwrap_or_default().into();
        if vector.len() != self.vectors.dimensions() {
            return Err(failed(format!("a vector of {} numbers, not {}", vector.len(), self.vectors.dimensions())));
        }
        if text.len() <= MAX_REMEMBERED_BYTES {
            queries().put(key, Arc::clone(&vector));
        }
        Ok(vector)
    }
}

/// From this difference between the best and the worst cosine on, scores count in full. Cosines of
/// unrelated texts differ by more with every model; those of near copies do not.
const CLEAR_SPREAD: f32 = 0.05;

impl fmt::Debug for DenseIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DenseIndex")
            .field("catalog", &self.catalog)
            .field("embedder", &self.identity)
            .field("missing", &self.missing)
            .finish_non_exhaustive()
    }
}

/// What failed, without the embedder's name, which stands beside it.
fn reason_of(error: &Error) -> String {
    match error {
        Error::Embedder { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}
