use std::collections::{HashMap, HashSet};

use super::segment::Segment;
use crate::{json::Digest, render::SectionKind};

/// What a segment is known by, whatever happens to it: a tool by its name, a block by what it says.
#[derive(Debug, Eq, Hash, PartialEq)]
pub(super) enum Key<'a> {
    Name(&'a str),
    Digest(Digest),
}

impl<'a> Key<'a> {
    pub(super) fn of(segment: &'a Segment) -> Self {
        match segment.section {
            SectionKind::Tools => Self::Name(segment.name.as_deref().unwrap_or_default()),
            _ => Self::Digest(segment.digest),
        }
    }
}

/// Two lists of segments, paired by their keys. Several of one key are paired in their order.
#[derive(Debug, Default)]
pub(super) struct Pairs<'a> {
    /// Only in the older list.
    pub(super) removed: Vec<&'a Segment>,
    /// Only in the newer list.
    pub(super) added: Vec<&'a Segment>,
    /// In both, with another text.
    pub(super) changed: Vec<(&'a Segment, &'a Segment)>,
    /// In both as it is, but not where the others are: the fewest that explain the order.
    pub(super) moved: Vec<(&'a Segment, &'a Segment)>,
}

impl<'a> Pairs<'a> {
    pub(super) fn of(old: &[&'a Segment], new: &[&'a Segment]) -> Self {
        let mut places: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
        for (at, segment) in new.iter().enumerate().rev() {
            places.entry(Key::of(segment)).or_default().push(at);
        }
        let mut pairs = Self::default();
        let mut both = Vec::new();
        for segment in old {
            match places.get_mut(&Key::of(segment)).and_then(Vec::pop) {
                Some(at) => both.push((*segment, at)),
                None => pairs.removed.push(segment),
            }
        }
        let known: HashSet<usize> = both.iter().map(|(_, at)| *at).collect();
        pairs.added = new.iter().enumerate().filter(|(at, _)| !known.contains(at)).map(|(_, own)| *own).collect();
        let in_order = longest_run(&both.iter().map(|(_, at)| *at).collect::<Vec<_>>());
        for (i, (before, at)) in both.into_iter().enumerate() {
            let Some(after) = new.get(at).copied() else { continue };
            if !before.is_same(after) {
                pairs.changed.push((before, after));
            } else if !in_order.contains(&i) {
                pairs.moved.push((before, after));
            }
        }
        pairs.rewritten();
        pairs
    }

    /// A block that is gone and one that is new in its place are one that changed.
    fn rewritten(&mut self) {
        let mut gone: HashMap<&str, &'a Segment> = HashMap::new();
        gone.extend(self.removed.iter().filter(|own| own.section != SectionKind::Tools).map(|own| (&*own.path, *own)));
        let Self { added, changed, .. } = self;
        added.retain(|own| match gone.remove(own.path.as_str()) {
            Some(before) => {
                changed.push((before, own));
                false
            }
            None => true,
        });
        self.removed.retain(|own| own.section == SectionKind::Tools || gone.contains_key(own.path.as_str()));
    }
}

/// The places of a longest increasing run among different numbers: patience sorting, in n log n.
fn longest_run(numbers: &[usize]) -> HashSet<usize> {
    // For each length: the place of the smallest number that ends a run of it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (i, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers.get(*end) < Some(number));
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = i,
            None => ends.push(i),
        }
    }
    std::iter::successors(ends.last().copied(), |i| before.get(*i).copied().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_fewest_explain_an_order() {
        for (numbers, run) in [
            (vec![0, 1, 2], 3),
            (vec![1, 2, 3, 0], 3),
            (vec![3, 0, 1, 2], 3),
            (vec![1, 0], 1),
            (vec![2, 1, 0], 1),
            (vec![], 0),
        ] {
            assert_eq!(longest_run(&numbers).len(), run, "{numbers:?}");
        }
    }

    proptest! {
        #[test]
        fn a_run_increases_and_nothing_can_be_added(mut numbers in prop::collection::vec(0..99_usize, 0..9)) {
            let mut seen = HashSet::new();
            numbers.retain(|number| seen.insert(*number));
            let run = longest_run(&numbers);
            let values = |set: &dyn Fn(usize) -> bool| -> Vec<usize> {
                numbers.iter().enumerate().filter(|(i, _)| set(*i)).map(|(_, number)| *number).collect()
            };
            prop_assert!(values(&|i| run.contains(&i)).is_sorted());
            for subset in 0..1_usize << numbers.len() {
                let other = values(&|i| subset & (1 << i) != 0);
                prop_assert!(!other.is_sorted() || other.len() <= run.len());
            }
        }
    }
}
