//! How far means would move with other queries of the same kind.

/// Where the random numbers start: fixed, so that a report is the same in every run.
pub(super) const SEED: u64 = 1;

/// How many samples are drawn: their quantiles at 2.5 and 97.5 % are then steady to a few
/// hundredths of the interval's width.
pub(super) const RESAMPLES: usize = 1_000;

/// The 95 % interval of the mean of each column: the percentile bootstrap over rows. Without rows, zeros.
pub(super) fn ci95<const N: usize>(rows: &[[f64; N]]) -> [[f64; 2]; N] {
    if rows.is_empty() {
        return [[0.0; 2]; N];
    }
    let mut random = SplitMix(SEED);
    let mut means: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(RESAMPLES));
    for _ in 0..RESAMPLES {
        let mut sums = [0.0; N];
        for _ in rows {
            let row = &rows[random.below(rows.len())];
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        means.iter_mut().zip(sums).for_each(|(means, sum)| means.push(sum / rows.len() as f64));
    }
    means.map(|mut means| {
        means.sort_unstable_by(f64::total_cmp);
        // Nearest ranks: the 25th of 1,000 and its mirror image.
        let low = RESAMPLES / 40 - 1;
        [means[low], means[RESAMPLES - 1 - low]]
    })
}

/// SplitMix64 of Steele, Lea and Flood: small, and good enough to draw samples.
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_random_numbers_are_those_of_the_algorithm() {
        // From seed 0 the first output is e220a8397b1dcdaf, which is 0.88331 of 2^64.
        assert_eq!(SplitMix(0).below(100_000), 88_331);
    }

    #[test]
    fn an_interval_is_as_wide_as_theory_says() {
        // 400 queries, a quarter of them right: 25 ± 1.96 · sqrt(0.25 · 0.75 / 400) is 20.8 to 29.2 %.
        let rows: Vec<[f64; 2]> = (0..400).map(|i| [f64::from(u8::from(i % 4 == 0)), 0.5]).collect();
        let [[low, high], same] = ci95(&rows);
        assert!((low - 0.2076).abs() < 0.006 && (high - 0.2924).abs() < 0.006, "{low} {high}");
        assert_eq!(same, [0.5; 2]);
        assert_eq!(ci95(&rows), [[low, high], same]);
        assert_eq!(ci95::<1>(&[]), [[0.0; 2]]);
    }
}
