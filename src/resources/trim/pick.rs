use std::ops::Range;

use super::outline::{Joint, Outline};
use crate::tokens::TokenCounter;

/// So many groups in a row that no longer fit, and the others with words of the query are not tried.
const MAX_MISSES: usize = 32;

/// Chooses the pieces that are kept, under a limit of tokens. What pieces cost is counted once, and
/// only of those that are tried.
pub(super) struct Picker<'a> {
    text: &'a str,
    outline: &'a Outline,
    counter: &'a dyn TokenCounter,
    /// Groups with words of the query, best first.
    hits: Vec<usize>,
    pieces: Vec<Option<u32>>,
    frames: Vec<Option<u32>>,
    mark: usize,
    /// Whether pieces of this many bytes and more are worth a count at all, by what is left.
    bytes_per_token: usize,
}

/// What was chosen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Picked {
    /// Which of the pieces.
    pub(super) kept: Vec<bool>,
    /// About what they cost: parts are counted apart.
    pub(super) tokens: usize,
}

impl Picked {
    pub(super) fn is_empty(&self) -> bool {
        !self.kept.contains(&true)
    }
}

impl<'a> Picker<'a> {
    /// `tokens` is what the whole text costs.
    pub(super) fn new(
        text: &'a str,
        outline: &'a Outline,
        hits: Vec<usize>,
        counter: &'a dyn TokenCounter,
        tokens: usize,
    ) -> Self {
        Self {
            text,
            outline,
            counter,
            hits,
            pieces: vec![None; outline.pieces.len()],
            frames: vec![None; outline.frames.len()],
            mark: counter.count("[…]\n"),
            bytes_per_token: text.len().div_ceil(tokens.max(1)),
        }
    }

    /// The beginning; then groups with words of the query, best first, whole; then the rest in its
    /// order, up to what does not fit.
    pub(super) fn pick(&mut self, limit: usize) -> Picked {
        let mut choice =
            Choice { kept: vec![false; self.pieces.len()], open: vec![false; self.frames.len()], left: limit };
        let Some(first) = self.outline.groups.first() else { return choice.picked(limit) };
        // A beginning that takes the room of what is asked for can wait.
        let room = if self.hits.is_empty() { limit } else { limit / 2 };
        let begin = first.pieces.start;
        if self.cost(&choice, 0, begin..begin + 1, room).is_some() {
            self.take(&mut choice, 0, begin..begin + 1);
        }
        let mut misses = 0;
        for at in 0..self.hits.len() {
            let group = self.hits[at];
            let taken = self.take(&mut choice, group, self.outline.groups[group].pieces.clone());
            misses = if taken { 0 } else { misses + 1 };
            if misses > MAX_MISSES {
                break;
            }
        }
        self.fill(&mut choice);
        choice.picked(limit)
    }

    fn fill(&mut self, choice: &mut Choice) {
        for (at, group) in self.outline.groups.iter().enumerate() {
            for piece in group.pieces.clone() {
                if !self.take(choice, at, piece..piece + 1) && !self.is_hopeless(piece, choice.left) {
                    return;
                }
            }
        }
    }

    fn take(&mut self, choice: &mut Choice, group: usize, pieces: Range<usize>) -> bool {
        let Some(cost) = self.cost(choice, group, pieces.clone(), choice.left) else { return false };
        choice.left -= cost;
        for frame in self.outline.frames_of(self.outline.groups[group].frame) {
            choice.open[frame] = true;
        }
        choice.kept[pieces].fill(true);
        true
    }

    /// What it costs to keep these pieces of a group too; `None` if that is more than `limit`.
    fn cost(&mut self, choice: &Choice, group: usize, pieces: Range<usize>, limit: usize) -> Option<usize> {
        let frame = self.outline.groups[group].frame;
        let joint = |frame: Option<usize>, mark| match self.outline.joint(frame) {
            Joint::Mark => mark,
            Joint::Comma => 1,
            Joint::Nothing => 0,
        };
        let mut joints = 0;
        if !pieces.start.checked_sub(1).is_some_and(|before| choice.kept[before]) {
            joints += joint(frame, self.mark);
        }
        let closed: Vec<usize> = self.outline.frames_of(frame).take_while(|frame| !choice.open[*frame]).collect();
        for frame in &closed {
            joints += joint(self.outline.frames[*frame].parent, self.mark);
        }
        let mut cost = joints;
        for frame in closed {
            let known = self.frames[frame];
            let (open, close) = (&self.outline.frames[frame].open, &self.outline.frames[frame].close);
            if open.len() / self.bytes_per_token / 4 > limit {
                return None;
            }
            let tokens = known.unwrap_or_else(|| {
                let count = |range: &Range<usize>| self.counter.count(&self.text[range.clone()]);
                u32::try_from(count(open).saturating_add(count(close))).unwrap_or(u32::MAX)
            });
            self.frames[frame] = Some(tokens);
            cost += tokens as usize;
        }
        for piece in pieces {
            if choice.kept[piece] {
                continue;
            }
            if cost > limit || self.is_hopeless(piece, limit) {
                return None;
            }
            let known = self.pieces[piece];
            let text = &self.text[self.outline.pieces[piece].range.clone()];
            let tokens = known.unwrap_or_else(|| u32::try_from(self.counter.count(text)).unwrap_or(u32::MAX));
            self.pieces[piece] = Some(tokens);
            cost = cost.saturating_add(tokens as usize);
        }
        (cost <= limit).then_some(cost)
    }

    /// Whether a piece is so large that it is not worth a count: four times as dense as the text.
    fn is_hopeless(&self, piece: usize, left: usize) -> bool {
        self.outline.pieces[piece].range.len() / self.bytes_per_token / 4 > left
    }
}

struct Choice {
    kept: Vec<bool>,
    /// Frames of which something is kept.
    open: Vec<bool>,
    left: usize,
}

impl Choice {
    fn picked(self, limit: usize) -> Picked {
        Picked { tokens: limit - self.left, kept: self.kept }
    }
}
