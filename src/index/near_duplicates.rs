//! Tools that say nearly the same, found by the words that they share.

use std::collections::HashMap;

use super::{
    passage::own_text,
    words::{fold, normalize, split},
};
use crate::{
    catalog::{Catalog, ToolEntry},
    id::ToolId,
};

/// From this share of common words on, two tools say nearly the same. Templates filled with other
/// nouns, of which honest servers are full, mostly stay below.
pub const NEAR_DUPLICATE: f32 = 0.9;

/// Tools that say nearly the same.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NearDuplicates {
    /// By id; at least two.
    pub tools: Vec<ToolId>,
    /// How similar the one that is least similar to the first is, 0 to 1.
    pub similarity: f32,
}

/// The tools of all servers whose names and descriptions are nearly the same, by the id of the
/// first of each group. No tool is in two groups.
///
/// Similarity is that of Jaccard between the sets of words of name, title and description: the
/// share of all words of both that both have. A tool joins the group whose first tool it is most
/// similar to, if that is at least `threshold` (0 to 1, [`NEAR_DUPLICATE`] to begin with; not a
/// number counts as that): so all of a group are like its first, and chains of ever less similar
/// tools do not form.
///
/// Takes time in proportion to the tools, whatever they say: each is compared with at most 64
/// groups, those that share its rarest words. In a catalog that was made to have more of them a
/// tool may miss its group.
///
/// ```
/// use proem::{catalog::Catalog, id::ServerId, index::{NEAR_DUPLICATE, near_duplicates}, protocol::Tool};
///
/// let catalog = Catalog::builder()
///     .tool(ServerId::new("a")?, Tool::new("search", "Search the web for pages about a topic"))
///     .tool(ServerId::new("b")?, Tool::new("search", "Search the web for pages about a topic."))
///     .tool(ServerId::new("b")?, Tool::new("fetch", "Read one page of the web"))
///     .build();
/// let groups = near_duplicates(&catalog, NEAR_DUPLICATE);
/// assert_eq!(groups.len(), 1);
/// assert_eq!(groups[0].tools.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a/search", "b/search"]);
/// # Ok::<(), proem::Error>(())
/// ```
pub fn near_duplicates(catalog: &Catalog, threshold: f32) -> Vec<NearDuplicates> {
    let threshold = if threshold.is_nan() { NEAR_DUPLICATE } else { threshold.clamp(0.0, 1.0) };
    let sets: Vec<WordSet> = catalog.tools().iter().map(|entry| WordSet::of(entry)).collect();
    let mut groups = Groups::new(&sets, threshold);
    for (at, set) in sets.iter().enumerate().filter(|(_, set)| !set.0.is_empty()) {
        groups.add(at, set);
    }
    let several = groups.members.into_iter().filter(|(tools, _)| tools.len() > 1);
    let id = |at: usize| catalog.tools()[at].id.clone();
    several
        .map(|(tools, similarity)| NearDuplicates { tools: tools.into_iter().map(id).collect(), similarity })
        .collect()
}

/// The words of a tool's name, title and description, as sorted hashes; of text without spaces the
/// pairs of characters.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct WordSet(Box<[u64]>);

impl WordSet {
    pub(crate) fn of(entry: &ToolEntry) -> Self {
        let text = own_text(entry);
        let text = normalize(&text);
        let mut hashes = Vec::new();
        for word in split(&text) {
            let folded = fold(&text[word.start..word.end]);
            let mut ends = folded.char_indices().map(|(at, _)| at).skip(2).chain([folded.len()]);
            if word.unspaced && folded.chars().nth(1).is_some() {
                hashes.extend(folded.char_indices().zip(&mut ends).map(|((start, _), end)| hash(&folded[start..end])));
            } else {
                hashes.push(hash(&folded));
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes.into())
    }

    /// Jaccard's similarity, 0 to 1; 0 with a tool that has no words.
    pub(crate) fn similarity(&self, other: &Self) -> f32 {
        let (mut a, mut b, mut common) = (0, 0, 0_usize);
        while let (Some(x), Some(y)) = (self.0.get(a), other.0.get(b)) {
            common += usize::from(x == y);
            a += usize::from(x <= y);
            b += usize::from(y <= x);
        }
        let all = self.0.len() + other.0.len() - common;
        if all == 0 { 0.0 } else { common as f32 / all as f32 }
    }
}

/// FNV-1a: the same on every machine and with every compiler.
fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The groups so far, by the rarest words of their first tools.
///
/// Two sets with a similarity of at least t share a word among the rarest n - ⌈t·n⌉ + 1 of each
/// one's n words (prefix filtering: Bayardo, Ma and Srikant, "Scaling up all pairs similarity
/// search", 2007). So only these are looked up.
struct Groups<'a> {
    threshold: f32,
    frequency: HashMap<u64, u32>,
    /// By the first tool's words: tools that say the very same need no search.
    same: HashMap<&'a WordSet, usize>,
    by_word: HashMap<u64, Vec<usize>>,
    /// The first tool's words.
    firsts: Vec<&'a WordSet>,
    /// Tools by position in the catalog, and the least similarity.
    members: Vec<(Vec<usize>, f32)>,
}

/// The most groups that a tool is compared with, and the most that are looked at for that.
const MAX_COMPARED: usize = 64;
const MAX_LOOKED_AT: usize = 1_024;

impl<'a> Groups<'a> {
    fn new(sets: &[WordSet], threshold: f32) -> Self {
        let mut frequency = HashMap::new();
        sets.iter().flat_map(|set| &set.0).for_each(|word| *frequency.entry(*word).or_insert(0) += 1);
        let (same, by_word) = (HashMap::new(), HashMap::new());
        Self { threshold, frequency, same, by_word, firsts: Vec::new(), members: Vec::new() }
    }

    fn add(&mut self, at: usize, set: &'a WordSet) {
        if let Some(group) = self.same.get(set) {
            self.members[*group].0.push(at);
            return;
        }
        let rare = self.rarest(set);
        match self.most_similar(set, &rare) {
            Some((group, similarity)) => {
                let (tools, least) = &mut self.members[group];
                tools.push(at);
                *least = least.min(similarity);
            }
            None => {
                let group = self.firsts.len();
                self.firsts.push(set);
                self.members.push((vec![at], 1.0));
                self.same.insert(set, group);
                rare.iter().for_each(|word| self.by_word.entry(*word).or_default().push(group));
            }
        }
    }

    /// The rarest words, as many as must be looked up; equally rare ones by hash.
    fn rarest(&self, set: &WordSet) -> Vec<u64> {
        let count = set.0.len();
        // A little less, so that no product of floats is rounded up to the next number.
        let common = (f64::from(self.threshold) * count as f64 - 1e-4).ceil().max(0.0) as usize;
        let mut words: Vec<u64> = set.0.to_vec();
        words.sort_unstable_by_key(|word| (self.frequency.get(word), *word));
        words.truncate(count - common.min(count) + 1);
        words
    }

    fn most_similar(&self, set: &WordSet, rare: &[u64]) -> Option<(usize, f32)> {
        let compared = self.candidates(set, rare).into_iter();
        let compared = compared.map(|group| (group, set.similarity(self.firsts[group])));
        let similar = compared.filter(|(_, similarity)| *similarity >= self.threshold);
        // Of equals the first.
        similar.min_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)))
    }

    /// The groups to compare with: those that share the rarest words, and are not too small or too large.
    fn candidates(&self, set: &WordSet, rare: &[u64]) -> Vec<usize> {
        let of_word = rare.iter().filter_map(|word| self.by_word.get(word)).flatten().take(MAX_LOOKED_AT);
        let mut candidates = Vec::new();
        for group in of_word {
            let (a, b) = (set.0.len() as f32, self.firsts[*group].0.len() as f32);
            let fits = a.min(b) >= self.threshold * a.max(b) - 1e-4;
            if fits && !candidates.contains(group) {
                candidates.push(*group);
            }
            if candidates.len() == MAX_COMPARED {
                break;
            }
        }
        candidates
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{id::ServerId, protocol::Tool};

    fn catalog<'a>(tools: impl IntoIterator<Item = (&'a str, String, String)>) -> Catalog {
        let tools = tools.into_iter();
        tools
            .fold(Catalog::builder(), |builder, (server, name, description)| {
                builder.tool(ServerId::new(server).unwrap(), Tool::new(name, description))
            })
            .build()
    }

    fn shown(groups: &[NearDuplicates]) -> Vec<String> {
        let ids = |group: &NearDuplicates| group.tools.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        groups.iter().map(|group| format!("{} {:.2}", ids(group), group.similarity)).collect()
    }

    #[test]
    fn what_says_nearly_the_same_is_one_group() {
        let long = "Reads the whole file at a path and gives its text, line by line, with numbers";
        let catalog = catalog([
            ("a", "read_file".into(), long.to_owned()),
            ("a", "readFile".into(), format!("{}.", long.to_uppercase())),
            ("b", "read file".into(), format!("{long} also")),
            ("b", "write_file".into(), "Writes the whole file at a path".into()),
            ("c", "读取文件".into(), "读取整个文件的内容并返回文本".into()),
            ("d", "读取文件".into(), "读取整个文件的内容并返回文本。".into()),
            ("d", "删除文件".into(), "删除整个文件".into()),
            ("e", "🎉".into(), String::new()),
            ("f", "🎉".into(), String::new()),
        ]);
        let groups = near_duplicates(&catalog, NEAR_DUPLICATE);
        assert_eq!(shown(&groups), ["a/readFile a/read_file b/read file 0.94", "c/读取文件 d/读取文件 1.00"]);
        assert_eq!(near_duplicates(&catalog, f32::NAN), groups);
        assert_eq!(
            shown(&near_duplicates(&catalog, 1.0)),
            ["a/readFile a/read_file 1.00", "c/读取文件 d/读取文件 1.00"]
        );
    }

    /// Tools that were made to take long: all the same, all nearly the same, and all sharing their
    /// words with hundreds of others without being like them.
    #[test]
    fn time_is_bounded_whatever_tools_say() {
        let words =
            |from: usize, count: usize| (from..from + count).map(|i| format!("w{} ", i % 400)).collect::<String>();
        let many =
            |description: &dyn Fn(usize) -> String| catalog((0..TOOLS).map(|i| ("s", format!("t{i}"), description(i))));
        let equal = many(&|_| words(0, 300));
        let near = many(&|i| format!("{} x{i}", words(0, 200)));
        let has = |i: usize, word: u32| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (word + 16) & 1 == 1;
        let crossed =
            many(&|i| (0..40).filter(|word| has(i, *word)).map(|word| format!("{word}w ")).collect::<String>());
        for (catalog, expected) in [(equal, 1), (near, 1), (crossed, MAX_COMPARED)] {
            let sets: Vec<WordSet> = catalog.tools().iter().map(|entry| WordSet::of(entry)).collect();
            let mut groups = Groups::new(&sets, NEAR_DUPLICATE);
            sets.iter().enumerate().for_each(|(at, set)| groups.add(at, set));
            let compared = sets.iter().map(|set| groups.candidates(set, &groups.rarest(set)).len());
            assert_eq!(compared.max(), Some(expected));
        }
    }

    const TOOLS: usize = 1_000;

    proptest! {
        #[test]
        fn groups_are_those_of_comparing_all(
            texts in prop::collection::vec(prop::collection::vec(0..12_u8, 1..12), 1..24),
            threshold in prop_oneof![Just(0.5_f32), Just(0.8), Just(0.9), Just(1.0)],
        ) {
            let text = |words: &Vec<u8>| words.iter().map(|word| format!("{} ", char::from(b'a' + word))).collect::<String>();
            let catalog = catalog(texts.iter().enumerate().map(|(i, words)| ("s", format!("t{i:02}"), text(words))));
            let sets: Vec<WordSet> = catalog.tools().iter().map(|entry| WordSet::of(entry)).collect();
            let mut groups: Vec<Vec<usize>> = Vec::new();
            for (at, set) in sets.iter().enumerate() {
                let similar = groups.iter().enumerate().map(|(group, tools)| (group, sets[tools[0]].similarity(set)));
                let best = similar.filter(|(_, similarity)| *similarity >= threshold);
                match best.min_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))) {
                    Some((group, _)) => groups[group].push(at),
                    None => groups.push(vec![at]),
                }
            }
            groups.retain(|tools| tools.len() > 1);
            let id = |at: &usize| catalog.tools()[*at].id.clone();
            let expected: Vec<Vec<ToolId>> = groups.iter().map(|tools| tools.iter().map(id).collect()).collect();
            let found: Vec<_> = near_duplicates(&catalog, threshold).into_iter().map(|group| group.tools).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
