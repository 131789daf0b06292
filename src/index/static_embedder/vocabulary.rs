use std::borrow::Cow;

/// The entries of a static embedding, each with the number of its row: whole words, pieces that
/// continue a word (`##ing`), pairs of words (`pull request`).
///
/// The entries stay where they lie in the file; what is made beside them is a table of slots.
pub(super) struct Vocabulary {
    entries: Cow<'static, [u8]>,
    /// Where each entry starts, and where the last one ends.
    starts: Vec<u32>,
    /// A row number plus 1 in each slot that is taken; twice as many slots as rows at least.
    slots: Vec<u32>,
}

impl Vocabulary {
    /// Of entries that each end with a newline.
    pub(super) fn new(entries: Cow<'static, [u8]>) -> Self {
        let ends = (1..).zip(entries.iter()).filter(|(_, byte)| **byte == b'\n').map(|(end, _)| end);
        let starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
        let mut vocabulary = Self { entries, slots: vec![0; (starts.len() * 2).next_power_of_two()], starts };
        for row in 0..vocabulary.len() as u32 {
            let entry = vocabulary.entry(row);
            let mut slot = vocabulary.slot(Hash::new().with(entry));
            // Ends: there are more slots than rows.
            while vocabulary.slots[slot] != 0 {
                slot = (slot + 1) % vocabulary.slots.len();
            }
            vocabulary.slots[slot] = row + 1;
        }
        vocabulary
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The row of the pair of two words.
    pub(super) fn pair(&self, first: &str, second: &str) -> Option<u32> {
        let hash = Hash::new().with(first.as_bytes()).with(b" ").with(second.as_bytes());
        self.find(hash, |entry| {
            let rest = entry.strip_prefix(first.as_bytes()).and_then(|rest| rest.strip_prefix(b" "));
            rest == Some(second.as_bytes())
        })
    }

    /// Whether a word is an entry as a whole.
    pub(super) fn holds(&self, word: &str) -> bool {
        self.find(Hash::new().with(word.as_bytes()), |entry| entry == word.as_bytes()).is_some()
    }

    /// Gives the rows of a word's pieces: the longest entry that the word starts with, then the
    /// longest that goes on from there (WordPiece). What no entry stands for is passed over.
    pub(super) fn pieces(&self, word: &str, mut each: impl FnMut(u32)) {
        let word = word.as_bytes();
        let mut at = 0;
        while at < word.len() {
            let prefix: &[u8] = if at == 0 { b"" } else { CONTINUES };
            let rest = &word[at..];
            // The hash of each beginning, in one pass.
            let mut hashes = [Hash::new(); super::words::MAX_WORD_BYTES];
            let mut hash = Hash::new().with(prefix);
            for (byte, of_beginning) in rest.iter().zip(&mut hashes) {
                hash = hash.with(&[*byte]);
                *of_beginning = hash;
            }
            let longest = rest.len().min(hashes.len());
            let found = (1..=longest).rev().find_map(|length| {
                let same = |entry: &[u8]| entry.strip_prefix(prefix) == Some(&rest[..length]);
                Some((self.find(hashes[length - 1], same)?, length))
            });
            if let Some((row, _)) = found {
                each(row);
            }
            at += found.map_or(1, |(_, length)| length);
        }
    }

    fn find(&self, hash: Hash, same: impl Fn(&[u8]) -> bool) -> Option<u32> {
        let mut slot = self.slot(hash);
        loop {
            let row = self.slots.get(slot)?.checked_sub(1)?;
            if same(self.entry(row)) {
                return Some(row);
            }
            slot = (slot + 1) % self.slots.len();
        }
    }

    /// What a row stands for.
    pub(super) fn entry(&self, row: u32) -> &[u8] {
        let [start, end] = [0, 1].map(|next| self.starts.get(row as usize + next).map_or(0, |at| *at as usize));
        self.entries.get(start..end.saturating_sub(1)).unwrap_or_default()
    }

    fn slot(&self, hash: Hash) -> usize {
        // A power of two: the remainder is the low bits, and the high ones are folded into them.
        (hash.0 ^ (hash.0 >> 32)) as usize % self.slots.len()
    }
}

/// What stands before a piece that goes on with a word.
const CONTINUES: &[u8] = b"##";

/// FNV-1a, which goes on from any beginning. The entries are ours: nobody chooses them to collide.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn with(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vocabulary(entries: &[&str]) -> Vocabulary {
        let text: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
        Vocabulary::new(text.into_bytes().into())
    }

    fn pieces<'a>(vocabulary: &Vocabulary, entries: &[&'a str], word: &str) -> Vec<&'a str> {
        let mut pieces = Vec::new();
        vocabulary.pieces(word, |row| pieces.push(entries[row as usize]));
        pieces
    }

    #[test]
    fn the_longest_piece_goes_first() {
        let entries = ["##er", "##ing", "merge", "mer", "m", "##ge", "pull request"];
        let vocabulary = vocabulary(&entries);
        for (word, expected) in [
            ("merge", &["merge"][..]),
            ("merging", &["mer", "##ing"]),
            ("merger", &["merge"]),
            ("mergeer", &["merge", "##er"]),
            ("x", &[]),
            ("", &[]),
        ] {
            assert_eq!(pieces(&vocabulary, &entries, word), expected, "{word}");
        }
        assert_eq!(vocabulary.pair("pull", "request"), Some(6));
        assert_eq!(vocabulary.pair("pull request", ""), None);
        assert!(vocabulary.holds("mer") && !vocabulary.holds("##er ") && !vocabulary.holds("er"));
    }

    #[test]
    fn none_is_one_too() {
        let empty = vocabulary(&[]);
        assert_eq!(empty.len(), 0);
        assert!(!empty.holds("a") && empty.pair("a", "b").is_none());
        empty.pieces("word", |row| assert_eq!(row, u32::MAX, "nothing is there"));
    }

    proptest! {
        #[test]
        fn every_entry_is_found(entries in prop::collection::btree_set("[a-z]{1,5}", 1..200)) {
            let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
            let vocabulary = vocabulary(&entries);
            prop_assert_eq!(vocabulary.len(), entries.len());
            for entry in &entries {
                prop_assert_eq!(pieces(&vocabulary, &entries, entry), vec![*entry]);
            }
        }
    }
}
