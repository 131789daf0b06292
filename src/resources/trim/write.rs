use std::ops::Range;

use super::outline::{Joint, Outline};

/// Writes the pieces that are kept with the frames around them, and marks where something is left out.
pub(super) fn write(text: &str, outline: &Outline, kept: &[bool]) -> String {
    let mut writer = Writer { text, outline, out: String::new(), at: 0, open: Vec::new(), any: false };
    for group in &outline.groups {
        for piece in group.pieces.clone().filter(|piece| kept[*piece]) {
            writer.enter(group.frame);
            writer.put(group.frame, outline.pieces[piece].range.clone());
        }
    }
    writer.enter(None);
    if outline.joint(outline.root()) == Joint::Mark && !writer.out.ends_with('\n') {
        writer.mark(text.len(), "");
    }
    writer.out
}

struct Writer<'a> {
    text: &'a str,
    outline: &'a Outline,
    out: String,
    /// Where the text goes on after what was written.
    at: usize,
    /// The open frames, and whether anything stands in them.
    open: Vec<(usize, bool)>,
    /// Whether anything stands outside of frames.
    any: bool,
}

impl Writer<'_> {
    /// Closes and opens frames until `frame` is the innermost one.
    fn enter(&mut self, frame: Option<usize>) {
        let mut path: Vec<usize> = self.outline.frames_of(frame).collect();
        path.reverse();
        let same = self.open.iter().zip(&path).take_while(|((open, _), frame)| open == *frame).count();
        while self.open.len() > same {
            self.leave();
        }
        for frame in path.drain(same..) {
            self.put(self.outline.frames[frame].parent, self.outline.frames[frame].open.clone());
            self.open.push((frame, false));
        }
    }

    fn leave(&mut self) {
        let Some((frame, _)) = self.open.pop() else { return };
        let frame = &self.outline.frames[frame];
        if frame.close.is_empty() {
            return;
        }
        if frame.joint == Joint::Mark {
            self.mark(frame.close.start, "");
        }
        self.out.push_str(&self.text[frame.close.clone()]);
        self.at = frame.close.end;
    }

    /// Writes a range that stands directly in `frame`.
    fn put(&mut self, frame: Option<usize>, range: Range<usize>) {
        let any = self.open.last_mut().map_or(&mut self.any, |(_, any)| any);
        let is_first = !std::mem::replace(any, true);
        match self.outline.joint(frame) {
            Joint::Mark => self.mark(range.start, " "),
            Joint::Comma if !is_first => self.out.push(','),
            Joint::Comma | Joint::Nothing => {}
        }
        self.out.push_str(&self.text[range.clone()]);
        self.at = range.end;
    }

    /// Marks what is left out up to `next`: on a line of its own, or in the line with `after` behind it.
    fn mark(&mut self, next: usize, after: &str) {
        if self.at == next {
            return;
        }
        if !self.out.is_empty() && !self.out.ends_with(char::is_whitespace) {
            self.out.push(' ');
        }
        self.out.push_str("[…]");
        self.out.push_str(if self.text[..next].ends_with('\n') { "\n" } else { after });
    }
}
