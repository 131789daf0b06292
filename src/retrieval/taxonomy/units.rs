/// Vectors of length 1 in whole numbers, row by row.
///
/// Sums of whole numbers are the same in any order and on any machine, and so is everything that
/// is decided by them. One step is 1/16,384, finer than what is compared.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    dimensions: usize,
    rows: Vec<i16>,
}

/// The length of a vector in steps. The product of two fits into 32 bits.
const LENGTH: f64 = 16_384.0;

impl Units {
    pub(super) fn with_capacity(dimensions: usize, rows: usize) -> Self {
        Self { dimensions: dimensions.max(1), rows: Vec::with_capacity(dimensions * rows) }
    }

    /// Adds a vector, brought to length 1; one of zeros stays.
    pub(super) fn push(&mut self, vector: &[i64]) {
        let length = vector.iter().map(|x| *x as f64 * *x as f64).sum::<f64>().sqrt();
        self.add(vector.iter().map(|x| *x as f64), length);
    }

    /// As [`push`](Self::push), of a vector as an embedder gives it.
    pub(super) fn push_floats(&mut self, vector: &[f32]) {
        let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
        self.add(vector.iter().map(|x| f64::from(*x)), length);
    }

    /// Replaces a row.
    pub(super) fn set(&mut self, row: usize, vector: &[i64]) {
        let mut unit = Self::with_capacity(self.dimensions, 1);
        unit.push(vector);
        self.rows[row * self.dimensions..(row + 1) * self.dimensions].copy_from_slice(unit.get(0));
    }

    fn add(&mut self, vector: impl Iterator<Item = f64>, length: f64) {
        let scale = if length > 0.0 { LENGTH / length } else { 0.0 };
        let start = self.rows.len();
        self.rows.extend(vector.map(|x| (x * scale).round() as i16));
        self.rows.resize(start + self.dimensions, 0);
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len() / self.dimensions.max(1)
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) fn get(&self, row: usize) -> &[i16] {
        &self.rows[row * self.dimensions..(row + 1) * self.dimensions]
    }

    pub(super) fn is_zero(&self, row: usize) -> bool {
        self.get(row).iter().all(|x| *x == 0)
    }

    /// The sum of rows.
    pub(super) fn sum(&self, rows: impl Iterator<Item = usize>) -> Vec<i64> {
        let mut sum = vec![0_i64; self.dimensions];
        for row in rows {
            sum.iter_mut().zip(self.get(row)).for_each(|(sum, x)| *sum += i64::from(*x));
        }
        sum
    }

    /// The product of two vectors, in steps of steps.
    pub(super) fn dot(a: &[i16], b: &[i16]) -> i32 {
        // Both have length 1, so no sum of products is beyond 2^28 but for rounding.
        a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).fold(0, i32::wrapping_add)
    }

    pub(super) fn cosine(a: &[i16], b: &[i16]) -> f32 {
        (f64::from(Self::dot(a, b)) / (LENGTH * LENGTH)).clamp(-1.0, 1.0) as f32
    }
}
