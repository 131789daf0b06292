use std::ops::Range;

use super::{
    lines::{Numbers, each_line, push_lines, push_paragraphs},
    outline::{Frame, Outline, Sizes},
};

/// How deep blocks come apart: what stands deeper is cut between lines.
const MAX_DEPTH: usize = 16;

/// Longer lines are nothing that a person wrote, and are cut; no other line of code ever is.
const MAX_LINE: usize = 4_096;

/// Code by blocks: what begins without indentation after an empty line. One that is too large comes
/// apart by its indentation, and the lines that open and close it stay around what is kept of it.
pub(super) fn outline(text: &str, sizes: Sizes) -> Outline {
    let lines: Vec<Line> = each_line(text, 0..text.len()).map(|range| Line::new(text, range)).collect();
    let mut blocks = Blocks { text, sizes, lines, outline: Outline::new("blocks") };
    let mut start = 0;
    for at in 1..=blocks.lines.len() {
        let begins = |line: &Line| line.indent == Some(0) && !line.closes && blocks.lines[at - 1].indent.is_none();
        if blocks.lines.get(at).is_none_or(begins) {
            let unit = blocks.outline.units;
            blocks.push(start..at, None, unit, 0);
            blocks.outline.units += 1;
            start = at;
        }
    }
    blocks.outline
}

struct Blocks<'a> {
    text: &'a str,
    sizes: Sizes,
    lines: Vec<Line>,
    outline: Outline,
}

struct Line {
    range: Range<usize>,
    /// `None` for an empty line.
    indent: Option<usize>,
    /// It ends a block: `}`, `end`.
    closes: bool,
}

impl Line {
    fn new(text: &str, range: Range<usize>) -> Self {
        let line = &text[range.clone()];
        let content = line.trim_start();
        let closes = content.starts_with(['}', ')', ']']) || content.starts_with("</") || content.trim_end() == "end";
        let indent = (!content.is_empty()).then(|| line.len() - content.len());
        Self { range, indent, closes }
    }
}

impl Blocks<'_> {
    fn push(&mut self, lines: Range<usize>, frame: Option<usize>, unit: usize, depth: usize) {
        let bytes = self.bytes(lines.clone());
        if bytes.len() <= self.sizes.part {
            let first = self.outline.pieces.len();
            push_lines(&mut self.outline, self.text, bytes, unit);
            return self.outline.push_group(first, frame);
        }
        let parts = if depth < MAX_DEPTH { self.parts(lines.clone()) } else { Vec::new() };
        if parts.len() > 1 {
            for part in parts {
                self.push(part, frame, unit, depth + 1);
            }
        } else if let Some((open, inside, close)) = self.framed(lines).filter(|_| depth < MAX_DEPTH) {
            let frame = Frame::of_text(self.bytes(open), self.bytes(close), frame);
            let frame = self.outline.push_frame(frame);
            self.push(inside, Some(frame), unit, depth + 1);
        } else {
            let sizes = Sizes { part: self.sizes.part.max(MAX_LINE), ..self.sizes };
            push_paragraphs(&mut self.outline, self.text, bytes, frame, Numbers::All(unit), sizes);
        }
    }

    /// Parts that begin with the least indentation; small neighbours stay together.
    fn parts(&self, lines: Range<usize>) -> Vec<Range<usize>> {
        let least = self.least_indent(lines.clone());
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut start = lines.start;
        for at in lines.start + 1..=lines.end {
            let begins = |line: &Line| line.indent == least && !line.closes;
            if at < lines.end && !begins(&self.lines[at]) {
                continue;
            }
            match parts.last_mut() {
                Some(before) if self.bytes(before.start..at).len() <= self.sizes.part / 2 => before.end = at,
                _ => parts.push(start..at),
            }
            start = at;
        }
        parts
    }

    /// What opens a block, what is indented in it, and what closes it.
    fn framed(&self, lines: Range<usize>) -> Option<(Range<usize>, Range<usize>, Range<usize>)> {
        let least = self.least_indent(lines.clone());
        let is_deeper = |at: &usize| self.lines[*at].indent > least;
        let first = lines.clone().find(is_deeper).filter(|first| *first > lines.start)?;
        let after = lines.clone().rfind(is_deeper)? + 1;
        Some((lines.start..first, first..after, after..lines.end))
    }

    fn least_indent(&self, lines: Range<usize>) -> Option<usize> {
        self.lines[lines].iter().filter_map(|line| line.indent).min()
    }

    fn bytes(&self, lines: Range<usize>) -> Range<usize> {
        let start = self.lines.get(lines.start).map_or(self.text.len(), |line| line.range.start);
        let end = self.lines[lines].last().map_or(start, |line| line.range.end);
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_block_comes_apart_by_its_indentation() {
        let text = "use a;\n\nstruct B {\n    x: u8,\n}\n\nimpl B {\n    fn one() {\n        first();\n    }\n\n    fn two() {\n        second();\n        third();\n    }\n}\n";
        let outline = outline(text, Sizes { part: 48, grain: 32 });
        let groups: Vec<_> = outline
            .groups
            .iter()
            .map(|group| {
                let pieces = &outline.pieces[group.pieces.clone()];
                let inside = &text[pieces[0].range.start..pieces.last().unwrap().range.end];
                let frames: Vec<_> = outline
                    .frames_of(group.frame)
                    .map(|frame| text[outline.frames[frame].open.clone()].trim())
                    .collect();
                (pieces[0].unit, frames.join(" < "), inside.trim())
            })
            .collect();
        assert_eq!(
            groups,
            [
                (0, String::new(), "use a;"),
                (1, String::new(), "struct B {\n    x: u8,\n}"),
                (2, "impl B {".into(), "fn one() {\n        first();\n    }"),
                (2, "fn two() { < impl B {".into(), "second();\n        third();"),
            ]
        );
        assert_eq!(outline.units, 3);
    }

    #[test]
    fn no_line_of_code_is_cut_unless_nobody_wrote_it() {
        let line = format!("{}\n", "x ".repeat(2_000));
        assert_eq!(outline(&line, Sizes { part: 64, grain: 32 }).pieces.len(), 1);
        assert!(outline(&line.repeat(2).replace('\n', " "), Sizes { part: 64, grain: 32 }).pieces.len() > 100);
    }
}
