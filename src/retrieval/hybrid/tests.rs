use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::{
    id::ServerId,
    index::{
        DenseOptions,
        trigrams::{Mode, Trigrams},
    },
    protocol::Tool,
    retrieval::dense::tests::{catalog, follows, some_world, texts, worlds},
};

fn search(index: &Arc<dyn ToolIndex>, query: &str, filter: &Filter) -> Ranking {
    index.search(&query.into(), filter, 20).unwrap()
}

fn order(ranking: &Ranking) -> Vec<(String, Tier)> {
    ranking.hits.iter().map(|hit| (hit.tool.to_string(), hit.tier)).collect()
}

/// The retriever with a hold on its embedder; a failure is forgotten at once.
fn hybrid() -> (Arc<Trigrams>, Hybrid) {
    let embedder = Arc::new(Trigrams::new("a"));
    let options = DenseOptions::default().with_retry_after(Duration::ZERO);
    let dense = Dense::shared(Arc::clone(&embedder) as Arc<dyn Embedder>).with_options(options);
    (embedder, Hybrid::of(Lexical::new(), dense))
}

fn queries() -> impl Strategy<Value = String> {
    prop_oneof![texts(), Just("search_web_pages".to_owned()), texts().prop_map(|text| format!("git/merge {text}"))]
}

proptest! {
    #[test]
    fn an_index_made_from_another_answers_as_one_made_from_nothing(
        worlds in prop::collection::vec(worlds(), 1..5),
        query in queries(),
    ) {
        let (_, retriever) = hybrid();
        follows(&retriever, &worlds, &query)?;
    }

    #[test]
    fn what_is_filtered_out_leaves_no_trace(world in worlds(), hidden in 0..3_usize, query in queries()) {
        let (_, retriever) = hybrid();
        let name = ["git", "mail", "web"][hidden];
        let index = retriever.index(&catalog(&world, false), None).unwrap();
        let filtered = search(&index, &query, &Filter::new().deny(name.parse().unwrap()));
        let mut rest = world;
        rest.retain(|(server, _), _| *server != hidden);
        let index = retriever.index(&catalog(&rest, false), None).unwrap();
        prop_assert_eq!(filtered, search(&index, &query, &Filter::new()));
    }

    #[test]
    fn the_order_of_tools_does_not_matter(world in worlds(), query in queries()) {
        let (_, retriever) = hybrid();
        let [a, b] = [false, true].map(|reversed| retriever.index(&catalog(&world, reversed), None).unwrap());
        prop_assert_eq!(search(&a, &query, &Filter::new()), search(&b, &query, &Filter::new()));
    }

    #[test]
    fn a_dense_channel_that_says_nothing_leaves_the_lexical_ranking(
        world in worlds(),
        query in queries(),
        mode in prop::sample::select(&[Mode::Constant, Mode::Fails, Mode::Panics, Mode::NotFinite, Mode::WrongLength, Mode::TooFew][..]),
        fusion in prop::sample::select(&[Fusion::WeightedSum { dense_weight: 0.9 }, Fusion::Rrf { k: 10.0 }][..]),
    ) {
        let (embedder, retriever) = hybrid();
        embedder.set(mode);
        // With one tool there is nothing that its score could be the same as.
        prop_assume!(world.len() != 1);
        let catalog = catalog(&world, false);
        let index = retriever.with_fusion(fusion).index(&catalog, None).unwrap();
        let lexical = Lexical::new().index(&catalog, None).unwrap();
        let (ranking, alone) = (search(&index, &query, &Filter::new()), search(&lexical, &query, &Filter::new()));
        prop_assert_eq!(order(&ranking), order(&alone));
        prop_assert_eq!(ranking.channels[1].trouble.is_some(), mode != Mode::Constant);
        prop_assert_eq!(ranking.channels[1].weight, 0.0);
        for (hit, alone) in ranking.hits.iter().zip(&alone.hits) {
            prop_assert_eq!(&hit.fields, &alone.fields);
            prop_assert_eq!(hit.channels.get("lexical").copied().unwrap_or(0.0), alone.score);
        }
    }

    #[test]
    fn named_tools_come_first_and_ranks_are_whole(world in worlds(), query in queries(), limit in 0..8_usize) {
        let (_, retriever) = hybrid();
        let index = retriever.index(&catalog(&world, false), None).unwrap();
        let ranking = index.search(&query.as_str().into(), &Filter::new(), limit).unwrap();
        prop_assert!(ranking.hits.len() <= limit);
        prop_assert!(ranking.hits.is_sorted_by_key(|hit| hit.tier));
        prop_assert!(ranking.hits.iter().map(|hit| hit.rank).eq(1..=ranking.hits.len()));
        for pair in ranking.hits.windows(2).filter(|pair| pair[0].tier == pair[1].tier) {
            prop_assert!(pair[0].score > pair[1].score || (pair[0].score == pair[1].score && pair[0].tool < pair[1].tool));
        }
        let whole = search(&index, &query, &Filter::new());
        prop_assert_eq!(&ranking.hits[..], &whole.hits[..ranking.hits.len()]);
    }
}

fn made(tools: &[(&str, &str, &str)]) -> Catalog {
    let tools = tools.iter();
    tools
        .fold(Catalog::builder(), |builder, (server, name, text)| {
            builder.tool(ServerId::new(server).unwrap(), Tool::new(*name, *text))
        })
        .build()
}

#[test]
fn a_language_that_the_embedder_does_not_know_is_left_to_the_words() {
    let catalog = made(&[("a", "forecast", "查询天气预报"), ("b", "send", "发送邮件"), ("c", "rain", "降雨 天气")]);
    let (embedder, retriever) = hybrid();
    embedder.set(Mode::English);
    let index = retriever.index(&catalog, None).unwrap();
    let lexical = Lexical::new().index(&catalog, None).unwrap();
    let ranking = search(&index, "天气怎么样", &Filter::new());
    assert_eq!(order(&ranking), order(&search(&lexical, "天气怎么样", &Filter::new())));
    assert_eq!((ranking.channels[0].weight, ranking.channels[1].weight), (1.0, 0.0));
    assert_eq!(ranking.channels[1].trouble, None);
    // What it knows in part counts in part.
    let ranking = search(&index, "forecast 天气怎么样", &Filter::new());
    assert!((0.0..0.5).contains(&ranking.channels[1].weight), "{:?}", ranking.channels);
}

#[test]
fn meaning_finds_what_words_do_not() {
    let catalog = made(&[("a", "reimbursement", "Undo a payment"), ("b", "forecast", "The weather of tomorrow")]);
    let (_, retriever) = hybrid();
    let index = retriever.index(&catalog, None).unwrap();
    assert!(search(&Lexical::new().index(&catalog, None).unwrap(), "repayments", &Filter::new()).hits.is_empty());
    let ranking = search(&index, "repayments", &Filter::new());
    assert_eq!(ranking.hits[0].tool.to_string(), "a/reimbursement");
    assert!(ranking.hits[0].fields.is_empty() && ranking.hits[0].channels["dense"] > 0.3);
    assert!(ranking.coverage > 0.3 && ranking.coverage <= 1.0);
    assert_eq!((ranking.channels[0].weight, ranking.channels[1].weight), (0.0, 1.0));
}

#[test]
fn a_word_met_by_chance_does_not_drag_down_meaning() {
    let catalog = made(&[
        ("a", "api_keys", "Rotate the keys of an api"),
        ("b", "forecast", "Wettervorhersage für die nächsten Tage und Wochen"),
        ("c", "mail", "Briefe verschicken"),
    ]);
    let (_, retriever) = hybrid();
    let index = retriever.index(&catalog, None).unwrap();
    let ranking =
        search(&index, "per api bitte eine wettervorhersagen-übersicht der kommenden tagesläufe", &Filter::new());
    assert_eq!(ranking.hits[0].tool.to_string(), "b/forecast", "{ranking:?}");
    assert!(ranking.channels[0].weight < 0.5);
}

#[test]
fn part_of_the_vectors_is_better_than_none() {
    let (embedder, retriever) = hybrid();
    let mut world = some_world();
    world.insert((0, 3), "poison".into());
    embedder.set(Mode::Refuses("poison"));
    let index = retriever.index(&catalog(&world, false), None).unwrap();
    let ranking = search(&index, "send some poison", &Filter::new());
    // The query is refused as well.
    assert_eq!(ranking.channels[1].trouble.as_deref(), Some("embedder `a`: out of order"));
    assert!(ranking.is_degraded());
    let ranking = search(&index, "sending mail", &Filter::new());
    assert!(ranking.channels[1].weight > 0.0);
    assert_eq!(ranking.channels[1].trouble.as_deref(), Some("1 of 18 tools have no vector: out of order"));
}
