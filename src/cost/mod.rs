//! What a conversation costs, before it is sent and after: price sheets, a model of each provider's
//! prompt cache, and what a provider says that it billed.
//!
//! A [`PriceSheet`] holds a model's prices and its cache's rules, as data. A [`PromptCache`] follows
//! these rules: it is sent [`Prompt`]s and answers with the [`Usage`] that the provider is expected to
//! bill. [`Usage::read`] reads what it did bill, a [`Verdict`] says why the two differ, and a
//! [`Calibration`] learns from it how far a token counter is off. A [`Forecast`] runs a whole
//! conversation through the same cache, so that ways to deliver tools can be compared by their cost.
//!
//! ```
//! use proem::cost::{PriceSheet, Prompt, PromptCache, Usage};
//! use serde_json::json;
//!
//! let sheet = PriceSheet::named("anthropic/claude-sonnet-4-6")?;
//! let mut cache = PromptCache::new(sheet);
//!
//! // 4,000 tokens of tools that the provider is asked to keep, and a question of 100.
//! let tools = Prompt::new().with_block("tools", 4_000).with_mark(None);
//! let first = cache.send(&tools.clone().with_block("a question", 100), 0);
//! assert_eq!((first.written, first.uncached), (4_000, 100));
//! let second = cache.send(&tools.with_block("another question", 120), 60);
//! assert_eq!((second.read, second.uncached), (4_000, 120));
//! assert_eq!(sheet.cost(&second), 0.00156); // 4,000 at 0.30 and 120 at 3 dollars a million
//!
//! let billed = Usage::read(&json!({"usage": {
//!     "input_tokens": 118, "cache_read_input_tokens": 4_012, "cache_creation_input_tokens": 0, "output_tokens": 40,
//! }}))?;
//! assert_eq!(billed.total_input(), 4_130);
//! # Ok::<(), proem::Error>(())
//! ```
//!
//! Nothing here knows a clock: time is a number of seconds from wherever the caller counts.

mod calibration;
mod forecast;
mod price_sheet;
mod prompt;
mod prompt_cache;
mod sheets;
mod usage;
mod usage_object;
mod verdict;

#[cfg(feature = "eval")]
pub(crate) use self::price_sheet::dollars;
pub use self::{
    calibration::Calibration,
    forecast::{Forecast, Later, Outlook, cheapest},
    price_sheet::{CacheRules, Kept, LongPrompts, PriceSheet, Prices},
    prompt::Prompt,
    prompt_cache::PromptCache,
    usage::Usage,
    verdict::{LastRequest, MissReason, Verdict},
};
