use std::{collections::HashSet, ops::Range};

use serde::Serialize;

use super::{
    Difference, DifferenceKind, Place, Prefix, Segment, Setting,
    difference::common,
    order::{Key, Pairs},
};
use crate::render::SectionKind;

use SectionKind::{System, Tools};

/// What a cache that read one request can give back for a later one, and why not more.
///
/// ```
/// use proem::prefix::{DifferenceKind, Prefix, PrefixDiff};
///
/// let body = |description: &str| format!(
///     r#"{{"tools": [{{"name": "merge", "description": "{description}", "input_schema": {{}}}}],
///          "system": "Be brief.", "messages": [{{"role": "user", "content": "Hi"}}]}}"#,
/// );
/// let old = Prefix::read(&body("Merge a branch"))?;
/// let new = Prefix::read(&body("Merge two branches"))?;
/// let diff = PrefixDiff::between(&old, &new);
/// let first = diff.first.as_ref().expect("they differ");
/// assert_eq!((first.kind, first.to_string()), (DifferenceKind::Changed, "tools[0] (merge)".into()));
/// assert_eq!(first.cause, "its description changed");
/// assert_eq!(first.fields[0].old.as_deref(), Some("\"Merge a branch\""));
/// println!("{diff}");
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PrefixDiff {
    /// Whether everything of the older request is kept, so that the newer one only adds to it.
    pub extends: bool,
    /// What both have in common from the front.
    pub kept: Extent,
    /// What of that a cache can have been asked to keep: all of it, or where the API keeps
    /// [marked prefixes only](super::Dialect::keeps_marked_only), up to the older request's last mark in it.
    pub readable: Extent,
    /// What of the older request is not kept.
    pub lost: Extent,
    /// What of the newer request stands behind what is kept: appended to it, or written anew.
    pub written: Extent,
    /// The first byte of the cached stream, which is the texts of all segments one after the other, at
    /// which the two differ; its end if one extends the other.
    pub at: usize,
    /// The first difference, if not everything is kept.
    pub first: Option<Difference>,
    /// The other differences in settings, tools and system text, at most [`Self::MAX_OTHERS`]. Messages
    /// behind the first difference are not compared: they are written anew whatever they say.
    pub others: Vec<Difference>,
    /// How many more there are.
    pub more: usize,
}

/// How much of a prefix.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Extent {
    /// Tools and blocks.
    pub segments: usize,
    /// Their bytes, in the count of [`Segment::bytes`].
    pub bytes: usize,
}

impl PrefixDiff {
    /// The most differences beside the first that are told apart: enough for a change of catalog to be
    /// recognised, and few enough to be read.
    pub const MAX_OTHERS: usize = 16;

    /// Compares two requests, the older one first.
    pub fn between(old: &Prefix, new: &Prefix) -> Self {
        let (before, after) = (&old.segments[..], &new.segments[..]);
        let mut others = settings(&old.settings, &new.settings);
        let costs = others.iter().map(|setting| setting.section).min();
        let is_kept = |(a, b): &(&Segment, &Segment)| a.is_same(b) && costs.is_none_or(|section| a.section < section);
        let one_api = old.dialect == new.dialect;
        let kept = if one_api { before.iter().zip(after).take_while(is_kept).count() } else { 0 };
        let mut at = extent(before, 0..kept).bytes;

        let first = match (before.get(kept), after.get(kept)) {
            _ if !one_api => {
                let cause = format!("the requests are written for different APIs, {} and {}", old.dialect, new.dialect);
                Some(Difference::bare(DifferenceKind::Dialect, Tools, None, cause))
            }
            (None, _) => None,
            (Some(lost), _) if costs.is_some_and(|section| lost.section >= section) => Some(others.remove(0)),
            (Some(lost), found) => {
                let (before, after) = (before.get(kept..).unwrap_or_default(), after.get(kept..).unwrap_or_default());
                let first = first_of(lost, found, before, after);
                if let (DifferenceKind::Changed, Some(found)) = (first.kind, found) {
                    at += common(lost, found);
                }
                Some(first)
            }
        };
        if one_api {
            others.extend([Tools, System].into_iter().flat_map(|section| differences(section, before, after)));
        } else {
            others.clear();
        }
        if let Some(first) = &first {
            others.retain(|other| !is_of_same_place(first, other));
        }
        let more = others.len().saturating_sub(Self::MAX_OTHERS);
        others.truncate(Self::MAX_OTHERS);

        let marked = before.iter().take(kept).rposition(|segment| segment.mark.is_some()).map_or(0, |last| last + 1);
        Self {
            extends: first.is_none(),
            kept: extent(before, 0..kept),
            readable: extent(before, 0..if old.dialect.keeps_marked_only() { marked } else { kept }),
            lost: extent(before, kept..before.len()),
            written: extent(after, kept..after.len()),
            at,
            first,
            others,
            more,
        }
    }

    /// Without excerpts of messages, for logs that must not hold the conversation.
    #[must_use]
    pub fn without_text(mut self) -> Self {
        for difference in self.first.iter_mut().chain(&mut self.others) {
            if !matches!(difference.section, Tools | System) && difference.kind != DifferenceKind::Setting {
                difference.more_fields += difference.fields.len();
                difference.fields.clear();
            }
        }
        self
    }
}

fn extent(segments: &[Segment], range: Range<usize>) -> Extent {
    let bytes = segments.get(range.clone()).unwrap_or_default().iter().map(|segment| segment.bytes).sum();
    Extent { segments: range.len(), bytes }
}

/// The settings that differ; those that cost most first.
fn settings(old: &[Setting], new: &[Setting]) -> Vec<Difference> {
    let find = |settings: &'_ [Setting], name: &str| settings.iter().find(|setting| setting.name == name).cloned();
    let gone = old.iter().filter(|setting| find(new, &setting.name).is_none());
    let mut differences: Vec<_> = new
        .iter()
        .chain(gone)
        .map(|setting| (find(old, &setting.name), find(new, &setting.name)))
        .filter(|(old, new)| old != new)
        .filter_map(|(old, new)| Difference::setting(old.as_ref(), new.as_ref()))
        .collect();
    differences.sort_by_key(|setting| setting.section);
    differences
}

/// The first difference: `lost` is not kept, and `found` stands in its place, if anything does. The
/// lists go on from there.
fn first_of(lost: &Segment, found: Option<&Segment>, before: &[Segment], after: &[Segment]) -> Difference {
    let (old_keys, new_keys): (HashSet<_>, HashSet<_>) =
        (before.iter().map(Key::of).collect(), after.iter().map(Key::of).collect());
    // How many in a row are only in one of the lists.
    let gone = before.iter().take_while(|own| own.section == lost.section && !new_keys.contains(&Key::of(own))).count();
    let removed = || Difference::one_sided(DifferenceKind::Removed, lost, gone);
    let Some(found) = found.filter(|found| found.section <= lost.section) else { return removed() };
    let new = after.iter().take_while(|own| own.section == found.section && !old_keys.contains(&Key::of(own))).count();
    let added = || Difference::one_sided(DifferenceKind::Added, found, new);
    if found.section < lost.section {
        return added();
    }
    let is_tool = lost.section == Tools;
    match (gone > 0, new > 0) {
        (false, false) if Key::of(lost) == Key::of(found) => Difference::changed((lost, found)),
        (true, true) if !is_tool => Difference::changed((lost, found)),
        (true, _) => removed(),
        (false, true) => added(),
        (false, false) => {
            let was = before.iter().find(|own| Key::of(own) == Key::of(found));
            Difference::moved((was.unwrap_or(lost), found))
        }
    }
}

/// All differences of one section.
fn differences(section: SectionKind, old: &[Segment], new: &[Segment]) -> Vec<Difference> {
    let pairs = Pairs::of(&of_section(old, section), &of_section(new, section));
    let changed = pairs.changed.into_iter().map(Difference::changed);
    let added = pairs.added.into_iter().map(|item| Difference::one_sided(DifferenceKind::Added, item, 1));
    let removed = pairs.removed.into_iter().map(|item| Difference::one_sided(DifferenceKind::Removed, item, 1));
    changed.chain(added).chain(removed).chain(pairs.moved.into_iter().map(Difference::moved)).collect()
}

fn of_section(segments: &[Segment], section: SectionKind) -> Vec<&Segment> {
    segments.iter().filter(|segment| segment.section == section).collect()
}

/// Whether both are about an item of one place, in the older or in the newer request.
fn is_of_same_place(first: &Difference, other: &Difference) -> bool {
    let same = |a: &Option<Place>, b: &Option<Place>| a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| a.path == b.path);
    same(&first.old, &other.old) || same(&first.new, &other.new)
}
