use std::fmt::Write;

/// With each `%` and its two hexadecimal digits as the byte that they stand for; `None` if there is none, or the
/// bytes are no text.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let byte = match tail {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    (bytes.len() < text.len()).then(|| String::from_utf8(bytes).ok()).flatten()
}

/// With the characters that `is_special` names as `%` and two digits for each of their bytes (RFC 3986, 2.1).
pub(super) fn encode(text: &str, is_special: impl Fn(usize, char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if is_special(at, c) {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(decode("a%20b%c3%A9").as_deref(), Some("a bé"));
        assert_eq!(decode("100%"), None);
        assert_eq!(decode("%zz%2"), None);
        assert_eq!(decode("%ff"), None);
        assert_eq!(decode("%%41").as_deref(), Some("%A"));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text in any::<String>()) {
            let encoded = encode(&text, |_, c| c == '%' || c.is_whitespace());
            prop_assert!(!encoded.contains(char::is_whitespace));
            prop_assert_eq!(decode(&encoded).unwrap_or(encoded), text);
        }
    }
}
