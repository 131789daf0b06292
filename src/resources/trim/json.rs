use std::ops::Range;

use serde::de::IgnoredAny;

use super::{
    lines::grains,
    outline::{Frame, Joint, Outline, Sizes},
};
use crate::json::MAX_DEPTH;

/// JSON by elements of arrays and objects; those that are too large are parted again, long strings
/// too. Everything stays as it is written. `None` if it is no JSON array or object, or is nested too deep.
pub(super) fn outline(text: &str, sizes: Sizes) -> Option<Outline> {
    if !text.trim_start().starts_with(['{', '[']) || serde_json::from_str::<IgnoredAny>(text).is_err() {
        return None;
    }
    let mut scan = Scan { text, sizes, outline: Outline::new("elements"), open: Vec::new(), start: 0 };
    scan.run()?;
    // An array of nothing but white space has nothing to choose from.
    (!scan.outline.groups.is_empty()).then_some(scan.outline)
}

/// Goes through well-formed JSON once.
struct Scan<'a> {
    text: &'a str,
    sizes: Sizes,
    outline: Outline,
    open: Vec<Open>,
    /// Where the element begins that is being read: after the bracket or comma before it.
    start: usize,
}

/// A bracket that is not closed yet.
struct Open {
    frame: usize,
    /// How many elements are complete.
    elements: usize,
    /// How many pieces and groups there were before it.
    pieces: usize,
    groups: usize,
}

impl Scan<'_> {
    fn run(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        // The end of the value that is being read, if there is one.
        let mut end = None;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let close = end_of_string(bytes, at);
                    end = Some((at, close));
                    at = close;
                    continue;
                }
                b'[' | b'{' if self.open.len() >= MAX_DEPTH => return None,
                b'[' | b'{' => self.push(at),
                b']' | b'}' => {
                    self.element(end.take());
                    self.pop(at);
                }
                b',' => {
                    self.element(end.take());
                    self.start = at + 1;
                }
                b':' => end = None,
                byte if byte.is_ascii_whitespace() => {}
                _ => end = Some((end.map_or(at, |(start, _)| start), at + 1)),
            }
            at += 1;
        }
        Some(())
    }

    fn push(&mut self, at: usize) {
        let unit = self.open.last().map_or(0, |open| open.elements);
        let parent = self.open.last().map(|open| open.frame);
        let (pieces, groups) = (self.outline.pieces.len(), self.outline.groups.len());
        let frame = Frame { joint: Joint::Comma, unit, ..Frame::of_text(self.start..at + 1, at + 1..at + 1, parent) };
        let frame = self.outline.push_frame(frame);
        self.open.push(Open { frame, elements: 0, pieces, groups });
        self.start = at + 1;
    }

    /// Ends an element whose value is no array and no object.
    fn element(&mut self, value: Option<(usize, usize)>) {
        let (Some((from, to)), Some(open)) = (value, self.open.last_mut()) else { return };
        let unit = open.elements;
        open.elements += 1;
        let frame = open.frame;
        let inside = from + 1..to - 1;
        if to - self.start <= self.sizes.part || !self.text[from..].starts_with('"') || inside.is_empty() {
            return self.outline.push_piece(self.start..to, unit, Some(frame));
        }
        let string = Frame { unit, ..Frame::of_text(self.start..inside.start, inside.end..to, Some(frame)) };
        let string = self.outline.push_frame(string);
        for (unit, range) in grains(self.text, inside, self.sizes.grain, atom).enumerate() {
            self.outline.push_piece(range, unit, Some(string));
        }
    }

    fn pop(&mut self, at: usize) {
        let Some(Open { frame, elements, pieces, groups }) = self.open.pop() else { return };
        let start = self.outline.frames[frame].open.start;
        if let Some(parent) = self.open.last_mut() {
            let unit = parent.elements;
            parent.elements += 1;
            if elements == 0 || at + 1 - start <= self.sizes.part {
                // Small enough to be kept whole.
                self.outline.frames.truncate(frame);
                self.outline.pieces.truncate(pieces);
                self.outline.groups.truncate(groups);
                return self.outline.push_piece(start..at + 1, unit, Some(parent.frame));
            }
        }
        let close_end = if self.open.is_empty() { self.text.len() } else { at + 1 };
        let close_start = self.text[..at].trim_end().len();
        let frame = &mut self.outline.frames[frame];
        frame.close = close_start.max(frame.open.end)..close_end;
        frame.units = elements;
        if self.open.is_empty() {
            self.outline.units = elements;
        }
    }
}

/// Where the string ends that begins at a quote.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') | None => return (at + 1).min(bytes.len()),
            Some(_) => at += 1,
        }
    }
}

/// What must stay together in a string: a character, or an escape, which may be a pair of surrogates.
fn atom(text: &str) -> usize {
    let escape = |text: &str| match text.as_bytes() {
        [b'\\', b'u', ..] => 6,
        [b'\\', ..] => 2,
        _ => 0,
    };
    let is_high = |text: &str| {
        text.get(2..4).is_some_and(|digits| matches!(digits.to_ascii_lowercase().as_str(), "d8" | "d9" | "da" | "db"))
    };
    match escape(text) {
        0 => super::lines::char_len(text),
        6 if is_high(text) => 6 + text.get(6..).filter(|next| escape(next) == 6).map_or(0, |_| 6),
        len => len.min(text.len()),
    }
}

/// The key under which a frame stands in an object, as it is written.
pub(super) fn key<'a>(text: &'a str, open: &Range<usize>) -> Option<&'a str> {
    let open = text[open.clone()].trim_start();
    let key = open.strip_prefix('"')?;
    let end = end_of_string(open.as_bytes(), 0);
    (open.get(end..)?.trim_start().starts_with(':')).then(|| &key[..end - 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, part: usize) -> Vec<String> {
        let outline = outline(text, Sizes { part, grain: 8 }).unwrap();
        outline
            .groups
            .iter()
            .map(|group| {
                let path: Vec<_> = outline
                    .frames_of(group.frame)
                    .map(|frame| key(text, &outline.frames[frame].open).unwrap_or("-"))
                    .collect();
                format!("{} {}", path.join(" < "), text[outline.pieces[group.pieces.start].range.clone()].trim())
            })
            .collect()
    }

    #[test]
    fn what_is_small_stays_whole_and_what_is_large_comes_apart() {
        let text = r#"{"id": 7, "data": {"items": [[1, 2], {"a": "b,]}\""}, 1.50e3], "none": []}, "t": "one two three\n\ud83d\ude00 four"}"#;
        assert_eq!(
            pieces(text, 1_000),
            [
                r#"- "id": 7"#,
                r#"- "data": {"items": [[1, 2], {"a": "b,]}\""}, 1.50e3], "none": []}"#,
                r#"- "t": "one two three\n\ud83d\ude00 four""#
            ]
        );
        assert_eq!(
            pieces(text, 16),
            [
                r#"- "id": 7"#,
                "items < data < - [1, 2]",
                r#"items < data < - {"a": "b,]}\""}"#,
                "items < data < - 1.50e3",
                r#"data < - "none": []"#,
                "t < - one two",
                "t < - three\\n",
                "t < - \\ud83d\\ude00",
                "t < - four",
            ]
        );
    }

    #[test]
    fn what_is_no_array_and_no_object_is_not_taken_apart() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for text in ["", "1", "\"long\"", "{", "[1,]", "{} {}", &deep] {
            assert!(outline(text, Sizes { part: 64, grain: 8 }).is_none(), "{}", &text[..text.len().min(9)]);
        }
    }
}
