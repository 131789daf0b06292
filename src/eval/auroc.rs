/// How well a score tells two kinds apart: the share of pairs whose positive has the higher score,
/// an equal one counting half (the area under the ROC curve). `None` without either kind.
pub(super) fn auroc(positive: &[f32], negative: &[f32]) -> Option<f64> {
    if positive.is_empty() || negative.is_empty() {
        return None;
    }
    let mut negative = negative.to_vec();
    negative.sort_unstable_by(f32::total_cmp);
    let won = positive.iter().map(|score| {
        let below = negative.partition_point(|other| other < score);
        let not_above = negative.partition_point(|other| other <= score);
        (below + not_above) as f64 / 2.0
    });
    Some(won.sum::<f64>() / (positive.len() * negative.len()) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_by_hand() {
        // 0.9 wins twice; 0.5 wins once and ties once; 0.1 loses once and ties once: 4 of 6.
        assert_eq!(auroc(&[0.9, 0.5, 0.1], &[0.5, 0.1]), Some((2.0 + 1.5 + 0.5) / 6.0));
        assert_eq!(auroc(&[1.0], &[0.0]), Some(1.0));
        assert_eq!(auroc(&[0.0; 3], &[0.0; 5]), Some(0.5));
        assert_eq!((auroc(&[], &[1.0]), auroc(&[1.0], &[])), (None, None));
    }
}
