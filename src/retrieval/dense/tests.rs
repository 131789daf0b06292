use std::{collections::BTreeMap, time::Duration};

use proptest::prelude::*;

use super::*;
use crate::{
    id::{ServerId, ToolId},
    index::{
        Hints, VectorStorage,
        trigrams::{Mode, Trigrams},
    },
    protocol::Tool,
};

/// Descriptions by server and name.
pub(in crate::retrieval) type World = BTreeMap<(usize, usize), String>;

const SERVERS: [&str; 3] = ["git", "mail", "web"];
const NAMES: [&str; 6] = ["create_issue", "search", "sendMail", "list-pages", "merge", "search_web_pages"];
const WORDS: [&str; 8] = ["issue", "search", "pages", "mail", "merging", "web", "listed", "天气预报"];

pub(in crate::retrieval) fn catalog(world: &World, reversed: bool) -> Catalog {
    let mut tools: Vec<_> = world.iter().collect();
    if reversed {
        tools.reverse();
    }
    let server = |at: usize| ServerId::new(SERVERS[at]).unwrap();
    tools
        .into_iter()
        .fold(Catalog::builder(), |builder, ((of, name), text)| {
            builder.tool(server(*of), Tool::new(NAMES[*name], text))
        })
        .build()
}

pub(in crate::retrieval) fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..6).prop_map(|words| words.join(" "))
}

pub(in crate::retrieval) fn worlds() -> impl Strategy<Value = World> {
    prop::collection::btree_map((0..3_usize, 0..6_usize), texts(), 0..12)
}

pub(in crate::retrieval) fn some_world() -> World {
    let text = |at: usize| format!("{} {}", WORDS[at % WORDS.len()], WORDS[(at * 5 + 3) % WORDS.len()]);
    (0..3).flat_map(|of| (0..6).map(move |name| ((of, name), text(of * 6 + name)))).collect()
}

fn search(index: &Arc<dyn ToolIndex>, query: &str, filter: &Filter) -> Ranking {
    index.search(&query.into(), filter, 20).unwrap()
}

fn order(ranking: &Ranking) -> Vec<String> {
    ranking.hits.iter().map(|hit| hit.tool.to_string()).collect()
}

/// The retriever with a hold on its embedder; a failure is forgotten at once.
fn dense(identity: &str) -> (Arc<Trigrams>, Dense) {
    let embedder = Arc::new(Trigrams::new(identity));
    let options = DenseOptions::default().with_retry_after(Duration::ZERO);
    (Arc::clone(&embedder), Dense::shared(embedder).with_options(options))
}

/// An index that is made from the one before, world after world, answers as one made from nothing.
pub(in crate::retrieval) fn follows(
    retriever: &dyn Retriever,
    worlds: &[World],
    query: &str,
) -> std::result::Result<(), TestCaseError> {
    let mut index: Option<Arc<dyn ToolIndex>> = None;
    for world in worlds {
        let catalog = catalog(world, false);
        let next = retriever.index(&catalog, index.as_ref()).unwrap();
        let fresh = retriever.index(&catalog, None).unwrap();
        prop_assert_eq!(search(&next, query, &Filter::new()), search(&fresh, query, &Filter::new()));
        index = Some(next);
    }
    Ok(())
}

proptest! {
    #[test]
    fn an_index_made_from_another_answers_as_one_made_from_nothing(
        worlds in prop::collection::vec(worlds(), 1..5),
        query in texts(),
        storage in prop::sample::select(&[VectorStorage::F32, VectorStorage::Int8][..]),
    ) {
        let options = DenseOptions::default().with_storage(storage);
        let retriever = Dense::new(Trigrams::new("a")).with_options(options);
        follows(&retriever, &worlds, &query)?;
    }

    #[test]
    fn what_is_filtered_out_leaves_no_trace(world in worlds(), hidden in 0..3_usize, query in texts()) {
        let (_, retriever) = dense("a");
        let index = retriever.index(&catalog(&world, false), None).unwrap();
        let filtered = search(&index, &query, &Filter::new().deny(SERVERS[hidden].parse().unwrap()));
        let mut rest = world;
        rest.retain(|(server, _), _| *server != hidden);
        let index = retriever.index(&catalog(&rest, false), None).unwrap();
        prop_assert_eq!(filtered, search(&index, &query, &Filter::new()));
    }

    #[test]
    fn the_order_of_tools_does_not_matter(world in worlds(), query in texts()) {
        let (_, retriever) = dense("a");
        let [a, b] = [false, true].map(|reversed| retriever.index(&catalog(&world, reversed), None).unwrap());
        prop_assert_eq!(search(&a, &query, &Filter::new()), search(&b, &query, &Filter::new()));
    }
}

#[test]
fn only_new_texts_are_embedded() {
    let (embedder, retriever) = dense("a");
    let mut world = some_world();
    world.insert((2, 5), "a twin".into());
    world.insert((1, 5), "a twin".into());
    let first = retriever.index(&catalog(&world, false), None).unwrap();
    // And the requests that need no tool, once.
    assert_eq!(embedder.counts(), (18, 128));
    world.insert((0, 0), "changed".into());
    world.remove(&(0, 1));
    let moved = world.remove(&(0, 2)).unwrap();
    let second = retriever.index(&catalog(&world, false), Some(&first)).unwrap();
    assert_eq!(embedder.counts(), (1, 0));
    // What another server has now is another text: its server's name is part of it.
    world.remove(&(1, 2));
    world.insert((1, 2), moved);
    retriever.index(&catalog(&world, false), Some(&first)).unwrap();
    assert_eq!(embedder.counts(), (2, 0));
    // Two queries, the second of them asked again.
    for query in ["mail", "web", "web"] {
        search(&second, query, &Filter::new());
    }
    assert_eq!(embedder.counts(), (0, 2));
}

#[test]
fn another_identity_and_another_storage_start_anew() {
    let catalog = catalog(&some_world(), false);
    let (_, retriever) = dense("a");
    let first = retriever.index(&catalog, None).unwrap();
    let (embedder, other) = dense("b");
    other.index(&catalog, Some(&first)).unwrap();
    assert_eq!(embedder.counts().0, 18);
    let (embedder, same) = dense("a");
    same.index(&catalog, Some(&first)).unwrap();
    assert_eq!(embedder.counts().0, 0);
    let f32 = same.with_options(DenseOptions::default().with_storage(VectorStorage::F32));
    f32.index(&catalog, Some(&first)).unwrap();
    assert_eq!(embedder.counts().0, 18);
    // Hints are part of a tool's text.
    let hints = Hints::new().with(ToolId::new(ServerId::new("git").unwrap(), "merge"), "bring main into my branch");
    let (embedder, hinted) = dense("a");
    let hinted = hinted.with_options(DenseOptions::default().with_hints(hints));
    let index = hinted.index(&catalog, Some(&first)).unwrap();
    assert_eq!(embedder.counts().0, 1);
    assert_eq!(order(&search(&index, "bring main into my branch", &Filter::new()))[0], "git/merge");
}

#[test]
fn a_text_that_is_refused_costs_itself_alone() {
    let (embedder, retriever) = dense("a");
    embedder.set(Mode::Refuses("poison"));
    let mut world = some_world();
    world.insert((0, 3), "poison".into());
    world.insert((2, 2), "some poison".into());
    let index = retriever.index(&catalog(&world, false), None).unwrap();
    let ranking = search(&index, "mail", &Filter::new());
    assert_eq!(ranking.hits.len(), 16);
    assert_eq!(ranking.channels[0].trouble.as_deref(), Some("2 of 18 tools have no vector: out of order"));
    // It is known by now, and not asked for again.
    assert!(!index.wants_reindex());
    embedder.counts();
    retriever.index(&catalog(&world, false), Some(&index)).unwrap();
    assert_eq!(embedder.counts().0, 0);
}

#[test]
fn an_embedder_that_is_down_is_asked_again_later() {
    for mode in Mode::BROKEN {
        let (embedder, retriever) = dense("a");
        let catalog = catalog(&some_world(), false);
        embedder.set(mode);
        let index = retriever.index(&catalog, None).unwrap();
        assert!(index.wants_reindex(), "{mode:?}");
        assert!(index.search(&"mail".into(), &Filter::new(), 5).is_err(), "{mode:?}");
        embedder.set(Mode::Works);
        let again = retriever.index(&catalog, Some(&index)).unwrap();
        assert!(!again.wants_reindex());
        let fresh = retriever.index(&catalog, None).unwrap();
        assert_eq!(search(&again, "mail", &Filter::new()), search(&fresh, "mail", &Filter::new()));
        assert_eq!(search(&again, "mail", &Filter::new()).channels[0].trouble, None);
    }
}

#[test]
fn an_embedder_that_failed_is_left_alone_for_a_while() {
    let embedder = Arc::new(Trigrams::new("a"));
    let retriever = Dense::shared(Arc::clone(&embedder) as Arc<dyn Embedder>);
    let catalog = catalog(&some_world(), false);
    let index = retriever.index(&catalog, None).unwrap();
    embedder.set(Mode::Fails);
    let fails = |query: &str| index.search(&query.into(), &Filter::new(), 5).unwrap_err().to_string();
    assert_eq!(fails("mail"), "embedder `a`: out of order");
    embedder.set(Mode::Works);
    embedder.counts();
    assert_eq!(fails("web"), "embedder `a`: not asked again yet after a failure: out of order");
    let fresh = retriever.index(&catalog, None).unwrap();
    assert!(!fresh.wants_reindex());
    assert_eq!(embedder.counts(), (0, 0));
}

#[test]
fn a_model_swapped_in_place_is_never_mixed() {
    let catalog = catalog(&some_world(), false);
    #[derive(Debug)]
    struct Swapped(std::sync::atomic::AtomicBool, Trigrams);
    impl Embedder for Swapped {
        fn identity(&self) -> &str {
            if self.0.load(std::sync::atomic::Ordering::Relaxed) { "new" } else { "old" }
        }
        fn dimensions(&self) -> usize {
            self.1.dimensions()
        }
        fn embed(&self, texts: &[&str], kind: crate::index::TextKind) -> Result<Vec<Vec<f32>>> {
            self.1.embed(texts, kind)
        }
        fn max_batch(&self) -> usize {
            self.1.max_batch()
        }
    }
    let embedder = Arc::new(Swapped(false.into(), Trigrams::new("")));
    let retriever = Dense::shared(Arc::clone(&embedder) as Arc<dyn Embedder>);
    let index = retriever.index(&catalog, None).unwrap();
    search(&index, "mail", &Filter::new());
    embedder.0.store(true, std::sync::atomic::Ordering::Relaxed);
    let error = index.search(&"mail".into(), &Filter::new(), 5).unwrap_err();
    assert_eq!(error.to_string(), "embedder `old`: it is another one than when the tools were indexed");
    assert!(index.wants_reindex());
    let index = retriever.index(&catalog, Some(&index)).unwrap();
    assert_eq!(embedder.1.counts().0, 36);
    search(&index, "mail", &Filter::new());
}

#[test]
fn nothing_known_finds_nothing() {
    let (embedder, retriever) = dense("a");
    let index = retriever.index(&catalog(&some_world(), false), None).unwrap();
    // Too short for a run of three: a vector of zeros.
    assert!(search(&index, "x", &Filter::new()).hits.is_empty());
    embedder.set(Mode::English);
    assert!(search(&index, "天气", &Filter::new()).hits.is_empty());
    embedder.set(Mode::Constant);
    let (_, other) = dense("b");
    let same = retriever.index(&catalog(&some_world(), true), None).unwrap();
    assert!(search(&same, "mail", &Filter::new()).hits.is_sorted_by_key(|hit| hit.tool.clone()));
    embedder.set(Mode::Works);
    let index = other.index(&catalog(&some_world(), true), None).unwrap();
    assert!(!search(&index, "mail", &Filter::new()).hits.is_sorted_by_key(|hit| hit.tool.clone()));
    let empty = retriever.index(&Catalog::builder().build(), None).unwrap();
    assert!(search(&empty, "mail", &Filter::new()).hits.is_empty());
    let mut one = World::new();
    one.insert((0, 4), "Merge a branch".into());
    let index = retriever.index(&catalog(&one, false), None).unwrap();
    assert_eq!(order(&search(&index, "merge a branch", &Filter::new())), ["git/merge"]);
}
