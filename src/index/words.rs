//! Where words begin and end: the splitting that the analyzer and the exact-name tier share.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// One word of a text: a range of bytes, not yet lowercased.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Word {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Text of a script that writes no spaces between words.
    pub(crate) unspaced: bool,
}

/// The form in which text is split: NFKC, so that full-width letters and ligatures are the plain ones.
pub(crate) fn normalize(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfkc().collect()) }
}

/// Splits normalized text. Identifiers come apart at `_`, `-`, `.` and the like, at camel humps
/// and between letters and digits: `parseHTTPServer2` is `parse`, `HTTP`, `Server`, `2`.
///
/// Linear in the text.
pub(crate) fn split(text: &str) -> Vec<Word> {
    let chars: Vec<(usize, char, Class)> = text.char_indices().map(|(at, c)| (at, c, Class::of(c))).collect();
    let class = |i: usize| chars.get(i).map_or(Class::Other, |(_, _, class)| *class);
    let offset = |i: usize| chars.get(i).map_or(text.len(), |(at, _, _)| *at);
    let run = |from: usize, of: Class| {
        let mut i = from;
        while class(i) == of || (i > from && class(i) == Class::Mark) {
            i += 1;
        }
        i
    };
    let mut words = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        i = match class(i) {
            Class::Other | Class::Mark => {
                i += 1;
                continue;
            }
            Class::Digit | Class::Unspaced => run(i, class(i)),
            Class::Lower => run(i, Class::Lower),
            Class::Upper => {
                let end = run(i, Class::Upper);
                let lower = run(end, Class::Lower);
                match (end - i, lower - end) {
                    (_, 0) => end,
                    (1, _) => lower,
                    // `URLs`: the plural of an abbreviation, not `UR` and `Ls`.
                    (_, 1) if chars[end].1 == 's' => lower,
                    _ => end - 1,
                }
            }
        };
        if matches!(class(start), Class::Lower | Class::Upper) {
            i = with_contraction(&chars, i);
        }
        words.push(Word { start: offset(start), end: offset(i), unspaced: class(start) == Class::Unspaced });
    }
    words
}

/// Writes a word in the form in which words are compared: lower case, without what follows an
/// apostrophe's `s` (`user's` is `user`) and without other apostrophes (`don't` is `dont`).
pub(crate) fn fold(word: &str) -> Cow<'_, str> {
    let lower = if word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    };
    match lower.find(['\'', '’']) {
        None => lower,
        Some(at)
            if lower.ends_with('s') && at + lower[at..].chars().next().map_or(0, char::len_utf8) + 1 == lower.len() =>
        {
            Cow::Owned(lower[..at].to_owned())
        }
        Some(_) => Cow::Owned(lower.replace(['\'', '’'], "")),
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Unspaced,
    /// A combining mark: goes with the character before it.
    Mark,
    Other,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            '\0'..='\u{7f}' => Self::Other,
            _ if unspaced(c) => Self::Unspaced,
            _ if c.is_uppercase() => Self::Upper,
            _ if c.is_numeric() => Self::Digit,
            _ if is_combining_mark(c) => Self::Mark,
            _ if c.is_alphabetic() => Self::Lower,
            _ => Self::Other,
        }
    }
}

/// Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer. Korean has spaces, but its words carry
/// endings that only shorter pieces see past.
fn unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x3005..=0x3007 | 0x3040..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF
        | 0x20000..=0x3FFFD | 0x1100..=0x11FF | 0xAC00..=0xD7AF
        | 0x0E01..=0x0E3A | 0x0E40..=0x0E4E | 0x0E81..=0x0ECE | 0x0EDC..=0x0EDF
        | 0x1000..=0x103F | 0x1050..=0x108F | 0x109A..=0x109F | 0x1780..=0x17D3)
}

/// The end of a word that ends at `end`, with an English contraction's tail (`don't`, `user's`) in it.
fn with_contraction(chars: &[(usize, char, Class)], end: usize) -> usize {
    if !matches!(chars.get(end), Some((_, '\'' | '’', _))) {
        return end;
    }
    let letter = |i: usize| chars.get(i).map(|(_, c, _)| c.to_ascii_lowercase()).filter(char::is_ascii_lowercase);
    let tail = match (letter(end + 1), letter(end + 2)) {
        (Some('s' | 't' | 'm' | 'd'), None) => 1,
        (Some('r' | 'v'), Some('e')) | (Some('l'), Some('l')) => 2,
        _ => return end,
    };
    let ends = !matches!(chars.get(end + 1 + tail), Some((_, _, class)) if *class != Class::Other);
    if ends { end + 1 + tail } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let text = normalize(text);
        split(&text).iter().map(|word| fold(&text[word.start..word.end]).into_owned()).collect()
    }

    #[test]
    fn identifiers_come_apart() {
        for (text, expected) in [
            ("create_issue", "create issue"),
            ("createIssue", "create issue"),
            ("create-issue.v2", "create issue v 2"),
            ("HTTPServer2", "http server 2"),
            ("parseURLs", "parse urls"),
            ("getHTTPSUrl", "get https url"),
            ("list_APIs_now", "list apis now"),
            ("XMLs", "xmls"),
            ("iPhone", "i phone"),
            ("git/merge:now", "git merge now"),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn contractions_stay_one_word() {
        assert_eq!(
            words("don't the user’s we'll l'hôtel rock'n'roll"),
            ["dont", "the", "user", "well", "l", "hôtel", "rock", "n", "roll"]
        );
    }

    #[test]
    fn scripts_come_apart() {
        assert_eq!(words("查询weather天气🎉 ＡＢＣ สวัสดีx"), ["查询", "weather", "天气", "abc", "สวัสดี", "x"]);
        // A decomposed letter and a sign of an Indic script stay in their word.
        assert_eq!(words("cafe\u{301} हिन्दी"), ["café", "हिन्दी"]);
    }
}
