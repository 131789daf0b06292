use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use super::{
    options::PickerOptions,
    pick::Pick,
    preferences::Preferences,
    row::Section,
    search::Match,
    source::{Source, by_worth, position},
};
use crate::id::ServerId;

/// What rows are made of: everything that the query meets, and what comes first in it.
pub(super) struct Ground<'a> {
    pub(super) sources: &'a [Arc<Source>],
    /// By source and entry.
    pub(super) matches: &'a [Match],
    pub(super) options: &'a PickerOptions,
    pub(super) preferences: &'a Preferences,
    /// Where the favourites stand, and which of them comes first.
    pub(super) favourites: &'a BTreeMap<(u32, u32), usize>,
    /// There are words to search for.
    pub(super) searching: bool,
}

impl Ground<'_> {
    /// All sections in order, each with all its matches in none.
    ///
    /// Servers whose best item scores most come first, then pinned ones, then by id.
    pub(super) fn sections(&self) -> Vec<(Section, Vec<Match>)> {
        let mut servers = Vec::new();
        let mut templates = Vec::new();
        for of_server in self.matches.chunk_by(|a, b| a.source == b.source) {
            let source = &self.sources[of_server[0].source as usize];
            let resources = of_server.partition_point(|one| (one.entry as usize) < source.resources);
            let (resources, others) = of_server.split_at(resources);
            templates.extend_from_slice(others);
            if let Some(best) = resources.iter().map(|one| one.score).max() {
                let pinned = self.preferences.pinned_servers().contains(&source.server);
                servers.push(((best, pinned), &source.server, resources));
            }
        }
        let mut sections = Vec::new();
        if self.options.grouped {
            if !self.searching {
                sections.push((Section::Favourites, self.at_the_top()));
            }
            servers.sort_by(|(a, ..), (b, ..)| b.cmp(a));
            let groups = servers.into_iter().map(|(_, server, of)| (Section::Server(server.clone()), of.to_vec()));
            sections.extend(groups);
        } else {
            let resources = servers.into_iter().flat_map(|(.., resources)| resources).copied().collect();
            sections.push((Section::Resources, resources));
        }
        sections.push((Section::Templates, templates));
        sections
    }

    /// The first `most`, in order.
    pub(super) fn best(&self, matches: &mut Vec<Match>, most: usize) {
        if most == 0 {
            matches.clear();
        } else if most < matches.len() {
            matches.select_nth_unstable_by(most, |a, b| self.compare(a, b));
            matches.truncate(most);
        }
        matches.sort_unstable_by(|a, b| self.compare(a, b));
    }

    /// In order, with the first `most` of each server.
    pub(super) fn best_of_each(&self, matches: &mut Vec<Match>, most: impl Fn(&ServerId) -> usize) {
        let mut kept = Vec::new();
        for of_server in matches.chunk_by(|a, b| a.source == b.source) {
            let mut of_server = of_server.to_vec();
            let source = &self.sources[of_server[0].source as usize];
            self.best(&mut of_server, most(&source.server));
            kept.append(&mut of_server);
        }
        self.best(&mut kept, usize::MAX);
        *matches = kept;
    }

    pub(super) fn pick(&self, one: &Match) -> Pick {
        self.sources[one.source as usize].entries[one.entry as usize].of.pick()
    }

    pub(super) fn place(&self, pick: &Pick) -> Option<(u32, u32)> {
        position(self.sources, pick)
    }

    /// By score, then pinned and recent, then priority, label and id.
    fn compare(&self, a: &Match, b: &Match) -> Ordering {
        let favourite = |one: &Match| self.favourites.get(&one.place()).copied().unwrap_or(usize::MAX);
        b.score.cmp(&a.score).then_with(|| favourite(a).cmp(&favourite(b))).then_with(|| {
            if a.source == b.source {
                return a.entry.cmp(&b.entry);
            }
            let item = |one: &Match| {
                let source = &self.sources[one.source as usize];
                (source, &source.entries[one.entry as usize])
            };
            let ((a_source, a), (b_source, b)) = (item(a), item(b));
            by_worth((&a.of, || a_source.texts.text(a.label).chars()), (&b.of, || b_source.texts.text(b.label).chars()))
        })
    }

    /// All pinned items, and of the recent ones as many as a section shows.
    fn at_the_top(&self) -> Vec<Match> {
        let pinned = self.preferences.pinned().len();
        let met = |place: &(u32, u32)| {
            let at = self.matches.binary_search_by_key(place, Match::place).ok()?;
            Some(self.matches[at])
        };
        let mut all: Vec<_> = self.favourites.iter().filter_map(|(place, rank)| Some((*rank, met(place)?))).collect();
        all.sort_unstable_by_key(|(rank, _)| *rank);
        let all_pinned = all.partition_point(|(rank, _)| *rank < pinned);
        all.truncate(all_pinned.saturating_add(self.options.cap));
        all.into_iter().map(|(_, one)| one).collect()
    }
}
