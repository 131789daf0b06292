use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

/// A language whose words can be reduced to stems (Snowball).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant is the language of that name")]
pub enum Language {
    Arabic,
    Danish,
    Dutch,
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

impl Language {
    /// All of them, by name.
    pub const ALL: &[Self] = &[
        Self::Arabic,
        Self::Danish,
        Self::Dutch,
        Self::English,
        Self::Finnish,
        Self::French,
        Self::German,
        Self::Greek,
        Self::Hungarian,
        Self::Italian,
        Self::Norwegian,
        Self::Portuguese,
        Self::Romanian,
        Self::Russian,
        Self::Spanish,
        Self::Swedish,
        Self::Tamil,
        Self::Turkish,
    ];

    /// The stem of a lowercase word. A word with a digit is no word of a language and stays; so
    /// does one with letters outside ASCII in English.
    pub(super) fn stem(self, word: &str) -> Cow<'_, str> {
        let foreign = |c: char| !c.is_alphabetic() || (self == Self::English && !c.is_ascii());
        if word.contains(foreign) {
            return Cow::Borrowed(word);
        }
        let stem = Stemmer::create(self.algorithm()).stem(word);
        // Nothing is left of some words that are endings themselves.
        if stem.is_empty() { Cow::Borrowed(word) } else { stem }
    }

    fn algorithm(self) -> Algorithm {
        match self {
            Self::Arabic => Algorithm::Arabic,
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::English => Algorithm::English,
            Self::Finnish => Algorithm::Finnish,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Greek => Algorithm::Greek,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Romanian => Algorithm::Romanian,
            Self::Russian => Algorithm::Russian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Tamil => Algorithm::Tamil,
            Self::Turkish => Algorithm::Turkish,
        }
    }
}
