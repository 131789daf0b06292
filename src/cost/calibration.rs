use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How far a token counter is off for each model, learnt from what providers billed.
///
/// A factor is the ratio of the billed tokens to the counted ones over all requests, with a prior of
/// [`PRIOR`](Self::PRIOR) tokens that were counted right, so that one short request moves little.
/// One request counts for at most a ratio of 0.5 to 2, which is as far as a counter of the right
/// kind can be off: beyond it something else was billed, such as a picture. Later requests count
/// more: when a million tokens were seen, all before weigh half.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Calibration {
    models: BTreeMap<String, Seen>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Seen {
    counted: u64,
    billed: u64,
}

impl Calibration {
    /// The tokens of the prior.
    pub const PRIOR: u64 = 2_000;

    /// The tokens after which all before weigh half.
    pub const HALF_LIFE: u64 = 1_000_000;

    /// The most models that are told apart: 64. Those beyond are not calibrated.
    pub const MAX_MODELS: usize = 64;

    /// Nothing was seen: every factor is 1.
    pub fn new() -> Self {
        Self::default()
    }

    /// A request to `model` was counted as so many input tokens and billed as so many. Without
    /// either it says nothing.
    pub fn observe(&mut self, model: &str, counted: u64, billed: u64) {
        if counted == 0 || billed == 0 || (self.models.len() >= Self::MAX_MODELS && !self.models.contains_key(model)) {
            return;
        }
        let counted = counted.min(Self::HALF_LIFE);
        let billed = billed.clamp(counted / 2, counted * 2);
        let seen = self.models.entry(model.to_owned()).or_default();
        seen.counted = seen.counted.saturating_add(counted);
        seen.billed = seen.billed.saturating_add(billed);
        if seen.counted > Self::HALF_LIFE {
            seen.counted /= 2;
            seen.billed /= 2;
        }
    }

    /// By how much the counts for `model` are to be multiplied, 0.5 to 2; 1 if nothing is known.
    pub fn factor(&self, model: &str) -> f64 {
        let Seen { counted, billed } = self.models.get(model).copied().unwrap_or_default();
        (billed.saturating_add(Self::PRIOR) as f64 / (counted.saturating_add(Self::PRIOR)) as f64).clamp(0.5, 2.0)
    }

    /// A count for `model`, put right and rounded.
    pub fn calibrated(&self, model: &str, count: u64) -> u64 {
        (count as f64 * self.factor(model)).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_factor_is_a_ratio_of_sums_with_a_prior() {
        let mut calibration = Calibration::new();
        assert_eq!(calibration.factor("m"), 1.0);
        calibration.observe("m", 6_000, 7_200);
        assert_eq!(calibration.factor("m"), 9_200.0 / 8_000.0);
        assert_eq!(calibration.calibrated("m", 1_000), 1_150);
        calibration.observe("m", 92_000, 110_400);
        assert_eq!(calibration.factor("m"), 119_600.0 / 100_000.0);
        assert_eq!(calibration.factor("other"), 1.0);
    }

    #[test]
    fn one_request_moves_it_only_so_far() {
        let mut calibration = Calibration::new();
        calibration.observe("m", 10_000, 10_000);
        calibration.observe("m", 10, 50_000);
        assert_eq!(calibration.factor("m"), 12_020.0 / 12_010.0);
        calibration.observe("m", 0, 50_000);
        calibration.observe("m", 50_000, 0);
        assert_eq!(calibration.factor("m"), 12_020.0 / 12_010.0);
    }

    #[test]
    fn what_is_new_outweighs_what_is_old() {
        let mut calibration = Calibration::new();
        for _ in 0..40 {
            calibration.observe("m", 100_000, 120_000);
        }
        for _ in 0..40 {
            calibration.observe("m", 100_000, 100_000);
        }
        assert!((1.0..1.02).contains(&calibration.factor("m")), "{}", calibration.factor("m"));
    }

    #[test]
    fn models_are_bounded_and_saved() {
        let mut calibration = Calibration::new();
        for i in 0..Calibration::MAX_MODELS + 9 {
            calibration.observe(&format!("m{i}"), 1_000, 1_100);
        }
        calibration.observe("m0", 1_000, 1_100);
        assert_eq!(calibration.models.len(), Calibration::MAX_MODELS);
        let text = serde_json::to_string(&calibration).unwrap();
        assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), calibration);
    }

    proptest! {
        #[test]
        fn factors_stay_in_bounds(seen in prop::collection::vec((any::<u64>(), any::<u64>()), 0..20)) {
            let mut calibration = Calibration::new();
            for (counted, billed) in seen {
                calibration.observe("m", counted, billed);
                prop_assert!((0.5..=2.0).contains(&calibration.factor("m")));
            }
        }
    }
}
