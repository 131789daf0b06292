use nucleo_matcher::{
    Utf32Str,
    chars::{normalize, to_lower_case},
};

/// Texts of many items end to end, as the matcher reads them: a search touches two pieces of memory
/// and allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Texts {
    ascii: Vec<u8>,
    wide: Vec<char>,
}

/// Where one text lies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    start: u32,
    chars: u16,
    wide: bool,
}

impl Texts {
    /// Adds a text of at most `u16::MAX` characters; what does not fit counts as empty.
    pub(super) fn push(&mut self, text: &str) -> Span {
        let wide = !text.is_ascii();
        let start = if wide { self.wide.len() } else { self.ascii.len() };
        let chars = if wide { text.chars().count() } else { text.len() };
        let (Ok(start), Ok(chars)) = (u32::try_from(start), u16::try_from(chars)) else {
            return Span::default();
        };
        if wide {
            self.wide.extend(text.chars());
        } else {
            self.ascii.extend_from_slice(text.as_bytes());
        }
        Span { start, chars, wide }
    }

    pub(super) fn text(&self, span: Span) -> Utf32Str<'_> {
        let range = span.start as usize..span.start as usize + usize::from(span.chars);
        if span.wide {
            Utf32Str::Unicode(self.wide.get(range).unwrap_or_default())
        } else {
            Utf32Str::Ascii(self.ascii.get(range).unwrap_or_default())
        }
    }
}

/// Which characters a text has, as a set of few places: one that lacks a character of a word needs no
/// look.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Letters(u64);

impl Letters {
    /// Of a text that is searched, with all that the matcher may take its characters for.
    pub(super) fn of(text: Utf32Str<'_>) -> Self {
        forms(text).iter().fold(Self::default(), |all, form| all.and(Self::of_word(text.chars().map(form))))
    }

    /// Of a word that is searched for.
    pub(super) fn of_word(word: impl Iterator<Item = char>) -> Self {
        Self(word.fold(0, |bits, c| bits | 1 << place(c)))
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn has(self, all: Self) -> bool {
        self.0 & all.0 == all.0
    }
}

/// Which two characters stand side by side in some texts, in a Bloom filter: a word none of whose
/// pairs is missing is perhaps in one of them, any other is in none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Pairs([u64; 4]);

impl Pairs {
    /// Of a text that is searched, with all that the matcher may take its characters for.
    pub(super) fn of(text: Utf32Str<'_>) -> Self {
        forms(text).iter().fold(Self::default(), |all, form| all.and(Self::of_word(text.chars().map(form))))
    }

    /// Of a word that is searched for.
    pub(super) fn of_word(word: impl Iterator<Item = char>) -> Self {
        let mut bits = [0; 4];
        let mut last = None;
        for place in word.map(place) {
            if let Some(last) = last.replace(place) {
                // Fibonacci hashing: the upper eight bits of a product with the golden ratio's.
                let hash = (last << 6 | place).wrapping_mul(0x9e37_79b9) >> 24;
                bits[(hash >> 6) as usize] |= 1 << (hash & 63);
            }
        }
        Self(bits)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    pub(super) fn has(&self, all: &Self) -> bool {
        self.0.iter().zip(&all.0).all(|(has, all)| has & all == *all)
    }
}

/// What the matcher compares with a word's characters: those of the text as they are, without case, without
/// accents, or without both. All the same for ASCII, whose case has no place.
fn forms(text: Utf32Str<'_>) -> &'static [fn(char) -> char] {
    const ALL: [fn(char) -> char; 4] = [|c| c, |c| to_lower_case(c), normalize, |c| to_lower_case(normalize(c))];
    if matches!(text, Utf32Str::Ascii(_)) { &ALL[..1] } else { &ALL }
}

/// 26 letters and 10 digits on their own, all else shares 28 places.
fn place(c: char) -> u32 {
    let plain = c.to_ascii_lowercase();
    match plain {
        'a'..='z' => u32::from(plain) - u32::from('a'),
        '0'..='9' => 26 + u32::from(plain) - u32::from('0'),
        _ => 36 + u32::from(plain) % 28,
    }
}

#[cfg(test)]
mod tests {
    use nucleo_matcher::{
        Matcher,
        pattern::{Atom, AtomKind, CaseMatching, Normalization},
    };

    use super::*;

    #[test]
    fn texts_come_back_as_they_were() {
        let mut texts = Texts::default();
        let spans: Vec<Span> = ["plain", "", "Größe", "x"].map(|text| texts.push(text)).into();
        let shown: Vec<String> = spans.iter().map(|span| texts.text(*span).to_string()).collect();
        assert_eq!(shown, ["plain", "", "Größe", "x"]);
        let long = "x".repeat(70_000);
        let span = texts.push(&long);
        assert!(texts.text(span).is_empty());
    }

    #[test]
    fn what_the_matcher_meets_is_never_ruled_out() {
        let mut matcher = Matcher::default();
        let mut met = 0;
        for c in '\u{80}'..='\u{2fff}' {
            let text = [c, 'Ö', c];
            let text = Utf32Str::Unicode(&text);
            for other in forms(text).iter().map(|form| form(c)) {
                for word in [format!("{other}o"), format!("{other}ö"), format!("{other}Ö{other}")] {
                    let atom = Atom::new(&word, CaseMatching::Smart, Normalization::Smart, AtomKind::Substring, false);
                    if atom.score(text, &mut matcher).is_some() {
                        met += 1;
                        assert!(Letters::of(text).has(Letters::of_word(word.chars())), "{c:?} {word}");
                        assert!(Pairs::of(text).has(&Pairs::of_word(word.chars())), "{c:?} {word}");
                    }
                }
            }
        }
        assert!(met > 20_000, "{met}");
    }
}
