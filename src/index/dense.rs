use std::{
    collections::HashMap,
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use lru::LruCache;

use super::{
    embedder::{Embedder, TextKind, coverage, embed},
    hints::Hints,
    passage::passage,
    pause::Pause,
    vector_cache::{Shelf, VectorCache},
    vectors::{VectorStorage, Vectors},
};
use crate::{
    Error, Result,
    catalog::{Catalog, ToolEntry},
    json::Digest,
};

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
        (self.missing > 0 || self.channel.embedder.identity() != self.identity) && self.channel.pause.reason().is_none()
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
        let nothing = Cosines { scores: vec![0.0; self.rows.len()], confidence: 0.0, range: (0.0, 0.0) };
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
        // With one tool there is nothing to differ from but 0, which is what unrelated texts have.
        let alone = (0..self.rows.len()).filter(|row| wanted(*row)).nth(1).is_none();
        let range = if alone { (range.0.min(0.0), range.1.max(0.0)) } else { range };
        // Scores that hardly differ say nothing, and bringing them to one scale would make noise of it.
        let spread = ((range.1 - range.0) / CLEAR_SPREAD).clamp(0.0, 1.0);
        Ok(Cosines { scores, confidence: covers * spread, range })
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

struct Builder<'a> {
    catalog: &'a Catalog,
    channel: &'a Arc<Channel>,
    identity: String,
    previous: Option<&'a DenseIndex>,
}

/// Where a tool's vector comes from.
#[derive(Clone, Copy)]
enum Source {
    /// The previous index, this row.
    Kept(usize),
    /// The texts that are embedded now, by position among them.
    New(usize),
}

/// A text that is embedded, under its digest.
type Text = (Digest, String);

impl<'a> Builder<'a> {
    fn new(catalog: &'a Catalog, channel: &'a Arc<Channel>, previous: Option<&'a DenseIndex>) -> Self {
        let identity = channel.embedder.identity().to_owned();
        let previous = previous.filter(|previous| {
            previous.identity == identity
                && previous.vectors.dimensions() == channel.embedder.dimensions()
                && previous.vectors.storage() == channel.options.storage
        });
        Self { catalog, channel, identity, previous }
    }

    fn build(self) -> DenseIndex {
        let (plan, texts) = self.plan();
        let (embedded, failure) = self.outcomes(&texts);
        let tools = self.catalog.tools().len();
        let vectors = match self.previous {
            // Nothing moved and nothing is new: most refreshes.
            Some(previous)
                if texts.is_empty()
                    && previous.rows.len() == tools
                    && (0..).zip(&plan).all(|(at, (_, source))| matches!(source, Source::Kept(row) if *row == at)) =>
            {
                Arc::clone(&previous.vectors)
            }
            _ => {
                let dimensions = self.channel.embedder.dimensions();
                let mut vectors = Vectors::with_capacity(self.channel.options.storage, dimensions, tools);
                for (_, source) in &plan {
                    match (source, self.previous) {
                        (Source::Kept(row), Some(previous)) => vectors.push_from(&previous.vectors, *row),
                        (Source::New(at), _) => vectors.push(embedded.get(*at).map_or(&[], |outcome| &outcome.vector)),
                        (Source::Kept(_), None) => vectors.push(&[]),
                    }
                }
                Arc::new(vectors)
            }
        };
        let state = |source: &Source| match source {
            Source::Kept(row) => self.previous.and_then(|previous| previous.rows.get(*row)).map(|row| row.state),
            Source::New(at) => embedded.get(*at).map(|outcome| outcome.state),
        };
        let rows: Vec<Row> = plan
            .iter()
            .map(|(text, source)| Row { text: *text, state: state(source).unwrap_or(State::Missing) })
            .collect();
        let missing = rows.iter().filter(|row| row.state == State::Missing).count();
        DenseIndex {
            catalog: self.catalog.clone(),
            channel: Arc::clone(self.channel),
            identity: self.identity,
            rows,
            vectors,
            missing,
            failure,
        }
    }

    /// By position in the catalog: the digest of the tool's text and where its vector comes from;
    /// and the texts that must be embedded, each once.
    fn plan(&self) -> (Vec<(Digest, Source)>, Vec<Text>) {
        let kept = self.kept();
        let mut by_text: Option<HashMap<Digest, usize>> = None;
        let mut new: HashMap<Digest, usize> = HashMap::new();
        let mut texts = Vec::new();
        let mut plan = Vec::with_capacity(kept.len());
        for (entry, kept) in self.catalog.tools().iter().zip(kept) {
            if let Some((row, digest)) = kept {
                plan.push((digest, Source::Kept(row)));
                continue;
            }
            let text = passage(entry, self.channel.options.hints.of(&entry.id));
            let digest = Digest::of_bytes(&text);
            // A tool that moved to another server, or whose parameters alone are others.
            let known = by_text.get_or_insert_with(|| self.known_texts()).get(&digest);
            let source = match known {
                Some(row) => Source::Kept(*row),
                None => Source::New(*new.entry(digest).or_insert_with(|| {
                    texts.push((digest, text));
                    texts.len() - 1
                })),
            };
            plan.push((digest, source));
        }
        (plan, texts)
    }

    /// By position in the catalog: the row of the same tool with the same text, and the text's digest.
    fn kept(&self) -> Vec<Option<(usize, Digest)>> {
        let mut kept = vec![None; self.catalog.tools().len()];
        let Some(previous) = self.previous else { return kept };
        let before = previous.catalog.tools();
        let (hints_before, hints) = (&previous.channel.options.hints, &self.channel.options.hints);
        let same_hints = Arc::ptr_eq(hints_before, hints) || hints_before == hints;
        let mut at = 0;
        // Both are ordered by id.
        for (entry, kept) in self.catalog.tools().iter().zip(&mut kept) {
            while before.get(at).is_some_and(|other| !same_tool(other, entry) && other.id < entry.id) {
                at += 1;
            }
            let (Some(other), Some(row)) = (before.get(at), previous.rows.get(at)) else { break };
            let same = same_tool(other, entry)
                && other.digest == entry.digest
                && row.state != State::Missing
                && (same_hints || hints_before.of(&entry.id) == hints.of(&entry.id));
            if same {
                *kept = Some((at, row.text));
            }
        }
        kept
    }

    /// The outcome of each text, as the cache has it or the embedder gives it, and the last failure.
    fn outcomes(&self, texts: &[Text]) -> (Vec<Outcome>, Option<String>) {
        let Channel { embedder, options, .. } = &**self.channel;
        let Some(cache) = options.cache.as_ref().filter(|_| !texts.is_empty()) else {
            let texts: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
            return embed_all(self.channel, &texts, |_, _| {});
        };
        let shelf = Shelf::new(&self.identity, embedder.dimensions());
        let digests: Vec<Digest> = texts.iter().map(|(digest, _)| *digest).collect();
        let mut kept = cache.read(shelf, &digests);
        let new: Vec<&Text> = texts.iter().filter(|(digest, _)| !kept.contains_key(digest)).collect();
        let new_texts: Vec<&str> = new.iter().map(|(_, text)| text.as_str()).collect();
        // Written as they come: a process that stops loses the last of them, not all.
        let mut unwritten: Vec<(Digest, Vec<f32>)> = Vec::new();
        let write = |unwritten: &mut Vec<(Digest, Vec<f32>)>| {
            let vectors: Vec<_> = unwritten.iter().map(|(text, vector)| (*text, vector.as_slice())).collect();
            // An embedder that became another one meanwhile has given vectors of nobody knows which.
            if !vectors.is_empty() && embedder.identity() == self.identity {
                cache.write(shelf, &vectors);
            }
            unwritten.clear();
        };
        let (embedded, failure) = embed_all(self.channel, &new_texts, |at, vector| {
            unwritten.extend(new.get(at).map(|(digest, _)| (*digest, vector.to_vec())));
            if unwritten.len() >= WRITTEN_AT_ONCE {
                write(&mut unwritten);
            }
        });
        write(&mut unwritten);
        let mut embedded = embedded.into_iter();
        let outcomes = digests.iter().map(|digest| match kept.remove(digest) {
            Some(vector) => Outcome::embedded(vector),
            None => embedded.next().unwrap_or_default(),
        });
        (outcomes.collect(), failure)
    }

    fn known_texts(&self) -> HashMap<Digest, usize> {
        let rows = self.previous.map(|previous| previous.rows.as_slice()).unwrap_or_default();
        let known = rows.iter().enumerate().filter(|(_, row)| row.state != State::Missing);
        known.map(|(at, row)| (row.text, at)).collect()
    }
}

/// A definition holds its name: equal digests decide without a look at the names.
fn same_tool(a: &ToolEntry, b: &ToolEntry) -> bool {
    a.id.server == b.id.server && (a.digest == b.digest || a.id.name == b.id.name)
}

/// When failures are taken to mean that the embedder is down, not that it refuses single texts: so
/// many in a row (halving the largest batch down to one text takes fewer), so many in all, or so
/// much time lost with them (to refuse a text takes none).
const MAX_FAILURES_IN_A_ROW: usize = 16;
const MAX_FAILURES: usize = 256;
const MAX_LOST: Duration = Duration::from_secs(5);

/// How many vectors are written to the cache at once.
const WRITTEN_AT_ONCE: usize = 1_024;

/// What became of a text.
#[derive(Clone, Debug)]
struct Outcome {
    state: State,
    vector: Vec<f32>,
}

impl Outcome {
    fn embedded(vector: Vec<f32>) -> Self {
        let blank = vector.iter().all(|x| *x == 0.0);
        Self { state: if blank { State::Blank } else { State::Embedded }, vector }
    }
}

impl Default for Outcome {
    fn default() -> Self {
        Self { state: State::Missing, vector: Vec::new() }
    }
}

/// Embeds texts in batches; what fails is tried again by halves, so that one bad text costs only
/// itself. Gives the outcome of each text, and the last failure; `keep` is told of each vector as
/// it comes.
fn embed_all(channel: &Channel, texts: &[&str], mut keep: impl FnMut(usize, &[f32])) -> (Vec<Outcome>, Option<String>) {
    let mut outcomes = vec![Outcome::default(); texts.len()];
    if texts.is_empty() {
        return (outcomes, None);
    }
    if let Some(reason) = channel.pause.reason() {
        return (outcomes, Some(reason));
    }
    let batch = channel.embedder.max_batch().max(1);
    let mut open: Vec<std::ops::Range<usize>> =
        (0..texts.len()).step_by(batch).map(|start| start..(start + batch).min(texts.len())).collect();
    open.reverse();
    let (mut refused, mut failure, mut any, mut down) = (Vec::new(), None, false, false);
    let (mut failures, mut in_a_row, mut lost) = (0, 0, Duration::ZERO);
    while let Some(range) = open.pop() {
        let started = Instant::now();
        match embed(&*channel.embedder, &texts[range.clone()], TextKind::Document) {
            Ok(vectors) => {
                (any, in_a_row) = (true, 0);
                for (at, vector) in range.zip(vectors) {
                    keep(at, &vector);
                    outcomes[at] = Outcome::embedded(vector);
                }
            }
            Err(error) => {
                (failures, in_a_row, lost) = (failures + 1, in_a_row + 1, lost + started.elapsed());
                failure = Some(reason_of(&error));
                down = in_a_row >= MAX_FAILURES_IN_A_ROW || failures >= MAX_FAILURES || lost >= MAX_LOST;
                if down {
                    break;
                }
                if range.len() == 1 {
                    refused.push(range.start);
                } else {
                    let middle = range.start + range.len() / 2;
                    open.push(middle..range.end);
                    open.push(range.start..middle);
                }
            }
        }
    }
    // Where nothing was taken, nothing was refused for its text.
    if any && !down {
        refused.iter().for_each(|at| outcomes[*at].state = State::Refused);
    } else if let Some(reason) = &failure {
        channel.pause.begin(reason.clone());
    }
    (outcomes, failure)
}

/// What failed, without the embedder's name, which stands beside it.
fn reason_of(error: &Error) -> String {
    match error {
        Error::Embedder { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}
