use serde::{Deserialize, Serialize};

use crate::{id::ToolId, retrieval::Query, selection::Selection};

/// What a conversation's follow-ups lean on: bounded, whatever its length.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Memory {
    /// What was asked, newest last.
    turns: Vec<String>,
    /// What was called since the last turn, newest last.
    used: Vec<ToolId>,
    /// The likeliest tools of the last turn, likeliest last.
    offered: Vec<ToolId>,
}

impl Memory {
    /// As many as a selection offers however far their scores fall behind.
    const OFFERED: usize = 5;

    /// Gives a follow-up what it does not bring itself. Other queries stay as they are, so that
    /// they mean the same in every conversation.
    pub(super) fn complete(&self, query: &mut Query) {
        if !query.is_follow_up() {
            return;
        }
        if query.turns.is_empty() {
            query.turns.clone_from(&self.turns);
        }
        if query.recent_tools.is_empty() {
            let recent = if self.used.is_empty() { &self.offered } else { &self.used };
            query.recent_tools.clone_from(recent);
        }
    }

    /// A tool was called.
    pub(super) fn used(&mut self, tool: &ToolId) {
        self.used.retain(|used| used != tool);
        push(&mut self.used, tool.clone());
    }

    /// A turn was made.
    pub(super) fn turn(&mut self, query: &Query, selection: &Selection) {
        let text = match query.text.char_indices().nth(Query::MAX_CHARS) {
            Some((end, _)) => &query.text[..end],
            None => &query.text,
        };
        if !text.trim().is_empty() {
            push(&mut self.turns, text.to_owned());
        }
        self.used.clear();
        let ranked = selection.tools.iter().filter(|tool| tool.rank.is_some()).take(Self::OFFERED);
        self.offered = ranked.map(|tool| tool.id.clone()).collect();
        self.offered.reverse();
    }
}

/// Adds the newest, and forgets the oldest of more than a query looks at.
fn push<T>(items: &mut Vec<T>, item: T) {
    items.push(item);
    if items.len() > Query::MAX_PARTS {
        items.remove(0);
    }
}
