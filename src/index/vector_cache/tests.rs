use std::thread;

use proptest::prelude::*;
use tempfile::tempdir;

use super::*;

const DIMENSIONS: usize = 3;

fn shelf() -> Shelf {
    Shelf::new("model/1", DIMENSIONS)
}

fn text(i: usize) -> Digest {
    Digest::of_bytes(i.to_le_bytes())
}

/// Each text has a vector that no other has.
fn vector(i: usize) -> Vec<f32> {
    vec![i as f32, 0.5, -1.0 / (i + 1) as f32]
}

fn write(cache: &VectorCache, texts: impl IntoIterator<Item = usize>) {
    let vectors: Vec<(Digest, Vec<f32>)> = texts.into_iter().map(|i| (text(i), vector(i))).collect();
    let vectors: Vec<(Digest, &[f32])> = vectors.iter().map(|(text, vector)| (*text, vector.as_slice())).collect();
    cache.write(shelf(), &vectors);
}

/// Which of these are kept; each with its own vector, or the test fails.
fn kept(cache: &VectorCache, texts: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let texts: Vec<usize> = texts.into_iter().collect();
    let digests: Vec<Digest> = texts.iter().map(|i| text(*i)).collect();
    let found = cache.read(shelf(), &digests);
    assert!(found.len() <= texts.len());
    let held = |i: &usize| found.get(&text(*i)).map(|found| assert_eq!(*found, vector(*i))).is_some();
    texts.into_iter().filter(held).collect()
}

fn files(cache: &VectorCache) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = cache.all_files().into_iter().map(|file| file.path).collect();
    files.sort();
    files
}

fn bytes(cache: &VectorCache) -> u64 {
    cache.all_files().iter().map(|file| file.bytes).sum()
}

#[test]
fn what_is_written_is_read_after_a_restart() {
    let folder = tempdir().unwrap();
    let cache = VectorCache::open(folder.path().join("new/folder"));
    assert!(kept(&cache, 0..3).is_empty());
    write(&cache, 0..3);
    write(&cache, 3..5);
    assert_eq!(kept(&cache, 0..9), [0, 1, 2, 3, 4]);
    let restarted = VectorCache::open(folder.path().join("new/folder"));
    assert_eq!(kept(&restarted, [7, 4, 0]), [4, 0]);
    // Known already, and read again all the same.
    assert_eq!(kept(&restarted, [1]), [1]);
    assert!(cache.notes().is_empty() && restarted.notes().is_empty());
    for other in [Shelf::new("model/2", DIMENSIONS), Shelf::new("model/1", DIMENSIONS + 1)] {
        assert!(restarted.read(other, &[text(0)]).is_empty());
    }
}

#[cfg(unix)]
#[test]
fn files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempdir().unwrap();
    let cache = VectorCache::open(folder.path().join("vectors"));
    write(&cache, 0..1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = files(&cache).remove(0);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(mode(&folder.path().join("vectors")), 0o700);
}

#[test]
fn many_small_files_become_few_and_nothing_is_lost() {
    let folder = tempdir().unwrap();
    let cache = VectorCache::open(folder.path());
    write(&cache, 0..1_000);
    let large = files(&cache);
    for i in 1_000..1_100 {
        write(&cache, [i]);
        assert!(files(&cache).len() <= MAX_SEGMENTS + 1);
    }
    assert_eq!(kept(&cache, 0..1_100).len(), 1_100);
    assert_eq!(kept(&VectorCache::open(folder.path()), 0..1_100).len(), 1_100);
    // The large one was not written again for each small one.
    assert!(files(&cache).contains(&large[0]));
}

#[test]
fn the_bound_holds_and_what_is_used_stays() {
    let folder = tempdir().unwrap();
    write(&VectorCache::open(folder.path()), 0..200);
    // Another process, that uses every tenth.
    let record = shelf().record_bytes() as u64;
    let max = 100 * record;
    let cache = VectorCache::open(folder.path()).with_max_bytes(max);
    let used: Vec<usize> = (0..200).step_by(10).collect();
    assert_eq!(kept(&cache, used.clone()), used);
    write(&cache, [1_000]);
    assert!(bytes(&cache) <= max / 2, "{}", bytes(&cache));
    let restarted = VectorCache::open(folder.path()).with_max_bytes(max);
    assert_eq!(kept(&restarted, used.iter().copied().chain([1_000])).len(), 21);
    assert_eq!(kept(&restarted, 0..200).len(), (max / 2 - HEADER as u64) as usize / record as usize - 1);
    for i in 0..300 {
        write(&restarted, [2_000 + i]);
        assert!(bytes(&restarted) <= max);
    }
    // No room for anything is no failure.
    let none = VectorCache::open(folder.path()).with_max_bytes(0);
    write(&none, 0..10);
    assert_eq!((bytes(&none), none.notes()), (0, vec![]));
}

#[test]
fn embedders_that_were_used_longest_ago_go_first() {
    let folder = tempdir().unwrap();
    let other = |name: &str| Shelf::new(name, DIMENSIONS);
    let cache = VectorCache::open(folder.path());
    let record = |i: usize| (text(i), vector(i));
    for name in ["old", "older"] {
        let vectors: Vec<_> = (0..50).map(record).collect();
        cache.write(other(name), &vectors.iter().map(|(text, vector)| (*text, vector.as_slice())).collect::<Vec<_>>());
    }
    let ago = |hours: u64| SystemTime::now() - Duration::from_secs(3_600 * hours);
    for (name, hours) in [("old", 2), ("older", 3)] {
        for file in segments(&cache.folder_of(other(name))).unwrap() {
            fs::OpenOptions::new().append(true).open(file.path).unwrap().set_modified(ago(hours)).unwrap();
        }
    }
    let small = VectorCache::open(folder.path()).with_max_bytes(110 * shelf().record_bytes() as u64);
    // Reading says that it is in use.
    assert_eq!(small.read(other("older"), &[text(0)]).len(), 1);
    write(&small, 0..50);
    assert!(small.read(other("old"), &[text(0)]).is_empty());
    assert_eq!(small.read(other("older"), &[text(0)]).len(), 1);
    assert_eq!(kept(&small, 0..50).len(), 50);
}

#[test]
fn what_a_stopped_process_left_is_deleted_after_a_while() {
    let folder = tempdir().unwrap();
    let cache = VectorCache::open(folder.path());
    write(&cache, 0..1);
    let [new, old] = ["new.tmp", "old.tmp"].map(|name| cache.folder_of(shelf()).join(name));
    fs::write(&new, "half").unwrap();
    fs::write(&old, "half").unwrap();
    let before = SystemTime::now() - ABANDONED - Duration::from_secs(1);
    fs::OpenOptions::new().append(true).open(&old).unwrap().set_modified(before).unwrap();
    write(&cache, 1..2);
    assert_eq!((new.exists(), old.exists()), (true, false));
}

#[test]
fn a_foreign_file_costs_itself() {
    let folder = tempdir().unwrap();
    let cache = VectorCache::open(folder.path());
    write(&cache, 0..3);
    let own = cache.folder_of(shelf());
    for (name, content) in
        [("a.vectors", "not vectors at all, however long it may be"), ("b.vectors", ""), ("c.txt", "")]
    {
        fs::write(own.join(name), content).unwrap();
    }
    fs::create_dir(own.join("d.vectors")).unwrap();
    // Those of another embedder, moved here.
    let other = Shelf::new("model/2", DIMENSIONS);
    cache.write(other, &[(text(9), &vector(8))]);
    let moved = segments(&cache.folder_of(other)).unwrap().remove(0).path;
    fs::rename(moved, own.join("e.vectors")).unwrap();

    let cache = VectorCache::open(folder.path());
    assert_eq!(kept(&cache, 0..10), [0, 1, 2]);
    assert_eq!(cache.notes().len(), 4, "{:?}", cache.notes());
    assert!(cache.notes()[0].ends_with("a.vectors: no vectors of this embedder and version"), "{:?}", cache.notes());
    for i in 10..40 {
        write(&cache, [i]);
    }
    assert!(own.join("a.vectors").exists() && own.join("c.txt").exists());
    assert_eq!(kept(&cache, 0..40).len(), 33);
}

#[test]
fn a_folder_that_cannot_be_used_is_no_cache_and_says_so() {
    let folder = tempdir().unwrap();
    // Also for a user who may write everywhere.
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let cache = VectorCache::open(file.join("vectors"));
    write(&cache, 0..3);
    assert!(kept(&cache, 0..3).is_empty());
    let notes = cache.notes();
    assert!(notes.iter().any(|note| note.contains("vectors are not kept")), "{notes:?}");
    // It may work later.
    fs::remove_file(&file).unwrap();
    write(&cache, 0..3);
    assert_eq!(kept(&cache, 0..3), [0, 1, 2]);
    assert!(!cache.notes().iter().any(|note| note.contains("not kept")));
}

#[test]
fn a_file_that_is_not_finished_is_not_there() {
    let folder = tempdir().unwrap();
    let cache = VectorCache::open(folder.path());
    write(&cache, 0..3);
    let own = cache.folder_of(shelf());
    let mut writer = SegmentWriter::create(&own, shelf()).unwrap();
    writer.push(text(5), &vector(5)).unwrap();
    assert_eq!(fs::read_dir(&own).unwrap().count(), 2);
    assert_eq!(kept(&VectorCache::open(folder.path()), 0..9), [0, 1, 2]);
    // As after an error.
    drop(writer);
    assert_eq!(fs::read_dir(&own).unwrap().count(), 1);
}

#[test]
fn merging_leaves_out_what_is_damaged() {
    let folder = tempdir().unwrap();
    let cache = VectorCache::open(folder.path());
    write(&cache, 0..3);
    let file = files(&cache).remove(0);
    let mut content = fs::read(&file).unwrap();
    content[HEADER + 5] ^= 1;
    fs::write(&file, content).unwrap();
    for i in 3..3 + MAX_SEGMENTS {
        write(&cache, [i]);
    }
    let cache = VectorCache::open(folder.path());
    assert_eq!(kept(&cache, 0..3 + MAX_SEGMENTS), (1..3 + MAX_SEGMENTS).collect::<Vec<_>>());
    assert!(cache.notes().is_empty() && !file.exists());
}

#[test]
fn threads_with_caches_of_their_own_share_a_folder() {
    let folder = tempdir().unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                let cache = VectorCache::open(folder);
                for i in 0..60 {
                    let own = writer * 1_000 + i;
                    write(&cache, [own]);
                    // Others merge what was just written.
                    assert_eq!(kept(&cache, [own, writer * 1_000]), [own, writer * 1_000]);
                }
                assert!(cache.notes().is_empty(), "{:?}", cache.notes());
            });
        }
    });
    let cache = VectorCache::open(folder.path());
    let all: Vec<usize> = (0..4).flat_map(|writer| (0..60).map(move |i| writer * 1_000 + i)).collect();
    assert_eq!(kept(&cache, all.clone()), all);
    assert!(files(&cache).len() <= 2 * MAX_SEGMENTS);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever happens to one byte or to the end of a file: what is intact is read, and no vector
    /// is ever another text's.
    #[test]
    fn a_damaged_file_gives_what_is_intact(cut in any::<bool>(), at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let folder = tempdir().unwrap();
        write(&VectorCache::open(folder.path()), 0..20);
        let cache = VectorCache::open(folder.path());
        let file = files(&cache).remove(0);
        let mut content = fs::read(&file).unwrap();
        let at = at.index(content.len());
        if cut { content.truncate(at) } else { content[at] ^= 1 << bit }
        fs::write(&file, content).unwrap();

        let found = kept(&cache, 0..20);
        let record = shelf().record_bytes();
        let hit = at.checked_sub(HEADER).map(|at| at / record);
        let intact: Vec<usize> = match hit {
            None => Vec::new(),
            Some(hit) if cut => (0..hit).collect(),
            Some(hit) => (0..20).filter(|i| *i != hit).collect(),
        };
        prop_assert_eq!(&found, &intact);
        // Cut between two records: nobody can tell.
        let unseen = cut && hit.is_some() && (at - HEADER).is_multiple_of(record);
        prop_assert_eq!(cache.notes().is_empty(), unseen, "{:?}", cache.notes());
    }
}
