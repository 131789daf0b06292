use std::collections::BTreeSet;

use super::tally::{PARTS, Tally};
use crate::{eval::Conversation, id::ToolId};

/// The tools that a conversation needs, and which of them it was offered.
pub(super) struct Needs<'a>(Vec<Need<'a>>);

struct Need<'a> {
    /// Any of them will do.
    any: Vec<&'a ToolId>,
    /// The turn in which it has to be there at the latest.
    until: usize,
    is_met: bool,
}

impl<'a> Needs<'a> {
    /// What the conversation needs at any time, and each tool that its turns used, by its first use.
    pub(super) fn of(conversation: &'a Conversation) -> Self {
        let groups = conversation.needs.iter().map(|group| (group.iter().collect(), usize::MAX));
        let mut seen = BTreeSet::new();
        let used = conversation.turns.iter().enumerate().flat_map(|(t, turn)| turn.used().map(move |tool| (tool, t)));
        let used = used.filter(|(tool, _)| seen.insert(*tool)).map(|(tool, t)| (vec![tool], t));
        Self(groups.chain(used).map(|(any, until)| Need { any, until, is_met: false }).collect())
    }

    /// In a turn, these tools were there.
    pub(super) fn offered(&mut self, turn: usize, tools: &BTreeSet<&ToolId>) {
        for need in &mut self.0 {
            need.is_met |= turn <= need.until && need.any.iter().any(|tool| tools.contains(tool));
        }
    }

    pub(super) fn count(&self, tally: &mut Tally) {
        let (all, met) = (self.0.len() as u64, self.0.iter().filter(|need| need.is_met).count() as u64);
        tally.needs += all;
        tally.met += met;
        if let Some(share) = (met * PARTS).checked_div(all) {
            tally.needy += 1;
            tally.met_parts += share;
        }
    }
}
