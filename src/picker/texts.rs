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

/// Which letters a text has, by groups of letters that the matcher may take for each other: a text
/// that lacks one of a word's letters needs no look.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Letters(u64);

impl Letters {
    pub(super) fn of(text: Utf32Str<'_>) -> Self {
        Self(text.chars().fold(0, |bits, c| bits | 1 << letter(c)))
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn has(self, all: Self) -> bool {
        self.0 & all.0 == all.0
    }
}

/// Which two letters stand side by side in some texts, in a Bloom filter: a word none of whose pairs
/// is missing is perhaps in one of them, any other is in none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Pairs([u64; 4]);

impl Pairs {
    pub(super) fn of(text: Utf32Str<'_>) -> Self {
        let mut bits = [0; 4];
        for (a, b) in text.chars().zip(text.chars().skip(1)) {
            // Fibonacci hashing: the upper eight bits of a product with the golden ratio's.
            let hash = (letter(a) << 6 | letter(b)).wrapping_mul(0x9e37_79b9) >> 24;
            bits[(hash >> 6) as usize] |= 1 << (hash & 63);
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

/// 26 letters and 10 digits on their own, all else shares 28 places.
fn letter(c: char) -> u32 {
    let plain = if c.is_ascii() { c.to_ascii_lowercase() } else { to_lower_case(normalize(to_lower_case(c))) };
    match plain {
        'a'..='z' => u32::from(plain) - u32::from('a'),
        '0'..='9' => 26 + u32::from(plain) - u32::from('0'),
        _ => 36 + u32::from(plain) % 28,
    }
}

#[cfg(test)]
mod tests {
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
    fn characters_that_the_matcher_takes_for_each_other_share_a_place() {
        for c in '\0'..=char::MAX {
            let forms = [to_lower_case(c), normalize(c), to_lower_case(normalize(c))];
            assert!(forms.iter().all(|form| letter(*form) == letter(c)), "{c:?} {forms:?}");
        }
    }
}
