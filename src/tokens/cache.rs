use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

use lru::LruCache;

use super::counter::TokenCounter;
use crate::json::Digest;

/// A counter that remembers its counts by the digest of the text, so that a definition that is
/// offered in every turn is counted once. Shared by cloning the [`Arc`] around it.
#[derive(Debug)]
pub struct CountCache {
    counter: Arc<dyn TokenCounter>,
    counts: Mutex<LruCache<Digest, usize>>,
}

impl CountCache {
    /// How many counts are remembered: 131,072, which is 50,000 tools in two forms with room for
    /// texts; about 12 MB when full.
    pub const CAPACITY: usize = 131_072;

    /// Texts below this length are counted each time: a digest would cost as much.
    const MIN_BYTES: usize = 32;

    /// Remembers the counts of `counter`.
    pub fn new(counter: Arc<dyn TokenCounter>) -> Self {
        let capacity = NonZeroUsize::new(Self::CAPACITY).unwrap_or(NonZeroUsize::MIN);
        Self { counter, counts: Mutex::new(LruCache::new(capacity)) }
    }

    /// The counter underneath.
    pub fn counter(&self) -> &dyn TokenCounter {
        &*self.counter
    }

    /// The tokens of `text`.
    pub fn count(&self, text: &str) -> usize {
        if text.len() < Self::MIN_BYTES {
            return self.counter.count(text);
        }
        self.remembered(Digest::of_bytes(text), || self.counter.count(text))
    }

    /// The tokens of a text that is known by a digest, and made only if it was not counted before.
    pub fn count_as(&self, digest: Digest, text: impl FnOnce() -> String) -> usize {
        self.remembered(digest, || self.counter.count(&text()))
    }

    fn remembered(&self, digest: Digest, count: impl FnOnce() -> usize) -> usize {
        // A panic of a counter leaves the cache as it was: the lock is not held while counting.
        let known = self.counts.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).copied();
        known.unwrap_or_else(|| {
            let tokens = count();
            self.counts.lock().unwrap_or_else(PoisonError::into_inner).put(digest, tokens);
            tokens
        })
    }
}
