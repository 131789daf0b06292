use std::fmt;

use serde::Serialize;

use super::{
    fields::{FieldChange, Nature, compare},
    segment::{Segment, Setting},
};
use crate::{prompts::shown, render::SectionKind};

/// One thing in which two prefixes differ.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// What happened to it.
    pub kind: DifferenceKind,
    /// The part of the request; for a setting, the first part that it costs.
    pub section: SectionKind,
    /// The name of the tool or setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it stands in the older request, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Place>,
    /// Where it stands in the newer request, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Place>,
    /// What happened, in words, such as `its description changed`.
    pub cause: String,
    /// The values that changed: the first eight, in the order of their pointers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldChange>,
    /// How many more changed.
    pub more_fields: usize,
}

/// What happened to an item.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DifferenceKind {
    /// Only the newer request has it.
    Added,
    /// Only the older request has it.
    Removed,
    /// Both have it, and it is not the same.
    Changed,
    /// Both have it as it is, at different places among the others.
    Moved,
    /// A value beside the text that the cache depends on changed.
    Setting,
    /// The requests are written for different APIs.
    Dialect,
}

/// Where an item stands.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// Such as `tools[3]`.
    pub path: String,
    /// The byte of the body at which the difference begins, or, for an item that is not compared byte
    /// by byte as it is written (it has white space or a mark, or is a plain text), at which the item does.
    pub byte: usize,
}

impl Difference {
    /// An item that only one request has. `count` neighbours went the same way.
    pub(super) fn one_sided(kind: DifferenceKind, item: &Segment, count: usize) -> Self {
        let verb = if kind == DifferenceKind::Added { "new" } else { "gone" };
        let cause = match count {
            0 | 1 => format!("it is {verb}"),
            more => format!("{more} in a row are {verb}"),
        };
        let place = Some(Place::of(item, 0));
        let (old, new) = if kind == DifferenceKind::Added { (None, place) } else { (place, None) };
        Self { old, new, ..Self::bare(kind, item.section, item.name.clone(), cause) }
    }

    /// An item that stands elsewhere.
    pub(super) fn moved((old, new): (&Segment, &Segment)) -> Self {
        let cause = match old.section {
            SectionKind::Tools => format!("tools in another order, it was {}", old.path),
            _ => format!("it was {}", old.path),
        };
        let (before, after) = (Place::of(old, 0), Place::of(new, 0));
        Self {
            old: Some(before),
            new: Some(after),
            ..Self::bare(DifferenceKind::Moved, old.section, old.name.clone(), cause)
        }
    }

    /// An item that is not what it was.
    pub(super) fn changed((old, new): (&Segment, &Segment)) -> Self {
        let same = common(old, new);
        let is_kept = |item: &Segment| item.text.len() == item.bytes;
        let mut difference = Self {
            old: Some(Place::of(old, same)),
            new: Some(Place::of(new, same)),
            ..Self::bare(DifferenceKind::Changed, old.section, new.name.clone(), String::new())
        };
        difference.cause = if old.text == new.text && is_kept(old) && is_kept(new) {
            let role = |item: &Segment| item.role.as_deref().map(|role| shown(role, 40));
            match (role(old), role(new)) {
                (Some(old), Some(new)) => format!("it is said by {new} instead of {old}"),
                (Some(old), None) => format!("it no longer begins a message by {old}"),
                (None, new) => format!("it begins a message by {}", new.unwrap_or_default()),
            }
        } else if is_kept(old) && is_kept(new) {
            difference.describe(compare(&old.text, &new.text), old.section == SectionKind::Tools)
        } else {
            "it changed, and its text was not kept".into()
        };
        difference
    }

    /// A setting that is not what it was. One of the two may be absent.
    pub(super) fn setting(old: Option<&Setting>, new: Option<&Setting>) -> Option<Self> {
        let either = new.or(old)?;
        let value = |setting: Option<&Setting>| setting.map_or("null".to_owned(), |setting| setting.value.clone());
        let mut difference =
            Self::bare(DifferenceKind::Setting, either.section, Some(either.name.clone()), String::new());
        difference.describe(compare(&value(old), &value(new)), false);
        difference.cause = match (old, new) {
            (None, _) => "it is new",
            (_, None) => "it is gone",
            _ => "it changed",
        }
        .into();
        Some(difference)
    }

    /// A difference without places and values.
    pub(super) fn bare(kind: DifferenceKind, section: SectionKind, name: Option<String>, cause: String) -> Self {
        Self { kind, section, name, old: None, new: None, cause, fields: Vec::new(), more_fields: 0 }
    }

    /// Takes over what changed, and says it in words.
    fn describe(&mut self, nature: Nature, is_tool: bool) -> String {
        match nature {
            Nature::Meaning { shown, all } => {
                self.more_fields = all - shown.len();
                self.fields = shown;
                let fields = if is_tool { named(&self.fields) } else { Vec::new() };
                match fields.split_last() {
                    None => "it says something else".into(),
                    Some((field, [])) => format!("its {field} changed"),
                    Some((last, others)) => format!("its {} and {last} changed", others.join(", ")),
                }
            }
            Nature::KeyOrder => "its keys are in another order".into(),
            Nature::Spelling => "its numbers or characters are written otherwise".into(),
        }
    }
}

/// What it is about, such as ``tools[3] (merge)`` or ``the setting `model` ``.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().map(|name| shown(name, 80));
        match (self.new.as_ref().or(self.old.as_ref()), name) {
            (Some(place), Some(name)) => write!(f, "{} ({name})", place.path),
            (Some(place), None) => f.write_str(&place.path),
            (None, Some(name)) => write!(f, "the setting `{name}`"),
            (None, None) => self.section.fmt(f),
        }
    }
}

impl Place {
    fn of(item: &Segment, offset: usize) -> Self {
        let as_written = item.range.len() == item.bytes;
        Self { path: item.path.clone(), byte: item.range.start + if as_written { offset } else { 0 } }
    }
}

/// How many bytes two items have in common from the front.
pub(super) fn common(old: &Segment, new: &Segment) -> usize {
    old.text.bytes().zip(new.text.bytes()).take_while(|(a, b)| a == b).count()
}

/// The keys of a tool that changed, each once. What the API wraps a definition in is no key of it.
fn named(fields: &[FieldChange]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for field in fields {
        let mut tokens = field.pointer.split('/').skip(1).peekable();
        tokens.next_if(|token| matches!(*token, "function" | "toolSpec"));
        names.extend(tokens.next().map(str::to_owned).filter(|name| !names.contains(name)));
    }
    names
}
