use std::cmp::Reverse;

/// Something that may be taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    /// What it is worth: finite and not negative.
    pub(super) value: f64,
    pub(super) tokens: usize,
    pub(super) bytes: u64,
}

/// What there is room for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Room {
    pub(super) items: usize,
    pub(super) tokens: usize,
    pub(super) bytes: u64,
}

/// The share of the best value that may be lost by rounding.
const LOSS: f64 = 0.05;

/// Which items to take so that their value together is the greatest that there is room for, less
/// 5 % at most; in rising order.
///
/// The best is approximated as by Ibarra and Kim (1975): values are rounded to a scale that loses
/// little, and for each number of items and rounded value the least that reaches it is kept. Where
/// tokens and bytes both run out, of the ways to reach a value only a few are kept, which is then
/// good, but not proven.
pub(super) fn best(items: &[Item], room: Room) -> Vec<usize> {
    let candidates = needed(items, room);
    let mut found = greedy(items, &candidates, room);
    let lower = value(items, &found);
    // The most valuable, whatever they weigh: nothing can be worth more.
    let upper: f64 = candidates.iter().take(room.items).map(|i| items[*i].value).sum();
    if lower < (1.0 - LOSS) * upper {
        let bytes = largest(candidates.iter().map(|i| items[*i].bytes), room.items);
        // Ignored where they cannot run out: that leaves one way to reach each value.
        let scaled = Scaled::new(items, &candidates, room, lower, bytes > room.bytes).solve(room);
        let scaled = filled(items, &candidates, scaled, room);
        if value(items, &scaled) > lower {
            found = scaled;
        }
    }
    found.sort_unstable();
    found
}

/// Those that there is room for and that may be needed, the most valuable first: where as many as
/// may be taken are worth no less and weigh no more, another one never is.
fn needed(items: &[Item], room: Room) -> Vec<usize> {
    // Sorted with what they are sorted by: there may be thousands.
    let mut fitting: Vec<(Item, usize)> = items.iter().copied().zip(0..).filter(|(item, _)| room.takes(item)).collect();
    fitting.sort_unstable_by(|(one, a), (other, b)| {
        let by_value = other.value.total_cmp(&one.value);
        by_value.then_with(|| (one.tokens, one.bytes, a).cmp(&(other.tokens, other.bytes, b)))
    });
    let mut needed: Vec<(Item, usize)> = Vec::new();
    for (item, i) in fitting {
        let beats = |(other, _): &&(Item, usize)| other.tokens <= item.tokens && other.bytes <= item.bytes;
        if needed.iter().filter(beats).take(room.items).count() < room.items {
            needed.push((item, i));
        }
    }
    needed.into_iter().map(|(_, i)| i).collect()
}

impl Room {
    fn takes(&self, item: &Item) -> bool {
        self.items > 0 && item.tokens <= self.tokens && item.bytes <= self.bytes
    }

    fn without(self, item: &Item) -> Self {
        Self { items: self.items - 1, tokens: self.tokens - item.tokens, bytes: self.bytes - item.bytes }
    }
}

/// Of three simple orders the one that gives the most.
fn greedy(items: &[Item], candidates: &[usize], room: Room) -> Vec<usize> {
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
    let weight = |item: &Item| {
        share(item.tokens as f64, room.tokens as f64).max(share(item.bytes as f64, room.bytes as f64)).max(1e-9)
    };
    let orders: [&dyn Fn(&Item) -> f64; 3] =
        [&|item| item.value, &|item| item.value / weight(item), &|item| -weight(item)];
    let mut best = Vec::new();
    for order in orders {
        let mut sorted = candidates.to_vec();
        sorted.sort_by(|a, b| order(&items[*b]).total_cmp(&order(&items[*a])));
        let taken = filled(items, &sorted, Vec::new(), room);
        if best.is_empty() || value(items, &taken) > value(items, &best) {
            best = taken;
        }
    }
    best
}

/// Adds to `taken` what else there is room for, in the order of `candidates`.
fn filled(items: &[Item], candidates: &[usize], mut taken: Vec<usize>, room: Room) -> Vec<usize> {
    let mut left = taken.iter().fold(room, |left, i| left.without(&items[*i]));
    for i in candidates {
        if left.items == 0 {
            break;
        }
        if left.takes(&items[*i]) && !taken.contains(i) {
            left = left.without(&items[*i]);
            taken.push(*i);
        }
    }
    taken
}

fn value(items: &[Item], taken: &[usize]) -> f64 {
    taken.iter().map(|i| items[*i].value).sum()
}

/// The sum of the `count` largest.
fn largest(numbers: impl Iterator<Item = u64>, count: usize) -> u64 {
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable_by_key(|number| Reverse(*number));
    numbers.into_iter().take(count).fold(0, u64::saturating_add)
}

/// Candidates with their values as small whole numbers, without those that others always beat.
struct Scaled(Vec<Candidate>);

#[derive(Clone, Copy)]
struct Candidate {
    item: usize,
    value: usize,
    tokens: usize,
    bytes: u64,
}

impl Scaled {
    /// One unit of value is so small that the most items lose [`LOSS`] of `lower` together.
    fn new(items: &[Item], candidates: &[usize], room: Room, lower: f64, bytes_count: bool) -> Self {
        let most = room.items.min(candidates.len());
        let unit = LOSS * lower / most as f64;
        let mut scaled: Vec<Candidate> = candidates
            .iter()
            .map(|&item| {
                let Item { value, tokens, bytes } = items[item];
                Candidate { item, value: (value / unit) as usize, tokens, bytes: if bytes_count { bytes } else { 0 } }
            })
            .filter(|candidate| candidate.value > 0)
            .collect();
        // Rounded, more of them are beaten.
        scaled.sort_by_key(|c| (Reverse(c.value), c.tokens, c.bytes, c.item));
        let mut kept: Vec<Candidate> = Vec::new();
        for candidate in scaled {
            let beaten = kept.iter().filter(|k| k.tokens <= candidate.tokens && k.bytes <= candidate.bytes);
            if beaten.take(most).count() < most {
                kept.push(candidate);
            }
        }
        Self(kept)
    }

    fn solve(&self, room: Room) -> Vec<usize> {
        let most = room.items.min(self.0.len());
        let values: usize = self.0.iter().take(most).map(|candidate| candidate.value).sum();
        let mut ways =
            Ways { cells: vec![Vec::new(); (most + 1) * (values + 1)], values: values + 1, steps: Vec::new() };
        ways.cells[0].push(Way { tokens: 0, bytes: 0, last: None });
        // The most that each number of items may have reached so far.
        let mut reached = vec![0; most + 1];
        for (number, candidate) in self.0.iter().enumerate() {
            // From many items to few, so that none is taken twice.
            for count in (0..most.min(number + 1)).rev() {
                for value in (0..=reached[count]).rev() {
                    ways.extend(count, value, candidate, room);
                }
                reached[count + 1] = values.min(reached[count + 1].max(reached[count] + candidate.value));
            }
        }
        ways.best(&reached)
    }
}

/// For each number of items and value the least that reaches it.
struct Ways {
    cells: Vec<Vec<Way>>,
    values: usize,
    /// What was taken, each after another one.
    steps: Vec<(usize, Option<usize>)>,
}

#[derive(Clone, Copy)]
struct Way {
    tokens: usize,
    bytes: u64,
    last: Option<usize>,
}

/// How many ways are kept that need less of one thing and more of the other.
const MOST_WAYS: usize = 4;

impl Ways {
    fn at(&self, count: usize, value: usize) -> &[Way] {
        &self.cells[count * self.values + value]
    }

    fn extend(&mut self, count: usize, value: usize, candidate: &Candidate, room: Room) {
        let target = (count + 1) * self.values + value + candidate.value;
        for at in 0..self.at(count, value).len() {
            let from = self.at(count, value)[at];
            let tokens = from.tokens.saturating_add(candidate.tokens);
            let bytes = from.bytes.saturating_add(candidate.bytes);
            let Some(cell) = self.cells.get_mut(target) else { continue };
            if tokens > room.tokens
                || bytes > room.bytes
                || cell.iter().any(|way| way.tokens <= tokens && way.bytes <= bytes)
            {
                continue;
            }
            cell.retain(|way| way.tokens < tokens || way.bytes < bytes);
            if cell.len() < MOST_WAYS {
                cell.push(Way { tokens, bytes, last: Some(self.steps.len()) });
                self.steps.push((candidate.item, from.last));
            }
        }
    }

    /// What the way of the greatest value took, with the fewest items of equal ones.
    fn best(&self, reached: &[usize]) -> Vec<usize> {
        let mut best = (0, None);
        for (count, most) in reached.iter().enumerate() {
            for value in (best.0 + 1..=*most).rev() {
                if let Some(way) = self.at(count, value).first() {
                    best = (value, way.last);
                    break;
                }
            }
        }
        let mut taken = Vec::new();
        let mut last = best.1;
        while let Some((item, before)) = last.and_then(|step: usize| self.steps.get(step)) {
            taken.push(*item);
            last = *before;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exact(items: &[Item], room: Room) -> f64 {
        let Some((first, rest)) = items.split_first() else { return 0.0 };
        let without = exact(rest, room);
        if room.takes(first) { without.max(first.value + exact(rest, room.without(first))) } else { without }
    }

    fn check(items: &[Item], room: Room) -> Result<f64, TestCaseError> {
        let taken = best(items, room);
        prop_assert!(taken.is_sorted_by(|a, b| a < b));
        prop_assert!(taken.len() <= room.items);
        prop_assert!(taken.iter().map(|i| items[*i].tokens).sum::<usize>() <= room.tokens);
        prop_assert!(taken.iter().map(|i| items[*i].bytes).sum::<u64>() <= room.bytes);
        Ok(value(items, &taken))
    }

    fn item(tokens: usize, bytes: u64) -> impl Strategy<Value = Item> {
        (0_u32..=1_000, 0..=tokens, 0..=bytes).prop_map(|(value, tokens, bytes)| Item {
            value: f64::from(value) / 1_000.0,
            tokens,
            bytes,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn no_more_than_a_twentieth_is_lost(
            items in proptest::collection::vec(item(500, 0), 0..16),
            tokens in 0_usize..2_000,
            most in 0_usize..10,
        ) {
            let room = Room { items: most, tokens, bytes: 0 };
            let found = check(&items, room)?;
            prop_assert!(found >= 0.95 * exact(&items, room), "{found}");
        }

        #[test]
        fn with_two_budgets_no_more_than_a_tenth_is_lost(
            items in proptest::collection::vec(item(500, 500), 0..14),
            tokens in 0_usize..1_500,
            bytes in 0_u64..1_500,
            most in 0_usize..10,
        ) {
            let room = Room { items: most, tokens, bytes };
            let found = check(&items, room)?;
            prop_assert!(found >= 0.9 * exact(&items, room), "{found}");
        }
    }

    #[test]
    fn neither_the_dearest_nor_the_densest_come_first() {
        let item = |value, tokens| Item { value, tokens, bytes: 0 };
        let room = Room { items: 8, tokens: 10, bytes: 0 };
        assert_eq!(best(&[item(0.6, 10), item(0.5, 5), item(0.5, 5)], room), [1, 2]);
        assert_eq!(best(&[item(0.2, 1), item(0.9, 10)], room), [1]);
        assert_eq!(best(&[item(0.9, 6), item(0.55, 5), item(0.55, 5), item(0.1, 4)], room), [1, 2]);
        assert_eq!(best(&[item(0.9, 11)], room), [0; 0]);
    }

    #[test]
    fn what_is_bigger_and_worth_more_stays_bounded() {
        let items: Vec<_> =
            (1..10_000).map(|n| Item { value: f64::from(n) / 1e4, tokens: n as usize, bytes: 0 }).collect();
        let candidates: Vec<_> = (0..items.len()).collect();
        let room = Room { items: 8, tokens: 20_000, bytes: 0 };
        assert!(Scaled::new(&items, &candidates, room, 1.0, false).0.len() <= 8 * 160);
        assert!(value(&items, &best(&items, room)) > 0.95 * 2.0);
    }
}
