use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;

use super::value::modified;
use crate::{catalog::ResourceEntry, id::ResourceId};

/// Of resources that are versions of one another, the older ones with the newest.
///
/// Versions are resources of one server with the same MIME type whose URIs differ only in parts
/// that begin with a year (`policy/2024-05` and `policy/2026-09`), and that both say when they
/// were last modified. That is narrow on purpose: issues 41 and 42 are no versions.
/// One whose year or date the request names is never taken for outdated.
pub(super) fn outdated<'a>(
    resources: impl IntoIterator<Item = &'a ResourceEntry>,
    request: &str,
) -> BTreeMap<ResourceId, ResourceId> {
    let mut families: HashMap<Family<'_>, Vec<(Timestamp, &ResourceEntry)>> = HashMap::new();
    for entry in resources {
        let Some((stem, modified)) = stem(&entry.id.uri).zip(modified(entry)) else { continue };
        let family = (entry.id.server.as_str(), stem, entry.resource.mime_type.as_deref());
        families.entry(family).or_default().push((modified, entry));
    }
    let named = numbers(request);
    let mut outdated = BTreeMap::new();
    for mut versions in families.into_values().filter(|versions| versions.len() > 1) {
        versions.sort_by(|a, b| (a.0, &a.1.id).cmp(&(b.0, &b.1.id)));
        let Some((newest_at, newest)) = versions.pop() else { continue };
        for (at, entry) in versions {
            if at < newest_at && numbers(&entry.id.uri).is_disjoint(&named) {
                outdated.insert(entry.id.clone(), newest.id.clone());
            }
        }
    }
    outdated
}

/// Server, URI without its dates, and MIME type.
type Family<'a> = (&'a str, String, Option<&'a str>);

/// The URI without its parts that begin with a year; `None` if there are none.
fn stem(uri: &str) -> Option<String> {
    // Most URIs have none, and thousands are looked at while a turn waits.
    if !uri.as_bytes().windows(3).any(|start| matches!(start, b"/19" | b"/20")) {
        return None;
    }
    let mut found = false;
    let parts = uri.split('/').map(|part| {
        let (name, extension) = part.rsplit_once('.').unwrap_or((part, ""));
        if !is_dated(name) {
            return part.to_owned();
        }
        found = true;
        format!("*.{extension}")
    });
    let stem = parts.collect::<Vec<_>>().join("/");
    found.then_some(stem)
}

/// A year, alone or with more digits behind it (`2026`, `2026-09`, `2026_09_14`, `20260914`, `2026-q3`).
fn is_dated(part: &str) -> bool {
    let digits = part.bytes().take_while(u8::is_ascii_digit).count();
    let (year, rest) = part.split_at_checked(4).unwrap_or_default();
    let separated = rest.is_empty() || digits == 8 || (digits == 4 && rest.starts_with(['-', '_', '.']));
    separated
        && (year.starts_with("19") || year.starts_with("20"))
        && year.bytes().all(|b| b.is_ascii_digit())
        && rest.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.' | b'q' | b'Q' | b'w' | b'W'))
}

/// The numbers of a text.
fn numbers(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|number| number.len() == 4 || number.len() == 8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_that_begin_with_a_year_are_dates() {
        for (one, other) in [
            ("a://refunds/2026-09", "a://refunds/2024-05"),
            ("a://2026/q3/plan.md", "a://2025/q3/plan.md"),
            ("a://plan/20260914.md", "a://plan/20240502.md"),
            ("a://plan/2026-q3.md", "a://plan/2026-q4.md"),
        ] {
            assert!(stem(one).is_some(), "{one}");
            assert_eq!(stem(one), stem(other), "{one}");
        }
        for uri in ["a://issues/41", "a://issues/20481", "a://rooms/2026b", "a://2026rooms", "a://v2", "a://x/1848"] {
            assert_eq!(stem(uri), None, "{uri}");
        }
        assert_ne!(stem("a://2026/leave"), stem("a://2024/travel"));
        assert_ne!(stem("a://leave/2026.md"), stem("a://leave/2026.csv"));
    }
}
