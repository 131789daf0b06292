use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{ground::Ground, pick::Pick, row::Section, search::Match};
use crate::id::ServerId;

/// The rows in their order. What is in it stays where it is until it is built again.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) rows: Vec<Place>,
    /// How many items of a section the query meets.
    items: BTreeMap<Section, usize>,
    /// How many of them are in no row.
    hidden: BTreeMap<Section, usize>,
    expanded: BTreeSet<Section>,
}

/// One row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) section: Section,
    pub(super) what: What,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum What {
    Group,
    Item(Pick),
    More,
}

impl Layout {
    /// Orders everything from nothing; what was expanded is not any more.
    pub(super) fn build(&mut self, ground: &Ground<'_>) {
        self.rows.clear();
        self.expanded.clear();
        self.append(ground);
    }

    /// Leaves all rows where they are and puts what is new behind them.
    pub(super) fn append(&mut self, ground: &Ground<'_>) {
        let fresh = self.rows.is_empty();
        let mut shown = self.shown(ground);
        let placed = self.placed();
        let with_more: HashSet<Section> = self.with_more().cloned().collect();
        self.items.clear();
        self.hidden.clear();
        for (section, mut left) in ground.sections() {
            let favourites = section == Section::Favourites;
            if favourites && !fresh {
                // They have their rows already, or come with those of their server.
                continue;
            }
            self.items.insert(section.clone(), left.len());
            without(&mut left, &shown);
            let new = left.len();
            let before = |server: Option<&ServerId>| {
                placed.get(&(section.clone(), server.cloned())).copied().unwrap_or_default()
            };
            if favourites || self.expanded.contains(&section) {
                ground.best(&mut left, usize::MAX);
            } else if section == Section::Resources {
                ground.best_of_each(&mut left, |server| ground.options.cap.saturating_sub(before(Some(server))));
            } else {
                ground.best(&mut left, ground.options.cap.saturating_sub(before(None)));
            }
            let hidden = new - left.len();
            let more = hidden > 0 && !with_more.contains(&section);
            self.hidden.insert(section.clone(), hidden);
            if favourites {
                shown.extend(left.iter().map(Match::place));
                shown.sort_unstable();
            }
            if left.is_empty() && !more {
                continue;
            }
            let whats = left.iter().map(|one| What::Item(ground.pick(one)));
            let whats = [What::Group].into_iter().chain(whats).chain(more.then_some(What::More));
            self.rows.extend(whats.map(|what| Place { section: section.clone(), what }));
        }
    }

    /// Puts the items of a section that are in no row in the place of its "N more".
    pub(super) fn expand(&mut self, section: &Section, ground: &Ground<'_>) {
        let is_more = |place: &Place| place.section == *section && place.what == What::More;
        let Some(at) = self.rows.iter().position(is_more) else { return };
        let shown = self.shown(ground);
        let mut left: Vec<Match> =
            ground.sections().into_iter().filter(|(other, _)| other == section).flat_map(|(_, all)| all).collect();
        without(&mut left, &shown);
        ground.best(&mut left, usize::MAX);
        let items = left.iter().map(|one| Place { section: section.clone(), what: What::Item(ground.pick(one)) });
        self.rows.splice(at..=at, items);
        self.hidden.insert(section.clone(), 0);
        self.expanded.insert(section.clone());
    }

    pub(super) fn items(&self, section: &Section) -> usize {
        self.items.get(section).copied().unwrap_or_default()
    }

    pub(super) fn hidden(&self, section: &Section) -> usize {
        self.hidden.get(section).copied().unwrap_or_default()
    }

    /// What stands in rows.
    pub(super) fn picks(&self) -> impl Iterator<Item = (&Section, &Pick)> {
        self.rows.iter().filter_map(|place| match &place.what {
            What::Item(pick) => Some((&place.section, pick)),
            What::Group | What::More => None,
        })
    }

    fn with_more(&self) -> impl Iterator<Item = &Section> {
        self.rows.iter().filter(|place| place.what == What::More).map(|place| &place.section)
    }

    /// Where the items of all rows stand, in order.
    fn shown(&self, ground: &Ground<'_>) -> Vec<(u32, u32)> {
        let mut shown: Vec<_> = self.picks().filter_map(|(_, pick)| ground.place(pick)).collect();
        shown.sort_unstable();
        shown
    }

    /// How many rows each section has, also by server for those of all servers.
    fn placed(&self) -> BTreeMap<(Section, Option<ServerId>), usize> {
        let mut placed = BTreeMap::new();
        for (section, pick) in self.picks() {
            *placed.entry((section.clone(), None)).or_default() += 1;
            *placed.entry((section.clone(), Some(pick.server().clone()))).or_default() += 1;
        }
        placed
    }
}

/// Takes out of matches, which are in the order of their places, those that are shown.
fn without(matches: &mut Vec<Match>, shown: &[(u32, u32)]) {
    let Some(first) = matches.first().map(Match::place) else { return };
    let start = shown.partition_point(|place| *place < first);
    let mut shown = shown[start..].iter().peekable();
    matches.retain(|one| {
        while shown.next_if(|place| **place < one.place()).is_some() {}
        shown.peek().is_none_or(|place| **place != one.place())
    });
}
