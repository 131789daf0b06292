use std::{
    iter::Sum,
    ops::{Add, AddAssign},
};

use serde::{Deserialize, Serialize};

/// The tokens of a request, or of several, by what is paid for them. No token is counted twice.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Input tokens that the cache had no part in.
    pub uncached: u64,
    /// Input tokens read from the cache.
    pub read: u64,
    /// Input tokens written to the cache, for its usual time.
    pub written: u64,
    /// Input tokens written to the cache for the longer time, where there is one.
    pub written_long: u64,
    /// Output tokens, thinking included.
    pub output: u64,
}

impl Usage {
    /// No tokens.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the input tokens that the cache had no part in.
    #[must_use]
    pub fn with_uncached(mut self, tokens: u64) -> Self {
        self.uncached = tokens;
        self
    }

    /// Sets the input tokens read from the cache.
    #[must_use]
    pub fn with_read(mut self, tokens: u64) -> Self {
        self.read = tokens;
        self
    }

    /// Sets the input tokens written to the cache for its usual time.
    #[must_use]
    pub fn with_written(mut self, tokens: u64) -> Self {
        self.written = tokens;
        self
    }

    /// Sets the input tokens written to the cache for the longer time.
    #[must_use]
    pub fn with_written_long(mut self, tokens: u64) -> Self {
        self.written_long = tokens;
        self
    }

    /// Sets the output tokens.
    #[must_use]
    pub fn with_output(mut self, tokens: u64) -> Self {
        self.output = tokens;
        self
    }

    /// All input tokens: the size of the prompt.
    pub fn total_input(&self) -> u64 {
        self.uncached.saturating_add(self.read).saturating_add(self.total_written())
    }

    /// All tokens written to the cache.
    pub fn total_written(&self) -> u64 {
        self.written.saturating_add(self.written_long)
    }

    /// The share of the input that was read from the cache, 0 to 1; 0 without input.
    pub fn hit_ratio(&self) -> f64 {
        match self.total_input() {
            0 => 0.0,
            total => self.read as f64 / total as f64,
        }
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            uncached: self.uncached.saturating_add(other.uncached),
            read: self.read.saturating_add(other.read),
            written: self.written.saturating_add(other.written),
            written_long: self.written_long.saturating_add(other.written_long),
            output: self.output.saturating_add(other.output),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_shares() {
        let one = Usage::new().with_uncached(10).with_read(60).with_written(20).with_written_long(10).with_output(5);
        assert_eq!((one.total_input(), one.total_written(), one.hit_ratio()), (100, 30, 0.6));
        let sum: Usage = [one, one].into_iter().sum();
        assert_eq!((sum.total_input(), sum.output), (200, 10));
        assert_eq!(Usage::new().hit_ratio(), 0.0);
        assert_eq!((Usage::new().with_read(u64::MAX) + one).total_input(), u64::MAX);
    }

    #[test]
    fn what_is_saved_is_read_again() {
        let usage = Usage::new().with_read(3);
        assert_eq!(serde_json::from_str::<Usage>(&serde_json::to_string(&usage).unwrap()).unwrap(), usage);
        assert_eq!(serde_json::from_str::<Usage>(r#"{"read": 3}"#).unwrap(), usage);
    }
}
