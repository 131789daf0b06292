//! What text costs: a [`TokenCounter`] counts, a [`CountCache`] remembers, a [`TokenBudget`] limits.
//!
//! A count is exact only for providers whose tokenizer is public. For all others it is an
//! estimate, and every report says so: tiktoken counts 15 to 20 % too few for Claude on prose and
//! more on code and other languages (Anthropic's own guidance on token counting). [`Scaled`]
//! brings an estimate nearer to what a provider was seen to bill.
//!
//! ```
//! use std::sync::Arc;
//! use proem::tokens::{BytesPerToken, CountCache, TokenCounter};
//!
//! let counts = CountCache::new(Arc::new(BytesPerToken::default()));
//! assert_eq!(counts.count("Merge a branch"), 4);
//! assert!(!counts.counter().exact_for("anthropic"));
//! ```

mod budget;
mod cache;
mod counter;
#[cfg(feature = "tiktoken")]
mod pieces;
#[cfg(feature = "tiktoken")]
mod tiktoken;

#[cfg(feature = "tiktoken")]
pub use self::tiktoken::Tiktoken;
pub use self::{
    budget::TokenBudget,
    cache::CountCache,
    counter::{BytesPerToken, Scaled, TokenCounter},
};
