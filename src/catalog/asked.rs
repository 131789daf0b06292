use std::sync::atomic::{AtomicU64, Ordering};

/// When something was asked for, or forgotten: later ones are greater.
///
/// Not a time: the answer to a request may come after the news that it is out of date, and two
/// things within one tick of a clock would be equal.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Asked(u64);

impl Asked {
    /// Before everything.
    pub(super) const FIRST: Self = Self(0);

    /// The number, for comparisons elsewhere.
    pub(super) fn number(self) -> u64 {
        self.0
    }
}

/// What gives the numbers, for one cache.
#[derive(Debug)]
pub(super) struct Counter(AtomicU64);

impl Default for Counter {
    fn default() -> Self {
        Self(AtomicU64::new(Asked::FIRST.0 + 1))
    }
}

impl Counter {
    pub(super) fn next(&self) -> Asked {
        Asked(self.0.fetch_add(1, Ordering::Relaxed))
    }
}
