use std::ops::Range;

use super::outline::{Outline, Piece, Sizes};

/// The most lines that are scored together: a few around a hit say what it is about.
const MAX_LINES: usize = 8;

/// Plain text by lines, which go together in paragraphs.
pub(super) fn outline(text: &str, sizes: Sizes) -> Outline {
    let mut outline = Outline::new("lines");
    outline.units = push_paragraphs(&mut outline, text, 0..text.len(), None, Numbers::Lines, sizes);
    outline
}

/// How pieces are numbered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Numbers {
    /// By their lines.
    Lines,
    /// All the same.
    All(usize),
}

/// Parts a range of whole lines into paragraphs, and gives how many lines there are. Empty lines go
/// with the line before them; a line that is larger than a part is cut.
pub(super) fn push_paragraphs(
    outline: &mut Outline,
    text: &str,
    range: Range<usize>,
    frame: Option<usize>,
    numbers: Numbers,
    sizes: Sizes,
) -> usize {
    let number = |line| match numbers {
        Numbers::Lines => line,
        Numbers::All(unit) => unit,
    };
    let (mut first, mut start) = (outline.pieces.len(), range.start);
    let mut after_blank = false;
    let mut line = 0;
    for one in each_line(text, range) {
        let is_blank = text[one.clone()].trim().is_empty();
        let lines = outline.pieces.len() - first;
        match outline.pieces.last_mut() {
            Some(before) if is_blank && lines > 0 && before.range.len() < sizes.grain => before.range.end = one.end,
            _ => {
                if lines >= MAX_LINES || after_blank && !is_blank || one.end - start > sizes.part {
                    outline.push_group(first, frame);
                    (first, start) = (outline.pieces.len(), one.start);
                }
                if one.len() > sizes.part {
                    for range in grains(text, one.clone(), sizes.grain, char_len) {
                        outline.push_piece(range, number(line), frame);
                    }
                    (first, start) = (outline.pieces.len(), one.end);
                } else {
                    outline.pieces.push(Piece { range: one, unit: number(line) });
                }
            }
        }
        after_blank = is_blank;
        line += 1;
    }
    outline.push_group(first, frame);
    line
}

/// Adds the lines of a range that is no larger than a part. Empty lines go with the line before them.
pub(super) fn push_lines(outline: &mut Outline, text: &str, range: Range<usize>, unit: usize) {
    let first = outline.pieces.len();
    for line in each_line(text, range) {
        let is_blank = text[line.clone()].trim().is_empty();
        let is_first = outline.pieces.len() == first;
        match outline.pieces.last_mut() {
            Some(before) if is_blank && !is_first => before.range.end = line.end,
            _ => outline.pieces.push(Piece { range: line, unit }),
        }
    }
}

/// Lines with their ends.
pub(super) fn each_line(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    text[range].split_inclusive('\n').map(move |line| {
        let line = start..start + line.len();
        start = line.end;
        line
    })
}

/// Cuts a range into parts of at most `grain` bytes: after white space, else between two atoms. `atom`
/// gives the length of the first one.
pub(super) fn grains(
    text: &str,
    range: Range<usize>,
    grain: usize,
    atom: fn(&str) -> usize,
) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        let rest = &text[start..range.end];
        let (mut end, mut after_space) = (0, None);
        while end < rest.len() {
            let is_space = rest[end..].starts_with(char::is_whitespace);
            let next = end + atom(&rest[end..]).max(1);
            if next > grain && end > 0 {
                end = after_space.unwrap_or(end);
                break;
            }
            end = next;
            if is_space && end > grain / 2 {
                after_space = Some(end);
            }
        }
        start += end;
        (end > 0).then(|| start - end..start)
    })
}

/// A character is the atom of plain text.
pub(super) fn char_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}
