/// Which languages a model knows.
///
/// The vector of a text in any other is noise: [`Hybrid`](crate::retrieval::Hybrid) leaves such
/// requests to words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Languages {
    /// English: a request counts by how much of it the tokenizer has as whole words.
    ///
    /// Most letters of English requests stand in such words, at most 40 % of those of requests in
    /// Portuguese: from 60 % on a request counts in full, up to 40 % not at all, and between them it
    /// grows. A word with a letter outside ASCII is in no case known; what holds a digit, or more
    /// than 24 letters, is of no language and left out. Of 65 requests in twelve other languages 57
    /// do not count, of the requests of six benchmark sets 0.1 to 3.2 % count less than in full.
    ///
    /// One or two words say too little of their language: in ASCII they count at least half.
    English,
    /// Many, or another one: everything counts that the tokenizer can read at all.
    Many,
}

/// From these shares of letters in words of the vocabulary on a text counts a little, and in full.
const RANGE: (f32, f32) = (0.4, 0.6);
/// What a text counts at least that is too short to tell.
const SHORT: f32 = 0.5;

/// A word, or what the tokenizer takes for one.
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// How many pieces it is made of.
    pub(super) pieces: usize,
    /// Whether one of them is the tokenizer's mark for what it does not know.
    pub(super) unknown: bool,
}

impl Languages {
    /// How much of a text counts, 0 to 1. Without letters there is nothing against it.
    pub(super) fn cover(self, words: &[Word<'_>]) -> f32 {
        let share = |words: &[&Word<'_>], known: &dyn Fn(&Word<'_>) -> bool| {
            let all: usize = words.iter().map(|word| word.letters()).sum();
            let known: usize = words.iter().filter(|word| known(word)).map(|word| word.letters()).sum();
            if all == 0 { 1.0 } else { known as f32 / all as f32 }
        };
        match self {
            Self::Many => share(&words.iter().collect::<Vec<_>>(), &|word| !word.unknown),
            Self::English => {
                let words: Vec<_> = words.iter().filter(|word| word.letters() > 0 && !word.is_code()).collect();
                let whole = share(&words, &|word| word.pieces == 1 && !word.unknown && word.text.is_ascii());
                let counts = ((whole - RANGE.0) / (RANGE.1 - RANGE.0)).clamp(0.0, 1.0);
                let is_short = words.len() <= 2 && words.iter().all(|word| word.text.is_ascii() && !word.unknown);
                if is_short { counts.max(SHORT) } else { counts }
            }
        }
    }
}

/// Words are shorter, even in German.
const LONGEST: usize = 24;

impl Word<'_> {
    fn letters(&self) -> usize {
        self.text.chars().filter(|c| c.is_alphabetic()).count()
    }

    /// An identifier, a key, encoded bytes.
    fn is_code(&self) -> bool {
        self.text.is_ascii() && (self.letters() > LONGEST || self.text.contains(|c: char| c.is_ascii_digit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces are separated by `+`, words by spaces; `?` is what is not known.
    fn cover(languages: Languages, text: &str) -> f32 {
        let plain: Vec<String> = text.split(' ').map(|word| word.replace(['+', '?'], "")).collect();
        let words: Vec<Word<'_>> = text
            .split(' ')
            .zip(&plain)
            .map(|(marked, text)| Word { text, pieces: marked.split('+').count(), unknown: marked.contains('?') })
            .collect();
        languages.cover(&words)
    }

    #[test]
    fn english_counts_by_whole_words() {
        for (text, expected) in [
            ("merge the release branch", 1.0),
            ("sum of 12+345 and 7", 1.0),
            ("12+345", 1.0),
            ("what is iVBO+Rw0K+GgoA", 1.0),
            ("decode ?aaaaabbbbbcccccdddddeeeeefffff this", 1.0),
            ("ref+und", 0.5),
            ("web+hook status", 0.5),
            ("re+em+bol+so do cl+ien+te", 0.0),
            ("退 款", 0.0),
            ("?退 款", 0.0),
            ("café menu prices", 1.0),
            ("café", 0.0),
        ] {
            assert_eq!(cover(Languages::English, text), expected, "{text}");
        }
        let half = cover(Languages::English, "abcde fg+hij to 7");
        assert!((0.9..1.0).contains(&half), "7 of 12 letters: {half}");
    }

    #[test]
    fn many_languages_count_unless_they_cannot_be_read() {
        for (text, expected) in
            [("re+em+bol+so do cl+ien+te", 1.0), ("退 款", 1.0), ("ab ?พ cd", 0.8), ("?พ", 0.0), ("", 1.0)]
        {
            assert_eq!(cover(Languages::Many, text), expected, "{text}");
        }
    }
}
