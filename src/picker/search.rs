use std::{collections::BTreeSet, sync::Arc};

use nucleo_matcher::{Config, Matcher};

use super::{
    pattern::{Growth, Pattern, Place},
    source::Source,
};
use crate::id::ServerId;

/// Something that a pattern meets, by its places.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Match {
    pub(super) source: u32,
    pub(super) entry: u32,
    /// By all words but the last.
    before: u32,
    pub(super) score: u32,
}

impl Match {
    /// Which item it is.
    pub(super) fn place(&self) -> (u32, u32) {
        (self.source, self.entry)
    }
}

/// What the query of now meets, and those that were typed on the way to it: a longer one looks only
/// through what the one before met, and a shorter one has been looked for already.
#[derive(Debug)]
pub(super) struct Search {
    matcher: Matcher,
    /// Each narrows the one before it; the last one is the query of now.
    steps: Vec<Step>,
    /// The last step is of more than one snapshot: whether letters are left out was decided before.
    stale: bool,
}

#[derive(Debug, Default)]
struct Step {
    pattern: Pattern,
    /// Whether letters may be left out.
    fuzzy: bool,
    /// By source, then entry.
    matches: Vec<Match>,
}

impl Search {
    /// With so many items that hold the words whole, letters are not left out: nobody looks farther.
    const ENOUGH: usize = 100;
    /// The most steps, and the most matches of all steps as a multiple of all items.
    const MAX_STEPS: usize = 32;
    const MAX_SHARE: usize = 6;

    pub(super) fn new() -> Self {
        Self { matcher: Matcher::new(Config::DEFAULT), steps: Vec::new(), stale: false }
    }

    /// What the query of now meets, by source and entry.
    pub(super) fn matches(&self) -> &[Match] {
        self.steps.last().map_or(&[], |step| &step.matches)
    }

    pub(super) fn pattern(&self) -> Option<&Pattern> {
        self.steps.last().map(|step| &step.pattern)
    }

    /// Looks for a pattern.
    pub(super) fn run(&mut self, pattern: Pattern, sources: &[Arc<Source>], off: &BTreeSet<ServerId>) {
        if self.stale {
            self.clear();
        }
        while self.steps.last().is_some_and(|step| !pattern.narrows(&step.pattern)) {
            self.steps.pop();
        }
        if self.steps.last().is_some_and(|step| step.pattern.is_same(&pattern)) {
            return;
        }
        let mut step = Step { pattern, fuzzy: false, matches: Vec::new() };
        let wider = self.steps.last();
        step.look(wider, sources, off, &mut self.matcher);
        if step.pattern.is_fuzzy() && step.matches.len() < Self::ENOUGH {
            step.fuzzy = true;
            let complete = |wider: &&Step| wider.fuzzy || !wider.pattern.is_fuzzy();
            let narrows = |wider: &&Step| complete(wider) && step.pattern.narrows_fuzzily(&wider.pattern);
            let wider = self.steps.iter().rev().find(narrows);
            step.look(wider, sources, off, &mut self.matcher);
        }
        self.steps.push(step);
        let items: usize = sources.iter().map(|source| source.entries.len()).sum();
        let kept = |steps: &[Step]| steps.iter().map(|step| step.matches.len()).sum::<usize>();
        while self.steps.len() > Self::MAX_STEPS
            || (self.steps.len() > 1 && kept(&self.steps) > Self::MAX_SHARE * items)
        {
            self.steps.remove(0);
        }
    }

    /// Looks for the query of now in sources that took the place of others: only in those that are new.
    pub(super) fn update(&mut self, old: &[Arc<Source>], new: &[Arc<Source>], off: &BTreeSet<ServerId>) {
        let Some(mut step) = self.steps.pop() else { return };
        self.steps.clear();
        self.stale = true;
        let before = std::mem::take(&mut step.matches);
        for (at, source) in (0..).zip(new).filter(|(_, source)| !off.contains(&source.server)) {
            let was = old.binary_search_by(|old| old.server.cmp(&source.server)).ok();
            match was.filter(|was| Arc::ptr_eq(&old[*was], source)) {
                Some(was) => {
                    step.matches.extend(of_source(&before, was).iter().map(|one| Match { source: at, ..*one }));
                }
                None => step.scan(at, source, everything(source), &mut self.matcher),
            }
        }
        self.steps.push(step);
    }

    /// Forgets what was met, since something else decides it now.
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.stale = false;
    }
}

impl Step {
    /// Looks through what another step met, or through everything.
    fn look(&mut self, wider: Option<&Self>, sources: &[Arc<Source>], off: &BTreeSet<ServerId>, matcher: &mut Matcher) {
        self.matches.clear();
        let Some(wider) = wider else {
            for (at, source) in (0..).zip(sources).filter(|(_, source)| !off.contains(&source.server)) {
                self.scan(at, source, everything(source), matcher);
            }
            return;
        };
        // What is known of a word holds if letters could be left out of it then as now.
        let alike = wider.fuzzy == self.fuzzy || !wider.pattern.is_fuzzy();
        let growth = self.pattern.goes_on(&wider.pattern).filter(|_| alike);
        let before = |one: &Match| {
            growth.map(|growth| match growth {
                Growth::SameWord => one.before,
                Growth::NextWord => one.score,
            })
        };
        for met in wider.matches.chunk_by(|a, b| a.source == b.source) {
            let at = met[0].source;
            self.scan(at, &sources[at as usize], met.iter().map(|one| (one.entry, before(one))), matcher);
        }
    }

    /// Looks for some items of a source, each with what it is known to score by all words but the last.
    fn scan(
        &mut self,
        at: u32,
        source: &Source,
        entries: impl Iterator<Item = (u32, Option<u32>)>,
        matcher: &mut Matcher,
    ) {
        let Self { pattern, fuzzy, matches } = self;
        if !pattern.admits(&source.server) {
            return;
        }
        let by_server = pattern.server_scores(source, matcher);
        matches.extend(entries.filter_map(|(entry, before)| {
            let place = Place { source, entry: &source.entries[entry as usize], fuzzy: *fuzzy };
            let (before, score) = pattern.score(place, &by_server, before, matcher)?;
            Some(Match { source: at, entry, before, score })
        }));
    }
}

fn everything(source: &Source) -> impl Iterator<Item = (u32, Option<u32>)> {
    (0..).take(source.entries.len()).map(|entry| (entry, None))
}

/// The matches of one source.
pub(super) fn of_source(matches: &[Match], source: usize) -> &[Match] {
    let start = matches.partition_point(|one| (one.source as usize) < source);
    let end = matches.partition_point(|one| one.source as usize <= source);
    &matches[start..end]
}
