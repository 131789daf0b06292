use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

/// Counts of the pieces that texts are made of, so that a word is put through a tokenizer once and
/// not once for each definition that holds it.
///
/// Exact: a text is cut only where every tokenizer of the tiktoken family cuts it too, see [`pieces`].
#[derive(Debug, Default)]
pub(super) struct PieceCounts(RwLock<HashMap<Box<str>, u32>>);

impl PieceCounts {
    /// How many pieces are remembered: 32,768, about 2 MB when full. Then all are forgotten, so
    /// that no text can fill it with what nobody asks for again.
    const CAPACITY: usize = 32_768;

    /// Longer pieces are no words, and do not come again.
    const MAX_BYTES: usize = 32;

    /// The tokens of `text`, where `count` gives those of a piece.
    pub(super) fn count(&self, text: &str, count: impl Fn(&str) -> usize) -> usize {
        let mut tokens = 0;
        let mut unknown = Vec::new();
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            for piece in pieces(text) {
                match known.get(piece) {
                    Some(of_piece) => tokens += *of_piece as usize,
                    None => unknown.push(piece),
                }
            }
        }
        if unknown.is_empty() {
            return tokens;
        }
        // The lock is not held while counting.
        let counted: Vec<_> = unknown.into_iter().map(|piece| (piece, count(piece))).collect();
        tokens += counted.iter().map(|(_, of_piece)| of_piece).sum::<usize>();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (piece, of_piece) in counted {
            if let (..=Self::MAX_BYTES, Ok(of_piece)) = (piece.len(), u32::try_from(of_piece)) {
                if known.len() >= Self::CAPACITY {
                    known.clear();
                }
                known.insert(piece.into(), of_piece);
            }
        }
        tokens
    }
}

/// Cuts `text` in places where no token can reach across, whatever stands around them.
///
/// The patterns by which `cl100k_base` and `o200k_base` part a text give: letters with at most one
/// other character before them and a contraction after them; up to three digits; other characters
/// with at most one space before them, and line ends and (`o200k_base`) slashes after them; white
/// space, which looks at what follows it. From this follow the places:
///
/// - after anything but white space, before a space;
/// - between an ASCII letter and an ASCII character that is neither letter nor `'`;
/// - between an ASCII digit and an ASCII character that is none;
/// - between two or more punctuation marks, or a space and one or more, and an ASCII letter: a
///   single mark may belong to the letters. Not if they stand after a line end, which may have
///   taken some of them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut start = 0;
    let mut at = 0;
    let mut marks = Marks::Unknown;
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            let before = at.checked_sub(1).and_then(|before| bytes.get(before)).copied();
            let cut = before.is_some_and(|before| is_cut(before, byte, marks));
            marks = marks.with(byte);
            at += 1;
            if cut {
                let piece = text.get(start..at - 1);
                start = at - 1;
                return piece;
            }
        }
        let rest = text.get(start..).filter(|rest| !rest.is_empty());
        start = bytes.len();
        rest
    })
}

fn is_cut(before: u8, after: u8, marks: Marks) -> bool {
    // A byte that is no ASCII may end a white space of another script.
    if !before.is_ascii() || before.is_ascii_whitespace() || before.is_ascii_control() || !after.is_ascii() {
        return false;
    }
    if after == b' ' || before.is_ascii_digit() != after.is_ascii_digit() {
        return true;
    }
    if before.is_ascii_alphabetic() {
        return !after.is_ascii_alphabetic() && after != b'\'';
    }
    after.is_ascii_alphabetic() && marks == Marks::Apart
}

/// The punctuation before a place.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Marks {
    /// None, after a letter or digit: the next mark begins a piece.
    None,
    /// A space, which goes with the marks after it.
    Space,
    /// One that may belong to letters after it.
    One,
    /// Marks that stand apart from letters after them.
    Apart,
    /// Not to be told.
    Unknown,
}

impl Marks {
    fn with(self, byte: u8) -> Self {
        match byte {
            b' ' => Self::Space,
            byte if byte.is_ascii_alphanumeric() => Self::None,
            byte if byte.is_ascii_punctuation() => match self {
                Self::None => Self::One,
                Self::Space | Self::One | Self::Apart => Self::Apart,
                Self::Unknown => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_and_marks_stand_apart() {
        let cut = |text| pieces(text).collect::<Vec<_>>();
        assert_eq!(cut("Merge a branch."), ["Merge", " a", " branch", "."]);
        assert_eq!(cut(r#"{"name":"get_v2"}"#), [r#"{"name"#, r#"":""#, "get", "_v", "2", r#""}"#]);
        assert_eq!(cut("don't  stop"), ["don't", "  stop"]);
        assert_eq!(cut(""), Vec::<&str>::new());
    }

    /// Text in which everything that the patterns tell apart stands beside everything else.
    fn tricky() -> impl Strategy<Value = String> {
        let unit = prop_oneof![
            8 => "[a-zA-Z0-9]{1,4}",
            8 => "[ '\"/{}:,._-]{1,3}",
            3 => "[ \t\r\n/]{1,3}",
            1 => "['](s|S|ll|re|x)",
            1 => "[\u{0}\u{b}\u{c}\u{7f}]",
            2 => "[éßЖ中ǅʰ\u{301}\u{a0}\u{2028}\u{85}٣½“€]{1,2}",
            1 => "\\PC",
        ];
        prop::collection::vec(unit, 0..12).prop_map(|units| units.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn pieces_are_counted_as_the_whole(text in tricky()) {
            prop_assert_eq!(pieces(&text).collect::<String>(), text.as_str());
            for table in [tiktoken_rs::o200k_base_singleton(), tiktoken_rs::cl100k_base_singleton()] {
                let count = |text: &str| table.encode_ordinary(text).len();
                let counts = PieceCounts::default();
                prop_assert_eq!(counts.count(&text, count), count(&text));
                prop_assert_eq!(counts.count(&text, count), count(&text));
            }
        }
    }
}
