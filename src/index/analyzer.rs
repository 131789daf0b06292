use std::{borrow::Cow, collections::HashMap};

use super::{
    language::Language,
    stop_words::is_stop_word,
    words::{Word, fold, normalize, split},
};

/// Turns text into the terms that are indexed and searched.
///
/// Text is normalized (NFKC) and lowercased. Identifiers come apart (`createIssue`,
/// `create_issue`, `create-issue` are all `create`, `issue`; `HTTPServer2` is `http`, `server`,
/// `2`): of all that can be done without a model, splitting, stop words and stemming together
/// gain most. Camel humps, digits and underscores are also kept whole (`youtube` beside `you`,
/// `tube`), so that `YouTube` and `youtube` meet; that neither gains nor costs on benchmarks.
/// Runs of Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer become overlapping pairs of
/// characters, since these scripts do not separate words; a single character stays.
///
/// Linear in the text; a term has at most [`Self::MAX_TERM_CHARS`] characters, the rest of a
/// longer one is left out. The same text gives the same terms everywhere.
///
/// ```
/// use proem::index::Analyzer;
///
/// let analyzer = Analyzer::default();
/// assert_eq!(analyzer.terms("Listing the open_issues"), ["list", "open", "issu", "openissu"]);
/// assert_eq!(analyzer.terms("查询天气"), ["查询", "询天", "天气"]);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Analyzer {
    language: Option<Language>,
}

impl Analyzer {
    /// The longest term, in characters: no word of a language is longer, encoded data is.
    pub const MAX_TERM_CHARS: usize = 64;

    /// An analyzer that stems words of `language`, or none. Stop words are English in any case:
    /// requests in another language hold them too rarely to be hurt.
    pub fn new(language: Option<Language>) -> Self {
        Self { language }
    }

    /// The terms of a text, in their order, repeated as often as they occur.
    pub fn terms(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.for_each_word(text, |word| terms.push(self.term(word).into_owned()));
        terms
    }

    /// Remembers stems, for many texts in a row.
    pub(super) fn bulk(self) -> BulkAnalyzer {
        BulkAnalyzer { analyzer: self, terms: HashMap::new() }
    }

    /// Gives lowercase words and pairs of characters, without stop words.
    fn for_each_word(&self, text: &str, mut take: impl FnMut(&str)) {
        let text = normalize(text);
        let words = split(&text);
        for identifier in words.chunk_by(|a, b| joined(&text, a, b)) {
            for word in identifier {
                let raw = &text[word.start..word.end];
                if word.unspaced {
                    pairs(raw, &mut take);
                } else {
                    let folded = fold(raw);
                    if !is_stop_word(&folded) {
                        take(&folded);
                    }
                }
            }
            if (2..=MAX_JOINED).contains(&identifier.len()) {
                let whole: String = identifier.iter().map(|word| fold(&text[word.start..word.end])).collect();
                take(&whole);
            }
        }
    }

    fn term<'a>(&self, word: &'a str) -> Cow<'a, str> {
        match (word.char_indices().nth(Self::MAX_TERM_CHARS), self.language) {
            (Some((end, _)), _) => Cow::Borrowed(&word[..end]),
            (None, Some(language)) => language.stem(word),
            (None, None) => Cow::Borrowed(word),
        }
    }
}

/// An [`Analyzer`] that makes the term of a word only once.
pub(super) struct BulkAnalyzer {
    analyzer: Analyzer,
    terms: HashMap<Box<str>, Box<str>>,
}

impl BulkAnalyzer {
    pub(super) fn for_each_term(&mut self, text: &str, mut take: impl FnMut(&str)) {
        let Self { analyzer, terms } = self;
        analyzer.for_each_word(text, |word| match terms.get(word) {
            Some(term) => take(term),
            None => {
                let term = analyzer.term(word);
                take(&term);
                // Words that are data, not language, are not met again.
                if word.len() <= 32 {
                    terms.insert(word.into(), term.into());
                }
            }
        });
    }
}

impl Default for Analyzer {
    /// English.
    fn default() -> Self {
        Self::new(Some(Language::English))
    }
}

/// The most words of an identifier that is kept whole: longer ones are paths and data.
const MAX_JOINED: usize = 8;

/// Whether two neighbouring words are parts of one identifier: `YouTube`, `mp3`, `get_page`. Words
/// with a hyphen or a dot between them are so often ordinary words that they are not.
fn joined(text: &str, a: &Word, b: &Word) -> bool {
    !a.unspaced && !b.unspaced && matches!(&text[a.end..b.start], "" | "_")
}

fn pairs(run: &str, take: &mut impl FnMut(&str)) {
    let starts = || run.char_indices().map(|(at, _)| at);
    let ends = starts().skip(2).chain([run.len()]);
    for (start, end) in starts().zip(ends) {
        take(&run[start..end]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        Analyzer::default().terms(text)
    }

    #[test]
    fn any_spelling_of_a_name_gives_the_same_terms() {
        let expected = ["creat", "http", "server", "2"];
        for name in ["create-http-server-2", "Create.HTTP.Server.2", "create http server 2"] {
            assert_eq!(terms(name), expected, "{name}");
        }
        let whole = ["creat", "http", "server", "2", "createhttpserver2"];
        for name in ["createHTTPServer2", "create_http_server_2"] {
            assert_eq!(terms(name), whole, "{name}");
        }
    }

    #[test]
    fn brands_meet_in_any_spelling() {
        assert!(terms("YouTube").contains(&"youtub".to_owned()));
        assert_eq!(terms("youtube"), ["youtub"]);
    }

    #[test]
    fn unspaced_scripts_become_pairs() {
        assert_eq!(terms("中文"), ["中文"]);
        assert_eq!(terms("中文名"), ["中文", "文名"]);
        assert_eq!(terms("中"), ["中"]);
        assert_eq!(terms("ไทย"), ["ไท", "ทย"]);
        assert_eq!(terms("get天气v2"), ["get", "天气", "v", "2", "v2"]);
    }

    #[test]
    fn symbols_are_no_terms() {
        assert_eq!(terms("🎉 launch 🚀!"), ["launch"]);
        assert!(terms("— … 🎉").is_empty());
    }

    #[test]
    fn stop_words_are_left_out_and_stemming_can_be() {
        assert_eq!(terms("the issues of a user's repository"), ["issu", "user", "repositori"]);
        assert_eq!(Analyzer::new(None).terms("The Issues"), ["issues"]);
    }

    #[test]
    fn terms_are_bounded() {
        let terms = terms(&"x".repeat(10_000));
        assert_eq!(terms, ["x".repeat(Analyzer::MAX_TERM_CHARS)]);
    }

    proptest! {
        #[test]
        fn any_text_has_bounded_terms(text in "\\PC*") {
            for language in Language::ALL.iter().copied().map(Some).chain([None]) {
                for term in Analyzer::new(language).terms(&text) {
                    prop_assert!(!term.is_empty());
                    prop_assert!(term.chars().count() <= 2 * Analyzer::MAX_TERM_CHARS);
                }
            }
        }
    }
}
