use std::{collections::BTreeMap, ops::AddAssign};

use crate::{cost::Usage, session::Delivery};

/// In how many parts a share is counted, so that sums do not depend on their order.
pub(super) const PARTS: u64 = 1_000_000_000;

/// What was measured of some conversations under one policy. Whole numbers alone: added in any order,
/// they give the same.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Tally {
    pub(super) turns: u64,
    pub(super) requests: u64,
    pub(super) rejected: u64,
    /// Turns after the first ones, and those of them before which the prefix changed.
    pub(super) follow_ups: u64,
    pub(super) changed: u64,
    /// Tools that are needed, and those that were offered.
    pub(super) needs: u64,
    pub(super) met: u64,
    /// Conversations that need any, and the sum of the shares that they were offered, in [`PARTS`].
    pub(super) needy: u64,
    pub(super) met_parts: u64,
    pub(super) tool_tokens: u64,
    pub(super) usage: Usage,
    /// In picodollars, of the input alone and with the output.
    pub(super) input_cost: u128,
    pub(super) cost: u128,
    /// All answers are known, so that the output is too.
    pub(super) answered: bool,
    /// How many conversations were carried on by which policy.
    pub(super) became: BTreeMap<Delivery, u64>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            turns: 0,
            requests: 0,
            rejected: 0,
            follow_ups: 0,
            changed: 0,
            needs: 0,
            met: 0,
            needy: 0,
            met_parts: 0,
            tool_tokens: 0,
            usage: Usage::new(),
            input_cost: 0,
            cost: 0,
            answered: true,
            became: BTreeMap::new(),
        }
    }
}

impl Tally {
    pub(super) fn became(&mut self, delivery: Delivery) {
        *self.became.entry(delivery).or_insert(0) += 1;
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.turns += other.turns;
        self.requests += other.requests;
        self.rejected += other.rejected;
        self.follow_ups += other.follow_ups;
        self.changed += other.changed;
        self.needs += other.needs;
        self.met += other.met;
        self.needy += other.needy;
        self.met_parts += other.met_parts;
        self.tool_tokens += other.tool_tokens;
        self.usage += other.usage;
        self.input_cost += other.input_cost;
        self.cost += other.cost;
        self.answered &= other.answered;
        for (delivery, conversations) in other.became {
            *self.became.entry(delivery).or_insert(0) += conversations;
        }
    }
}
