use std::{borrow::Cow, sync::Arc};

use super::{vocabulary::Vocabulary, words::words};
use crate::index::embedder::MAX_DIMENSIONS;

/// The rows of a static embedding and what each stands for.
#[derive(Clone, Default)]
pub(super) struct Table(Arc<Rows>);

struct Rows {
    dimensions: usize,
    scales: Vec<f32>,
    /// One `i8` a byte, as it lies in the file.
    values: Cow<'static, [u8]>,
    vocabulary: Vocabulary,
}

const MAGIC: &[u8] = b"PROEMEMB";
const VERSION: u32 = 1;
const HEADER: usize = MAGIC.len() + 3 * size_of::<u32>();

impl Table {
    /// Reads a file; the reason if it is none.
    pub(super) fn read(file: Cow<'static, [u8]>) -> Result<Self, &'static str> {
        let number = |at: usize| {
            let bytes = file.get(MAGIC.len() + at * 4..)?.first_chunk::<4>()?;
            Some(u32::from_le_bytes(*bytes))
        };
        let (Some(version), Some(rows), Some(dimensions)) = (number(0), number(1), number(2)) else {
            return Err("the file is shorter than a header");
        };
        if !file.starts_with(MAGIC) {
            return Err("the file is no static embedding");
        }
        if version != VERSION {
            return Err("the file has another version than 1");
        }
        let (rows, dimensions) = (rows as usize, dimensions as usize);
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err("the dimensions are not between 1 and 16384");
        }
        let scales_end = rows.checked_mul(4).and_then(|bytes| bytes.checked_add(HEADER));
        let values_end = rows.checked_mul(dimensions).zip(scales_end).and_then(|(bytes, end)| bytes.checked_add(end));
        let (Some(scales_end), Some(values_end)) = (scales_end, values_end) else {
            return Err("the file is shorter than its rows");
        };
        if file.len() < values_end {
            return Err("the file is shorter than its rows");
        }
        let scales: Vec<f32> =
            file[HEADER..scales_end].as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if !scales.iter().all(|scale| scale.is_finite()) {
            return Err("a scale is not finite");
        }
        let (values, entries) = match file {
            Cow::Borrowed(file) => (Cow::Borrowed(&file[scales_end..values_end]), Cow::Borrowed(&file[values_end..])),
            Cow::Owned(mut file) => {
                let entries = file.split_off(values_end);
                file.drain(..scales_end);
                (Cow::Owned(file), Cow::Owned(entries))
            }
        };
        if entries.last().is_some_and(|last| *last != b'\n') || entries.len() > u32::MAX as usize {
            return Err("the last entry has no end");
        }
        let vocabulary = Vocabulary::new(entries);
        if vocabulary.len() != rows {
            return Err("there are not as many entries as rows");
        }
        Ok(Self(Arc::new(Rows { dimensions, scales, values, vocabulary })))
    }

    /// The length of the rows.
    pub(super) fn dimensions(&self) -> usize {
        self.0.dimensions
    }

    /// What the rows stand for.
    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.0.vocabulary
    }

    /// The sum of the rows of a text's pieces and pairs; zeros if it has none. Not of length 1:
    /// long rows are words that say much.
    pub(super) fn sum(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.0.dimensions];
        self.rows(text, |row| self.add(row, &mut sum));
        sum
    }

    /// Gives the rows of a text: for each word those of its pieces, then that of the pair which it
    /// makes with the word before.
    fn rows(&self, text: &str, mut each: impl FnMut(u32)) {
        let mut before = String::new();
        words(text, |word| {
            self.0.vocabulary.pieces(word, &mut each);
            if let Some(row) = self.0.vocabulary.pair(&before, word) {
                each(row);
            }
            before.clear();
            before.push_str(word);
        });
    }

    /// What the rows of a text stand for.
    #[cfg(all(test, feature = "bundled"))]
    pub(super) fn entries(&self, text: &str) -> Vec<String> {
        let mut entries = Vec::new();
        self.rows(text, |row| entries.push(String::from_utf8_lossy(self.0.vocabulary.entry(row)).into_owned()));
        entries
    }

    /// In the order of the text: float sums depend on it.
    fn add(&self, row: u32, sum: &mut [f32]) {
        let Rows { dimensions, scales, values, .. } = &*self.0;
        let row = row as usize;
        let (Some(scale), Some(values)) = (scales.get(row), values.get(row * dimensions..(row + 1) * dimensions))
        else {
            return;
        };
        for (sum, value) in sum.iter_mut().zip(values) {
            *sum += scale * f32::from(*value as i8);
        }
    }
}

impl Default for Rows {
    /// No rows: an embedder of it knows no text.
    fn default() -> Self {
        let vocabulary = Vocabulary::new(Cow::Borrowed(&[]));
        Self { dimensions: 1, scales: Vec::new(), values: Cow::Borrowed(&[]), vocabulary }
    }
}
