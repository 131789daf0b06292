use std::{
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use lru::LruCache;

use crate::{error::beginning, id::ResourceId};

/// What is known of the texts of resources that were read, so that a request finds them by what
/// they say and not only by how their servers describe them.
///
/// Holds a summary of each, and forgets the ones that were not read for longest. Shared by cloning
/// the [`Arc`] around it; a host has one for each authorization, as it has its own servers.
#[derive(Debug)]
pub struct KnownTexts {
    texts: Mutex<LruCache<ResourceId, Arc<str>>>,
    generation: AtomicU64,
}

impl KnownTexts {
    /// How many texts are known: 4,096, which is about 4 MB.
    pub const CAPACITY: usize = 4_096;

    /// The most bytes of a summary: an embedder reads little more, and the words of a long text
    /// would outweigh its title.
    pub const MAX_BYTES: usize = 1_024;

    /// Nothing is known.
    pub fn new() -> Self {
        let capacity = NonZeroUsize::new(Self::CAPACITY).unwrap_or(NonZeroUsize::MIN);
        Self { texts: Mutex::new(LruCache::new(capacity)), generation: AtomicU64::new(0) }
    }

    /// The summary of a text, if it was read.
    pub fn summary(&self, id: &ResourceId) -> Option<Arc<str>> {
        self.texts().peek(id).cloned()
    }

    /// Takes note of a text that was read.
    pub fn read(&self, id: &ResourceId, text: &str) {
        let summary = summary(text);
        let mut texts = self.texts();
        if texts.get(id).is_none_or(|known| **known != *summary) {
            texts.put(id.clone(), summary.into());
            self.generation.fetch_add(1, Ordering::Release);
        }
    }

    /// Grows with every change: while it stays, what is known stays.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    fn texts(&self) -> MutexGuard<'_, LruCache<ResourceId, Arc<str>>> {
        // Every change is whole before the lock is given back.
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for KnownTexts {
    fn default() -> Self {
        Self::new()
    }
}

/// The headings of a text, which say what it is about, then its beginning.
fn summary(text: &str) -> String {
    /// Lines that are looked at: a long text repeats itself, and this is done while a turn waits.
    const LINES: usize = 2_000;
    let mut summary = String::new();
    let lines = || text.lines().take(LINES).map(str::trim).filter(|line| !line.is_empty());
    let headings = lines().filter(|line| line.starts_with('#'));
    let others = lines().filter(|line| !line.starts_with('#'));
    for line in headings.chain(others) {
        if summary.len() >= KnownTexts::MAX_BYTES {
            break;
        }
        summary.push_str(line);
        summary.push('\n');
    }
    summary.truncate(beginning(&summary, KnownTexts::MAX_BYTES).len());
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ServerId;

    #[test]
    fn a_summary_has_the_headings_first_and_is_bounded() {
        assert_eq!(summary("Hello.\n\n# Leave\nTwenty days.\n## Sick\n"), "# Leave\n## Sick\nHello.\nTwenty days.\n");
        let long = summary(&"é".repeat(10_000));
        assert!((KnownTexts::MAX_BYTES - 1..=KnownTexts::MAX_BYTES).contains(&long.len()));
    }

    #[test]
    fn only_what_is_new_is_a_change() {
        let id = ResourceId::new(ServerId::new("wiki").unwrap(), "wiki://leave");
        let known = KnownTexts::new();
        known.read(&id, "Twenty days.");
        let generation = known.generation();
        known.read(&id, "Twenty days.");
        assert_eq!(known.generation(), generation);
        known.read(&id, "Thirty days.");
        assert!(known.generation() > generation);
        assert_eq!(known.summary(&id).as_deref(), Some("Thirty days.\n"));
    }
}
