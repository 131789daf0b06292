use std::{
    collections::HashMap,
    fmt,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use lru::LruCache;
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};

use crate::{
    Result,
    catalog::Aggregator,
    id::ServerId,
    protocol::{Completion, CompletionRequest, CompletionTarget, ServerInfo},
};

/// Suggests values for arguments of prompts and templates while a person types.
///
/// A server is asked when nothing was typed for a while. A newer call for the same argument ends
/// an older one, which then answers `None`. Answers are kept for a short time, for exactly the
/// request that they answer: a server may match by any rule ("fuzzy" ones are what the
/// specification suggests) and may complete in steps, `src/` first and what is in it once that is
/// typed. So what it would say to a longer value cannot be told from its answer to a shorter one.
///
/// ```
/// use std::sync::Arc;
/// use proem::{
///     catalog::{Aggregator, AggregatorOptions},
///     client::{Client, MemoryClient},
///     id::ServerId,
///     protocol::{Completion, CompletionRequest, CompletionTarget},
///     templates::Completer,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// let notes = ServerId::new("notes")?;
/// let client: Arc<dyn Client> = Arc::new(MemoryClient::new());
/// let servers = Aggregator::new([(notes.clone(), client)], AggregatorOptions::default());
/// let completer = Completer::new(Arc::new(servers));
///
/// let request = CompletionRequest::new(CompletionTarget::template("notes://{day}"), "day").with_value("fr");
/// let found = completer.complete(&notes, request).await?;
/// assert_eq!(found, Some(Completion::default())); // a server without suggestions has none
/// # Ok::<(), proem::Error>(())
/// # }).unwrap();
/// ```
pub struct Completer {
    servers: Arc<Aggregator>,
    options: CompleterOptions,
    kept: Mutex<LruCache<(ServerId, CompletionRequest), Kept>>,
    waiting: Mutex<HashMap<Argument, Waiting>>,
    calls: AtomicU64,
}

/// How a [`Completer`] works.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CompleterOptions {
    /// How long nothing must be typed before a server is asked. Default: 150 ms, about the time
    /// between two keys of a fluent typist.
    pub quiet: Duration,
    /// How long an answer is good. Default: one minute, in which a form is filled in.
    pub keep: Duration,
    /// How many answers are kept. Default: 256, some of each of the arguments of a form; the one that
    /// was used longest ago goes first. None are, with 0.
    pub capacity: usize,
}

impl Default for CompleterOptions {
    fn default() -> Self {
        Self { quiet: Duration::from_millis(150), keep: Duration::from_secs(60), capacity: 256 }
    }
}

impl CompleterOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long nothing must be typed.
    #[must_use]
    pub fn with_quiet(mut self, quiet: Duration) -> Self {
        self.quiet = quiet;
        self
    }

    /// Sets how long an answer is good.
    #[must_use]
    pub fn with_keep(mut self, keep: Duration) -> Self {
        self.keep = keep;
        self
    }

    /// Sets how many answers are kept.
    #[must_use]
    pub fn with_capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }
}

/// An answer and when it came.
struct Kept {
    completion: Completion,
    at: Instant,
}

/// Whose value is typed.
type Argument = (ServerId, CompletionTarget, String);

/// The last call for an argument; without it the call before ends.
struct Waiting {
    call: u64,
    _last: oneshot::Sender<()>,
}

impl Completer {
    /// The longest value that is suggested, in bytes: a person must be able to read it.
    pub const MAX_VALUE_BYTES: usize = 1_024;

    /// Asks these servers, with the default options.
    pub fn new(servers: Arc<Aggregator>) -> Self {
        Self::with_options(servers, CompleterOptions::default())
    }

    /// Asks these servers.
    pub fn with_options(servers: Arc<Aggregator>, options: CompleterOptions) -> Self {
        // A cache of one that keeps nothing for any time keeps nothing.
        let capacity = NonZeroUsize::new(options.capacity).unwrap_or(NonZeroUsize::MIN);
        let kept = Mutex::new(LruCache::new(capacity));
        Self { servers, options, kept, waiting: Mutex::default(), calls: AtomicU64::new(0) }
    }

    /// What the argument may be; `None` if a newer call for the same argument came before the answer.
    ///
    /// A server that offers no completion has no suggestions. Suggestions that are longer than
    /// [`MAX_VALUE_BYTES`](Self::MAX_VALUE_BYTES) or hold control characters are left out, and there is then
    /// [more](Completion::has_more) than what is shown. Arguments that are settled already are told
    /// only to servers whose protocol knows them (2025-06-18 and later).
    ///
    /// # Errors
    /// [`Error::UnknownServer`](crate::Error::UnknownServer), or
    /// [`Error::Server`](crate::Error::Server) with what went wrong.
    pub async fn complete(&self, server: &ServerId, request: CompletionRequest) -> Result<Option<Completion>> {
        self.servers.client(server)?;
        let (_call, newer) = self.call(server, &request);
        let catalog = self.servers.catalog();
        let info = catalog.server(server).map(|entry| &entry.info);
        if !info.is_none_or(ServerInfo::offers_completion) {
            return Ok(Some(Completion::default()));
        }
        let request = if info.is_none_or(knows_context) { request } else { without_context(request) };
        let key = (server.clone(), request);
        if let Some(completion) = self.kept(&key) {
            return Ok(Some(completion));
        }
        let answer = async {
            sleep(self.options.quiet).await;
            self.ask(server, &key.1).await
        };
        let completion = tokio::select! {
            biased;
            _ = newer => return Ok(None),
            answer = answer => bounded(answer?),
        };
        self.keep(key, &completion);
        Ok(Some(completion))
    }

    async fn ask(&self, server: &ServerId, request: &CompletionRequest) -> Result<Completion> {
        match self.servers.complete(server, request).await {
            Err(error) if error.is_unsupported() => Ok(Completion::default()),
            answer => answer,
        }
    }

    /// Ends the call before for the same argument. The receiver hears of the call after.
    fn call(&self, server: &ServerId, request: &CompletionRequest) -> (Call<'_>, oneshot::Receiver<()>) {
        let argument = (server.clone(), request.target.clone(), request.argument.clone());
        let (last, newer) = oneshot::channel();
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        lock(&self.waiting).insert(argument.clone(), Waiting { call: number, _last: last });
        (Call { completer: self, argument, number }, newer)
    }

    fn kept(&self, key: &(ServerId, CompletionRequest)) -> Option<Completion> {
        let mut kept = lock(&self.kept);
        let fresh = |kept: &&Kept| kept.at.elapsed() < self.options.keep;
        kept.get(key).filter(fresh).map(|kept| kept.completion.clone())
    }

    fn keep(&self, key: (ServerId, CompletionRequest), completion: &Completion) {
        if self.options.capacity > 0 {
            lock(&self.kept).put(key, Kept { completion: completion.clone(), at: Instant::now() });
        }
    }
}

impl fmt::Debug for Completer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completer")
            .field("servers", &self.servers)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// A call that is under way: also one whose future is dropped leaves nothing behind.
struct Call<'a> {
    completer: &'a Completer,
    argument: Argument,
    number: u64,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let mut waiting = lock(&self.completer.waiting);
        if waiting.get(&self.argument).is_some_and(|last| last.call == self.number) {
            waiting.remove(&self.argument);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is whole before the lock is given back.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Versions are dates. A server that was not asked for its version is one that the host made.
fn speaks(info: &ServerInfo, version: &str) -> bool {
    info.protocol_version.as_deref().is_none_or(|spoken| spoken >= version)
}

fn knows_context(info: &ServerInfo) -> bool {
    speaks(info, "2025-06-18")
}

fn without_context(mut request: CompletionRequest) -> CompletionRequest {
    request.known.clear();
    request
}

/// A value that was cut or cleaned would be another one, so what cannot be shown is left out.
fn bounded(mut completion: Completion) -> Completion {
    let sent = completion.values.len();
    let can_be_shown =
        |value: &String| value.len() <= Completer::MAX_VALUE_BYTES && !value.chars().any(char::is_control);
    completion.values.retain(can_be_shown);
    completion.values.truncate(Completion::MAX_VALUES);
    completion.has_more |= completion.values.len() < sent;
    completion
}
