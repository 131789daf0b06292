//! One file of vectors: written once, then read, merged into another or deleted, never changed.
//!
//! | bytes | |
//! |---|---|
//! | 8 | `proemvec` |
//! | 4 | the version of this form, little endian as all numbers |
//! | 4 | the length of each vector |
//! | 32 | the [`Shelf`]'s key |
//! | 32, 4 for each number, 8; again for each record | the digest of the text, its vector, a checksum |

use std::{
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::{self, BufReader, BufWriter, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

use crate::json::Digest;

/// Whose vectors a file holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Shelf {
    pub(super) key: Digest,
    pub(super) dimensions: usize,
}

impl Shelf {
    /// The vectors of an embedder of this identity, of this length.
    pub(crate) fn new(identity: &str, dimensions: usize) -> Self {
        // Files of another version are those of another embedder: nobody uses them, and they go first.
        let form = [VERSION.to_le_bytes(), (dimensions as u32).to_le_bytes()];
        Self { key: Digest::of_parts([identity.as_bytes(), form.as_flattened()]), dimensions }
    }

    /// The bytes of a record.
    pub(super) fn record_bytes(self) -> usize {
        DIGEST + 4 * self.dimensions + CHECKSUM
    }

    fn header(self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(b"proemvec");
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[12..16].copy_from_slice(&(self.dimensions as u32).to_le_bytes());
        header[16..].copy_from_slice(self.key.as_bytes());
        header
    }

    /// Over the key too, so that a record is of no other embedder than the one that it was written for.
    fn checksum(self, record: &[u8]) -> [u8; CHECKSUM] {
        let mut checksum = [0; CHECKSUM];
        checksum.copy_from_slice(&Digest::of_parts([self.key.as_bytes(), record]).as_bytes()[..CHECKSUM]);
        checksum
    }
}

const VERSION: u32 = 1;
pub(super) const HEADER: usize = 48;
const DIGEST: usize = 32;
const CHECKSUM: usize = 8;

/// A finished file, and one that is being written.
const FINISHED: &str = "vectors";
const UNFINISHED: &str = "tmp";

pub(super) fn is_finished(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == FINISHED)
}

pub(super) fn is_unfinished(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == UNFINISHED)
}

/// Writes a file that nobody sees before it is whole.
pub(super) struct SegmentWriter {
    shelf: Shelf,
    out: BufWriter<File>,
    unfinished: PathBuf,
    record: Vec<u8>,
}

impl SegmentWriter {
    /// Begins a file under a name that no other has.
    pub(super) fn create(folder: &Path, shelf: Shelf) -> io::Result<Self> {
        let random = || RandomState::new().hash_one(std::process::id());
        let unfinished = folder.join(format!("{:016x}{:016x}.{UNFINISHED}", random(), random()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let out = BufWriter::new(options.open(&unfinished)?);
        let mut writer = Self { shelf, out, unfinished, record: Vec::new() };
        writer.out.write_all(&shelf.header())?;
        Ok(writer)
    }

    /// Adds a record; what has not the shelf's length is none.
    pub(super) fn push(&mut self, text: Digest, vector: &[f32]) -> io::Result<()> {
        if vector.len() != self.shelf.dimensions {
            return Ok(());
        }
        self.record.clear();
        self.record.extend_from_slice(text.as_bytes());
        vector.iter().for_each(|x| self.record.extend_from_slice(&x.to_le_bytes()));
        let checksum = self.shelf.checksum(&self.record);
        self.record.extend_from_slice(&checksum);
        self.out.write_all(&self.record)
    }

    /// Gives the file its name, once all of it is on the disk.
    pub(super) fn finish(mut self) -> io::Result<PathBuf> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        let finished = self.unfinished.with_extension(FINISHED);
        fs::rename(&self.unfinished, &finished)?;
        // The name is on the disk once the folder is. Not all systems can say so.
        if let Some(folder) = finished.parent().and_then(|folder| File::open(folder).ok()) {
            _ = folder.sync_all();
        }
        Ok(finished)
    }
}

impl Drop for SegmentWriter {
    /// What was finished has another name by now.
    fn drop(&mut self) {
        _ = fs::remove_file(&self.unfinished);
    }
}

/// Reads the records of a file that are as they were written.
pub(super) struct SegmentReader {
    shelf: Shelf,
    file: BufReader<File>,
    record: Vec<u8>,
    /// How many records were left out since they are not as they were written.
    pub(super) damaged: usize,
    /// Why it could not be read to its end.
    pub(super) failure: Option<io::Error>,
}

impl SegmentReader {
    /// Opens a file. [`ErrorKind::InvalidData`] if it is none of this shelf's, or of another version.
    pub(super) fn open(path: &Path, shelf: Shelf) -> io::Result<Self> {
        let mut file = BufReader::with_capacity(64 * 1024, File::open(path)?);
        let mut header = [0; HEADER];
        let whole = fill(&mut file, &mut header)? == HEADER;
        if !whole || header != shelf.header() {
            return Err(io::Error::new(ErrorKind::InvalidData, "no vectors of this embedder and version"));
        }
        let record = vec![0; shelf.record_bytes()];
        Ok(Self { shelf, file, record, damaged: 0, failure: None })
    }

    fn read(&self) -> Option<(Digest, Vec<f32>)> {
        let (record, checksum) = self.record.split_last_chunk::<CHECKSUM>()?;
        if self.shelf.checksum(record) != *checksum {
            return None;
        }
        let (text, numbers) = record.split_first_chunk::<DIGEST>()?;
        let vector: Vec<f32> = numbers.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        // Whoever may write to the folder can compute a checksum too.
        vector.iter().all(|x| x.is_finite()).then(|| (Digest::from_bytes(*text), vector))
    }
}

impl Iterator for SegmentReader {
    type Item = (Digest, Vec<f32>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match fill(&mut self.file, &mut self.record) {
                Ok(0) => return None,
                Ok(length) if length == self.record.len() => match self.read() {
                    Some(record) => return Some(record),
                    None => self.damaged += 1,
                },
                Ok(_) => {
                    self.damaged += 1;
                    return None;
                }
                Err(error) => {
                    self.failure = Some(error);
                    return None;
                }
            }
        }
    }
}

/// Reads until the buffer is full or the file ends; gives the number of bytes.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
