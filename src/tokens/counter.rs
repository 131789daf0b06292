use std::{fmt, sync::Arc};

use crate::{Error, Result};

/// Counts the tokens of a text. Must give the same count for the same text, always.
pub trait TokenCounter: fmt::Debug + Send + Sync {
    /// A name for reports, such as `tiktoken/o200k_base`. Different counts have different names.
    fn name(&self) -> String;

    /// The tokens of `text`, in time that is linear in it.
    fn count(&self, text: &str) -> usize;

    /// Whether the count is the provider's own (`anthropic`, `openai-responses`, `openai-chat`);
    /// false means that it is an estimate.
    fn exact_for(&self, provider: &str) -> bool {
        let _ = provider;
        false
    }
}

/// One token for every so many bytes: no tables and no work, but wrong by −75 % to +130 % on single
/// texts. For tests, and for hosts that only need an order of magnitude.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BytesPerToken(usize);

impl BytesPerToken {
    /// One token for every `bytes` (at least 1), rounded up.
    pub fn new(bytes: usize) -> Self {
        Self(bytes.max(1))
    }
}

/// 4 bytes: the usual rule of thumb for English and JSON.
impl Default for BytesPerToken {
    fn default() -> Self {
        Self(4)
    }
}

impl TokenCounter for BytesPerToken {
    fn name(&self) -> String {
        format!("bytes/{}", self.0)
    }

    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(self.0)
    }
}

/// Another counter's counts times a factor, rounded up: what a host learned from a provider's bills.
#[derive(Clone, Debug)]
pub struct Scaled {
    counter: Arc<dyn TokenCounter>,
    factor: f64,
}

impl Scaled {
    /// # Errors
    /// [`Error::Invalid`] unless `factor` is between 0.1 and 10: outside of it the counter is the
    /// wrong one.
    pub fn new(counter: Arc<dyn TokenCounter>, factor: f64) -> Result<Self> {
        if (0.1..=10.0).contains(&factor) {
            Ok(Self { counter, factor })
        } else {
            Err(Error::invalid("token factor", "it must be between 0.1 and 10"))
        }
    }
}

impl TokenCounter for Scaled {
    fn name(&self) -> String {
        format!("{} x {}", self.counter.name(), self.factor)
    }

    fn count(&self, text: &str) -> usize {
        (self.counter.count(text) as f64 * self.factor).ceil() as usize
    }
}
