//! Vectors of one length in one piece of memory, and their scores for a query.
//!
//! A catalog holds some thousand tools: looking at every vector takes less time than the graph of
//! an approximate index would take to build, finds what is best for certain, and a filter costs nothing.

/// How vectors are kept.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum VectorStorage {
    /// One byte for each number and a scale for each vector, the default: a quarter of the memory,
    /// and of the ten best of 1,000 random vectors 98.9 % are those of [`Self::F32`]. The vectors of
    /// texts lie less evenly, and their order is easier to keep.
    #[default]
    Int8,
    /// Four bytes for each number, as the embedder gave them.
    F32,
}

/// Vectors by row. All are of length 1 or 0, so that dot products are cosines.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    dimensions: usize,
    /// Whole lanes: rows end with zeros.
    stride: usize,
    data: Data,
}

#[derive(Clone, Debug)]
enum Data {
    F32(Vec<f32>),
    Int8 { values: Vec<i8>, scales: Vec<f32> },
}

/// How many sums run beside each other. It is part of the result: float sums depend on their
/// order, and with a fixed one every machine gives the same bits.
const LANES: usize = 16;

impl Vectors {
    /// None yet, with room for `rows`.
    pub(crate) fn with_capacity(storage: VectorStorage, dimensions: usize, rows: usize) -> Self {
        let stride = dimensions.next_multiple_of(LANES);
        let room = rows.saturating_mul(stride);
        let data = match storage {
            VectorStorage::F32 => Data::F32(Vec::with_capacity(room)),
            VectorStorage::Int8 => Data::Int8 { values: Vec::with_capacity(room), scales: Vec::with_capacity(rows) },
        };
        Self { dimensions, stride, data }
    }

    /// The length of the vectors.
    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// How they are kept.
    pub(crate) fn storage(&self) -> VectorStorage {
        match self.data {
            Data::F32(_) => VectorStorage::F32,
            Data::Int8 { .. } => VectorStorage::Int8,
        }
    }

    /// Adds a row. What is longer than the vectors are is left out, what is shorter ends with zeros.
    pub(crate) fn push(&mut self, vector: &[f32]) {
        let numbers = vector.iter().copied().chain(std::iter::repeat(0.0)).take(self.dimensions);
        let padding = self.stride - self.dimensions;
        match &mut self.data {
            Data::F32(data) => data.extend(numbers.chain(std::iter::repeat_n(0.0, padding))),
            Data::Int8 { values, scales } => {
                let scale = largest(vector) / f32::from(i8::MAX);
                let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
                values.extend(numbers.map(|x| (x * inverse).round() as i8));
                values.extend(std::iter::repeat_n(0, padding));
                scales.push(scale);
            }
        }
    }

    /// Adds a row of another of the same dimensions and storage; a row of zeros if there is none.
    pub(crate) fn push_from(&mut self, other: &Self, row: usize) {
        let at = row * other.stride..(row + 1) * other.stride;
        match (&mut self.data, &other.data) {
            (Data::F32(data), Data::F32(others)) if self.stride == other.stride && at.end <= others.len() => {
                data.extend_from_slice(&others[at]);
            }
            (Data::Int8 { values, scales }, Data::Int8 { values: others, scales: other_scales })
                if self.stride == other.stride && at.end <= others.len() =>
            {
                values.extend_from_slice(&others[at]);
                scales.push(other_scales.get(row).copied().unwrap_or(0.0));
            }
            _ => self.push(&[]),
        }
    }

    /// The cosine of each row with a query of length 1; 0 for rows that are not `wanted`.
    pub(crate) fn scores(&self, query: &[f32], wanted: impl Fn(usize) -> bool) -> Vec<f32> {
        let query = || query.iter().copied().chain(std::iter::repeat(0.0)).take(self.stride);
        match &self.data {
            Data::F32(data) => {
                let query: Vec<f32> = query().collect();
                let rows = data.chunks_exact(self.stride).enumerate();
                rows.map(|(row, values)| if wanted(row) { dot(&query, values) } else { 0.0 }).collect()
            }
            Data::Int8 { values, scales } => {
                // The query is kept finer than the rows: its error would be in every score. All
                // products of a row still fit into 32 bits together, so the sum is exact.
                let steps = i32::MAX / (i32::from(i8::MAX) * self.stride as i32);
                let steps = steps.min(i32::from(i16::MAX)) as f32;
                let query: Vec<f32> = query().collect();
                let scale = largest(&query) / steps;
                let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
                let query: Vec<i16> = query.iter().map(|x| (x * inverse).round() as i16).collect();
                let rows = values.chunks_exact(self.stride).zip(scales).enumerate();
                rows.map(
                    |(row, (values, of_row))| {
                        if wanted(row) { dot_int8(&query, values) as f32 * scale * of_row } else { 0.0 }
                    },
                )
                .collect()
            }
        }
    }
}

fn largest(vector: &[f32]) -> f32 {
    vector.iter().fold(0.0, |largest, x| x.abs().max(largest))
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    lanes.iter().sum()
}

fn dot_int8(a: &[i16], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pseudorandom vectors of length 1, the same everywhere.
    pub(crate) fn random(count: usize, dimensions: usize, mut state: u64) -> Vec<Vec<f32>> {
        let mut uniform = move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 40) as f32 / (1 << 24) as f32
        };
        let mut vectors = Vec::with_capacity(count);
        for _ in 0..count {
            // The sum of 12 is near enough to a normal distribution.
            let mut vector: Vec<f32> = (0..dimensions).map(|_| (0..12).map(|_| uniform()).sum::<f32>() - 6.0).collect();
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.iter_mut().for_each(|x| *x /= length);
            vectors.push(vector);
        }
        vectors
    }

    fn stored(storage: VectorStorage, vectors: &[Vec<f32>]) -> Vectors {
        let mut stored = Vectors::with_capacity(storage, vectors[0].len(), vectors.len());
        vectors.iter().for_each(|vector| stored.push(vector));
        stored
    }

    fn best(scores: &[f32], count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        order.truncate(count);
        order
    }

    #[test]
    fn a_byte_finds_what_four_find() {
        let documents = random(1_000, 256, 1);
        let (exact, small) = (stored(VectorStorage::F32, &documents), stored(VectorStorage::Int8, &documents));
        let mut found = 0;
        let queries = random(100, 256, 2);
        for query in &queries {
            let expected = best(&exact.scores(query, |_| true), 10);
            let scores = small.scores(query, |_| true);
            found += best(&scores, 10).iter().filter(|row| expected.contains(row)).count();
        }
        assert!(found * 1000 >= queries.len() * 10 * 985, "{found} of {}", queries.len() * 10);
    }

    #[test]
    fn a_score_is_the_same_on_every_machine() {
        let documents = random(3, 100, 3);
        let query = &random(1, 100, 4)[0];
        let bits = |storage| {
            let scores = stored(storage, &documents).scores(query, |row| row != 1);
            scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(
            [bits(VectorStorage::F32), bits(VectorStorage::Int8)],
            [[1024960745, 0, 3178981668], [1025125350, 0, 3178875685]]
        );
    }

    proptest! {
        #[test]
        fn scores_are_cosines_whatever_the_length(
            dimensions in prop_oneof![1..70_usize, Just(300), Just(4_096), Just(16_384)],
            seed in any::<u64>(),
        ) {
            let vectors = random(3, dimensions, seed);
            for (storage, near) in [(VectorStorage::F32, 1e-5), (VectorStorage::Int8, 2e-2)] {
                let index = stored(storage, &vectors);
                let mut copied = Vectors::with_capacity(storage, dimensions, 4);
                (0..3).for_each(|row| copied.push_from(&index, row));
                copied.push_from(&index, 3);
                for query in &vectors {
                    let scores = index.scores(query, |_| true);
                    for (vector, score) in vectors.iter().zip(&scores) {
                        let expected: f64 = vector.iter().zip(query).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                        prop_assert!((f64::from(*score) - expected).abs() < near, "{score} {expected}");
                    }
                    let again = copied.scores(query, |_| true);
                    prop_assert_eq!(&again[..3], &scores[..]);
                    prop_assert_eq!(again[3], 0.0);
                }
            }
        }

        #[test]
        fn any_numbers_are_stored(vector in prop::collection::vec(-1.0_f32..=1.0, 0..40)) {
            for storage in [VectorStorage::F32, VectorStorage::Int8] {
                let mut index = Vectors::with_capacity(storage, 20, 1);
                index.push(&vector);
                prop_assert!(index.scores(&vector, |_| true)[0].is_finite());
            }
        }
    }
}
