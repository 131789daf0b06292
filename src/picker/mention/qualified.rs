use std::sync::Arc;

use super::{
    find::Target,
    percent,
    start::{ends_word, is_trailing},
    title::{self, Effort},
};
use crate::{
    catalog::{Catalog, ResourceEntry},
    id::{ResourceId, ServerId},
};

/// What a text behind an `@` means, and how much of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Reading {
    pub(super) bytes: usize,
    pub(super) target: Target,
}

/// The longest word that is looked up: longer than any URI that people send each other.
const MAX_WORD: usize = 16 * 1024;
/// The most colons at which a server's name may end.
const MAX_COLONS: usize = 8;
/// The most punctuation behind a URI that may be part of it.
const MAX_TRAILING: usize = 16;

/// Reads `server:uri` at the beginning of `text`, whose first word is `word`. A colon in a server's name is
/// written `%3A`, so the first colon behind which something is known counts.
pub(super) fn read(word: &str, text: &str, catalog: &Catalog, effort: &mut Effort) -> Option<Reading> {
    if word.len() > MAX_WORD {
        return None;
    }
    let known = word.match_indices(':').take(MAX_COLONS).filter(|(colon, _)| colon + 1 < word.len());
    let known = known.filter_map(|(colon, _)| {
        let server = server(&word[..colon], catalog)?;
        Some((server, colon + 1))
    });
    // Of those that are nothing in a list the first.
    let mut unlisted = None;
    for (server, start) in known {
        let reading = item(&server, &word[start..], &text[start..], catalog, effort);
        let reading = Reading { bytes: start + reading.bytes, ..reading };
        match reading.target {
            Target::Resource(_) | Target::Several(_) => return Some(reading),
            _ if unlisted.is_none() => unlisted = Some(reading),
            _ => {}
        }
    }
    unlisted
}

/// Reads `:uri` behind the quoted name of a server.
pub(super) fn behind_server(name: &str, text: &str, catalog: &Catalog, effort: &mut Effort) -> Option<Reading> {
    let rest = text.strip_prefix(':')?;
    let word = &rest[..ends_word(rest)];
    let server = ServerId::new(name).ok().filter(|server| catalog.server(server).is_some())?;
    if word.is_empty() || word.len() > MAX_WORD {
        return None;
    }
    let reading = item(&server, word, rest, catalog, effort);
    Some(Reading { bytes: 1 + reading.bytes, ..reading })
}

/// Reads a whole text as `server:uri`, as it is.
pub(super) fn whole(text: &str, catalog: &Catalog) -> Option<Target> {
    text.match_indices(':').take(MAX_COLONS).find_map(|(colon, _)| {
        let id = ResourceId::new(ServerId::new(&text[..colon]).ok()?, &text[colon + 1..]);
        catalog.resource(&id).map(|entry| Target::Resource(entry.id.clone()))
    })
}

/// A resource of a server by its URI or else its title: as much of the word as is one.
fn item(server: &ServerId, word: &str, text: &str, catalog: &Catalog, effort: &mut Effort) -> Reading {
    let plain = word.trim_end_matches(is_trailing);
    let ends = word.char_indices().rev().map(|(at, c)| at + c.len_utf8()).take(MAX_TRAILING);
    let ends = ends.take_while(|end| *end >= plain.len()).chain([plain.len()]);
    for end in ends.filter(|end| *end > 0) {
        let uri = &word[..end];
        let decoded = percent::decode(uri);
        let listed = decoded
            .iter()
            .map(String::as_str)
            .chain([uri])
            .find_map(|uri| catalog.resource(&ResourceId::new(server.clone(), uri)));
        if let Some(entry) = listed {
            return Reading { bytes: end, target: Target::Resource(entry.id.clone()) };
        }
    }
    if let Some(reading) = title::longest_or_quoted(text, of_server(server, catalog), effort) {
        return reading;
    }
    let target =
        if has_scheme(plain) { Target::Unlisted(ResourceId::new(server.clone(), plain)) } else { Target::Unknown };
    Reading { bytes: plain.len(), target }
}

/// A server by its name as it is written, decoded first.
fn server(text: &str, catalog: &Catalog) -> Option<ServerId> {
    let decoded = percent::decode(text);
    let names = decoded.iter().map(String::as_str).chain([text]);
    names.filter_map(|name| ServerId::new(name).ok()).find(|server| catalog.server(server).is_some())
}

fn of_server<'a>(server: &ServerId, catalog: &'a Catalog) -> &'a [Arc<ResourceEntry>] {
    let all = catalog.resources();
    let start = all.partition_point(|entry| entry.id.server < *server);
    let end = all.partition_point(|entry| entry.id.server <= *server);
    &all[start..end]
}

/// RFC 3986, 3.1.
fn has_scheme(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && !rest.is_empty()
}
