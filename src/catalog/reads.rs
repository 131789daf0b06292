use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use lru::LruCache;
use serde_json::{Map, Value};

use super::{
    asked::{Asked, Counter},
    cache_policy::CachePolicy,
    lists::Authorization,
};
use crate::{
    id::{ResourceId, ServerId},
    protocol::{CacheScope, ReadResourceResult, ResourceContents},
};

#[cfg(test)]
mod tests;

/// What was read of resources and may be reused: for as long as their server said (`ttlMs`), and by
/// whom it said (`cacheScope`, MCP 2026-07-28, caching), unless the host has
/// [a policy of its own](CachePolicy).
///
/// It holds so many bytes at most, and gives up first what was used longest ago. A resource is
/// forgotten as soon as its server is heard to say that it changed, and everything of a server that
/// was started again.
///
/// A host has one of its own. Hosts for several users of the same servers may share one: what is
/// public then serves all of them, and what is private never leaves its [`Authorization`]. Sharing
/// hosts must mean the same server by the same [`ServerId`].
///
/// ```
/// use std::sync::Arc;
/// use proem::catalog::{AggregatorOptions, ReadCache};
///
/// let mut options = AggregatorOptions::default();
/// options.reads = Arc::new(ReadCache::with_max_bytes(8 << 20));
/// assert_eq!(options.reads.bytes(), 0);
/// ```
pub struct ReadCache {
    max_bytes: usize,
    state: Mutex<State>,
    counter: Counter,
}

struct State {
    kept: LruCache<Key, Kept>,
    bytes: usize,
    news: HashMap<ServerId, News>,
}

/// A public answer has no authorization in its key; a private one is never found without.
type Key = (ResourceId, Option<Authorization>);

struct Kept {
    asked: Asked,
    read_at: Instant,
    answer: Arc<ReadResourceResult>,
    bytes: usize,
}

/// What a server said has changed, as two numbers and not URI by URI: a server must not fill the
/// host's memory with news that nobody asks for.
struct News {
    /// Everything of it that was asked for before is out of date.
    all: Asked,
    /// Something of it is: an answer that was under way then is not kept, whatever it answers.
    some: Asked,
}

impl ReadCache {
    /// How many bytes are kept by default: 64 MiB, as much as one answer may take on the line.
    pub const MAX_BYTES: usize = 64 << 20;

    /// An empty cache of [`Self::MAX_BYTES`].
    pub fn new() -> Self {
        Self::with_max_bytes(Self::MAX_BYTES)
    }

    /// An empty cache that never takes more than about `max_bytes`, its own overhead included. An
    /// answer that takes more than an eighth of it is not kept: it would cost all the others.
    pub fn with_max_bytes(max_bytes: usize) -> Self {
        let state = State { kept: LruCache::unbounded(), bytes: 0, news: HashMap::new() };
        Self { max_bytes, state: Mutex::new(state), counter: Counter::default() }
    }

    /// The bytes that it takes now.
    pub fn bytes(&self) -> usize {
        self.state().bytes
    }

    /// To be taken before a server is asked, and given to [`keep`](Self::keep) with its answer.
    pub(super) fn asking(&self) -> Asked {
        self.counter.next()
    }

    /// An answer that may be given to `authorization` by `policy`.
    pub(super) fn fresh(
        &self,
        id: &ResourceId,
        authorization: &Authorization,
        policy: CachePolicy,
        now: Instant,
    ) -> Option<Arc<ReadResourceResult>> {
        let mut state = self.state();
        keys(id, authorization).into_iter().find_map(|key| {
            let kept = state.kept.peek(&key)?;
            let server = kept.answer.ttl.unwrap_or_default();
            let lives = match policy {
                CachePolicy::Server => server,
                CachePolicy::Never => Duration::ZERO,
                // Beyond its ttl a public answer is no longer its server's gift to everybody.
                CachePolicy::For(host) if key.1.is_none() => host.min(server),
                CachePolicy::For(host) => host,
            };
            let stands = state.news.get(&id.server).is_none_or(|news| kept.asked > news.all);
            if !stands || now.saturating_duration_since(kept.read_at) >= lives {
                return None;
            }
            state.kept.get(&key).map(|kept| Arc::clone(&kept.answer))
        })
    }

    /// Keeps an answer, unless it may not be reused at all, is too large, or was asked for before the
    /// one that is kept or before its server said that something has changed.
    pub(super) fn keep(
        &self,
        id: &ResourceId,
        authorization: &Authorization,
        policy: CachePolicy,
        answer: &Arc<ReadResourceResult>,
        asked: Asked,
        now: Instant,
    ) {
        let (lives, scope) = match policy {
            CachePolicy::Server => (answer.ttl.unwrap_or_default(), answer.scope),
            CachePolicy::Never => return,
            // A host that overrules the server keeps the answer to itself.
            CachePolicy::For(host) => (host, CacheScope::Private),
        };
        let [private, public] = keys(id, authorization);
        let mut state = self.state();
        let late = state.news.get(&id.server).is_some_and(|news| news.some > asked);
        if late || [&private, &public].into_iter().any(|key| state.kept.peek(key).is_some_and(|k| k.asked > asked)) {
            return;
        }
        state.pop(&private);
        state.pop(&public);
        let bytes = weight(id, answer);
        if lives.is_zero() || bytes > self.max_bytes / 8 {
            return;
        }
        let key = if scope == CacheScope::Private { private } else { public };
        state.bytes += bytes;
        state.kept.put(key, Kept { asked, read_at: now, answer: Arc::clone(answer), bytes });
        while state.bytes > self.max_bytes && state.pop_oldest() {}
    }

    /// Forgets a resource that its server said has changed.
    pub(super) fn forget(&self, id: &ResourceId, authorization: &Authorization) {
        let mut state = self.state();
        let now = self.counter.next();
        let news = state.news.entry(id.server.clone());
        news.and_modify(|news| news.some = now).or_insert(News { all: Asked::FIRST, some: now });
        for key in keys(id, authorization) {
            state.pop(&key);
        }
    }

    /// Forgets all of a server, whoever may see it: it is another one now, or news of it were missed.
    pub(super) fn forget_server(&self, server: &ServerId) {
        let mut state = self.state();
        let now = self.counter.next();
        // What is out of date by it is never found any more, and gives way as it is not used.
        state.news.insert(server.clone(), News { all: now, some: now });
    }

    /// A number that rises whenever a server says that a resource of its changed.
    pub(super) fn heard(&self, server: &ServerId) -> u64 {
        self.state().news.get(server).map_or(Asked::FIRST, |news| news.some).number()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is whole before the lock is given back.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ReadCache {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ReadCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadCache").field("max_bytes", &self.max_bytes).finish_non_exhaustive()
    }
}

impl State {
    fn pop(&mut self, key: &Key) {
        if let Some(kept) = self.kept.pop(key) {
            self.bytes -= kept.bytes;
        }
    }

    fn pop_oldest(&mut self) -> bool {
        let Some((_, kept)) = self.kept.pop_lru() else { return false };
        self.bytes -= kept.bytes;
        true
    }
}

/// Under which an answer may be found: what is private to `authorization` first.
fn keys(id: &ResourceId, authorization: &Authorization) -> [Key; 2] {
    [(id.clone(), Some(authorization.clone())), (id.clone(), None)]
}

/// What an entry takes in memory, as nearly as that can be told.
fn weight(id: &ResourceId, answer: &ReadResourceResult) -> usize {
    /// The list's links and the table's slot.
    const NODE: usize = 64;
    let contents = answer.contents.iter().map(|contents| {
        let strings =
            [Some(&contents.uri), contents.mime_type.as_ref(), contents.text.as_ref(), contents.blob.as_ref()];
        strings.into_iter().flatten().map(String::capacity).sum::<usize>()
    });
    size_of::<Key>()
        + size_of::<Kept>()
        + size_of::<ReadResourceResult>()
        + NODE
        + id.uri.len()
        + answer.contents.capacity() * size_of::<ResourceContents>()
        + contents.sum::<usize>()
        + map_weight(&answer.extra)
}

/// What an object takes beside its own place.
pub(super) fn map_weight(map: &Map<String, Value>) -> usize {
    let place = size_of::<String>() + size_of::<Value>();
    map.iter().map(|(key, value)| place + key.capacity() + value_weight(value)).sum()
}

/// As deep as the answer was, which is as deep as `serde_json` reads.
fn value_weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.capacity(),
        Value::Array(items) => items.capacity() * size_of::<Value>() + items.iter().map(value_weight).sum::<usize>(),
        Value::Object(map) => map_weight(map),
    }
}
