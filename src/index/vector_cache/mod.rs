//! Vectors on disk, so that a host that starts again embeds nothing that was embedded before.
//!
//! Processes share a folder without locks: a file is written under a name of its own, becomes
//! visible whole, and never changes. When there are many, one process merges them: it writes the
//! union, and only then deletes what it has read. So a vector that was written stands in some file
//! until it is evicted, whoever stops at whatever moment. Two that merge at once cannot delete
//! each other's result: each deletes only what it read before its own result could be seen, so
//! one of the two has not read the other's.

mod segment;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fmt, fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

pub(crate) use self::segment::Shelf;
use self::segment::{HEADER, SegmentReader, SegmentWriter, is_finished, is_unfinished};
use crate::json::Digest;

/// A folder of vectors, for [`DenseOptions::with_cache`](super::DenseOptions::with_cache): tools
/// whose text an embedder of the same identity has seen before are not embedded again, also after
/// a restart and by other processes. Cheap to clone; clones share what they know.
///
/// What fails with it never fails the index: without a readable folder everything is embedded,
/// without a writable one nothing is kept, a damaged record or a foreign file costs itself.
/// [`notes`](Self::notes) tells of it. A vector that was kept survives a crash at any moment.
///
/// # What the files tell
/// A vector is kept under the digest of the text that was embedded; no text, no tool's name and no
/// server is. To find one, the text itself must be at hand: a user who shares the folder with
/// others gets nothing of a tool that they cannot see, and learns at most, from the time it takes,
/// that somebody embedded this very text before. So the authorization is no part of the key, and
/// the same public tool is embedded once for all. But whoever can read the files has the vectors,
/// and from those a model can guess at the text. On Unix files are made for their owner alone;
/// users who must not read each other's private tools get folders of their own. Who may write to
/// the folder decides what is found.
///
/// ```
/// use proem::{
///     catalog::Catalog, id::ServerId, index::{CallbackEmbedder, DenseOptions, VectorCache},
///     protocol::Tool, retrieval::{Dense, Retriever},
/// };
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
///
/// let cache = VectorCache::open(folder.join("vectors"));
/// let lengths = CallbackEmbedder::new("lengths/1", 2, |texts, _kind| {
///     Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
/// });
/// let options = DenseOptions::default().with_cache(cache.clone());
/// let catalog = Catalog::builder().tool(ServerId::new("git")?, Tool::new("merge", "Merge a branch")).build();
/// Dense::new(lengths).with_options(options).index(&catalog, None)?;
/// assert!(cache.notes().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct VectorCache {
    folder: Arc<Path>,
    max_bytes: u64,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// By the key of the shelf.
    shelves: BTreeMap<Digest, Known>,
    /// What could not be read.
    unread: BTreeSet<String>,
    /// Why nothing could be written the last time.
    unwritten: Option<String>,
}

/// What is known of an embedder's files.
#[derive(Default)]
struct Known {
    segments: BTreeMap<PathBuf, Segment>,
    /// The texts whose vectors this process has read or written.
    used: HashSet<Digest>,
}

#[derive(Default)]
struct Segment {
    holds: HashSet<Digest>,
    /// Whether it is marked as in use.
    marked: bool,
}

/// From so many files of an embedder on, the small ones are merged.
const MAX_SEGMENTS: usize = 16;

/// A file at least so many times as large as all smaller ones together is not merged with them:
/// each vector is then written only a few times again.
const GROWTH: u64 = 4;

/// How often files are looked for again that others have merged meanwhile.
const TRIES: usize = 8;

/// What is left over of a process that stopped while it wrote.
const ABANDONED: Duration = Duration::from_secs(3_600);

/// More notes say nothing more.
const MAX_NOTES: usize = 16;

impl VectorCache {
    /// A cache in this folder, which is made when there is something to keep.
    pub fn open(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into().into(), max_bytes: 256 << 20, state: Arc::default() }
    }

    /// Sets how large all files may be together, of all embedders. Default 256 MiB: 250,000 vectors
    /// of 256 numbers, or 60,000 of 1,024.
    ///
    /// When there is more after something was kept, files of other embedders go first, those that
    /// were used longest ago before the others; then, down to half of the bound, the vectors of
    /// this embedder that this process has not used, those written longest ago before the others.
    /// While files are merged both forms are there.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// What did not work: what could not be read since this process started, at most 16 of them,
    /// and why nothing could be kept the last time.
    pub fn notes(&self) -> Vec<String> {
        let state = self.state();
        state.unread.iter().cloned().chain(state.unwritten.clone()).collect()
    }

    /// The vectors of these texts, as far as they are kept.
    pub(crate) fn read(&self, shelf: Shelf, texts: &[Digest]) -> HashMap<Digest, Vec<f32>> {
        let mut missing: HashSet<Digest> = texts.iter().copied().collect();
        let mut found = HashMap::new();
        let mut state = self.state();
        for _ in 0..TRIES {
            if missing.is_empty() || !self.look(&mut state, shelf, &mut missing, &mut found) {
                break;
            }
        }
        found
    }

    /// Keeps vectors. When it returns, they are on the disk, or a note says why not.
    pub(crate) fn write(&self, shelf: Shelf, vectors: &[(Digest, &[f32])]) {
        let mut state = self.state();
        let folder = self.folder_of(shelf);
        let written = make_folder(&folder).and_then(|()| {
            let mut writer = SegmentWriter::create(&folder, shelf)?;
            vectors.iter().try_for_each(|(text, vector)| writer.push(*text, vector))?;
            writer.finish()
        });
        let kept = written.and_then(|path| {
            let holds: HashSet<Digest> = vectors.iter().map(|(text, _)| *text).collect();
            let known = state.shelves.entry(shelf.key).or_default();
            known.used.extend(&holds);
            known.segments.insert(path, Segment { holds, marked: true });
            self.tidy(known, shelf)
        });
        state.unwritten = kept.err().map(|error| format!("{}: vectors are not kept: {error}", self.folder.display()));
        if let Some(note) = &state.unwritten {
            tracing::warn!("{note}");
        }
    }

    /// Reads the files that are new or hold what is missing; gives whether one of them went away meanwhile.
    fn look(
        &self,
        state: &mut State,
        shelf: Shelf,
        missing: &mut HashSet<Digest>,
        found: &mut HashMap<Digest, Vec<f32>>,
    ) -> bool {
        let files = match segments(&self.folder_of(shelf)) {
            Ok(files) => files,
            Err(error) => {
                state.note(format!("{}: cannot be read: {error}", self.folder_of(shelf).display()));
                return false;
            }
        };
        let mut went_away = false;
        let paths: BTreeSet<PathBuf> = files.into_iter().map(|file| file.path).collect();
        state.shelves.entry(shelf.key).or_default().segments.retain(|path, _| paths.contains(path));
        for path in paths {
            let known = state.shelves.entry(shelf.key).or_default();
            let segment = known.segments.get(&path);
            if missing.is_empty() || segment.is_some_and(|segment| missing.is_disjoint(&segment.holds)) {
                continue;
            }
            let mut segment = Segment { holds: HashSet::new(), marked: segment.is_some_and(|segment| segment.marked) };
            let mut note = None;
            match SegmentReader::open(&path, shelf) {
                Ok(mut reader) => {
                    let mut used = false;
                    for (text, vector) in reader.by_ref() {
                        segment.holds.insert(text);
                        if missing.remove(&text) {
                            known.used.insert(text);
                            found.insert(text, vector);
                            used = true;
                        }
                    }
                    if used && !segment.marked {
                        // A folder that cannot be written to has no order either.
                        _ = mark(&path);
                        segment.marked = true;
                    }
                    if reader.damaged > 0 {
                        note = Some(format!("{}: {} damaged vectors are left out", path.display(), reader.damaged));
                    } else if let Some(error) = &reader.failure {
                        note = Some(format!("{}: cannot be read to its end: {error}", path.display()));
                    }
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    went_away = true;
                    continue;
                }
                Err(error) => note = Some(format!("{}: {error}", path.display())),
            }
            known.segments.insert(path, segment);
            if let Some(note) = note {
                state.note(note);
            }
        }
        went_away
    }

    /// Merges small files, and keeps the bound.
    fn tidy(&self, known: &mut Known, shelf: Shelf) -> io::Result<()> {
        let mut own = segments(&self.folder_of(shelf))?;
        if own.len() > MAX_SEGMENTS {
            own.sort_by(|a, b| (a.bytes, &a.path).cmp(&(b.bytes, &b.path)));
            let mut smaller = 0;
            let small = own.iter().take_while(|file| {
                let joins = smaller == 0 || file.bytes < GROWTH * smaller;
                smaller += file.bytes;
                joins
            });
            let small = small.count().max(2);
            own.truncate(small);
            merge(&self.folder_of(shelf), known, shelf, own, usize::MAX)?;
        }
        let mut files = self.all_files();
        let mut bytes: u64 = files.iter().map(|file| file.bytes).sum();
        files.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
        let folder = self.folder_of(shelf);
        for file in files.iter().filter(|file| !file.path.starts_with(&folder)) {
            if bytes <= self.max_bytes {
                break;
            }
            if fs::remove_file(&file.path).is_ok() {
                bytes -= file.bytes;
            }
        }
        if bytes > self.max_bytes {
            let room = (self.max_bytes / 2).saturating_sub(HEADER as u64) / shelf.record_bytes() as u64;
            merge(&folder, known, shelf, segments(&folder)?, usize::try_from(room).unwrap_or(usize::MAX))?;
        }
        Ok(())
    }

    /// The finished files of all embedders. Deletes what was abandoned.
    fn all_files(&self) -> Vec<FoundFile> {
        let mut files = Vec::new();
        for folder in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            // Folders of other names are not ours.
            if folder.file_name().to_str().is_none_or(|name| name.parse::<Digest>().is_err()) {
                continue;
            }
            for path in fs::read_dir(folder.path()).into_iter().flatten().flatten().map(|entry| entry.path()) {
                let Ok(file) = FoundFile::new(path) else { continue };
                if is_finished(&file.path) {
                    files.push(file);
                } else if is_unfinished(&file.path) && file.modified.elapsed().is_ok_and(|age| age > ABANDONED) {
                    _ = fs::remove_file(&file.path);
                }
            }
        }
        files
    }

    fn folder_of(&self, shelf: Shelf) -> PathBuf {
        self.folder.join(shelf.key.to_string())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // It only remembers what is on the disk: nothing in it can be half true.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn note(&mut self, note: String) {
        if self.unread.len() < MAX_NOTES && !self.unread.contains(&note) {
            tracing::warn!("{note}");
            self.unread.insert(note);
        }
    }
}

impl fmt::Debug for VectorCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorCache")
            .field("folder", &self.folder)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

struct FoundFile {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

impl FoundFile {
    fn new(path: PathBuf) -> io::Result<Self> {
        let metadata = fs::metadata(&path)?;
        Ok(Self { bytes: metadata.len(), modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), path })
    }
}

/// The finished files of a folder; none if it is not there.
fn segments(folder: &Path) -> io::Result<Vec<FoundFile>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| is_finished(path));
    Ok(paths.filter_map(|path| FoundFile::new(path).ok()).collect())
}

/// Writes one file of several: what was used first, then what was written last, `room` records at
/// most. What was read whole is deleted afterwards.
fn merge(folder: &Path, known: &mut Known, shelf: Shelf, mut files: Vec<FoundFile>, room: usize) -> io::Result<()> {
    files.sort_by(|a, b| (b.modified, &b.path).cmp(&(a.modified, &a.path)));
    let mut writer = SegmentWriter::create(folder, shelf)?;
    let mut holds = HashSet::new();
    for used in [true, false] {
        let mut whole = Vec::with_capacity(files.len());
        for file in files {
            let Ok(mut reader) = SegmentReader::open(&file.path, shelf) else { continue };
            for (text, vector) in reader.by_ref() {
                if holds.len() < room && known.used.contains(&text) == used && holds.insert(text) {
                    writer.push(text, &vector)?;
                }
            }
            if reader.failure.is_none() {
                whole.push(file);
            }
        }
        files = whole;
    }
    if holds.is_empty() {
        drop(writer);
    } else {
        known.segments.insert(writer.finish()?, Segment { holds, marked: true });
    }
    for file in files {
        known.segments.remove(&file.path);
        // Another may have merged it too.
        _ = fs::remove_file(&file.path);
    }
    Ok(())
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Says that a file is in use.
fn mark(path: &Path) -> io::Result<()> {
    fs::OpenOptions::new().append(true).open(path)?.set_modified(SystemTime::now())
}

#[cfg(test)]
mod tests;
