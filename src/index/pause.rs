use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Keeps a host from asking an embedder that has just failed: turns do not each wait for a service
/// that does not answer.
#[derive(Debug)]
pub(crate) struct Pause {
    length: Duration,
    /// When it may be asked again, and why it is not asked now.
    until: Mutex<Option<(Instant, String)>>,
}

impl Pause {
    pub(crate) fn new(length: Duration) -> Self {
        Self { length, until: Mutex::default() }
    }

    /// Begins, for this reason.
    pub(crate) fn begin(&self, reason: impl Into<String>) {
        // A time too far to be told apart from never is no pause that anybody means.
        let until = Instant::now().checked_add(self.length).map(|until| (until, reason.into()));
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// Why the embedder is not asked now; `None` if it may be.
    pub(crate) fn reason(&self) -> Option<String> {
        let until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.as_ref().filter(|(until, _)| Instant::now() < *until).map(|(_, reason)| reason.clone())
    }
}
