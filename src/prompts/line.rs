use super::shown::is_hidden;

/// One word of a line, its quotes undone.
#[derive(Debug, PartialEq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Where it ends in the line.
    pub(super) end: usize,
    /// Where its text has its first `=` that is not quoted.
    pub(super) equals: Option<usize>,
}

/// The word of `line` that begins at `from` or after white space there, by the rules of POSIX shells
/// without expansions. `None` at the line's end.
///
/// Not by a crate: those that split lines do not say where a word stood, which the rest of a line
/// needs, nor which `=` was quoted.
///
/// # Errors
/// A sentence, if a quote is not closed.
pub(super) fn word(line: &str, from: usize) -> Result<Option<Word>, &'static str> {
    let rest = line.get(from..).unwrap_or_default();
    let mut chars = Chars { line, at: from + rest.len() - rest.trim_start().len() };
    if chars.peek().is_none() {
        return Ok(None);
    }
    let (mut text, mut equals) = (String::new(), None);
    while let Some(c) = chars.peek().filter(|c| !c.is_whitespace()) {
        chars.next();
        match c {
            '\\' => match chars.next() {
                Some('\n') => {}
                escaped => text.push(escaped.unwrap_or('\\')),
            },
            '\'' => single(&mut chars, &mut text)?,
            '"' => double(&mut chars, &mut text)?,
            '$' if chars.peek() == Some('\'') => {
                chars.next();
                escaped(&mut chars, &mut text)?;
            }
            c => {
                equals = equals.or((c == '=').then_some(text.len()));
                text.push(c);
            }
        }
    }
    Ok(Some(Word { text, end: chars.at, equals }))
}

/// `text` as one word of a line, quoted only where it must be; characters that cannot be seen are
/// written out.
pub(super) fn quoted(text: &str) -> String {
    let unseen = |c: char| c.is_control() || is_hidden(c);
    if text.contains(|c| unseen(c) || c == '\'') {
        let mut out = String::from("$'");
        for c in text.chars() {
            match c {
                '\\' | '\'' => out.extend(['\\', c]),
                c if unseen(c) && u32::from(c) > 0xffff => out.push_str(&format!("\\U{:08x}", u32::from(c))),
                c if unseen(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => out.push(c),
            }
        }
        return out + "'";
    }
    let special = |c: char| c.is_whitespace() || matches!(c, '"' | '\\');
    if text.is_empty() || text.contains(special) { format!("'{text}'") } else { text.to_owned() }
}

const OPEN: &str = "a quote is not closed";

fn single(chars: &mut Chars<'_>, text: &mut String) -> Result<(), &'static str> {
    loop {
        match chars.next().ok_or(OPEN)? {
            '\'' => return Ok(()),
            c => text.push(c),
        }
    }
}

fn double(chars: &mut Chars<'_>, text: &mut String) -> Result<(), &'static str> {
    loop {
        match chars.next().ok_or(OPEN)? {
            '"' => return Ok(()),
            '\\' => match chars.next().ok_or(OPEN)? {
                '\n' => {}
                c @ ('"' | '\\' | '$' | '`') => text.push(c),
                c => text.extend(['\\', c]),
            },
            c => text.push(c),
        }
    }
}

/// Inside of `$'…'`: what is not known stays as it is.
fn escaped(chars: &mut Chars<'_>, text: &mut String) -> Result<(), &'static str> {
    loop {
        match chars.next().ok_or(OPEN)? {
            '\'' => return Ok(()),
            '\\' => match chars.next().ok_or(OPEN)? {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                c @ ('\\' | '\'' | '"') => text.push(c),
                c @ ('u' | 'U') => match chars.code_point(if c == 'u' { 4 } else { 8 }) {
                    Some(point) => text.push(point),
                    None => text.extend(['\\', c]),
                },
                c => text.extend(['\\', c]),
            },
            c => text.push(c),
        }
    }
}

struct Chars<'a> {
    line: &'a str,
    at: usize,
}

impl Chars<'_> {
    fn peek(&self) -> Option<char> {
        self.line.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes one to `most` hexadecimal digits, if they name a character.
    fn code_point(&mut self, most: usize) -> Option<char> {
        let rest = self.line.get(self.at..)?;
        let digits = rest.bytes().take(most).take_while(u8::is_ascii_hexdigit).count();
        let c = char::from_u32(u32::from_str_radix(rest.get(..digits)?, 16).ok()?)?;
        self.at += digits;
        Some(c)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(line: &str) -> Result<Vec<String>, &'static str> {
        let (mut words, mut at) = (Vec::new(), 0);
        while let Some(word) = word(line, at)? {
            at = word.end;
            words.push(word.text);
        }
        Ok(words)
    }

    #[test]
    fn words_are_those_of_a_shell() {
        for (line, expected) in [
            ("", &[] as &[&str]),
            ("  a\tb\n c ", &["a", "b", "c"]),
            ("a\u{3000}b", &["a", "b"]),
            ("'a b' \"c d\" e\\ f", &["a b", "c d", "e f"]),
            ("a'b c'd\"e\"", &["ab cde"]),
            ("'' \"\"", &["", ""]),
            (r#""a\"b\\c\d" 'e\f'"#, &[r#"a"b\c\d"#, r"e\f"]),
            (r"$'a\n\tb\u202ec\U0001f600\'\q'", &["a\n\tb\u{202e}c\u{1f600}'\\q"]),
            ("$HOME `x` $(y) *", &["$HOME", "`x`", "$(y)", "*"]),
            ("# a", &["#", "a"]),
            ("a\\", &["a\\"]),
            ("a\\\nb", &["ab"]),
        ] {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        }
        for line in ["'a", "a \"b", "$'a\\'", "\"a\\"] {
            assert_eq!(words(line), Err(OPEN), "{line}");
        }
    }

    #[test]
    fn only_an_equals_sign_that_is_not_quoted_counts() {
        for (line, expected) in
            [("a=b", Some(1)), ("'a'=b=c", Some(1)), ("'a=b'", None), ("a\\=b=c", Some(3)), ("\"=\"", None)]
        {
            assert_eq!(word(line, 0).unwrap().unwrap().equals, expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn a_quoted_text_is_one_word_again(text in "(\\PC|\\p{Cc}|[ '\"\\\\$=]|[\u{200b}-\u{202e}]){0,12}|\\PC{0,12}") {
            let line = quoted(&text);
            prop_assert_eq!(words(&format!("{line} next")).unwrap(), [text, "next".to_owned()]);
            prop_assert!(!line.chars().any(|c| c.is_control() || is_hidden(c)), "{}", line);
        }

        #[test]
        fn no_line_is_too_odd(line in "(\\PC|\\p{Cc}|[ '\"\\\\$=]){0,20}") {
            let _ = words(&line);
        }
    }
}
