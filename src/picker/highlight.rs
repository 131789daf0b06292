use std::ops::Range;

/// Which parts of an item's texts a query met: byte ranges, in order, apart from each other, each on
/// characters' boundaries of the text as the [`Item`](super::Item) has it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Highlights {
    /// Of the label.
    pub label: Vec<Range<usize>>,
    /// Of the name.
    pub name: Vec<Range<usize>>,
    /// Of the shortened URI.
    pub uri: Vec<Range<usize>>,
    /// Of the server's name.
    pub server: Vec<Range<usize>>,
    /// Of the description.
    pub description: Vec<Range<usize>>,
}

/// The bytes of characters by their positions, which may repeat and be in any order.
pub(super) fn ranges(mut positions: Vec<u32>, text: &str) -> Vec<Range<usize>> {
    positions.sort_unstable();
    positions.dedup();
    let mut wanted = positions.into_iter().peekable();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (position, (start, c)) in (0_u32..).zip(text.char_indices()) {
        if wanted.next_if_eq(&position).is_none() {
            continue;
        }
        let end = start + c.len_utf8();
        match ranges.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => ranges.push(start..end),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_range_on_boundaries() {
        assert_eq!(ranges(vec![3, 0, 1, 1, 9], "äöuß"), [0..4, 5..7]);
        assert!(ranges(Vec::new(), "text").is_empty());
    }
}
