//! Vectors on disk: a host that starts again embeds nothing again, and processes share a folder.

use std::{
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use proem::{
    catalog::Catalog,
    index::{CallbackEmbedder, DenseOptions, VectorCache},
    protocol::Tool,
    retrieval::{Dense, Filter, Ranking, Retriever},
};
use tempfile::tempdir;

use crate::fake::id;

fn catalog(tools: impl IntoIterator<Item = usize>) -> Catalog {
    let tool = |i| Tool::new(format!("tool_{i}"), format!("Does thing number {i}"));
    tools.into_iter().fold(Catalog::builder(), |builder, i| builder.tool(id("s"), tool(i))).build()
}

/// Indexes as a host that has just started; gives how many texts were embedded, and a ranking.
fn start(cache: &VectorCache, identity: &str, catalog: &Catalog) -> (usize, Ranking) {
    let embedded = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&embedded);
    let embedder = CallbackEmbedder::new(identity, 4, move |texts, kind| {
        if kind == proem::index::TextKind::Document {
            counted.fetch_add(texts.len(), Ordering::Relaxed);
        }
        let sum = |text: &str, step| text.bytes().step_by(step).map(f32::from).sum::<f32>();
        Ok(texts.iter().map(|text| (1..5).map(|step| sum(text, step) - 300.0).collect()).collect())
    });
    let dense = Dense::new(embedder).with_options(DenseOptions::default().with_cache(cache.clone()));
    let index = dense.index(catalog, None).unwrap();
    let ranking = index.search(&"thing number 3".into(), &Filter::new(), 5).unwrap();
    (embedded.load(Ordering::Relaxed), ranking)
}

#[test]
fn a_second_start_embeds_nothing() {
    let folder = tempdir().unwrap();
    let cache = || VectorCache::open(folder.path());
    let catalog_50 = catalog(0..50);
    let (embedded, first) = start(&cache(), "m/1", &catalog_50);
    assert_eq!((embedded, first.hits.len()), (50, 5));
    let (embedded, second) = start(&cache(), "m/1", &catalog_50);
    assert_eq!((embedded, &second), (0, &first));
    // Only what is new.
    assert_eq!(start(&cache(), "m/1", &catalog(0..53)).0, 3);
    // Another model's vectors are other vectors, and both are kept.
    assert_eq!(start(&cache(), "m/2", &catalog_50).0, 50);
    assert_eq!(start(&cache(), "m/2", &catalog_50).0, 0);
    assert_eq!(start(&cache(), "m/1", &catalog(0..53)).0, 0);
    assert!(cache().notes().is_empty());
}

const FOLDER: &str = "PROEM_TEST_VECTOR_CACHE";
const NUMBER: &str = "PROEM_TEST_VECTOR_CACHE_NUMBER";
const ROUNDS: usize = 40;

/// The tools of one round of one process.
fn round(process: usize, round: usize) -> Catalog {
    let first = process * 1_000 + round * 3;
    catalog(first..first + 3)
}

/// Not a test by itself: a process that indexes catalog after catalog, and says so after each.
#[test]
#[ignore = "run as a process by the tests below"]
fn another_process() {
    let (Some(folder), Ok(number)) = (env::var_os(FOLDER), env::var(NUMBER)) else { return };
    let number = number.parse().unwrap();
    let cache = VectorCache::open(folder);
    for i in 0..ROUNDS {
        start(&cache, "m/1", &round(number, i));
        println!("\nindexed {i}");
    }
    assert!(cache.notes().is_empty(), "{:?}", cache.notes());
}

fn spawn(folder: &Path, number: usize) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "vector_cache::another_process", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .env(NUMBER, number.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn processes_share_a_folder() {
    let folder = tempdir().unwrap();
    let children: Vec<Child> = (0..3).map(|number| spawn(folder.path(), number)).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("indexed {}", ROUNDS - 1)));
    }
    let cache = VectorCache::open(folder.path());
    for (number, i) in (0..3).flat_map(|number| (0..ROUNDS).map(move |i| (number, i))) {
        assert_eq!(start(&cache, "m/1", &round(number, i)).0, 0, "round {i} of process {number}");
    }
    assert!(cache.notes().is_empty(), "{:?}", cache.notes());
}

#[test]
fn a_killed_process_has_kept_what_it_said_it_kept() {
    let folder = tempdir().unwrap();
    // One that stops anywhere, while another goes on.
    for stop_after in [0, 7, 18, 29] {
        let (mut killed, other) = (spawn(folder.path(), stop_after), spawn(folder.path(), 500));
        let lines = BufReader::new(killed.stdout.take().unwrap()).lines();
        let mut said = lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("indexed ")?.parse().ok());
        let last: usize = said.by_ref().find(|said| *said == stop_after).unwrap();
        killed.kill().unwrap();
        let last = said.last().unwrap_or(last);
        killed.wait().unwrap();
        assert!(other.wait_with_output().unwrap().status.success());
        let cache = VectorCache::open(folder.path());
        for i in 0..=last {
            assert_eq!(start(&cache, "m/1", &round(stop_after, i)).0, 0, "round {i} of {last}");
        }
        assert!(cache.notes().is_empty(), "{:?}", cache.notes());
    }
}
