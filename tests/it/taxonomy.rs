//! What a catalog holds, as a tree, and searches that ask for a part of it.

#![allow(clippy::unwrap_used, reason = "the catalogs here are made to be read")]

use std::sync::Arc;

use proem::{
    Host, TokenBudget,
    catalog::Catalog,
    client::MemoryClient,
    id::{ServerId, ToolId},
    protocol::Tool,
    retrieval::{
        Filter, Gate, Kind, Lexical, Narrowing, Place, Query, Ranking, Retriever, Starved, Taxonomy, TopicFile,
    },
    selection::SelectionOptions,
    tokens::{BytesPerToken, TokenCounter},
};
use proptest::prelude::*;

const VERBS: [&str; 6] = ["get", "create", "delete", "run", "compare", "blue"];
const NOUNS: [&str; 8] = ["boat", "cargo", "harbour", "invoice", "payment", "refund", "tide", "weather"];

fn server(at: usize) -> ServerId {
    ServerId::new(["bank", "port", "sky"][at % 3]).unwrap()
}

/// A tool of a server by a few words.
fn tool((at, verb, noun, more): &(usize, usize, usize, usize)) -> (ServerId, Tool) {
    let (verb, noun, more) = (VERBS[*verb], NOUNS[*noun], NOUNS[*more]);
    (server(*at), Tool::new(format!("{verb}_{noun}_{more}"), format!("About a {noun}, and its {more}")))
}

fn catalog<'a>(tools: impl IntoIterator<Item = &'a (usize, usize, usize, usize)>) -> Catalog {
    let tools = tools.into_iter().map(tool);
    tools.fold(Catalog::builder(), |builder, (server, tool)| builder.tool(server, tool)).build()
}

fn tools() -> impl Strategy<Value = Vec<(usize, usize, usize, usize)>> {
    prop::collection::vec((0..3_usize, 0..VERBS.len(), 0..NOUNS.len(), 0..NOUNS.len()), 0..60)
}

/// Four boats in the port, two payments at the bank.
fn small() -> Catalog {
    let tool = |name: &str, description: &str| Tool::new(name, description);
    let (port, bank) = (server(1), server(0));
    Catalog::builder()
        .tool(port.clone(), tool("get_boat", "Where a boat of the harbour lies"))
        .tool(port.clone(), tool("list_boats", "The boats of the harbour"))
        .tool(port.clone(), tool("create_boat", "A new boat in the harbour"))
        .tool(port, tool("delete_boat", "A boat leaves the harbour"))
        .tool(bank.clone(), tool("create_payment", "A payment by invoice"))
        .tool(bank, tool("get_payment", "A payment and its invoice"))
        .build()
}

fn search(catalog: &Catalog, query: &str, filter: &Filter) -> Ranking {
    Lexical::new().index(catalog, None).unwrap().search(&query.into(), filter, 20).unwrap()
}

fn found(ranking: &Ranking) -> Vec<String> {
    ranking.hits.iter().map(|hit| hit.tool.to_string()).collect()
}

fn gates(ranking: &Ranking) -> Vec<String> {
    ranking.gates.iter().map(Gate::to_string).collect()
}

#[test]
fn tools_that_are_about_the_same_are_one_topic() {
    let catalog = small();
    let taxonomy = Taxonomy::new(&catalog);
    let topics: Vec<_> = taxonomy.topics().iter().map(|topic| (&*topic.label, topic.tools)).collect();
    assert_eq!(topics, [("boat, harbour", 4), ("payment, invoice", 2)]);
    let place =
        |server: ServerId, name: &str| taxonomy.place(&ToolId::new(server, name)).map(|place| place.to_string());
    assert_eq!(place(server(1), "delete_boat").unwrap(), "port / boat, harbour / delete");
    assert_eq!(place(server(0), "get_payment").unwrap(), "bank / payment, invoice / read");
    assert_eq!(place(server(0), "get_boat"), None);
    let facets: Vec<_> = taxonomy.facets().iter().map(|facet| format!("{} {}", facet.place, facet.tools)).collect();
    assert_eq!(
        facets,
        [
            "bank / payment, invoice / read 1",
            "bank / payment, invoice / create 1",
            "port / boat, harbour / read 2",
            "port / boat, harbour / create 1",
            "port / boat, harbour / delete 1",
        ]
    );
    let ranking = search(&catalog, "a new payment", &Filter::new());
    let facets = taxonomy.facets_of(&ranking);
    assert_eq!(facets.iter().map(|facet| facet.tools).sum::<usize>(), ranking.hits.len());
}

#[cfg(feature = "bundled")]
#[test]
fn the_embedding_that_ships_makes_topics_too() {
    let taxonomy = Taxonomy::with_embedder(&small(), &proem::index::StaticEmbedder::bundled()).unwrap();
    let sizes: Vec<_> = taxonomy.topics().iter().map(|topic| topic.tools).collect();
    assert_eq!(sizes, [4, 2]);
    let topic = |server: ServerId, name: &str| taxonomy.topic(&ToolId::new(server, name)).unwrap().to_owned();
    assert_eq!(topic(server(1), "delete_boat"), topic(server(1), "get_boat"));
    assert_eq!(topic(server(0), "get_payment"), topic(server(0), "create_payment"));
}

#[test]
fn vectors_of_a_host_make_topics_too() {
    let catalog = small();
    // By position: bank's tools, then the port's.
    let vectors = [[1.0, 0.0], [0.9, 0.1], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0], [0.0, 0.9]].map(Vec::from);
    let taxonomy = Taxonomy::with_vectors(&catalog, &vectors).unwrap();
    let sizes: Vec<_> = taxonomy.topics().iter().map(|topic| topic.tools).collect();
    assert_eq!(sizes, [3, 3]);
    for (vectors, expected) in [
        (vec![vec![1.0]; 5], "invalid vectors of a taxonomy: there are 5 for 6 tools"),
        (vec![vec![]; 6], "invalid vectors of a taxonomy: 0 dimensions are not between 1 and 16384"),
        (
            vec![vec![f32::NAN]; 6],
            "invalid vectors of a taxonomy: that of bank/create_payment is not of 1 finite numbers",
        ),
    ] {
        assert_eq!(Taxonomy::with_vectors(&catalog, &vectors).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_host_has_topics_of_its_own() {
    let text = r#"{"version": 1, "nodes": [
        {"label": "sea", "tools": ["port"], "nodes": [{"label": "lists", "tools": ["*/list_*"]}]},
        {"label": "empty", "tools": ["nobody"]}
    ]}"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("topics.json");
    std::fs::write(&path, text).unwrap();
    let catalog = small();
    let taxonomy = Taxonomy::with_topics(&catalog, &TopicFile::open(&path).unwrap());
    let topics: Vec<_> = taxonomy.topics().iter().map(|topic| (&*topic.label, topic.tools)).collect();
    assert_eq!(topics, [("sea", 3), ("sea/lists", 1)]);
    assert_eq!(taxonomy.topic(&ToolId::new(server(0), "get_payment")), Some("other"));
    // A node means what is in it.
    let narrowing = Narrowing::new(Arc::new(taxonomy)).with_topic("Sea");
    let ranking = search(&catalog, "boat or payment", &Filter::new().narrow(narrowing));
    assert_eq!((ranking.hits.len(), gates(&ranking)), (4, vec!["topic Sea: 4 of 6 tools".to_owned()]));

    std::fs::write(&path, r#"{"version": 1, "nodes": [{"label": ""}]}"#).unwrap();
    let error = TopicFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("topics.json: `nodes[0].label` must have 1 to 64 characters"), "{error}");
    std::fs::write(&path, " ".repeat(TopicFile::MAX_BYTES as usize + 1)).unwrap();
    let error = TopicFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("at most 1048576 are read"), "{error}");
}

#[test]
fn what_would_starve_a_search_is_dropped_and_told() {
    let catalog = small();
    let taxonomy = Arc::new(Taxonomy::new(&catalog));
    let narrowing = || Narrowing::new(Arc::clone(&taxonomy));
    let narrowed = |narrowing: Narrowing| search(&catalog, "a boat or a payment", &Filter::new().narrow(narrowing));

    let ranking = narrowed(narrowing().with_kind(Kind::Read));
    assert_eq!(found(&ranking).len(), 3);
    assert_eq!(gates(&ranking), ["kind read: 3 of 6 tools"]);
    let ranking = narrowed(narrowing().with_kind(Kind::Delete).with_kind(Kind::Read).with_topic("boat"));
    assert_eq!(gates(&ranking), ["kind delete or read: 3 of 6 tools", "topic boat: 3 of 6 tools"]);

    // Two boats to read are too few: first the topic goes.
    let ranking = narrowed(narrowing().with_kind(Kind::Read).with_topic("boat"));
    assert_eq!(gates(&ranking), ["kind read: 3 of 6 tools", "topic boat dropped: 2 of 6 tools are left"]);
    assert_eq!(found(&ranking).len(), 3);
    // Then the kind.
    let ranking = narrowed(narrowing().with_kind(Kind::Delete).with_topic("boat"));
    assert_eq!(
        gates(&ranking),
        ["kind delete dropped: 1 of 6 tools are left", "topic boat dropped: 1 of 6 tools are left"],
    );
    assert_eq!(found(&ranking), found(&search(&catalog, "a boat or a payment", &Filter::new())));
    // Enough are left, and none of them is found.
    let ranking = search(&catalog, "invoice", &Filter::new().narrow(narrowing().with_topic("boat")));
    assert_eq!(gates(&ranking), ["topic boat dropped: none of 4 tools is found"]);
    assert_eq!((ranking.gates[0].dropped, ranking.hits.len()), (Some(Starved::NoHit), 2));
    // A topic that there is not.
    let ranking = narrowed(narrowing().with_topic("cakes"));
    assert_eq!(gates(&ranking), ["topic cakes dropped: 0 of 6 tools are left"]);
    assert!(narrowed(narrowing()).gates.is_empty());
}

#[test]
fn a_narrowing_lifts_nothing_that_a_filter_forbids() {
    let catalog = small();
    let narrowing = Narrowing::new(Arc::new(Taxonomy::new(&catalog))).with_kind(Kind::Delete).with_min(1);
    let filter = Filter::new().deny("*/delete_*".parse().unwrap()).narrow(narrowing);
    let ranking = search(&catalog, "delete a boat", &filter);
    assert_eq!(gates(&ranking), ["kind delete dropped: 0 of 6 tools are left"]);
    assert!(!found(&ranking).is_empty() && !found(&ranking).contains(&"port/delete_boat".to_owned()));
}

#[test]
fn a_tree_of_an_older_snapshot_still_narrows() {
    let taxonomy = Arc::new(Taxonomy::new(&small()));
    let with_new = small()
        .tools()
        .iter()
        .fold(Catalog::builder(), |builder, entry| builder.tool(entry.id.server.clone(), (*entry.tool).clone()));
    let newer = with_new.tool(server(2), Tool::new("get_boat_weather", "The weather for a boat")).build();
    let narrowing = Narrowing::new(taxonomy).with_kind(Kind::Read);
    let ranking = search(&newer, "boat weather", &Filter::new().narrow(narrowing));
    assert_eq!(gates(&ranking), ["kind read: 4 of 7 tools"]);
    assert_eq!(found(&ranking)[0], "sky/get_boat_weather");
}

#[tokio::test]
async fn a_turn_says_what_was_dropped_and_keeps_its_pins() {
    let port = MemoryClient::new().with_tool("get_boat", "A boat").with_tool("delete_boat", "A boat leaves");
    let host = Host::builder().server("port", port).counter(BytesPerToken::default()).build().unwrap();
    let catalog = host.refresh().await;
    let taxonomy = Arc::new(Taxonomy::new(&catalog));
    let filter = |min| Filter::new().narrow(Narrowing::new(Arc::clone(&taxonomy)).with_kind(Kind::Read).with_min(min));
    let pinned = SelectionOptions::default().with_pin("port/delete_boat".parse().unwrap());
    let mut session = host.session();
    let context = session.turn("which boat?").selection(pinned).filter(filter(1)).build().await.unwrap();
    let names: Vec<_> = context.selection().tools.iter().map(|tool| tool.id.name.to_string()).collect();
    assert_eq!((names, context.notes().len()), (vec!["delete_boat".to_owned(), "get_boat".to_owned()], 0));
    let context = session.turn("which boat?").filter(filter(2)).build().await.unwrap();
    assert_eq!(context.notes(), ["kind read dropped: 1 of 2 tools are left"]);
}

#[test]
fn evidence_points_where_the_request_does() {
    let catalog = small();
    let taxonomy = Taxonomy::new(&catalog);
    let evidence = taxonomy.evidence("delete the boat", &catalog);
    let best = (0..evidence.len()).max_by(|a, b| evidence[*a].total_cmp(&evidence[*b])).unwrap();
    assert_eq!((catalog.tools()[best].id.to_string().as_str(), evidence[best]), ("port/delete_boat", 1.0));
    assert_eq!(taxonomy.evidence("", &catalog), [0.0; 6]);
    assert_eq!(taxonomy.nearest_topic("my boats").map(|at| &*taxonomy.topics()[at].label), Some("boat, harbour"));
    assert_eq!(taxonomy.nearest_topic("nothing of this"), None);
}

#[test]
fn an_outline_is_cut_by_steps() {
    let taxonomy = Taxonomy::new(&small());
    let outline = |tokens| taxonomy.outline(TokenBudget::new(tokens), &BytesPerToken::new(1));
    let whole = "6 tools on 2 servers: read 3, create 2, delete 1\nServers:\n- port: read 2, create 1, delete 1\n\
        - bank: read 1, create 1\nTopics:\n- boat, harbour: read 2, create 1, delete 1\n- payment, invoice: read 1, create 1";
    assert_eq!(outline(whole.len()), whole);
    assert_eq!(
        outline(whole.len() - 1),
        "6 tools on 2 servers: read 3, create 2, delete 1\nServers:\n- port: 4\n- bank: 2\nTopics:\n- boat, harbour: 4\n- payment, invoice: 2",
    );
    assert_eq!(
        outline(120),
        "6 tools on 2 servers: read 3, create 2, delete 1\nServers:\n- port: 4\n- 1 more: 2\nTopics:\n- boat, harbour: 4\n- 1 more: 2",
    );
    assert_eq!(outline(60), "6 tools on 2 servers: read 3, create 2, delete 1");
    assert_eq!(outline(20), "6 tools on 2 servers");
    assert_eq!(outline(19), "");
    assert_eq!(
        Taxonomy::new(&Catalog::default()).outline(TokenBudget::new(50), &BytesPerToken::new(1)),
        "0 tools on 0 servers"
    );
}

/// How far one tool of a hundred, taken away, changes the tree: of the pairs of tools that were in one topic,
/// how many still are.
#[cfg(feature = "eval")]
#[test]
fn a_tree_is_much_the_same_without_a_few_tools() {
    let Some(folder) = crate::outside::shared("bench/livemcpbench") else { return };
    let catalog = proem::eval::DataSet::open(folder).unwrap().catalog;
    let whole = Taxonomy::new(&catalog);
    let kept: Vec<_> =
        catalog.tools().iter().enumerate().filter(|(at, _)| at % 100 != 50).map(|(_, entry)| entry).collect();
    let rest = kept
        .iter()
        .fold(Catalog::builder(), |builder, entry| builder.tool(entry.id.server.clone(), (*entry.tool).clone()));
    let rest = Taxonomy::new(&rest.build());
    let topics: Vec<_> = kept.iter().map(|entry| (whole.topic(&entry.id), rest.topic(&entry.id))).collect();
    let (mut together, mut still) = (0, 0);
    for (at, (before, after)) in topics.iter().enumerate() {
        for (other_before, other_after) in &topics[..at] {
            together += usize::from(before == other_before);
            still += usize::from(before == other_before && after == other_after);
        }
    }
    assert!(still * 100 >= together * 90, "{still} of {together}");
}

/// What a request says of kind and topic, as a hard filter and as a small plus: NDCG@10 in percent.
#[cfg(feature = "eval")]
#[test]
fn what_a_tree_does_for_livemcpbench() {
    use proem::eval::{DataSet, Metrics};

    let Some(folder) = crate::outside::shared("bench/livemcpbench") else { return };
    let set = DataSet::open(folder).unwrap();
    let taxonomy = Arc::new(Taxonomy::new(&set.catalog));
    let index = Lexical::new().index(&set.catalog, None).unwrap();
    let queries: Vec<_> = set.queries.iter().filter(|query| !query.groups.is_empty()).collect();
    let ndcg = |rank: &dyn Fn(&str) -> Vec<ToolId>| {
        let all: f64 = queries.iter().map(|query| Metrics::of(&rank(&query.text), &query.groups).ndcg_10).sum();
        (all / queries.len() as f64 * 10_000.0).round() / 100.0
    };
    let hard = |kind: bool, topic: bool| {
        ndcg(&|text| {
            let mut narrowing = Narrowing::new(Arc::clone(&taxonomy));
            for wanted in Kind::wanted(text).into_iter().filter(|_| kind) {
                narrowing = narrowing.with_kind(wanted);
            }
            if let Some(at) = taxonomy.nearest_topic(text).filter(|_| topic) {
                narrowing = narrowing.with_topic(&*taxonomy.topics()[at].label);
            }
            let ranking = index.search(&text.into(), &Filter::new().narrow(narrowing), 10).unwrap();
            ranking.hits.into_iter().map(|hit| hit.tool).collect()
        })
    };
    let soft = |weight: f32| {
        ndcg(&|text| {
            let hits = index.search(&text.into(), &Filter::new(), 60).unwrap().hits;
            let best = hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
            let evidence = taxonomy.evidence(text, &set.catalog);
            let of =
                |tool: &ToolId| evidence[set.catalog.tools().binary_search_by(|entry| entry.id.cmp(tool)).unwrap()];
            let mut hits: Vec<_> =
                hits.into_iter().map(|hit| (hit.tier, hit.score / best + weight * of(&hit.tool), hit.tool)).collect();
            hits.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
            hits.into_iter().map(|(.., tool)| tool).collect()
        })
    };
    assert_eq!(
        [hard(false, false), hard(true, false), hard(false, true), hard(true, true)],
        [38.85, 33.85, 19.33, 16.77]
    );
    assert_eq!([soft(0.05), soft(0.1), soft(0.2)], [39.49, 39.02, 39.67]);
}

/// Whatever is asked for.
fn narrowings() -> impl Strategy<Value = (Vec<usize>, Vec<&'static str>, usize)> {
    let kinds = prop::collection::vec(0..Kind::ALL.len(), 0..3);
    let topics = prop::collection::vec(prop::sample::select(&NOUNS[..]), 0..3);
    (kinds, topics, 0..9_usize)
}

proptest! {
    #[test]
    fn a_tree_does_not_depend_on_the_order_of_servers(tools in tools()) {
        let (one, two) = (Taxonomy::new(&catalog(&tools)), Taxonomy::new(&catalog(tools.iter().rev())));
        prop_assert_eq!(one.facets(), two.facets());
        let whole = |taxonomy: &Taxonomy| taxonomy.outline(TokenBudget::new(10_000), &BytesPerToken::default());
        prop_assert_eq!(whole(&one), whole(&two));
    }

    #[test]
    fn every_tool_has_one_place(tools in tools()) {
        let catalog = catalog(&tools);
        let taxonomy = Taxonomy::new(&catalog);
        let places: Vec<Place> = catalog.tools().iter().map(|entry| taxonomy.place(&entry.id).unwrap()).collect();
        prop_assert_eq!(taxonomy.facets().iter().map(|facet| facet.tools).sum::<usize>(), places.len());
        for topic in taxonomy.topics() {
            prop_assert!(topic.tools > 0);
            prop_assert_eq!(places.iter().filter(|place| place.topic == topic.label).count(), topic.tools);
        }
        let labels: std::collections::BTreeSet<_> = taxonomy.topics().iter().map(|topic| &topic.label).collect();
        prop_assert_eq!(labels.len(), taxonomy.topics().len());
        prop_assert!(taxonomy.topics().len() <= *Taxonomy::TOPICS.end());
    }

    #[test]
    fn an_outline_is_never_over_its_budget(tools in tools(), budget in 0..600_usize) {
        let counter = BytesPerToken::new(3);
        let outline = Taxonomy::new(&catalog(&tools)).outline(TokenBudget::new(budget), &counter);
        prop_assert!(counter.count(&outline) <= budget);
        prop_assert!(!outline.is_empty() || budget < 8);
    }

    #[test]
    fn a_narrowing_leaves_nothing_only_where_there_is_nothing(
        tools in tools(),
        (kinds, topics, min) in narrowings(),
        deny in prop::option::of(0..3_usize),
        query in prop::collection::vec(prop::sample::select(&NOUNS[..]), 0..3),
    ) {
        let catalog = catalog(&tools);
        let narrowing = Narrowing::new(Arc::new(Taxonomy::new(&catalog))).with_min(min);
        let narrowing = kinds.into_iter().fold(narrowing, |narrowing, kind| narrowing.with_kind(Kind::ALL[kind]));
        let narrowing = topics.into_iter().fold(narrowing, Narrowing::with_topic);
        let filter = deny.map_or_else(Filter::new, |at| Filter::new().deny(server(at).as_str().parse().unwrap()));
        let query = Query::new(query.join(" "));
        let index = Lexical::new().index(&catalog, None).unwrap();
        let all = index.search(&query, &filter, 100).unwrap();
        let some = index.search(&query, &filter.clone().narrow(narrowing), 100).unwrap();
        prop_assert_eq!(some.hits.is_empty(), all.hits.is_empty());
        let known: Vec<_> = all.hits.iter().map(|hit| &hit.tool).collect();
        prop_assert!(some.hits.iter().all(|hit| known.contains(&&hit.tool)));
        if some.gates.iter().all(|gate| gate.dropped.is_some()) {
            prop_assert_eq!(&some.hits, &all.hits);
        }
    }

    #[test]
    fn evidence_is_a_share(tools in tools(), text in "\\PC{0,60}") {
        let catalog = catalog(&tools);
        let evidence = Taxonomy::new(&catalog).evidence(&text, &catalog);
        prop_assert_eq!(evidence.len(), catalog.tools().len());
        prop_assert!(evidence.iter().all(|share| (0.0..=1.0).contains(share)));
    }
}
