use std::cmp::Ordering;

use unicode_normalization::UnicodeNormalization;

/// The most characters of a label or a name: longer ones fit no line.
pub(super) const MAX_LABEL: usize = 200;
/// The most characters of a URI that are shown and searched.
pub(super) const MAX_URI: usize = 400;
/// The most characters of a description that are shown and searched.
pub(super) const MAX_DESCRIPTION: usize = 400;

/// `title ?? name ?? uri`, of those that are not blank.
pub(super) fn label<'a>(title: Option<&'a str>, name: &'a str, uri: &'a str) -> &'a str {
    title.into_iter().chain([name]).find(|text| !text.trim().is_empty()).unwrap_or(uri)
}

/// Untrusted text as it can be shown on one line: composed (NFC), bounded, a space for each run of
/// white space and control characters, and without the controls that turn the direction of writing
/// (Unicode UAX 9) and could make one label look like another.
pub(super) fn shown(text: &str, most: usize) -> String {
    let text = text.trim();
    // Composed as it is, which takes a tenth of the time.
    if text.is_ascii() {
        return one_line(text.chars().take(most));
    }
    one_line(text.nfc().filter(|c| !turns_direction(*c)).take(most))
}

/// Which label comes first: by its letters, then by their case.
pub(super) fn by_label<T: Iterator<Item = char>>(a: impl Fn() -> T, b: impl Fn() -> T) -> Ordering {
    let folded = |c: char| if c.is_ascii() { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) };
    a().map(folded).cmp(b().map(folded)).then_with(|| a().cmp(b()))
}

fn one_line(chars: impl Iterator<Item = char>) -> String {
    let mut out = String::with_capacity(chars.size_hint().0);
    let mut blank = true;
    for c in chars {
        let white = c.is_control() || c.is_whitespace();
        if !white {
            out.push(c);
        } else if !blank {
            out.push(' ');
        }
        blank = white;
    }
    out.truncate(out.trim_end().len());
    out
}

fn turns_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_title_is_none() {
        assert_eq!(label(Some("Title"), "name", "uri"), "Title");
        assert_eq!(label(Some(" "), "name", "uri"), "name");
        assert_eq!(label(None, "", "uri"), "uri");
    }

    #[test]
    fn text_is_shown_on_one_line_and_as_it_reads() {
        assert_eq!(shown("  a\n\tb \u{1b}[31mred\u{202e}txt ", 200), "a b [31mredtxt");
        assert_eq!(shown("e\u{301}", 200), "é");
        assert_eq!(shown(&"x".repeat(1_000), 200).len(), 200);
    }
}
