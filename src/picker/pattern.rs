use std::ops::Range;

use nucleo_matcher::{
    Matcher, Utf32Str,
    chars::{is_upper_case, normalize},
    pattern::{Atom, AtomKind, CaseMatching, Normalization},
};
use unicode_normalization::UnicodeNormalization;

use super::{
    highlight::{Highlights, ranges},
    item::Item,
    source::{Entry, Source},
    texts::{Letters, Pairs, Span},
};
use crate::id::ServerId;

/// What a query asks for: all of its words, each in any field, of some servers.
#[derive(Debug, Default)]
pub(super) struct Pattern {
    scope: Option<Scope>,
    words: Vec<Word>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Scope {
    Server(ServerId),
    /// Servers whose lower-case name holds this.
    Like(String),
}

#[derive(Debug)]
struct Word {
    text: String,
    letters: Letters,
    pairs: Pairs,
    whole: Atom,
    /// With letters left out; `None` for a word so short that its letters stand in nearly everything.
    fuzzy: Option<Fuzzy>,
}

#[derive(Debug)]
struct Fuzzy {
    atom: Atom,
    ignore_case: bool,
    normalize: bool,
}

/// Where a word is met.
#[derive(Clone, Copy)]
enum Field {
    Label,
    Name,
    Uri,
    Server,
    Description,
}

impl Field {
    /// What a match in it counts: by what people look for first.
    fn weight(self) -> u32 {
        match self {
            Self::Label => 8,
            Self::Name => 6,
            Self::Uri => 5,
            Self::Server => 3,
            Self::Description => 1,
        }
    }
}

/// Where and how a word is met.
#[derive(Clone, Copy)]
struct Met {
    score: u32,
    field: Field,
    fuzzy: bool,
}

/// How a query goes on from the one before it.
#[derive(Clone, Copy)]
pub(super) enum Growth {
    SameWord,
    NextWord,
}

/// What every word of a pattern is asked for in one item.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) source: &'a Source,
    pub(super) entry: &'a Entry,
    /// Whether letters may be left out.
    pub(super) fuzzy: bool,
}

impl Pattern {
    /// The longest query in characters; what is longer is cut.
    const MAX_CHARS: usize = 200;
    /// The most words; more are not looked for.
    const MAX_WORDS: usize = 8;

    /// Reads a query. `server:` and `@server:` scope it to one of `servers` (to those whose names hold the word, if
    /// it is none of them and marked with `@`), unless `//` follows, which makes it a URI.
    pub(super) fn parse<'a>(text: &str, servers: impl Iterator<Item = &'a ServerId>) -> Self {
        let text: String = text.trim().nfc().take(Self::MAX_CHARS).collect();
        let (scope, rest) = scope(&text, servers);
        let words = rest.split_whitespace().take(Self::MAX_WORDS).map(Word::new).collect();
        Self { scope, words }
    }

    /// Whether there are words. Without them everything is met, and nothing scores.
    pub(super) fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    pub(super) fn admits(&self, server: &ServerId) -> bool {
        match &self.scope {
            None => true,
            Some(Scope::Server(only)) => only == server,
            Some(Scope::Like(part)) => server.as_str().to_lowercase().contains(part),
        }
    }

    /// Whether letters of a word may be left out at all.
    pub(super) fn is_fuzzy(&self) -> bool {
        self.words.iter().any(|word| word.fuzzy.is_some())
    }

    /// Whether it can meet nothing that `wider` does not, with no letters left out: longer words, more words, a scope
    /// where there was none. Whatever holds a word holds its beginning, and case and accents that are added only
    /// count from then on.
    pub(super) fn narrows(&self, wider: &Self) -> bool {
        (wider.scope.is_none() || wider.scope == self.scope)
            && wider.words.len() <= self.words.len()
            && self.pairs_with(wider).all(|(word, wider)| word.text.starts_with(&wider.text))
    }

    /// The same with letters left out where they may be.
    pub(super) fn narrows_fuzzily(&self, wider: &Self) -> bool {
        self.narrows(wider) && self.pairs_with(wider).all(|(word, wider)| word.fuzzy.is_some() == wider.fuzzy.is_some())
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.narrows(other) && other.narrows(self)
    }

    fn pairs_with<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (&'a Word, &'a Word)> {
        self.words.iter().zip(&other.words)
    }

    /// What each word scores by the server's name; 0 where it is not in it.
    pub(super) fn server_scores(&self, source: &Source, matcher: &mut Matcher) -> [u32; Self::MAX_WORDS] {
        let mut scores = [0; Self::MAX_WORDS];
        for (word, score) in self.words.iter().zip(&mut scores) {
            if source.name_letters.has(word.letters) && source.name_pairs.has(&word.pairs) {
                *score = points(&word.whole, source.texts.text(source.name), matcher);
            }
        }
        scores
    }

    /// What an item scores by all words but the last and by all; `None` if one of them is nowhere. `before` is the
    /// first of the two where it is known.
    pub(super) fn score(
        &self,
        place: Place<'_>,
        by_server: &[u32; Self::MAX_WORDS],
        before: Option<u32>,
        matcher: &mut Matcher,
    ) -> Option<(u32, u32)> {
        let mut words = self.words.iter().zip(by_server);
        // The word that is being typed fails most often.
        let Some((last, last_by_server)) = words.next_back() else { return Some((0, 0)) };
        let may_meet = |word: &Word, by_server: u32| by_server > 0 || word.may_meet(place);
        let others = || words.clone().filter(|_| before.is_none());
        if !may_meet(last, *last_by_server) || !others().all(|(word, by_server)| may_meet(word, *by_server)) {
            return None;
        }
        let last = last.meet(place, *last_by_server, matcher)?.score;
        let mut sum = before.unwrap_or_default();
        for (word, by_server) in others() {
            sum += word.meet(place, *by_server, matcher)?.score;
        }
        Some((sum, sum + last))
    }

    /// Whether a pattern that it narrows has all of its words but the last, or all but a longer last one.
    pub(super) fn goes_on(&self, wider: &Self) -> Option<Growth> {
        let same = |count| self.pairs_with(wider).take(count).all(|(word, wider)| word.text == wider.text);
        match self.words.len() {
            0 => None,
            words if words == wider.words.len() && same(words - 1) => Some(Growth::SameWord),
            words if words == wider.words.len() + 1 && same(words - 1) => Some(Growth::NextWord),
            _ => None,
        }
    }

    /// Which parts of the item's texts were met: for each word those that its score comes from.
    pub(super) fn highlights(&self, source: &Source, entry: &Entry, item: &Item, matcher: &mut Matcher) -> Highlights {
        let place = Place { source, entry, fuzzy: true };
        let by_server = self.server_scores(source, matcher);
        let mut found: [Vec<u32>; 5] = Default::default();
        for (word, by_server) in self.words.iter().zip(by_server) {
            let Some(met) = word.meet(place, by_server, matcher) else { continue };
            let span = match met.field {
                Field::Label => entry.label,
                Field::Name => entry.name,
                Field::Uri => entry.uri,
                Field::Server => source.name,
                Field::Description => entry.description,
            };
            let fuzzy = word.fuzzy.as_ref().filter(|_| met.fuzzy);
            let atom = fuzzy.map_or(&word.whole, |fuzzy| &fuzzy.atom);
            atom.indices(source.texts.text(span), matcher, &mut found[met.field as usize]);
        }
        let texts = [
            &item.label,
            item.name.as_deref().unwrap_or_default(),
            &item.uri,
            source.server.as_str(),
            item.description.as_deref().unwrap_or_default(),
        ];
        let mut at = found.into_iter().zip(texts).map(|(found, text)| ranges(found, text));
        let mut next = || -> Vec<Range<usize>> { at.next().unwrap_or_default() };
        Highlights { label: next(), name: next(), uri: next(), server: next(), description: next() }
    }
}

impl Word {
    /// From so many characters on letters may be left out.
    const FUZZY: usize = 3;

    fn new(text: &str) -> Self {
        let atom = |kind| Atom::new(text, CaseMatching::Smart, Normalization::Smart, kind, false);
        let chars: Vec<char> = text.chars().collect();
        let fuzzy = || Fuzzy {
            atom: atom(AtomKind::Fuzzy),
            ignore_case: !chars.iter().any(|c| is_upper_case(*c)),
            normalize: chars.iter().all(|c| normalize(*c) == *c),
        };
        Self {
            letters: Letters::of_word(text.chars()),
            pairs: Pairs::of_word(text.chars()),
            whole: atom(AtomKind::Substring),
            fuzzy: (chars.len() >= Self::FUZZY).then(fuzzy),
            text: text.to_owned(),
        }
    }

    /// Whether the letters say that it may be met.
    fn may_meet(&self, Place { entry, fuzzy, .. }: Place<'_>) -> bool {
        let left_out = fuzzy && self.fuzzy.is_some();
        (entry.label_letters.has(self.letters) && (left_out || entry.label_pairs.has(&self.pairs)))
            || (entry.uri_letters.has(self.letters) && (left_out || entry.uri_pairs.has(&self.pairs)))
            || (entry.description_letters.has(self.letters) && entry.description_pairs.has(&self.pairs))
    }

    /// The first field that holds it, from what counts most. Only if none holds it whole, letters may be left out in
    /// label, name and URI, for half the points: some letters of anything stand somewhere in prose.
    fn meet(&self, place: Place<'_>, by_server: u32, matcher: &mut Matcher) -> Option<Met> {
        self.meet_whole(place, by_server, matcher).or_else(|| self.meet_fuzzily(place, matcher))
    }

    fn meet_whole(&self, Place { source, entry, .. }: Place<'_>, by_server: u32, matcher: &mut Matcher) -> Option<Met> {
        let met = |points: u32, field: Field| Met { score: 2 * field.weight() * points, field, fuzzy: false };
        let mut look = |span: Span, field: Field| {
            let points = points(&self.whole, source.texts.text(span), matcher);
            (points > 0).then(|| met(points, field))
        };
        let may_hold = |letters: Letters, pairs: &Pairs| letters.has(self.letters) && pairs.has(&self.pairs);
        let in_label = may_hold(entry.label_letters, &entry.label_pairs);
        let in_uri = may_hold(entry.uri_letters, &entry.uri_pairs);
        let in_description = may_hold(entry.description_letters, &entry.description_pairs);
        None.or_else(|| in_label.then(|| look(entry.label, Field::Label)).flatten())
            .or_else(|| in_uri.then(|| look(entry.name, Field::Name)).flatten())
            .or_else(|| in_uri.then(|| look(entry.uri, Field::Uri)).flatten())
            .or_else(|| (by_server > 0).then(|| met(by_server, Field::Server)))
            .or_else(|| in_description.then(|| look(entry.description, Field::Description)).flatten())
    }

    fn meet_fuzzily(&self, Place { source, entry, fuzzy }: Place<'_>, matcher: &mut Matcher) -> Option<Met> {
        let Fuzzy { atom, ignore_case, normalize } = self.fuzzy.as_ref().filter(|_| fuzzy)?;
        let label = entry.label_letters.has(self.letters).then_some((entry.label, Field::Label));
        let others =
            entry.uri_letters.has(self.letters).then_some([(entry.name, Field::Name), (entry.uri, Field::Uri)]);
        (matcher.config.ignore_case, matcher.config.normalize) = (*ignore_case, *normalize);
        label.into_iter().chain(others.into_iter().flatten()).find_map(|(span, field)| {
            // The first way in which they stand there, not the best of all: that takes several times as long.
            let points = matcher.fuzzy_match_greedy(source.texts.text(span), atom.needle_text())?;
            Some(Met { score: field.weight() * u32::from(points), field, fuzzy: true })
        })
    }
}

fn points(atom: &Atom, text: Utf32Str<'_>, matcher: &mut Matcher) -> u32 {
    atom.score(text, matcher).map_or(0, u32::from)
}

fn scope<'a, 'b>(text: &'b str, servers: impl Iterator<Item = &'a ServerId>) -> (Option<Scope>, &'b str) {
    let (marked, body) = text.strip_prefix('@').map_or((false, text), |body| (true, body));
    let behind = |server: &ServerId| body.strip_prefix(server.as_str())?.strip_prefix(':');
    let named = servers.filter_map(|server| Some((server, behind(server)?))).min_by_key(|(_, rest)| rest.len());
    match (named, body.split_once(':')) {
        (Some((_, rest)), _) | (None, Some((_, rest))) if rest.starts_with("//") => (None, body),
        (Some((server, rest)), _) => (Some(Scope::Server(server.clone())), rest),
        (None, Some((part, rest))) if marked => (Some(Scope::Like(part.to_lowercase())), rest),
        _ => (None, body),
    }
}
