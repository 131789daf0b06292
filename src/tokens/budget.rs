use std::{fmt, num::ParseIntError, str::FromStr};

/// The most tokens that something may cost.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct TokenBudget(usize);

impl TokenBudget {
    /// Nothing may be spent.
    pub const ZERO: Self = Self(0);

    /// A budget of `tokens`.
    pub fn new(tokens: usize) -> Self {
        Self(tokens)
    }

    /// The tokens.
    pub fn tokens(self) -> usize {
        self.0
    }
}

impl fmt::Display for TokenBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TokenBudget {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}
