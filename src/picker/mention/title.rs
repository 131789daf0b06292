use std::{iter, sync::Arc};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{find::Target, qualified::Reading, start::is_unspaced};
use crate::{catalog::ResourceEntry, id::ResourceId};

/// The longest title, name or URI in bytes that a mention without its server can have.
const MAX_TITLE: usize = 1_024;

/// How many more characters of names are compared: some tenths of a second's worth. A mention costs one for each
/// name, but servers could give all of them the beginning of one text.
pub(super) struct Effort(usize);

impl Default for Effort {
    fn default() -> Self {
        Self(40_000_000)
    }
}

impl Effort {
    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }

    fn spend(&mut self, characters: usize) {
        self.0 = self.0.saturating_sub(characters);
    }
}

/// The longest title, name or URI that the text begins with.
pub(super) fn longest(text: &str, resources: &[Arc<ResourceEntry>], effort: &mut Effort) -> Option<Reading> {
    let first = folded(text).next()?.0;
    let mut best = Best::default();
    for entry in resources {
        for name in names(entry) {
            effort.spend(1);
            if !begins_with(name, first) {
                continue;
            }
            let bytes = prefix(text, name, effort).filter(|bytes| ends_name(&text[..*bytes], &text[*bytes..]));
            if let Some(bytes) = bytes {
                best.meet(&entry.id, bytes, text[..bytes] == *name);
            }
        }
        // Of a part of the names the longest would be a guess.
        if effort.is_spent() {
            return None;
        }
    }
    best.reading()
}

/// As [`longest`], or one in quotation marks.
pub(super) fn longest_or_quoted(text: &str, resources: &[Arc<ResourceEntry>], effort: &mut Effort) -> Option<Reading> {
    if !text.starts_with('"') {
        return longest(text, resources, effort);
    }
    let (inside, bytes) = unquote(text)?;
    Some(Reading { bytes, target: named(&inside, resources, effort)? })
}

/// What is called exactly so, but for case.
pub(super) fn named(name: &str, resources: &[Arc<ResourceEntry>], effort: &mut Effort) -> Option<Target> {
    let whole = |reading: &Reading| reading.bytes == name.len();
    longest(name, resources, effort).filter(whole).map(|reading| reading.target)
}

/// The text between the quotation marks that it begins with, and how many bytes they and it take; `None` if they do
/// not end on the same line.
pub(super) fn unquote(text: &str) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1).take_while(|(at, c)| *at <= MAX_TITLE && *c != '\n') {
        match c {
            '"' if !escaped => return Some((out, at + 1)),
            '\\' if !escaped => escaped = true,
            _ => {
                if escaped && c != '"' && c != '\\' {
                    out.push('\\');
                }
                out.push(c);
                escaped = false;
            }
        }
    }
    None
}

/// The resources of the longest match so far.
#[derive(Default)]
struct Best {
    bytes: usize,
    exact: bool,
    ids: Vec<ResourceId>,
}

impl Best {
    fn meet(&mut self, id: &ResourceId, bytes: usize, exact: bool) {
        if (bytes, exact) > (self.bytes, self.exact) {
            (self.bytes, self.exact) = (bytes, exact);
            self.ids.clear();
        }
        // By its name and by its title it is one.
        if (bytes, exact) == (self.bytes, self.exact) && self.ids.last() != Some(id) {
            self.ids.push(id.clone());
        }
    }

    fn reading(mut self) -> Option<Reading> {
        let target = match self.ids.len() {
            0 => return None,
            1 => Target::Resource(self.ids.remove(0)),
            _ => Target::Several(self.ids),
        };
        Some(Reading { bytes: self.bytes, target })
    }
}

fn names(entry: &ResourceEntry) -> impl Iterator<Item = &str> {
    let resource = &entry.resource;
    let shown = !resource.uri.get(..3).is_some_and(|scheme| scheme.eq_ignore_ascii_case("ui:"));
    let names = resource.title.as_deref().into_iter().chain([&*resource.name, &*entry.id.uri]);
    names.filter(move |name| shown && !name.trim().is_empty() && name.len() <= MAX_TITLE)
}

/// How many bytes of `text` the name is, but for case and the way in which accents are composed.
fn prefix(text: &str, name: &str, effort: &mut Effort) -> Option<usize> {
    let pairs = text.bytes().zip(name.bytes());
    let plain = pairs.take_while(|(a, b)| a.is_ascii() && a.eq_ignore_ascii_case(b)).count();
    let mut rest = folded(&text[plain..]).peekable();
    let mut end = 0;
    let mut compared = plain;
    let met = folded(&name[plain..]).all(|(wanted, _)| {
        compared += 1;
        rest.next_if(|(c, _)| *c == wanted).inspect(|(_, next)| end = *next).is_some()
    });
    effort.spend(compared);
    // Not where it ends inside a character.
    (met && rest.next_if(|(_, next)| *next == end).is_none()).then_some(plain + end)
}

/// Lower case and decomposed (NFD, but for the order of marks), each with the end of the character that it is of.
fn folded(text: &str) -> impl Iterator<Item = (char, usize)> {
    text.char_indices().flat_map(|(at, c)| {
        let end = at + c.len_utf8();
        iter::once(c).nfd().flat_map(char::to_lowercase).map(move |c| (c, end))
    })
}

/// A quick look, since most names begin otherwise.
fn begins_with(name: &str, first: char) -> bool {
    match name.as_bytes().first() {
        Some(byte) if byte.is_ascii() => char::from(byte.to_ascii_lowercase()) == first,
        Some(_) => folded(name).next().is_some_and(|(c, _)| c == first),
        None => false,
    }
}

/// Whether a name can end between these texts: not within a word.
fn ends_name(name: &str, rest: &str) -> bool {
    let (Some(last), Some(next)) = (name.chars().next_back(), rest.chars().next()) else { return true };
    if is_combining_mark(next) {
        return false;
    }
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    !(of_word(last) && of_word(next)) || is_unspaced(last) || is_unspaced(next)
}
