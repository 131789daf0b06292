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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::tokens::{BytesPerToken, Scaled};

    /// Counts its own calls too.
    #[derive(Debug, Default)]
    struct Counted(AtomicUsize);

    impl TokenCounter for Counted {
        fn name(&self) -> String {
            "counted".into()
        }

        fn count(&self, text: &str) -> usize {
            self.0.fetch_add(1, Ordering::Relaxed);
            text.len()
        }
    }

    #[test]
    fn what_was_counted_is_not_counted_again() {
        let counter = Arc::new(Counted::default());
        let counts = CountCache::new(Arc::clone(&counter) as Arc<dyn TokenCounter>);
        let text = "a definition that is offered in every turn";
        assert_eq!((counts.count(text), counts.count(text)), (42, 42));
        let digest = Digest::of_bytes("known otherwise");
        assert_eq!(counts.count_as(digest, || text.to_owned()), 42);
        assert_eq!(counts.count_as(digest, || unreachable!("made again")), 42);
        assert_eq!(counter.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_factor_rounds_up_and_has_bounds() {
        let bytes: Arc<dyn TokenCounter> = Arc::new(BytesPerToken::new(1));
        assert_eq!(Scaled::new(Arc::clone(&bytes), 1.2).unwrap().count("ab"), 3);
        for factor in [0.0, -1.0, 11.0, f64::NAN, f64::INFINITY] {
            assert!(Scaled::new(Arc::clone(&bytes), factor).is_err(), "{factor}");
        }
    }

    proptest! {
        #[test]
        fn what_is_remembered_is_what_the_counter_says(texts in prop::collection::vec("\\PC{0,200}", 0..8)) {
            let counter = BytesPerToken::new(3);
            let counts = CountCache::new(Arc::new(counter));
            for text in texts.iter().chain(&texts) {
                prop_assert_eq!(counts.count(text), counter.count(text));
            }
        }
    }
}
