use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::error::beginning;

/// The most bytes of a text that are looked at, the most words, and the most bytes of a word:
/// queries are as long as whoever asks makes them.
pub(super) const MAX_TEXT_BYTES: usize = 65_536;
pub(super) const MAX_WORDS: usize = 512;
pub(super) const MAX_WORD_BYTES: usize = 64;

/// The words of a text as the embedding was trained on them: runs of ASCII letters and digits,
/// without accents, in lower case, `camelCase` taken apart. The training program splits alike, and
/// golden files hold both to it.
pub(super) fn words(text: &str, mut each: impl FnMut(&str)) {
    let text = plain(text);
    let runs = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty());
    let mut word = String::with_capacity(MAX_WORD_BYTES);
    for part in runs.flat_map(Parts).take(MAX_WORDS) {
        word.clear();
        word.push_str(&part[..part.len().min(MAX_WORD_BYTES)]);
        word.make_ascii_lowercase();
        each(&word);
    }
}

/// How many letters of a text, ASCII and others, it has. Others are in no word.
pub(super) fn letters(text: &str) -> usize {
    plain(text).chars().filter(|c| c.is_alphabetic()).count()
}

/// Compatibility forms made one, marks left out.
fn plain(text: &str) -> Cow<'_, str> {
    let text = beginning(text, MAX_TEXT_BYTES);
    if text.is_ascii() { text.into() } else { text.nfkd().filter(|c| !is_combining_mark(*c)).collect() }
}

/// The parts of a run of ASCII letters and digits: `parseHTTPServer2` is `parse`, `HTTP`, `Server2`.
struct Parts<'a>(&'a str);

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.0.as_bytes();
        let starts_word = |at: &usize| {
            let (before, here, after) = (bytes[at - 1], bytes[*at], bytes.get(at + 1));
            here.is_ascii_uppercase() && (!before.is_ascii_uppercase() || after.is_some_and(u8::is_ascii_lowercase))
        };
        let end = (1..bytes.len()).find(starts_word).unwrap_or(bytes.len());
        let (part, rest) = self.0.split_at(end);
        self.0 = rest;
        (!part.is_empty()).then_some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        words(text, |word| all.push(word.to_owned()));
        all
    }

    #[test]
    fn words_are_plain() {
        for (text, expected) in [
            ("Merge the_branch, please!", &["merge", "the", "branch", "please"][..]),
            ("parseHTTPServer2 OAuth2Token", &["parse", "http", "server2", "o", "auth2", "token"]),
            ("naïve Ｆｕｌｌ ﬁle", &["naive", "full", "file"]),
            ("天气 погода", &[]),
            ("HTTP", &["http"]),
            ("", &[]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    #[test]
    fn texts_are_bounded() {
        assert_eq!(split(&"a ".repeat(1_000)).len(), MAX_WORDS);
        assert_eq!(split(&"x".repeat(1_000))[0].len(), MAX_WORD_BYTES);
        assert_eq!(letters(&"é".repeat(MAX_TEXT_BYTES)), MAX_TEXT_BYTES / 2);
    }

    #[test]
    fn letters_are_those_of_every_script() {
        assert_eq!((letters("ab 12"), letters("天气 ok"), letters("é!")), (2, 4, 1));
    }
}
