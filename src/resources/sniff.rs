/// Bytes as text, if they are: UTF-8, or UTF-16 that begins with a byte order mark.
///
/// What nobody calls text must be without fault; what is `called_text` may be damaged a little.
pub(super) fn text(bytes: &[u8], called_text: bool) -> Option<String> {
    let utf16 = |of: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let units = pairs.iter().skip(1).map(|pair| of(*pair));
        let text: String = char::decode_utf16(units).collect::<Result<_, _>>().ok()?;
        (rest.is_empty() && !text.contains(is_binary)).then_some(text)
    };
    match bytes {
        [0xfe, 0xff, ..] => return utf16(u16::from_be_bytes),
        [0xff, 0xfe, ..] => return utf16(u16::from_le_bytes),
        _ => {}
    }
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let is_text = match called_text {
        true => is_readable(&text),
        false => matches!(text, std::borrow::Cow::Borrowed(_)) && !text.contains(is_binary),
    };
    is_text.then(|| text.into_owned())
}

/// Whether at most one character in twenty is damaged or a binary data byte: servers that read a file
/// as text, whatever it is, give back a third and more of such characters.
pub(super) fn is_readable(text: &str) -> bool {
    let (mut chars, mut wrong) = (0_usize, 0_usize);
    for c in text.chars() {
        chars += 1;
        wrong += usize::from(c == char::REPLACEMENT_CHARACTER || is_binary(c));
    }
    wrong * 20 <= chars
}

/// The type by magic numbers, of what is not text.
pub(super) fn magic(bytes: &[u8]) -> Option<&'static str> {
    // No magic number stands farther behind, as the crate itself says by what it reads of a file.
    const HEADER: usize = 8_192;
    let found = infer::get(&bytes[..bytes.len().min(HEADER)])?;
    (found.matcher_type() != infer::MatcherType::Text).then(|| found.mime_type())
}

/// A binary data byte (WHATWG MIME Sniffing, section 3).
fn is_binary(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1a}' | '\u{1c}'..='\u{1f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn byte_order_marks_are_read_and_left_out() {
        for (bytes, expected) in [
            (&b"\xef\xbb\xbfa\xc3\xa9"[..], Some("aé")),
            (b"\xff\xfea\0\xe9\0", Some("aé")),
            (b"\xfe\xff\0a\0\xe9", Some("aé")),
            (b"\xff\xfea", None),
            (b"\xfe\xff\xd8\0\0a", None),
            (b"\xff\xfe\x01\0", None),
            (b"a\0\xe9\0", None),
        ] {
            assert_eq!(text(bytes, false).as_deref(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn only_what_is_called_text_may_be_damaged() {
        let damaged = b"The caf\xe9 opens at nine, and closes late.";
        assert_eq!(text(damaged, false), None);
        assert_eq!(text(damaged, true).as_deref(), Some("The caf\u{fffd} opens at nine, and closes late."));
        assert_eq!(text(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", true), None);
        assert_eq!(text(b"a\0b", false), None);
        assert_eq!(text(b"\x1b[1mbold\x1b[0m\t\x0c\r\n", false).as_deref(), Some("\x1b[1mbold\x1b[0m\t\x0c\r\n"));
    }

    proptest! {
        #[test]
        fn nothing_panics_and_text_stays_as_it_is(bytes in any::<Vec<u8>>(), plain in "[^\\p{Cc}\u{feff}]{0,40}") {
            let _ = (magic(&bytes), text(&bytes, true), text(&bytes, false));
            prop_assert_eq!(text(plain.as_bytes(), false), Some(plain));
        }
    }
}
