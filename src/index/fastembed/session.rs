use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, PoisonError},
};

use crate::index::embedder::panic_text;

/// A model that runs one text at a time, for whoever comes first.
///
/// One at a time, because a batch is padded to its longest text: a tool's vector takes 8.9 ms of a
/// processor alone and 21.9 in a batch of 16 (fp32 MiniLM, 29 words a tool), and dynamically
/// quantized models give other vectors in other batches.
pub(crate) struct Session<M> {
    /// Held while waiting for the model: a query that waits is next, even if an index takes the
    /// model again at once.
    next: Mutex<()>,
    model: Mutex<M>,
}

impl<M> Session<M> {
    pub(super) fn new(model: M) -> Self {
        Self { next: Mutex::default(), model: Mutex::new(model) }
    }

    /// Runs the model. What it panics with is an error, and does not spoil it for the next.
    pub(crate) fn run<T, E: fmt::Display>(&self, f: impl FnOnce(&mut M) -> Result<T, E>) -> Result<T, String> {
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        drop(next);
        guarded(|| f(&mut model))
    }
}

/// The errors and the panics of what native libraries stand behind.
pub(super) fn guarded<T, E: fmt::Display>(f: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("it panicked: {}", panic_text(&*panic))),
    }
}

impl<M> fmt::Debug for Session<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, AtomicUsize, Ordering},
        thread,
        time::Duration,
    };

    use super::*;

    #[test]
    fn a_panic_is_an_error_and_leaves_the_model() {
        let session = Session::new(1);
        let error = session.run(|_| -> Result<(), String> { panic!("bad shape") }).unwrap_err();
        assert_eq!(error, "it panicked: bad shape");
        assert_eq!(session.run(|model| Ok::<_, String>(*model)), Ok(1));
    }

    #[test]
    fn who_waits_is_next() {
        let (session, running, done) = (Session::new(()), AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            // An index, which takes the model again as soon as it has given it back.
            scope.spawn(|| {
                for _ in 0..200 {
                    let text = |(): &mut ()| {
                        running.store(true, Ordering::SeqCst);
                        thread::sleep(Duration::from_millis(5));
                        done.fetch_add(1, Ordering::SeqCst);
                        Ok::<_, String>(())
                    };
                    session.run(text).unwrap();
                }
            });
            while !running.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            session.run(|()| Ok::<_, String>(())).unwrap();
            assert!(done.load(Ordering::SeqCst) < 50);
        });
    }
}
