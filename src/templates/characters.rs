//! Characters of URIs and how they are encoded (RFC 3986, sections 2.1 to 2.3).

use std::borrow::Cow;

/// Letters, digits and `-._~`: they are never encoded.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}

/// Whether it may stand in a template outside of expressions (RFC 6570, section 2.1, with erratum
/// 6937 for the apostrophe); `%` aside, which begins an encoded octet.
pub(super) fn is_literal(c: char) -> bool {
    match u8::try_from(c) {
        Ok(byte) if c.is_ascii() => is_unreserved(byte) || is_reserved(byte),
        _ => !c.is_control(),
    }
}

/// A literal as it is expanded: with all that is not ASCII encoded.
pub(super) fn encoded_literal(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii() { c.to_string() } else { encoded(c) }).collect()
}

/// The characters of a value as they are expanded (RFC 6570, section 3.2.1). Where reserved ones stand
/// for themselves (`allow_reserved`), octets that are encoded already pass through, as one character
/// each: a prefix must not cut them.
pub(super) fn encoded_chars(mut value: &str, allow_reserved: bool) -> impl Iterator<Item = Cow<'_, str>> {
    std::iter::from_fn(move || {
        let c = value.chars().next()?;
        let passes = allow_reserved && octet(value, u8::is_ascii_hexdigit).is_some();
        let stands = u8::try_from(c).is_ok_and(|byte| is_unreserved(byte) || (allow_reserved && is_reserved(byte)));
        let (this, rest) = value.split_at(if passes { 3 } else { c.len_utf8() });
        value = rest;
        Some(if passes || stands { this.into() } else { encoded(c).into() })
    })
}

fn encoded(c: char) -> String {
    c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The first character of a value in a URI: how many bytes it takes, and what it stands for.
///
/// `None` at the end of the text and of what a value expands to. Where reserved characters stand for
/// themselves (`allow_reserved`), encoded ones pass through as they are, and so stay encoded.
pub(super) fn value_char(text: &str, allow_reserved: bool) -> Option<(usize, Cow<'_, str>)> {
    let byte = *text.as_bytes().first()?;
    if is_unreserved(byte) || (allow_reserved && is_reserved(byte)) {
        return Some((1, text[..1].into()));
    }
    let decoded = encoded_char(text).filter(|(_, c)| {
        let plain = u8::try_from(*c).is_ok_and(is_unreserved);
        let passes = u8::try_from(*c).is_ok_and(|byte| is_reserved(byte) || byte == b'%');
        !(plain || allow_reserved && passes)
    });
    match decoded {
        Some((length, c)) => Some((length, c.to_string().into())),
        None if allow_reserved && octet(text, u8::is_ascii_hexdigit).is_some() => Some((3, text[..3].into())),
        None => None,
    }
}

/// What the whole text stands for; what is no value is left out, and expands to something else.
pub(super) fn value_text(mut text: &str, allow_reserved: bool) -> String {
    let mut out = String::with_capacity(text.len());
    while let Some((length, part)) = value_char(text, allow_reserved) {
        out += &part;
        text = &text[length..];
    }
    out
}

/// A whole character, encoded as expansion does it: in UTF-8, with capital letters.
fn encoded_char(text: &str) -> Option<(usize, char)> {
    let mut bytes = [0; 4];
    for length in 1..=4 {
        bytes[length - 1] = octet(text.get(3 * (length - 1)..)?, |byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))?;
        if let Ok(decoded) = std::str::from_utf8(&bytes[..length]) {
            return Some((3 * length, decoded.chars().next()?));
        }
    }
    None
}

fn octet(text: &str, is_digit: impl Fn(&u8) -> bool) -> Option<u8> {
    let digits = text.strip_prefix('%')?.get(..2)?;
    digits.bytes().all(|byte| is_digit(&byte)).then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_as_far_as_they_expand_again() {
        for (text, unreserved, reserved) in [
            ("a-b", "a-b", "a-b"),
            ("a%20b", "a b", "a b"),
            ("a%2Fb", "a/b", "a%2Fb"),
            ("a/b", "a", "a/b"),
            ("%C3%A9", "é", "é"),
            ("%25", "%", "%25"),
            // No expansion has these, but where octets pass through.
            ("%c3%a9", "", "%c3%a9"),
            ("%C3", "", "%C3"),
            ("%61", "", "%61"),
            ("%FF%6", "", "%FF"),
            ("a b", "a", "a"),
        ] {
            assert_eq!(
                (value_text(text, false).as_str(), value_text(text, true).as_str()),
                (unreserved, reserved),
                "{text}"
            );
        }
    }
}
