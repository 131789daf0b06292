use std::ops::Range;

use super::{code, csv, json, lines, markdown};
use crate::resources::TextKind;

/// How a text is parted: pieces in its order, which are kept whole or not at all.
#[derive(Debug)]
pub(super) struct Outline {
    /// What a person would count in it.
    pub(super) unit: &'static str,
    /// How many there are.
    pub(super) units: usize,
    pub(super) pieces: Vec<Piece>,
    /// Neighbouring pieces in the same frame that belong together: scored as one.
    pub(super) groups: Vec<Group>,
    /// Parents before their children.
    pub(super) frames: Vec<Frame>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    /// The first unit that it belongs to: of the whole text, or of its frame where units are elements.
    /// It reaches up to the next piece's.
    pub(super) unit: usize,
}

#[derive(Debug)]
pub(super) struct Group {
    pub(super) pieces: Range<usize>,
    pub(super) frame: Option<usize>,
}

/// What must stand around pieces wherever one of them is kept: a heading, brackets, a header.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) parent: Option<usize>,
    pub(super) open: Range<usize>,
    /// May be empty.
    pub(super) close: Range<usize>,
    pub(super) joint: Joint,
    /// Which unit of its parent it is, where units are elements.
    pub(super) unit: usize,
    /// How many units it has, where units are elements.
    pub(super) units: usize,
}

/// What is written between two pieces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Joint {
    /// A mark where something between them is left out.
    Mark,
    /// A comma, always.
    Comma,
    /// Nothing: where a mark would read as data.
    Nothing,
}

/// How large parts may be, in bytes, for what may be kept of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// A larger part is parted again: a quarter of the budget, so that several fit.
    pub(super) part: usize,
    /// What a line is cut into if it is larger than a part.
    pub(super) grain: usize,
}

impl Sizes {
    pub(super) fn new(budget_bytes: usize) -> Self {
        Self { part: (budget_bytes / 4).max(64), grain: (budget_bytes / 16).clamp(32, 1_024) }
    }
}

impl Outline {
    /// What is not of the kind that it is said to be is parted by lines.
    pub(super) fn of(text: &str, kind: TextKind, sizes: Sizes) -> Self {
        let outline = match kind {
            TextKind::Plain => None,
            TextKind::Markdown => Some(markdown::outline(text, sizes)),
            TextKind::Json => json::outline(text, sizes),
            TextKind::Csv { delimiter } => csv::outline(text, delimiter),
            TextKind::Code => Some(code::outline(text, sizes)),
        };
        outline.unwrap_or_else(|| lines::outline(text, sizes))
    }

    pub(super) fn new(unit: &'static str) -> Self {
        Self { unit, units: 0, pieces: Vec::new(), groups: Vec::new(), frames: Vec::new() }
    }

    pub(super) fn push_frame(&mut self, frame: Frame) -> usize {
        self.frames.push(frame);
        self.frames.len() - 1
    }

    /// Makes one group of the pieces from `first` on.
    pub(super) fn push_group(&mut self, first: usize, frame: Option<usize>) {
        if first < self.pieces.len() {
            self.groups.push(Group { pieces: first..self.pieces.len(), frame });
        }
    }

    pub(super) fn push_piece(&mut self, range: Range<usize>, unit: usize, frame: Option<usize>) {
        let first = self.pieces.len();
        self.pieces.push(Piece { range, unit });
        self.push_group(first, frame);
    }

    /// A frame and those around it, the innermost first.
    pub(super) fn frames_of(&self, frame: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(frame, |frame| self.frames[*frame].parent)
    }

    /// The frame around everything, where there is one.
    pub(super) fn root(&self) -> Option<usize> {
        self.frames_of(self.groups.first().and_then(|group| group.frame)).last()
    }

    pub(super) fn joint(&self, frame: Option<usize>) -> Joint {
        frame.map_or(Joint::Mark, |frame| self.frames[frame].joint)
    }
}

impl Frame {
    /// A frame of text, with marks inside.
    pub(super) fn of_text(open: Range<usize>, close: Range<usize>, parent: Option<usize>) -> Self {
        Self { parent, open, close, joint: Joint::Mark, unit: 0, units: 0 }
    }
}
