use unicode_normalization::UnicodeNormalization;

/// Untrusted text for a person: one line of at most `max_chars` characters, none of which turns the
/// text around or cannot be seen.
///
/// Control characters and line breaks become spaces; directional marks and overrides (Unicode
/// Standard Annex 9), tags and other characters that show nothing are written out. The two joiners
/// stay: scripts and pictures are built with them.
///
/// ```
/// use proem::prompts::shown;
///
/// assert_eq!(shown("safe\u{202e}txt.exe\nnext", 40), "safe\\u{202e}txt.exe next");
/// assert_eq!(shown("abcdef", 4), "abc…");
/// ```
pub fn shown(text: &str, max_chars: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max_chars.saturating_mul(4)));
    let mut left = max_chars;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let (escaped, length) = if c.is_control() {
            (Some(" ".to_owned()), 1)
        } else if is_hidden(c) {
            let escaped = c.escape_unicode().to_string();
            let length = escaped.len();
            (Some(escaped), length)
        } else {
            (None, 1)
        };
        // The last place is for the mark that something is missing.
        if length > left || (length == left && chars.peek().is_some()) {
            if left > 0 {
                out.push('…');
            }
            break;
        }
        left -= length;
        match escaped {
            Some(escaped) => out.push_str(&escaped),
            None => out.push(c),
        }
    }
    out
}

/// What a person takes for the same text: without case, width, accents' composition and all that
/// cannot be seen. Not a defence against letters of other scripts that look alike.
pub(super) fn folded(text: &str) -> String {
    text.nfkc().filter(|c| !is_hidden(*c) && !is_joiner(*c)).flat_map(char::to_lowercase).nfc().collect()
}

/// Characters that turn the text around, or show nothing.
pub(super) fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e00ff}')
}

/// Joiners and variation selectors: they show nothing, but change what stands beside them.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_looks_the_same_folds_to_the_same() {
        for (one, other) in [
            ("Draft", "draft"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("dra\u{200b}ft", "draft"),
            ("dra\u{200d}ft", "draft"),
            ("\u{202e}draft", "draft"),
            ("ｄｒａｆｔ", "draft"),
            ("dra\u{e0041}ft", "draft"),
        ] {
            assert_eq!(folded(one), folded(other));
        }
        assert_ne!(folded("draft"), folded("drafts"));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_bounded_and_harmless(text in "(\\PC|\\p{Cc}|[\u{200b}-\u{202e}]|a){0,40}", max in 0..50_usize) {
            let shown = shown(&text, max);
            prop_assert!(shown.chars().count() <= max);
            prop_assert!(!shown.chars().any(|c| c.is_control() || is_hidden(c)));
        }
    }
}
