use std::{borrow::Cow, fmt::Write};

use unicode_normalization::UnicodeNormalization;

use super::{
    json,
    outline::{Frame, Joint, Outline},
};

/// The most places that a notice lists, of one kind.
const MAX_RUNS: usize = 8;

/// The most arrays and objects that a notice lists.
const MAX_FRAMES: usize = 4;

/// The most characters of a path into JSON, and of how to get the rest.
const MAX_PATH: usize = 80;
const MAX_REST: usize = 512;

/// What is shown of a text.
#[derive(Debug)]
pub(super) struct Shown {
    /// Such as `lines 1-8 and 20 (in part) of 31`.
    pub(super) places: String,
    /// How many units, whole or in part.
    pub(super) kept: usize,
    pub(super) of: usize,
}

/// The line that says what was cut. Holds no line end.
pub(super) fn notice(shown: &Shown, tokens: usize, tokens_before: usize, rest: &str) -> String {
    let rest = plain(rest, MAX_REST);
    let rest = if rest.is_empty() { rest } else { format!("; the rest: {rest}") };
    format!("[cut: {} shown, about {tokens} of {tokens_before} tokens{rest}]", shown.places)
}

/// Server text that cannot pass for a notice: a `[`, or what looks like it, becomes `&#91;` where the
/// word `cut` and a colon follow, or nearly.
pub(super) fn neutral(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut start = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| is_bracket(*c)) {
        let after = at + c.len_utf8();
        if spells_notice(&text[after..]) {
            out.push_str(&text[start..at]);
            out.push_str("&#91;");
            start = after;
        }
    }
    if start == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[start..]);
    Cow::Owned(out)
}

impl Shown {
    pub(super) fn of(text: &str, outline: &Outline, kept: &[bool]) -> Self {
        if outline.joint(outline.root()) == Joint::Comma {
            of_json(text, outline, kept)
        } else {
            of_text(outline, kept)
        }
    }
}

fn of_text(outline: &Outline, kept: &[bool]) -> Shown {
    let mut runs = Runs::default();
    let pieces = &outline.pieces;
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        let same = pieces[at..].iter().take_while(|other| other.unit == piece.unit).count();
        let next = pieces.get(at + same).map_or(outline.units, |next| next.unit).max(piece.unit + 1);
        let of_unit = &kept[at..at + same];
        if of_unit.contains(&true) {
            runs.push(piece.unit, next, of_unit.contains(&false));
        }
        at += same;
    }
    let places = format!("{} {} of {}", outline.unit, runs, outline.units);
    Shown { places, kept: runs.units, of: outline.units }
}

/// By arrays and objects, each with its path (JSON Pointer, RFC 6901).
fn of_json(text: &str, outline: &Outline, kept: &[bool]) -> Shown {
    // Children of each frame that are shown: their numbers, and whether in part.
    let mut children: Vec<Vec<(usize, bool)>> = vec![Vec::new(); outline.frames.len()];
    for group in &outline.groups {
        let Some(frame) = group.frame else { continue };
        for piece in group.pieces.clone().filter(|piece| kept[*piece]) {
            children[frame].push((outline.pieces[piece].unit, false));
        }
    }
    // Children stand after their parents, so what is in a frame is known when it is looked at.
    for (at, frame) in outline.frames.iter().enumerate().rev() {
        if let (Some(parent), false) = (frame.parent, children[at].is_empty()) {
            children[parent].push((frame.unit, true));
        }
    }
    let (mut units, mut of) = (0, 0);
    let mut places: Vec<String> = Vec::new();
    for (at, shown) in children.iter_mut().enumerate().filter(|(_, shown)| !shown.is_empty()) {
        let path = path(text, outline, at);
        if outline.frames[at].joint != Joint::Comma {
            places.push(format!("a part of the text{path}"));
            continue;
        }
        shown.sort_unstable();
        units += shown.len();
        of += outline.frames[at].units;
        if shown.len() < outline.frames[at].units {
            let mut runs = Runs::default();
            shown.iter().for_each(|(unit, part)| runs.push(*unit, unit + 1, *part));
            places.push(format!("elements {runs} of {}{path}", outline.frames[at].units));
        }
    }
    let more = places.len().saturating_sub(MAX_FRAMES);
    if more > 0 {
        places.truncate(MAX_FRAMES);
        places.push(format!("parts of {more} more"));
    }
    Shown { places: listed(&places), kept: units, of }
}

fn path(text: &str, outline: &Outline, frame: usize) -> String {
    let step = |frame: &Frame| match json::key(text, &frame.open) {
        Some(key) => key.replace('~', "~0").replace('/', "~1"),
        None => frame.unit.to_string(),
    };
    let mut steps: Vec<String> = outline
        .frames_of(Some(frame))
        .map(|frame| &outline.frames[frame])
        .filter(|frame| frame.parent.is_some())
        .map(step)
        .collect();
    steps.reverse();
    if steps.is_empty() { String::new() } else { plain(&format!(" in /{}", steps.join("/")), MAX_PATH) }
}

/// Places in a row, as a person writes them: `1-3, 7 (in part) and 9`.
#[derive(Debug, Default)]
struct Runs {
    /// From, up to, in part.
    runs: Vec<(usize, usize, bool)>,
    units: usize,
}

impl Runs {
    fn push(&mut self, from: usize, to: usize, in_part: bool) {
        self.units += to - from;
        match self.runs.last_mut() {
            Some((_, end, false)) if *end == from && !in_part => *end = to,
            _ => self.runs.push((from, to, in_part)),
        }
    }
}

impl std::fmt::Display for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let one = |(from, to, in_part): &(usize, usize, bool)| {
            let mut run = (from + 1).to_string();
            if to - from > 1 {
                let _ = write!(run, "-{to}");
            }
            run + if *in_part { " (in part)" } else { "" }
        };
        let more = self.runs.len().saturating_sub(MAX_RUNS);
        let mut runs: Vec<String> = self.runs.iter().take(MAX_RUNS).map(one).collect();
        if more > 0 {
            runs.push(format!("{more} more places"));
        }
        f.write_str(&listed(&runs))
    }
}

fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

/// Text for the inside of a notice: one line, bounded, without brackets, which would end it.
fn plain(text: &str, max: usize) -> String {
    let mut chars = text.chars();
    let mut out: String = chars
        .by_ref()
        .take(max)
        .map(|c| match c {
            ']' => ')',
            c if is_bracket(c) => '(',
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => ' ',
            c => c,
        })
        .collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

fn is_bracket(c: char) -> bool {
    c == '['
        || (!c.is_ascii()
            && matches!(c, '［' | '【' | '〔' | '〖' | '〚' | '⟦' | '⟮' | '❲' | '⁅' | '⦋' | '⦍' | '⦏' | '﹝'))
}

/// Whether the first letters are those of a notice, or look like them. What is no letter does not count
/// between them; but quotes and brackets do, so that no valid JSON is touched outside of its strings.
fn spells_notice(text: &str) -> bool {
    const MAX_GAP: usize = 16;
    let mut left = ['c', 'u', 't'].as_slice();
    let (mut gap, mut spelled) = (0, 0);
    for c in text.chars().flat_map(|c| std::iter::once(c).nfkd()) {
        match left.split_first() {
            None if matches!(c, ':' | 'ː' | '∶' | '꞉' | '׃') => return spelled >= 2,
            _ if matches!(c, '"' | '\'' | '{' | '[') => return false,
            Some((expected, rest)) if c.is_alphanumeric() => {
                // What is no ASCII letter may be the likeness of any.
                let same = c.to_ascii_lowercase() == *expected;
                if !same && c.is_ascii() {
                    return false;
                }
                spelled += usize::from(same);
                left = rest;
            }
            None if c.is_alphanumeric() => return false,
            _ => {
                gap += 1;
                if gap > MAX_GAP {
                    return false;
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_of_a_notice_stands() {
        for fake in [
            "[cut: lines 1 of 2]",
            "[ CUT : all]",
            "[c\u{200b}ut:]",
            "[*cut*: x",
            "［cut：x］",
            "[\u{441}ut: x]",
            "[[cut: x",
        ] {
            let text = neutral(fake);
            assert!(text.contains("&#91;"), "{fake} -> {text}");
            assert_eq!(neutral(&text), text);
        }
        for text in ["[1] cut: x", "[\"cut: x\"]", "[cute: x]", "[cut-off: x]", "[cut]", "cut: x", "[…]", "[", "[cut"]
        {
            assert_eq!(neutral(text), text);
        }
    }

    #[test]
    fn places_are_listed_as_a_person_would() {
        let mut runs = Runs::default();
        for (from, to, part) in [(0, 1, false), (1, 3, false), (3, 4, true), (6, 7, false)] {
            runs.push(from, to, part);
        }
        assert_eq!(runs.to_string(), "1-3, 4 (in part) and 7");
        let mut many = Runs::default();
        (0..20).for_each(|at| many.push(2 * at, 2 * at + 1, false));
        assert_eq!(many.to_string(), "1, 3, 5, 7, 9, 11, 13, 15 and 12 more places");
        assert_eq!((runs.units, many.units), (5, 20));
    }

    #[test]
    fn a_notice_stays_one_line_whatever_is_put_into_it() {
        let shown = Shown { places: "lines 1 of 2".into(), kept: 1, of: 2 };
        assert_eq!(
            notice(&shown, 10, 20, "read a:[b]\n[cut: no"),
            "[cut: lines 1 of 2 shown, about 10 of 20 tokens; the rest: read a:(b) (cut: no]"
        );
        assert_eq!(notice(&shown, 10, 20, ""), "[cut: lines 1 of 2 shown, about 10 of 20 tokens]");
    }
}
