use std::collections::{BTreeMap, HashMap};

use super::{
    units::Units,
    verbs::{Use, verb},
};
use crate::index::{Analyzer, fold, is_stop_word, normalize, split};

/// The terms that texts are compared and labeled by, and how often each one is met.
///
/// Verbs that are nothing else are left out: they say of what kind a tool is, not what it is about.
/// A name in camel case within a sentence is one word (`GitHub`), in a tool's name it comes apart.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// The number of each stem.
    ids: HashMap<String, u32>,
    stems: Vec<Stem>,
    /// Of each tool: how much each term counts for it, by number.
    tools: Vec<BTreeMap<u32, u32>>,
}

#[derive(Debug, Default)]
struct Stem {
    tools: u32,
    hash: u64,
    /// How it is written, and how often.
    surfaces: BTreeMap<String, u32>,
}

impl Terms {
    /// Of the texts of tools: for each its name and the rest.
    pub(super) fn new<'a>(texts: impl Iterator<Item = (&'a str, String)>) -> Self {
        let mut terms = Self::default();
        let mut known = HashMap::new();
        for (name, rest) in texts {
            let mut counts = BTreeMap::new();
            for (text, prose, weight) in [(name, false, NAME_WEIGHT), (&*rest, true, 1)] {
                for_each_word(text, prose, |word| {
                    let id = *known.entry(word.to_owned()).or_insert_with(|| terms.id(word));
                    *counts.entry(id).or_default() += weight;
                    if let Some(id) = id {
                        *terms.stems[id as usize].surfaces.entry(word.to_owned()).or_default() += 1;
                    }
                });
            }
            let counts: BTreeMap<u32, u32> = counts.into_iter().filter_map(|(id, count)| Some((id?, count))).collect();
            counts.keys().for_each(|id| terms.stems[*id as usize].tools += 1);
            terms.tools.push(counts);
        }
        terms
    }

    /// The number of a word's stem, a new one if need be; none for a word that says nothing.
    fn id(&mut self, word: &str) -> Option<u32> {
        let stem = stem(word)?;
        if let Some(id) = self.ids.get(&stem) {
            return Some(*id);
        }
        let id = self.stems.len() as u32;
        self.stems.push(Stem { hash: fnv1a(&stem), ..Stem::default() });
        self.ids.insert(stem, id);
        Some(id)
    }

    pub(super) fn len(&self) -> usize {
        self.stems.len()
    }

    /// The terms of each tool with how much they count, by number.
    pub(super) fn tools(&self) -> &[BTreeMap<u32, u32>] {
        &self.tools
    }

    /// The terms of a tool, by number.
    pub(super) fn of(&self, tool: usize) -> impl Iterator<Item = u32> {
        self.tools.get(tool).into_iter().flat_map(|counts| counts.keys().copied())
    }

    /// The same for a term in every catalog.
    pub(super) fn hash(&self, id: u32) -> u64 {
        self.stems[id as usize].hash
    }

    /// The way in which a term is written most often; of equals the first in the alphabet.
    pub(super) fn surface(&self, id: u32) -> &str {
        let surfaces = &self.stems[id as usize].surfaces;
        surfaces.iter().rev().max_by_key(|(_, count)| **count).map_or("", |(surface, _)| surface)
    }

    /// A vector for each tool: TF-IDF, brought to [`DIMENSIONS`] by a random projection whose signs
    /// come from the terms themselves, so that a term points the same way in every catalog
    /// (Achlioptas 2003, database-friendly random projections).
    pub(super) fn units(&self) -> Units {
        let mut units = Units::with_capacity(DIMENSIONS, self.tools.len());
        for counts in &self.tools {
            units.push(&self.project(counts));
        }
        units
    }

    /// The vector of another text, by the terms that are known. `None` if there are none.
    pub(super) fn project_text(&self, text: &str) -> Option<Vec<i64>> {
        let mut counts = BTreeMap::new();
        for_each_word(text, true, |word| {
            if let Some(id) = stem(word).and_then(|stem| self.ids.get(&stem)) {
                *counts.entry(*id).or_default() += 1;
            }
        });
        (!counts.is_empty()).then(|| self.project(&counts))
    }

    fn project(&self, counts: &BTreeMap<u32, u32>) -> Vec<i64> {
        let mut sum = vec![0_i64; DIMENSIONS];
        for (id, count) in counts {
            let stem = &self.stems[*id as usize];
            let weight = (f64::from(self.rarity(stem.tools)) * f64::from(*count).sqrt()) as i64;
            let mut state = stem.hash;
            for lane in sum.chunks_mut(64) {
                let signs = split_mix(&mut state);
                for (bit, x) in lane.iter_mut().enumerate() {
                    *x += if signs >> bit & 1 == 0 { weight } else { -weight };
                }
            }
        }
        sum
    }

    /// How much a term counts that so many tools have, in steps of a quarter and times 64: a tool
    /// more or less moves hardly any weight, so that hardly any vector moves with it.
    fn rarity(&self, tools: u32) -> u32 {
        let idf = ((self.tools.len() as f64 + 1.0) / (f64::from(tools) + 0.5)).ln().max(0.25);
        (idf * 4.0).round() as u32 * 16
    }
}

/// The length of the vectors made here; random projections of texts keep their angles within about
/// 0.06 (1 / √256).
const DIMENSIONS: usize = 256;

/// A word of a name counts as much as four of a description: what everything on a server says of
/// itself stands in descriptions.
pub(super) const NAME_WEIGHT: u32 = 4;

/// Gives the words of a text, lowercase, without stop words. In prose, words in camel case stay one.
fn for_each_word(text: &str, prose: bool, mut take: impl FnMut(&str)) {
    let text = normalize(text);
    let words = split(&text);
    let camel = |i: usize| prose && words[i].end == words[i + 1].start && !words[i].unspaced && !words[i + 1].unspaced;
    let mut at = 0;
    while at < words.len() {
        let mut last = at;
        while last + 1 < words.len() && camel(last) {
            last += 1;
        }
        let raw = &text[words[at].start..words[last].end];
        if words[at].unspaced {
            // Pairs of characters, as in the index.
            Analyzer::new(None).terms(raw).iter().for_each(|pair| take(pair));
        } else {
            let word = fold(raw);
            if !is_stop_word(&word) {
                take(&word);
            }
        }
        at = last + 1;
    }
}

/// What a word has in common with its other forms; none if it says nothing about a topic.
fn stem(word: &str) -> Option<String> {
    let digits = word.chars().any(|c| c.is_ascii_digit());
    if digits
        || word.chars().count() < 2
        || matches!(verb(word), Some((_, Use::Always)))
        || GENERIC.binary_search(&word).is_ok()
    {
        return None;
    }
    Analyzer::default().terms(word).into_iter().next_back()
}

/// Words that every tool could have. Sorted, so that a look-up is a search.
const GENERIC: [&str; 64] = [
    "all",
    "allow",
    "allows",
    "api",
    "apis",
    "available",
    "bad",
    "based",
    "check",
    "current",
    "data",
    "details",
    "different",
    "error",
    "existing",
    "gets",
    "given",
    "including",
    "information",
    "list",
    "lists",
    "mcp",
    "multiple",
    "must",
    "name",
    "names",
    "one",
    "only",
    "optional",
    "parameter",
    "parameters",
    "provide",
    "provides",
    "request",
    "requests",
    "required",
    "requires",
    "response",
    "responses",
    "result",
    "results",
    "retrieves",
    "returned",
    "returns",
    "show",
    "shows",
    "specific",
    "specified",
    "support",
    "supported",
    "supports",
    "tool",
    "tools",
    "type",
    "types",
    "use",
    "used",
    "user",
    "users",
    "using",
    "value",
    "values",
    "various",
    "will",
];

fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// SplitMix64 (Steele et al. 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(texts: &[(&'static str, &str)]) -> Terms {
        Terms::new(texts.iter().map(|(name, rest)| (*name, (*rest).to_owned())))
    }

    #[test]
    fn words_are_those_of_topics() {
        let words = |text: &str, prose| {
            let mut words = Vec::new();
            for_each_word(text, prose, |word| words.push(word.to_owned()));
            words.join(" ")
        };
        assert_eq!(words("Creates an issue on GitHub, by its URL", true), "creates issue github url");
        assert_eq!(words("createHubIssue", false), "create hub issue");
        assert_eq!(words("查询天气", true), "查询 询天 天气");
        for (word, expected) in [("create", None), ("api", None), ("v2", None), ("x", None), ("issues", Some("issu"))] {
            assert_eq!(stem(word).as_deref(), expected, "{word}");
        }
    }

    #[test]
    fn a_term_is_shown_as_it_is_mostly_written() {
        let terms = terms(&[("issue", "issues issues"), ("other", "issues")]);
        let id = terms.ids["issu"];
        assert_eq!((terms.surface(id), terms.stems[id as usize].tools), ("issues", 2));
    }

    #[test]
    fn texts_with_the_same_words_are_near() {
        let terms = terms(&[("a", "red apple tree"), ("b", "apple tree red"), ("c", "blue sea ship")]);
        let units = terms.units();
        let own = terms.project_text("a ship on the blue sea").unwrap();
        let mut query = Units::with_capacity(DIMENSIONS, 1);
        query.push(&own);
        let cosine = |at: usize| Units::cosine(query.get(0), units.get(at));
        assert!(cosine(2) > 0.9 && cosine(0) < 0.3, "{} {}", cosine(2), cosine(0));
        assert_eq!(terms.project_text("nothing known"), None);
    }
}
