use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    price_sheet::{CacheRules, Kept, PriceSheet},
    prompt::{Position, Prompt},
    usage::Usage,
};
use crate::json::Digest;

/// A model of a provider's prompt cache: sent the prompts that a provider is sent, it says what the
/// provider is expected to read, write and process anew.
///
/// It knows the rules of a [sheet](PriceSheet) and the prompts that went through it, and nothing of
/// what else the provider has to keep; so it predicts more hits than come, never other ones.
/// Saved with a session, it goes on where it was.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct PromptCache {
    rules: CacheRules,
    entries: BTreeMap<Digest, Entry>,
}

/// A prefix that is kept.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
struct Entry {
    tokens: u64,
    ttl: u32,
    /// The last second in which it is found.
    until: u64,
}

/// A prefix of the prompt at hand that is to be kept.
#[derive(Clone, Copy, Debug)]
struct End {
    index: usize,
    long: bool,
}

impl PromptCache {
    /// The most prefixes that it remembers: 4,096. Beyond it those go that would expire first.
    pub const MAX_ENTRIES: usize = 4_096;

    /// An empty cache with the rules of `sheet`.
    pub fn new(sheet: &PriceSheet) -> Self {
        Self { rules: sheet.cache, entries: BTreeMap::new() }
    }

    /// Sends a prompt at a time in seconds, from wherever the caller counts, and gives what its input
    /// is expected to be billed as. Output is not its business: [`Usage::output`] is 0.
    ///
    /// Times are those at which requests start, as a provider measures them too. A request that a
    /// provider would refuse (five marks, a longer time after a shorter one) is not refused here.
    pub fn send(&mut self, prompt: &Prompt, at: u64) -> Usage {
        self.entries.retain(|_, entry| at <= entry.until);
        let positions = prompt.positions();
        let ends = self.ends(positions);
        let hit = self.hit(positions, &ends);
        let usage = self.usage(positions, &ends, hit);
        self.refresh(positions, hit, at);
        self.keep(positions, &ends, at);
        usage
    }

    /// Which prefixes of the prompt are to be kept, from the front.
    fn ends(&self, positions: &[Position]) -> Vec<End> {
        let rules = &self.rules;
        let last = positions.len().saturating_sub(1);
        let mut ends: Vec<_> = positions
            .iter()
            .enumerate()
            .filter(|(index, position)| match rules.kept {
                Kept::All => true,
                Kept::Newest => position.mark.is_some() || *index == last,
                Kept::Marked => position.mark.is_some(),
            })
            .map(|(index, position)| {
                let asked = position.mark.and_then(|mark| mark.ttl_seconds);
                End {
                    index,
                    long: rules.long_ttl_seconds.is_some() && asked.is_some_and(|ttl| ttl > rules.ttl_seconds),
                }
            })
            .collect();
        if rules.kept != Kept::All {
            ends.drain(..ends.len().saturating_sub(rules.breakpoints));
        }
        let kept = rules.minimum..=rules.maximum.unwrap_or(u64::MAX);
        ends.retain(|end| kept.contains(&tokens(positions, end.index)));
        ends
    }

    /// The longest prefix that is found again, by its last block.
    fn hit(&self, positions: &[Position], ends: &[End]) -> Option<usize> {
        let found = |range: std::ops::RangeInclusive<usize>| {
            range
                .rev()
                .find(|index| positions.get(*index).is_some_and(|position| self.entries.contains_key(&position.digest)))
        };
        match self.rules.look_back {
            Some(blocks) => {
                ends.iter().filter_map(|end| found((end.index + 1).saturating_sub(blocks)..=end.index)).max()
            }
            None => ends.last().and_then(|end| found(0..=end.index)),
        }
    }

    /// Anthropic bills by three places, and others by the same with fewer of them: up to the longest
    /// hit is read, from there to the last prefix that is kept long is written long, from there to
    /// the last one that is kept is written.
    fn usage(&self, positions: &[Position], ends: &[End], hit: Option<usize>) -> Usage {
        let total = positions.last().map_or(0, |last| last.tokens);
        let hit = hit.map_or(0, |index| tokens(positions, index));
        let read = hit - hit % self.rules.step.max(1);
        let read = if read < self.rules.minimum { 0 } else { read };
        // A cache that keeps everything by itself counts nothing as written.
        let written_ends = if self.rules.kept == Kept::All { &[] } else { ends };
        let end = |long: bool| {
            let last = written_ends.iter().rev().find(|end| end.long || !long);
            last.map_or(0, |end| tokens(positions, end.index)).max(read)
        };
        let (long, all) = (end(true), end(false));
        Usage::new().with_read(read).with_written_long(long - read).with_written(all - long).with_uncached(total - all)
    }

    /// What was read, and every shorter prefix of it, begins its time anew.
    fn refresh(&mut self, positions: &[Position], hit: Option<usize>, at: u64) {
        if !self.rules.refreshed {
            return;
        }
        for position in positions.iter().take(hit.map_or(0, |index| index + 1)) {
            if let Some(entry) = self.entries.get_mut(&position.digest) {
                entry.until = entry.until.max(at.saturating_add(entry.ttl.into()));
            }
        }
    }

    fn keep(&mut self, positions: &[Position], ends: &[End], at: u64) {
        let rules = &self.rules;
        for end in ends {
            let Some(position) = positions.get(end.index) else { continue };
            let ttl = rules.long_ttl_seconds.filter(|_| end.long).unwrap_or(rules.ttl_seconds);
            let entry = Entry { tokens: position.tokens, ttl, until: at.saturating_add(ttl.into()) };
            self.entries.entry(position.digest).or_insert(entry);
        }
        if self.entries.len() > Self::MAX_ENTRIES {
            // The longest prefix is what the next request of a conversation asks for. A quarter goes at
            // once, so that this is not done for every block.
            let mut order: Vec<_> =
                self.entries.iter().map(|(digest, entry)| (entry.until, entry.tokens, *digest)).collect();
            order.sort_unstable();
            for (_, _, digest) in order.iter().take(self.entries.len() - Self::MAX_ENTRIES * 3 / 4) {
                self.entries.remove(digest);
            }
        }
    }
}

fn tokens(positions: &[Position], index: usize) -> u64 {
    positions.get(index).map_or(0, |position| position.tokens)
}

#[cfg(test)]
mod tests;
