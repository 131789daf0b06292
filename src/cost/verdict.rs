use std::fmt;

use serde::{Deserialize, Serialize};

use super::{price_sheet::PriceSheet, usage::Usage};

/// How what a provider billed compares with what was predicted, for people (`{}`) and for code.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// The cache gave what was predicted, as near as counts are.
    AsPredicted,
    /// Less came from the cache.
    Colder {
        /// How many tokens fewer.
        missed: u64,
        /// The likeliest reason.
        reason: MissReason,
    },
    /// More came from the cache: another conversation, or another session of this one, wrote it.
    Warmer {
        /// How many tokens more.
        gained: u64,
    },
}

/// Why a predicted hit was missed, as far as numbers and time tell.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MissReason {
    /// Nothing with this prefix was sent before.
    FirstRequest,
    /// The prefix is hardly longer than the shortest that is kept, and counts are not exact.
    BelowMinimum {
        /// The prefix as it was counted.
        tokens: u64,
        /// The shortest that is kept.
        minimum: u64,
    },
    /// The last request is longer ago than a prefix is kept.
    Expired {
        /// How long ago.
        seconds: u64,
        /// How long a prefix is kept.
        ttl_seconds: u32,
    },
    /// More blocks joined since the last mark than the provider looks back over.
    BeyondLookBack {
        /// How many joined.
        blocks: usize,
        /// How many are looked at.
        limit: usize,
    },
    /// Part of the prefix was found: what follows it is other than it was, or was not kept.
    Changed {
        /// The tokens that were found.
        found: u64,
    },
    /// Nothing else explains it: the provider dropped the entry, or the request went to a machine
    /// that does not have it.
    Dropped,
}

/// The request before, with the same prefix: what a [`Verdict`] needs beside numbers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LastRequest {
    seconds_ago: u64,
    blocks_added: usize,
    ttl_seconds: Option<u32>,
}

impl LastRequest {
    /// It started so many seconds before the one at hand.
    pub fn new(seconds_ago: u64) -> Self {
        Self { seconds_ago, ..Self::default() }
    }

    /// Sets how many blocks stand between its last mark and the first mark after it in the request
    /// at hand. Default: 0, with which the look-back is no reason.
    #[must_use]
    pub fn with_blocks_added(mut self, blocks: usize) -> Self {
        self.blocks_added = blocks;
        self
    }

    /// Sets for how long its marks asked. Default: the sheet's usual time.
    #[must_use]
    pub fn with_ttl_seconds(mut self, seconds: u32) -> Self {
        self.ttl_seconds = Some(seconds);
        self
    }
}

impl Verdict {
    /// Tokens that may be missing or too many, as a share of the input, without anything to be said:
    /// 5 %, since a counter that is calibrated is still off by a few in a hundred.
    pub const TOLERANCE: f64 = 0.05;

    /// Compares what was predicted with what was observed. The prediction is brought to the observed
    /// size first, so that a counter that is off is not taken for a cache that is. `last` is the
    /// request before it with the same prefix, if there was one.
    pub fn of(predicted: &Usage, observed: &Usage, sheet: &PriceSheet, last: Option<LastRequest>) -> Self {
        let total = observed.total_input();
        let expected = (predicted.hit_ratio() * total as f64).round() as u64;
        let tolerance = (total as f64 * Self::TOLERANCE) as u64 + sheet.cache.step.saturating_sub(1);
        let missed = expected.saturating_sub(observed.read);
        let gained = observed.read.saturating_sub(expected);
        if missed > tolerance {
            Self::Colder { missed, reason: MissReason::of(predicted, observed, sheet, last) }
        } else if gained > tolerance {
            Self::Warmer { gained }
        } else {
            Self::AsPredicted
        }
    }
}

impl MissReason {
    fn of(predicted: &Usage, observed: &Usage, sheet: &PriceSheet, last: Option<LastRequest>) -> Self {
        let rules = &sheet.cache;
        let Some(last) = last else { return Self::FirstRequest };
        if observed.read > 0 {
            return Self::Changed { found: observed.read };
        }
        let prefix = predicted.read.saturating_add(predicted.total_written());
        if observed.total_written() == 0 && prefix < rules.minimum.saturating_add(rules.minimum / 2) {
            return Self::BelowMinimum { tokens: prefix, minimum: rules.minimum };
        }
        let ttl_seconds = last.ttl_seconds.unwrap_or(rules.ttl_seconds);
        if last.seconds_ago > ttl_seconds.into() {
            return Self::Expired { seconds: last.seconds_ago, ttl_seconds };
        }
        match rules.look_back {
            Some(limit) if last.blocks_added >= limit => Self::BeyondLookBack { blocks: last.blocks_added, limit },
            _ => Self::Dropped,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsPredicted => f.write_str("the cache did as predicted"),
            Self::Colder { missed, reason } => {
                write!(f, "{missed} tokens were not in the cache as predicted: {reason}")
            }
            Self::Warmer { gained } => {
                write!(f, "{gained} tokens more than predicted were in the cache: another conversation wrote them")
            }
        }
    }
}

impl fmt::Display for MissReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstRequest => f.write_str("nothing with this prefix was sent before"),
            Self::BelowMinimum { tokens, minimum } => {
                write!(f, "the prefix was counted as {tokens} tokens, and the provider keeps none below {minimum}")
            }
            Self::Expired { seconds, ttl_seconds } => {
                write!(f, "the last request was {seconds} s ago, and the provider keeps a prefix for {ttl_seconds} s")
            }
            Self::BeyondLookBack { blocks, limit } => {
                write!(f, "{blocks} blocks joined since the last mark, and the provider looks back over {limit}")
            }
            Self::Changed { found } => {
                write!(f, "the first {found} tokens were there; what follows them was changed or not kept")
            }
            Self::Dropped => {
                f.write_str("the provider dropped them before their time, or another machine got the request")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(predicted: Usage, observed: Usage, last: Option<LastRequest>) -> Verdict {
        Verdict::of(&predicted, &observed, PriceSheet::named("anthropic/claude-sonnet-4-6").unwrap(), last)
    }

    fn warm() -> Usage {
        Usage::new().with_read(10_000).with_written(500)
    }

    fn cold() -> Usage {
        Usage::new().with_written(10_500)
    }

    fn reason(verdict: Verdict) -> MissReason {
        match verdict {
            Verdict::Colder { reason, .. } => reason,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_counter_that_is_off_is_no_cold_cache() {
        let billed = Usage::new().with_read(12_100).with_written(560);
        assert_eq!(verdict(warm(), billed, Some(LastRequest::new(9))), Verdict::AsPredicted);
        assert_eq!(verdict(Usage::new(), Usage::new(), None), Verdict::AsPredicted);
        let openai = PriceSheet::named("openai/gpt-5.4").unwrap();
        let (counted, rounded) = (Usage::new().with_read(1_151), Usage::new().with_read(1_024).with_uncached(127));
        assert_eq!(Verdict::of(&counted, &rounded, openai, None), Verdict::AsPredicted);
    }

    #[test]
    fn colder_has_the_likeliest_reason() {
        let last = LastRequest::new(60);
        assert_eq!(reason(verdict(warm(), cold(), None)), MissReason::FirstRequest);
        assert_eq!(reason(verdict(warm(), cold(), Some(last))), MissReason::Dropped);
        let late = LastRequest::new(301);
        assert_eq!(reason(verdict(warm(), cold(), Some(late))), MissReason::Expired { seconds: 301, ttl_seconds: 300 });
        assert_eq!(reason(verdict(warm(), cold(), Some(late.with_ttl_seconds(3_600)))), MissReason::Dropped);
        assert_eq!(
            reason(verdict(warm(), cold(), Some(last.with_blocks_added(20)))),
            MissReason::BeyondLookBack { blocks: 20, limit: 20 }
        );
        assert_eq!(reason(verdict(warm(), cold(), Some(last.with_blocks_added(19)))), MissReason::Dropped);
        let part = Usage::new().with_read(4_000).with_written(6_500);
        assert_eq!(reason(verdict(warm(), part, Some(late))), MissReason::Changed { found: 4_000 });
        let short = Usage::new().with_read(1_100).with_uncached(50);
        assert_eq!(
            reason(verdict(short, Usage::new().with_uncached(1_150), Some(last))),
            MissReason::BelowMinimum { tokens: 1_100, minimum: 1_024 }
        );
    }

    #[test]
    fn warmer_is_said_too() {
        let verdict = verdict(cold(), warm(), None);
        assert_eq!(verdict, Verdict::Warmer { gained: 10_000 });
        assert_eq!(
            verdict.to_string(),
            "10000 tokens more than predicted were in the cache: another conversation wrote them"
        );
    }

    #[test]
    fn the_words_are_for_people() {
        insta::assert_snapshot!(verdict(warm(), cold(), Some(LastRequest::new(412))), @"10000 tokens were not in the cache as predicted: the last request was 412 s ago, and the provider keeps a prefix for 300 s");
        insta::assert_snapshot!(MissReason::BelowMinimum { tokens: 1_100, minimum: 1_024 }, @"the prefix was counted as 1100 tokens, and the provider keeps none below 1024");
    }
}
