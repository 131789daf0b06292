use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::{Error, Result, error::excerpt};

/// Turns texts into vectors that are near each other when the texts mean the same.
///
/// The interface is blocking: an index is made, and searched when [`Self::may_block`] says so, on
/// a thread that may wait. An embedder that asks a service is a
/// [`ServiceEmbedder`](super::ServiceEmbedder), which waits there for the host's runtime.
///
/// Vectors are checked and brought to length 1 by whoever asks for them; an embedder need do neither.
pub trait Embedder: fmt::Debug + Send + Sync {
    /// A name that is another one whenever the vectors are: model, version, quantization, prefix.
    /// Vectors of two identities are never compared.
    fn identity(&self) -> &str;

    /// The length of every vector, 1 to [`MAX_DIMENSIONS`].
    fn dimensions(&self) -> usize;

    /// One vector for each text, in their order. The same text must give the same vector,
    /// whatever stands beside it. A vector of zeros says that nothing is known of the text.
    ///
    /// At most [`Self::max_batch`] texts are given, all of one kind.
    ///
    /// # Errors
    /// [`Error::Embedder`]. If a batch of documents fails, its halves are tried alone.
    fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Vec<Vec<f32>>>;

    /// The most texts of one call. Default 64: what fails with one of them is asked for again.
    fn max_batch(&self) -> usize {
        64
    }

    /// Whether embedding a query may take longer than an executor should be held up for. Default
    /// true; false is for tables in memory, where changing threads would take the most time.
    fn may_block(&self) -> bool {
        true
    }

    /// How much of `text` is in a language that the embedder knows, 0 to 1: the dense channel
    /// counts by so much for a query. Default 1.
    fn covers(&self, text: &str) -> f32 {
        let _ = text;
        1.0
    }
}

/// What a text is: many models put another prefix before each kind.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum TextKind {
    /// What is searched: the text of a tool.
    Document,
    /// What is searched with.
    Query,
}

impl TextKind {
    /// `document` or `query`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Query => "query",
        }
    }
}

impl fmt::Display for TextKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The longest vectors that are taken; those of large models have 4,096 numbers.
pub const MAX_DIMENSIONS: usize = 16_384;

/// Asks for vectors, checks them, and brings them to length 1. Vectors of zeros stay.
///
/// A panic of the embedder is an error too: native libraries that are not there cause some.
pub(crate) fn embed(embedder: &dyn Embedder, texts: &[&str], kind: TextKind) -> Result<Vec<Vec<f32>>> {
    let failed = |reason: String| Error::Embedder { embedder: embedder.identity().into(), reason, source: None };
    let dimensions = embedder.dimensions();
    if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
        return Err(failed(format!("{dimensions} dimensions are not between 1 and {MAX_DIMENSIONS}")));
    }
    let mut vectors = catch_unwind(AssertUnwindSafe(|| embedder.embed(texts, kind)))
        .map_err(|panic| failed(format!("it panicked: {}", panic_text(&*panic))))??;
    if vectors.len() != texts.len() {
        return Err(failed(format!("{} vectors for {} texts", vectors.len(), texts.len())));
    }
    for vector in &mut vectors {
        if vector.len() != dimensions {
            return Err(failed(format!("a vector of {} numbers, not {dimensions}", vector.len())));
        }
        if !vector.iter().all(|x| x.is_finite()) {
            return Err(failed("a vector with a number that is not finite".into()));
        }
        normalize(vector);
    }
    Ok(vectors)
}

/// How much of a text the embedder says that it covers; 0 if it says nothing sensible.
pub(crate) fn coverage(embedder: &dyn Embedder, text: &str) -> f32 {
    let covers = catch_unwind(AssertUnwindSafe(|| embedder.covers(text))).unwrap_or(0.0);
    if covers.is_nan() { 0.0 } else { covers.clamp(0.0, 1.0) }
}

/// In f64, where the square of no f32 is too large or too small.
fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    }
}

pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    excerpt(text.unwrap_or("no message"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug)]
    struct Fixed(usize, Option<Vec<Vec<f32>>>);

    impl Embedder for Fixed {
        fn identity(&self) -> &str {
            "fixed"
        }

        fn dimensions(&self) -> usize {
            self.0
        }

        #[allow(clippy::panic, reason = "that is what is tested")]
        fn embed(&self, _: &[&str], _: TextKind) -> Result<Vec<Vec<f32>>> {
            match &self.1 {
                Some(vectors) => Ok(vectors.clone()),
                None => panic!("no library"),
            }
        }

        fn covers(&self, text: &str) -> f32 {
            text.parse().unwrap()
        }
    }

    #[test]
    fn what_cannot_be_a_vector_is_an_error() {
        for (dimensions, vectors, expected) in [
            (2, Some(vec![]), "embedder `fixed`: 0 vectors for 1 texts"),
            (2, Some(vec![vec![1.0]]), "embedder `fixed`: a vector of 1 numbers, not 2"),
            (1, Some(vec![vec![f32::NAN]]), "embedder `fixed`: a vector with a number that is not finite"),
            (1, Some(vec![vec![f32::INFINITY]]), "embedder `fixed`: a vector with a number that is not finite"),
            (0, Some(vec![vec![]]), "embedder `fixed`: 0 dimensions are not between 1 and 16384"),
            (2, None, "embedder `fixed`: it panicked: no library"),
        ] {
            let error = embed(&Fixed(dimensions, vectors), &["a"], TextKind::Query).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn coverage_has_bounds_whatever_is_said() {
        let embedder = Fixed(1, None);
        for (said, expected) in [("0.5", 0.5), ("-1", 0.0), ("7", 1.0), ("NaN", 0.0), ("not a number", 0.0)] {
            assert_eq!(coverage(&embedder, said), expected, "{said}");
        }
    }

    proptest! {
        #[test]
        fn vectors_have_length_1_or_0(vector in prop::collection::vec(prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO, 3)) {
            let zero = vector.iter().all(|x| *x == 0.0);
            let unit = embed(&Fixed(3, Some(vec![vector])), &["a"], TextKind::Query).unwrap().remove(0);
            let length: f64 = unit.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            prop_assert!((length - if zero { 0.0 } else { 1.0 }).abs() < 1e-6, "{length}");
        }
    }
}
