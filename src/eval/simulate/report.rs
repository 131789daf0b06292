use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    replay::Priced,
    tally::{PARTS, Tally},
};
use crate::{cost::dollars, eval::Trace, session::Delivery};

/// What the conversations of a trace cost at the prices of one model, policy by policy.
///
/// As JSON, the same bytes for the same trace, catalog and options.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SimulationReport {
    /// Where the conversations are from.
    pub source: String,
    /// How many they are.
    pub conversations: usize,
    /// How many turns they have together.
    pub turns: usize,
    /// The [name](crate::cost::PriceSheet::name) of the sheet.
    pub price_sheet: String,
    /// One row for each policy, in the order of the options.
    pub policies: Vec<PolicyRow>,
}

/// What one policy did. Shares are from 0 to 1, to four decimals; costs are US dollars, to six.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyRow {
    /// The policy that was asked for.
    pub policy: Delivery,
    /// By how many conversations it was carried out as what: what [`Delivery::Auto`] chose, and
    /// [`Delivery::Bridge`] where the provider has no form of its own for [`Delivery::Deferred`].
    pub delivery: BTreeMap<Delivery, u64>,
    /// Whose requests were rendered.
    pub provider: &'static str,
    /// The share of turns after the first of their conversation before which the prefix changed:
    /// whose request does not begin with all that the request before it held, tools, system text
    /// and everything said. Turns before which the cache had forgotten the prefix by the sheet's time
    /// are not counted: there was nothing left to keep.
    pub prefix_changed_ratio: f64,
    /// The share of needed tools that were offered, over all conversations: in the array, or joined
    /// to the conversation. A tool that a turn used counts if it was there by then.
    pub tools_offered_ratio: f64,
    /// The same as the mean over conversations that need any.
    pub tools_offered_mean: f64,
    /// Input tokens by what became of them.
    pub tokens: TokenSums,
    /// What the input cost.
    pub cost: f64,
    /// What input and output cost; `null` unless every answer is in the trace.
    pub cost_with_output: Option<f64>,
    /// The [cost](Self::cost) as a share of that of [`Delivery::All`]; `null` if that was not
    /// simulated.
    pub cost_ratio_to_all: Option<f64>,
    /// The share of input tokens that were read from the cache.
    pub hit_ratio: f64,
    /// How many requests there were: one a turn, and one more for each round of calls whose results
    /// are in the trace.
    pub requests: u64,
    /// Those of them that the provider would have refused, as the policy wants them: more tools than
    /// it takes, names or schemas that it does not. They were sent without these tools.
    pub rejected: u64,
    /// What the array of tools took in a turn's first request: the mean, in tokens, to one decimal.
    pub tool_tokens: f64,
}

/// Input tokens of all requests together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TokenSums {
    /// Written to the cache.
    pub written: u64,
    /// Read from it.
    pub read: u64,
    /// The cache had no part in them.
    pub uncached: u64,
}

impl SimulationReport {
    pub(super) fn new(trace: &Trace, priced: &Priced, tallies: Vec<(Delivery, Tally)>) -> Self {
        let all = tallies.iter().find(|(policy, _)| *policy == Delivery::All).map(|(_, tally)| tally.input_cost);
        let row = |(policy, tally): (Delivery, Tally)| PolicyRow::new(policy, priced, tally, all);
        Self {
            source: trace.source.clone(),
            conversations: trace.conversations.len(),
            turns: trace.turns(),
            price_sheet: priced.sheet.name(),
            policies: tallies.into_iter().map(row).collect(),
        }
    }

    /// The row of a policy.
    pub fn policy(&self, policy: Delivery) -> Option<&PolicyRow> {
        self.policies.iter().find(|row| row.policy == policy)
    }
}

impl PolicyRow {
    fn new(policy: Delivery, priced: &Priced, tally: Tally, all: Option<u128>) -> Self {
        let usage = tally.usage;
        let usd = |picodollars| rounded(dollars(picodollars), 6);
        Self {
            policy,
            provider: priced.provider.name(),
            prefix_changed_ratio: share(tally.changed, tally.follow_ups),
            tools_offered_ratio: share(tally.met, tally.needs),
            tools_offered_mean: share(tally.met_parts, tally.needy * PARTS),
            tokens: TokenSums { written: usage.total_written(), read: usage.read, uncached: usage.uncached },
            cost: usd(tally.input_cost),
            cost_with_output: tally.answered.then(|| usd(tally.cost)),
            cost_ratio_to_all: all.filter(|all| *all > 0).map(|all| rounded(tally.input_cost as f64 / all as f64, 4)),
            hit_ratio: rounded(usage.hit_ratio(), 4),
            requests: tally.requests,
            rejected: tally.rejected,
            tool_tokens: rounded(tally.tool_tokens as f64 / tally.turns.max(1) as f64, 1),
            delivery: tally.became,
        }
    }
}

/// A share to four decimals; 0 of nothing.
fn share(part: u64, of: u64) -> f64 {
    rounded(part as f64 / of.max(1) as f64, 4)
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    (value * scale).round() / scale
}
