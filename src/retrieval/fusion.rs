use super::top::top;

/// How the scores of two channels become one.
///
/// Scores of a channel say nothing outside of it: those of BM25 have no upper end, and cosines of
/// some models lie between 0.7 and 0.9, of others between 0 and 0.5. So they are brought to one
/// scale for each query.
///
/// Measured on six sets of tools: `docs/retrieval.md` has the figures of each set and weight, with
/// the embedding that ships and with all-MiniLM-L6-v2.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fusion {
    /// Both scores brought to 0 to 1 between the least and the greatest among all tools that may
    /// be seen, then weighted and added.
    WeightedSum {
        /// The weight of the dense channel, 0 to 1; the lexical one has the rest.
        dense_weight: f32,
    },
    /// Reciprocal rank fusion: 1 / (k + rank) of both channels, added and scaled to at most 1. It
    /// needs no scores, and so does not see that one tool is far ahead of the second.
    Rrf {
        /// How little the first ranks stand out, at least 0. The customary 60 was found on
        /// collections of many thousand documents; 10 is better among hundreds of tools.
        k: f32,
    },
}

impl Default for Fusion {
    /// A weighted sum with a dense weight of 0.35: the mean over six sets hardly differs from 0.3 to
    /// 0.5. More gains where requests share few words with tools, and loses where they share many.
    fn default() -> Self {
        Self::WeightedSum { dense_weight: 0.35 }
    }
}

/// What one channel says of all tools, by position in the catalog.
pub(super) struct Scores {
    pub(super) values: Vec<f32>,
    /// Whether the channel says anything of the tool.
    pub(super) held: Vec<bool>,
    /// What is 0 and what is 1.
    pub(super) range: (f32, f32),
}

impl Scores {
    /// On the scale from 0 to 1; 0 where nothing is said.
    fn scaled(&self, at: usize) -> f32 {
        let (least, most) = self.range;
        match self.values.get(at) {
            Some(value) if self.holds(at) && most > least => ((value - least) / (most - least)).clamp(0.0, 1.0),
            _ => 0.0,
        }
    }

    fn holds(&self, at: usize) -> bool {
        self.held.get(at).copied().unwrap_or(false)
    }

    /// What a rank gives, by position.
    fn reciprocal(&self, k: f32) -> Vec<f32> {
        let mut gains = vec![0.0; self.values.len()];
        let held = (0..).zip(&self.values).filter(|(at, _)| self.holds(*at as usize)).map(|(at, value)| (at, *value));
        for ((at, _), rank) in top(held, MAX_RANKS).into_iter().zip(1_u16..) {
            if let Some(gain) = gains.get_mut(at as usize) {
                *gain = (k + 1.0) / (k + f32::from(rank));
            }
        }
        gains
    }
}

/// Ranks beyond give too little to matter.
const MAX_RANKS: usize = 1_000;

impl Fusion {
    /// The shares of the lexical and the dense channel, whose scores are worth so much for this
    /// query, 0 to 1. They add up to 1, unless neither is worth anything.
    pub(super) fn shares(self, lexical: f32, dense: f32) -> (f32, f32) {
        let weight = match self {
            Self::WeightedSum { dense_weight } if dense_weight.is_nan() => 0.0,
            Self::WeightedSum { dense_weight } => dense_weight.clamp(0.0, 1.0),
            Self::Rrf { .. } => 0.5,
        };
        let (lexical, dense) = ((1.0 - weight) * lexical, weight * dense);
        let sum = lexical + dense;
        if sum > 0.0 { (lexical / sum, dense / sum) } else { (0.0, 0.0) }
    }

    /// The tools of which a channel with a share says something, with one score each, up to 1. What
    /// is the least of all by every channel has none, and is left out.
    pub(super) fn fuse(self, lexical: &Scores, dense: &Scores, shares: (f32, f32)) -> Vec<(u32, f32)> {
        let of = |scores: &Scores| match self {
            Self::Rrf { k } => scores.reciprocal(if k.is_finite() { k.max(0.0) } else { 60.0 }),
            Self::WeightedSum { .. } => (0..scores.values.len()).map(|at| scores.scaled(at)).collect(),
        };
        let said = |scores: &Scores, share: f32, at: u32| share > 0.0 && scores.holds(at as usize);
        let both = (0..).zip(of(lexical).into_iter().zip(of(dense)));
        both.filter(|(at, _)| said(lexical, shares.0, *at) || said(dense, shares.1, *at))
            .map(|(at, (lexical, dense))| (at, shares.0 * lexical + shares.1 * dense))
            .filter(|(_, score)| *score > 0.0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 0 stands for a tool of which the channel says nothing.
    fn scores(values: &[u8]) -> Scores {
        let held = || values.iter().filter(|value| **value > 0).map(|value| f32::from(*value));
        Scores {
            values: values.iter().map(|value| f32::from(*value)).collect(),
            held: values.iter().map(|value| *value > 0).collect(),
            range: (held().fold(f32::INFINITY, f32::min), held().fold(0.0, f32::max)),
        }
    }

    fn fusions() -> impl Strategy<Value = Fusion> {
        prop_oneof![
            (0.0..=1.0_f32).prop_map(|dense_weight| Fusion::WeightedSum { dense_weight }),
            (0.0..100.0_f32).prop_map(|k| Fusion::Rrf { k }),
        ]
    }

    fn order(fused: Vec<(u32, f32)>) -> Vec<u32> {
        top(fused, usize::MAX).into_iter().map(|(at, _)| at).collect()
    }

    fn place(fused: Vec<(u32, f32)>, tool: u32) -> usize {
        order(fused).into_iter().position(|at| at == tool).unwrap_or(usize::MAX)
    }

    #[test]
    fn both_channels_count() {
        let (lexical, dense) = (scores(&[9, 1, 0, 5]), scores(&[1, 9, 5, 7]));
        for fusion in [Fusion::default(), Fusion::Rrf { k: 10.0 }] {
            let fused = fusion.fuse(&lexical, &dense, fusion.shares(1.0, 1.0));
            assert_eq!(fused.len(), 4);
            assert!(fused.iter().all(|(_, score)| (0.0..=1.0).contains(score)), "{fused:?}");
        }
        let fused = Fusion::default().fuse(&lexical, &dense, (0.5, 0.5));
        assert_eq!(fused, [(0, 0.5), (1, 0.5), (2, 0.25), (3, 0.625)]);
    }

    #[test]
    fn weights_that_make_no_sense_are_none() {
        for (weight, expected) in [(f32::NAN, 0.0), (-3.0, 0.0), (3.0, 1.0), (f32::INFINITY, 1.0)] {
            assert_eq!(Fusion::WeightedSum { dense_weight: weight }.shares(1.0, 1.0).1, expected);
        }
        let (lexical, dense) = (scores(&[1, 2]), scores(&[2, 1]));
        for k in [f32::NAN, f32::INFINITY, -5.0] {
            assert!(Fusion::Rrf { k }.fuse(&lexical, &dense, (0.5, 0.5)).iter().all(|(_, score)| score.is_finite()));
        }
    }

    proptest! {
        #[test]
        fn a_channel_that_is_worth_nothing_changes_nothing(
            fusion in fusions(),
            pairs in prop::collection::vec((0..9_u8, 0..9_u8), 1..20),
        ) {
            let (lexical, dense): (Vec<u8>, Vec<u8>) = pairs.into_iter().unzip();
            let none = scores(&vec![0; lexical.len()]);
            let (lexical, dense) = (scores(&lexical), scores(&dense));
            let shares = fusion.shares(1.0, 0.0);
            prop_assert_eq!(fusion.fuse(&lexical, &dense, shares), fusion.fuse(&lexical, &none, shares));
            let shares = fusion.shares(0.0, 1.0);
            prop_assert_eq!(fusion.fuse(&lexical, &dense, shares), fusion.fuse(&none, &dense, shares));
        }

        #[test]
        fn a_better_score_never_means_a_worse_place(
            fusion in fusions(),
            pairs in prop::collection::vec((1..9_u8, 1..9_u8), 1..20),
            tool in 0..20_usize,
            more in 1..9_u8,
        ) {
            let tool = tool % pairs.len();
            let (lexical, mut dense): (Vec<u8>, Vec<u8>) = pairs.into_iter().unzip();
            let shares = fusion.shares(1.0, 1.0);
            let before = place(fusion.fuse(&scores(&lexical), &scores(&dense), shares), tool as u32);
            dense[tool] += more;
            let after = place(fusion.fuse(&scores(&lexical), &scores(&dense), shares), tool as u32);
            prop_assert!(after <= before, "{after} {before}");
        }
    }
}
