use std::cmp::Ordering;

/// The best `limit` by score, best first; equal scores by position, which is the order of tool ids.
pub(super) fn top(scores: impl IntoIterator<Item = (u32, f32)>, limit: usize) -> Vec<(u32, f32)> {
    let mut best: Vec<(u32, f32)> = scores.into_iter().collect();
    if limit < best.len() {
        best.select_nth_unstable_by(limit, better);
        best.truncate(limit);
    }
    best.sort_unstable_by(better);
    best
}

fn better((a, a_score): &(u32, f32), (b, b_score): &(u32, f32)) -> Ordering {
    b_score.total_cmp(a_score).then(a.cmp(b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_head_of_all(scores in prop::collection::vec(0..6_u8, 0..40), limit in 0..50_usize) {
            let scored = || (0..).zip(&scores).map(|(at, score)| (at, f32::from(*score)));
            let mut all: Vec<(u32, f32)> = scored().collect();
            all.sort_by(better);
            all.truncate(limit);
            prop_assert_eq!(top(scored(), limit), all);
        }
    }
}
