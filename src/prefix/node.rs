use std::{borrow::Cow, iter, ops::Range};

use serde::de::IgnoredAny;

use crate::{Error, Result};

/// The text of a JSON value, and where the values in it lie. A parser would lose the order of keys,
/// the spelling of numbers and the place of everything, and these are what a cache compares.
#[derive(Debug)]
pub(super) struct Document<'a> {
    text: &'a str,
    /// From front to back; a container stands before what it holds, a key before its value.
    spans: Vec<Span>,
    /// There is white space between the tokens.
    spaced: bool,
}

#[derive(Debug)]
struct Span {
    start: u32,
    end: u32,
    /// The span after this one and what it holds.
    next: u32,
}

impl<'a> Document<'a> {
    /// The largest text: twice what Anthropic accepts as a request, pictures included.
    const MAX_BYTES: usize = 64 << 20;

    /// As deep as `serde_json` reads values.
    const MAX_DEPTH: usize = 128;

    /// How deep values are noted: the deepest that is asked for is the time of a mark on a block in
    /// the result of a call.
    const NOTED_DEPTH: usize = 9;

    /// Notes where everything lies.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is no JSON, too long or too deep.
    pub(super) fn read(text: &'a str) -> Result<Self> {
        let invalid = |reason: String| Error::invalid("request body", reason);
        if text.len() > Self::MAX_BYTES {
            return Err(invalid(format!("it has more than {} MiB", Self::MAX_BYTES >> 20)));
        }
        serde_json::from_str::<IgnoredAny>(text).map_err(|error| invalid(format!("it is no JSON: {error}")))?;
        let mut document = Self { text, spans: Vec::with_capacity(text.len() / 24), spaced: false };
        document.note().ok_or_else(|| invalid(format!("it is nested deeper than {}", Self::MAX_DEPTH)))?;
        Ok(document)
    }

    /// The whole value.
    pub(super) fn root(&self) -> Node<'_, 'a> {
        Node { document: self, index: 0 }
    }

    /// One pass over text that is known to be JSON. `None` if it is nested too deep.
    fn note(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut open: Vec<u32> = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let start = at;
            let depth = open.len();
            at = match byte {
                b'"' => string_end(bytes, at),
                b',' | b':' => {
                    at += 1;
                    continue;
                }
                b' ' | b'\n' | b'\r' | b'\t' => {
                    self.spaced |= !open.is_empty();
                    at += 1;
                    continue;
                }
                b'}' | b']' => {
                    at += 1;
                    let next = self.spans.len() as u32;
                    // Containers that are not noted left the index of no span.
                    if let Some(span) = open.pop().and_then(|index| self.spans.get_mut(index as usize)) {
                        (span.end, span.next) = (at as u32, next);
                    }
                    continue;
                }
                b'{' | b'[' => {
                    open.push(if depth < Self::NOTED_DEPTH { self.spans.len() as u32 } else { u32::MAX });
                    (depth < Self::MAX_DEPTH).then_some(at + 1)?
                }
                _ => bytes.get(at..)?.iter().position(|b| b",]} \n\r\t".contains(b)).map_or(bytes.len(), |n| at + n),
            };
            if depth < Self::NOTED_DEPTH {
                self.spans.push(Span { start: start as u32, end: at as u32, next: self.spans.len() as u32 + 1 });
            }
        }
        Some(())
    }
}

/// Where the string that starts at `at` ends.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    while let Some(n) = bytes.get(at..).and_then(|rest| rest.iter().position(|b| matches!(b, b'"' | b'\\'))) {
        at += n;
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            _ => return at + 1,
        }
    }
    bytes.len()
}

/// One value of a [`Document`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'d, 'a> {
    document: &'d Document<'a>,
    index: usize,
}

impl<'d, 'a> Node<'d, 'a> {
    /// Its bytes in the document.
    pub(super) fn range(self) -> Range<usize> {
        self.span().map(|span| span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Its text as it is written.
    pub(super) fn raw(self) -> &'a str {
        self.document.text.get(self.range()).unwrap_or_default()
    }

    /// Adds its text without the white space between tokens.
    pub(super) fn write(self, out: &mut String) {
        let raw = self.raw();
        if !self.document.spaced {
            return out.push_str(raw);
        }
        let mut rest = raw;
        while let Some(at) = rest.find(['"', ' ', '\n', '\r', '\t']) {
            let end = if rest.as_bytes().get(at) == Some(&b'"') { string_end(rest.as_bytes(), at) } else { at };
            out.push_str(rest.get(..end).unwrap_or_default());
            rest = rest.get(end..).unwrap_or_default().trim_start_matches([' ', '\n', '\r', '\t']);
        }
        out.push_str(rest);
    }

    pub(super) fn is_object(self) -> bool {
        self.raw().starts_with('{')
    }

    pub(super) fn is_array(self) -> bool {
        self.raw().starts_with('[')
    }

    pub(super) fn is_string(self) -> bool {
        self.raw().starts_with('"')
    }

    pub(super) fn is_true(self) -> bool {
        self.raw() == "true"
    }

    /// What a string says; `None` for everything else.
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        let inside = self.raw().strip_prefix('"')?.strip_suffix('"')?;
        // Half a surrogate pair is JSON, and no text: it stays as it is written.
        let unescaped = inside.contains('\\').then(|| serde_json::from_str(self.raw()).ok()).flatten();
        Some(unescaped.map_or(inside.into(), Cow::Owned))
    }

    /// The values of an array, none for everything else.
    pub(super) fn items(self) -> impl Iterator<Item = Self> + use<'d, 'a> {
        self.children().filter(move |_| self.is_array())
    }

    /// The keys, as they are written between their quotes, and values of an object; none for
    /// everything else.
    pub(super) fn fields(self) -> impl Iterator<Item = (&'a str, Self)> + use<'d, 'a> {
        let mut children = self.children();
        let is_object = self.is_object();
        iter::from_fn(move || {
            let (key, value) = (children.next().filter(|_| is_object)?.raw(), children.next()?);
            Some((key.get(1..key.len() - 1).unwrap_or_default(), value))
        })
    }

    /// The value of a key, unless it is null. Of several the last one counts, as for most parsers.
    pub(super) fn get(self, key: &str) -> Option<Self> {
        self.fields()
            .filter(|(own, _)| *own == key)
            .last()
            .map(|(_, value)| value)
            .filter(|value| value.raw() != "null")
    }

    fn children(self) -> impl Iterator<Item = Self> + use<'d, 'a> {
        let end = self.span().map_or(0, |span| span.next as usize);
        let document = self.document;
        let mut index = self.index + 1;
        iter::from_fn(move || {
            let span = document.spans.get(index).filter(|_| index < end)?;
            let node = Self { document, index };
            index = span.next as usize;
            Some(node)
        })
    }

    fn span(self) -> Option<&'d Span> {
        self.document.spans.get(self.index)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn values_are_where_they_are_written() {
        let text = "{\"a\\\"\": [1, \"x, ]\", {\"b\": null}], \"c\": \"\\u00e9\" , \"n\":{}}\n";
        let document = Document::read(text).unwrap();
        let fields: Vec<_> = document.root().fields().map(|(key, value)| (key, value.raw())).collect();
        assert_eq!(fields, [("a\\\"", "[1, \"x, ]\", {\"b\": null}]"), ("c", "\"\\u00e9\""), ("n", "{}")]);
        assert_eq!(document.root().get("c").unwrap().text().unwrap(), "é");
        assert!(document.root().get("n").unwrap().fields().next().is_none());
        let list = document.root().fields().next().unwrap().1;
        assert_eq!(list.items().map(Node::raw).collect::<Vec<_>>(), ["1", "\"x, ]\"", "{\"b\": null}"]);
        assert!(list.items().nth(2).unwrap().get("b").is_none(), "null counts as absent");
        let mut out = String::new();
        document.root().write(&mut out);
        assert_eq!(out, r#"{"a\"":[1,"x, ]",{"b":null}],"c":"\u00e9","n":{}}"#);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let deep = "[".repeat(129) + &"]".repeat(129);
        for (text, reason) in [
            ("{", "it is no JSON: EOF while parsing"),
            ("{} {}", "it is no JSON: trailing characters"),
            (&deep, "it is nested deeper than 128"),
        ] {
            let error = Document::read(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        assert!(Document::read(&deep[1..deep.len() - 1]).is_ok());
        let long = " ".repeat(Document::MAX_BYTES + 1);
        assert!(Document::read(&long).unwrap_err().to_string().ends_with("it has more than 64 MiB"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_the_same_without_white_space(text in "[\\[\\]{}:,\" a1\\\\\n]{0,40}", pretty in any::<bool>()) {
            let Ok(value) = serde_json::from_str::<Value>(&text) else {
                prop_assert!(Document::read(&text).is_err());
                return Ok(());
            };
            let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { text };
            let document = Document::read(&text).unwrap();
            let mut out = String::new();
            document.root().write(&mut out);
            prop_assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), value);
        }
    }
}
