//! An embedder for tests: hashed runs of three characters. It is the same everywhere, knows no
//! meaning, and fails on demand.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use super::embedder::{Embedder, TextKind};
use crate::{Error, Result};

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Mode {
    #[default]
    Works,
    Fails,
    Panics,
    NotFinite,
    WrongLength,
    TooFew,
    /// Fails for batches that hold this word.
    Refuses(&'static str),
    /// The same vector for every text.
    Constant,
    /// Covers only what is ASCII.
    English,
}

impl Mode {
    pub(crate) const BROKEN: [Self; 5] = [Self::Fails, Self::Panics, Self::NotFinite, Self::WrongLength, Self::TooFew];
}

#[derive(Debug, Default)]
pub(crate) struct Trigrams {
    identity: String,
    mode: Mutex<Mode>,
    documents: AtomicUsize,
    queries: AtomicUsize,
}

impl Trigrams {
    const DIMENSIONS: usize = 64;

    pub(crate) fn new(identity: &str) -> Self {
        Self { identity: identity.into(), ..Self::default() }
    }

    pub(crate) fn set(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }

    fn mode(&self) -> Mode {
        *self.mode.lock().unwrap()
    }

    /// How many texts were embedded since this was asked last: documents and queries.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.documents.swap(0, Ordering::Relaxed), self.queries.swap(0, Ordering::Relaxed))
    }

    fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; Self::DIMENSIONS];
        let bytes = text.to_lowercase().into_bytes();
        for run in bytes.windows(3) {
            let run = run.iter().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
            let hash = run.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            vector[(hash >> 58) as usize % Self::DIMENSIONS] += if hash >> 57 & 1 == 0 { 1.0 } else { -1.0 };
        }
        vector
    }
}

impl Embedder for Trigrams {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn dimensions(&self) -> usize {
        Self::DIMENSIONS
    }

    #[allow(clippy::panic, reason = "that is what is tested")]
    fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Vec<Vec<f32>>> {
        assert!(texts.len() <= self.max_batch());
        let counter = if kind == TextKind::Query { &self.queries } else { &self.documents };
        counter.fetch_add(texts.len(), Ordering::Relaxed);
        let failed =
            || Error::Embedder { embedder: self.identity.clone(), reason: "out of order".into(), source: None };
        let mut vectors: Vec<_> = texts.iter().map(|text| Self::vector(text)).collect();
        match self.mode() {
            Mode::Works | Mode::English => {}
            Mode::Fails => return Err(failed()),
            Mode::Panics => panic!("out of order"),
            Mode::NotFinite => vectors[0][0] = f32::NAN,
            Mode::WrongLength => vectors[0].push(0.0),
            Mode::TooFew => vectors.truncate(texts.len() - 1),
            Mode::Refuses(word) if texts.iter().any(|text| text.contains(word)) => return Err(failed()),
            Mode::Refuses(_) => {}
            Mode::Constant => vectors.iter_mut().for_each(|vector| vector.fill(1.0)),
        }
        Ok(vectors)
    }

    fn max_batch(&self) -> usize {
        4
    }

    fn may_block(&self) -> bool {
        false
    }

    fn covers(&self, text: &str) -> f32 {
        if self.mode() == Mode::English {
            let all = text.chars().filter(|c| !c.is_whitespace()).count().max(1);
            text.chars().filter(|c| c.is_ascii_graphic()).count() as f32 / all as f32
        } else {
            1.0
        }
    }
}
