use serde::{Deserialize, Serialize};

use super::usage::Usage;

/// What one model of one provider costs, and by which rules its prompts are cached.
///
/// A sheet is data: those that ship are JSON files in `assets/prices`, and a host reads its own with
/// [`PriceSheet::read`] or [`PriceSheet::open`]. `docs/costs.md` says what each field means.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PriceSheet {
    /// Who sells it: `anthropic`, `openai`, `gemini`, `bedrock`, or a name of the host's.
    pub provider: String,
    /// The model as the provider's API calls it, without a date or a region.
    pub model: String,
    /// The day on which the figures were true, such as `2026-10-24`.
    pub as_of: String,
    /// Where they are from: at least one address.
    pub sources: Vec<String>,
    /// What is uncertain, temporary, or said otherwise elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The prices of a usual request.
    pub prices: Prices,
    /// Other prices for long prompts, where the provider has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_prompts: Option<LongPrompts>,
    /// The rules of its prompt cache.
    pub cache: CacheRules,
}

/// Prices in US dollars for a million tokens. Exact to six decimals.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Prices {
    /// Input that is neither read from the cache nor written to it.
    pub input: f64,
    /// Input that is read from the cache.
    pub read: f64,
    /// Input that is written to the cache. Absent: like [`input`](Self::input).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<f64>,
    /// Input that is written for the longer of two times. Absent: like [`write`](Self::write).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_long: Option<f64>,
    /// Output, thinking included.
    pub output: f64,
}

/// The prices of requests whose input is long: they hold for every token of such a request.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LongPrompts {
    /// Requests with more input tokens than this, cached ones included.
    pub above: u64,
    /// Their prices.
    pub prices: Prices,
}

/// By which rules a provider keeps prefixes of prompts and finds them again.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CacheRules {
    /// The shortest prefix that is kept, in tokens. A shorter one is not, and no error says so.
    pub minimum: u64,
    /// The longest prefix that is kept, in tokens. Default: no limit, as most providers have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<u64>,
    /// What is read is rounded down to a multiple of so many tokens. Default: 1, no rounding.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub step: u64,
    /// Which prefixes are kept.
    pub kept: Kept,
    /// The most prefixes that one request writes, where marks say which; the last ones count.
    /// Default: 0, as without marks nothing counts them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub breakpoints: usize,
    /// Over how many blocks an earlier entry is searched, backwards from each mark, the marked block
    /// included. Default: over all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_back: Option<usize>,
    /// For how many seconds a prefix is kept.
    pub ttl_seconds: u32,
    /// For how many seconds it is kept if a mark asks for the longer time. Default: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_ttl_seconds: Option<u32>,
    /// Whether a read starts the time anew.
    pub refreshed: bool,
}

/// Which prefixes of a prompt a provider keeps.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kept {
    /// Those that end at a cache mark, and no others (Anthropic, Bedrock).
    Marked,
    /// The whole prompt, and those that end at a cache mark (OpenAI from GPT-5.6 on).
    Newest,
    /// Every prefix, whatever is marked (OpenAI before GPT-5.6, Gemini).
    All,
}

impl PriceSheet {
    /// The name under which it is found: `provider/model`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    /// What a request cost, in US dollars. Summed in millionths of a millionth of a dollar, so that
    /// the order of additions changes nothing.
    pub fn cost(&self, usage: &Usage) -> f64 {
        dollars(self.picodollars(usage))
    }

    /// The exact cost: prices of up to six decimals for a million tokens are whole picodollars a token.
    pub(crate) fn picodollars(&self, usage: &Usage) -> u128 {
        let prices = match &self.long_prompts {
            Some(long) if usage.total_input() > long.above => &long.prices,
            _ => &self.prices,
        };
        let write = prices.write.unwrap_or(prices.input);
        [
            (usage.uncached, prices.input),
            (usage.read, prices.read),
            (usage.written, write),
            (usage.written_long, prices.write_long.unwrap_or(write)),
            (usage.output, prices.output),
        ]
        .into_iter()
        .map(|(tokens, price)| u128::from(tokens) * u128::from((price * 1e6).round() as u64))
        .sum()
    }
}

/// Dollars of a sum of picodollars.
pub(crate) fn dollars(picodollars: u128) -> f64 {
    picodollars as f64 / 1e12
}

fn one() -> u64 {
    1
}

fn is_one(step: &u64) -> bool {
    *step == 1
}

fn is_zero(breakpoints: &usize) -> bool {
    *breakpoints == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(name: &str) -> &'static PriceSheet {
        PriceSheet::named(name).unwrap()
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage = Usage::new()
            .with_uncached(1_000)
            .with_read(20_000)
            .with_written(3_000)
            .with_written_long(500)
            .with_output(200);
        // 0.003 + 0.006 + 0.01125 + 0.003 + 0.003
        assert_eq!(sheet("anthropic/claude-sonnet-4-6").cost(&usage), 0.02625);
        // Writes cost as much as input: 4,500 at 0.80, 20,000 at 0.20, 200 at 3.20.
        assert_eq!(sheet("bedrock/amazon.nova-pro").cost(&usage), 0.00824);
    }

    #[test]
    fn a_long_prompt_has_its_own_prices() {
        let sheet = sheet("anthropic/claude-haiku-5-5");
        let at = Usage::new().with_uncached(40_000).with_read(60_000);
        assert_eq!(sheet.cost(&at), 0.0046);
        let above = at.with_uncached(40_001).with_output(1_000);
        // Every token of the request: 40,001 at 0.50, 60,000 at 0.05, 1,000 at 2.50.
        assert_eq!(sheet.cost(&above), 0.025_500_5);
    }

    #[test]
    fn sums_are_exact() {
        let sheet = sheet("gemini/gemini-2.5-flash");
        let usage = Usage::new().with_uncached(1).with_read(1).with_output(1);
        let once = sheet.picodollars(&usage);
        assert_eq!(once, 300_000 + 30_000 + 2_500_000);
        assert_eq!((0..1_000_000).map(|_| sheet.picodollars(&usage)).sum::<u128>(), once * 1_000_000);
        let most = Usage::new().with_uncached(u64::MAX).with_read(u64::MAX).with_output(u64::MAX);
        assert!(sheet.cost(&most).is_finite());
    }
}
