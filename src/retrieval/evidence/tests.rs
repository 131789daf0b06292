use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{
    catalog::{Authorization, Catalog},
    id::{ServerId, ToolId},
    index::{Analyzer, trigrams::Trigrams},
    protocol::Tool,
    retrieval::{
        CoUse, Dense, Filter, Hybrid, Lexical, Ranking, Retriever, Tier, ToolIndex, Usage, UsageLog,
        dense::tests::{catalog, follows, texts, worlds},
        servers::ServerEvidence,
    },
};

const SERVERS: [&str; 4] = ["git", "mail", "web", "gone"];
const NAMES: [&str; 6] = ["create_issue", "search", "sendMail", "list-pages", "merge", "search_web_pages"];

/// Requests and the tools called after them, some of which no catalog has.
type Calls = Vec<(String, usize, usize)>;

fn calls() -> impl Strategy<Value = Calls> {
    prop::collection::vec((texts(), 0..4_usize, 0..6_usize), 0..12)
}

fn tool(server: usize, name: usize) -> ToolId {
    ToolId::new(ServerId::new(SERVERS[server]).unwrap(), NAMES[name])
}

/// Calls with the sequence numbers of their places, two to a conversation.
fn log(calls: impl IntoIterator<Item = (usize, (String, usize, usize))>) -> UsageLog {
    let mut log = UsageLog::new(Authorization::default());
    for (place, (request, server, name)) in calls {
        log.record(place as u64 / 2, &request, tool(server, name));
    }
    log
}

/// All evidence at once, beside words alone or words and vectors.
fn retriever(calls: &Calls, weight: f32, with_vectors: bool) -> Hybrid {
    let log = log(calls.iter().cloned().enumerate());
    let hybrid = if with_vectors {
        Hybrid::of(Lexical::new(), Dense::new(Trigrams::new("a")))
    } else {
        Hybrid::lexical(Lexical::new())
    };
    hybrid
        .with_server_weight(weight)
        .with_usage(Usage::new(&log).with_weight(weight))
        .with_co_use(log.co_use().with_weight(weight))
}

fn search(index: &Arc<dyn ToolIndex>, query: &str, filter: &Filter) -> Ranking {
    index.search(&query.into(), filter, 20).unwrap()
}

fn queries() -> impl Strategy<Value = String> {
    prop_oneof![texts(), texts().prop_map(|text| format!("git/merge {text}"))]
}

proptest! {
    #[test]
    fn evidence_without_weight_changes_nothing(world in worlds(), calls in calls(), query in queries(), vectors: bool) {
        let catalog = catalog(&world, false);
        let none = if vectors {
            Hybrid::of(Lexical::new(), Dense::new(Trigrams::new("a")))
        } else {
            Hybrid::lexical(Lexical::new())
        };
        let none = none.index(&catalog, None).unwrap();
        let weightless = retriever(&calls, 0.0, vectors).index(&catalog, None).unwrap();
        prop_assert_eq!(search(&weightless, &query, &Filter::new()), search(&none, &query, &Filter::new()));
    }

    #[test]
    fn words_alone_rank_as_the_lexical_retriever(world in worlds(), query in queries()) {
        let catalog = catalog(&world, false);
        let order = |retriever: &dyn Retriever| {
            let ranking = search(&retriever.index(&catalog, None).unwrap(), &query, &Filter::new());
            let hits: Vec<_> = ranking.hits.into_iter().map(|hit| (hit.tool, hit.tier, hit.fields)).collect();
            (hits, ranking.coverage)
        };
        prop_assert_eq!(order(&Hybrid::lexical(Lexical::new())), order(&Lexical::new()));
    }

    #[test]
    fn what_is_filtered_out_leaves_no_trace(
        world in worlds(),
        calls in calls(),
        hidden in (0..3_usize, prop::option::of(0..6_usize)),
        query in queries(),
        vectors: bool,
    ) {
        let retriever = retriever(&calls, 1.5, vectors);
        let hides = move |server: &str, name: &str| {
            server == SERVERS[hidden.0] && hidden.1.is_none_or(|hidden| name == NAMES[hidden])
        };
        let filter = Filter::new().predicate(move |entry| !hides(entry.id.server.as_str(), &entry.id.name));
        let filtered = search(&retriever.index(&catalog(&world, false), None).unwrap(), &query, &filter);
        let mut rest = world;
        rest.retain(|(server, name), _| !hides(SERVERS[*server], NAMES[*name]));
        let index = retriever.index(&catalog(&rest, false), None).unwrap();
        prop_assert_eq!(filtered, search(&index, &query, &Filter::new()));
    }

    #[test]
    fn an_index_made_from_another_answers_as_one_made_from_nothing(
        worlds in prop::collection::vec(worlds(), 1..5),
        calls in calls(),
        query in queries(),
    ) {
        let retriever = retriever(&calls, 0.7, false);
        follows(&retriever, &worlds, &query)?;
    }

    #[test]
    fn the_order_of_a_log_does_not_matter(
        world in worlds(),
        (calls, shuffled) in calls().prop_flat_map(|calls| {
            let numbered: Vec<_> = calls.into_iter().enumerate().collect();
            (Just(numbered.clone()), Just(numbered).prop_shuffle())
        }),
        query in queries(),
    ) {
        let catalog = catalog(&world, false);
        let [a, b] = [calls, shuffled].map(|calls| {
            let log = log(calls);
            let hybrid = Hybrid::lexical(Lexical::new()).with_usage(Usage::new(&log)).with_co_use(log.co_use());
            search(&hybrid.index(&catalog, None).unwrap(), &query, &Filter::new())
        });
        prop_assert_eq!(a, b);
    }

    #[test]
    fn scores_stay_on_their_scale(
        world in worlds(),
        calls in calls(),
        weight in prop_oneof![0.0..2.0_f32, Just(f32::INFINITY), Just(f32::NAN), Just(-1.0)],
        query in queries(),
        limit in 0..8_usize,
        vectors: bool,
    ) {
        let index = retriever(&calls, weight, vectors).index(&catalog(&world, false), None).unwrap();
        let ranking = index.search(&query.as_str().into(), &Filter::new(), limit).unwrap();
        prop_assert!(ranking.hits.len() <= limit);
        prop_assert!(ranking.hits.is_sorted_by_key(|hit| hit.tier));
        for pair in ranking.hits.windows(2).filter(|pair| pair[0].tier == pair[1].tier) {
            prop_assert!(pair[0].score > pair[1].score || (pair[0].score == pair[1].score && pair[0].tool < pair[1].tool));
        }
        for hit in &ranking.hits {
            prop_assert!((0.0..=1.0).contains(&hit.score), "{hit:?}");
            let evidence = ["server", "usage", "co-use"].map(|name| hit.channels.get(name).copied().unwrap_or(0.0));
            prop_assert!(evidence.iter().all(|score| (0.0..=1.0).contains(score)), "{hit:?}");
            prop_assert_eq!(hit.used_with.is_some(), hit.channels.contains_key("co-use"));
        }
        prop_assert!((0.0..=1.0).contains(&ranking.coverage));
        let shares: f32 = ranking.channels.iter().map(|channel| channel.weight).sum();
        prop_assert!(ranking.channels.iter().all(|channel| (0.0..=1.0).contains(&channel.weight)) && shares < 1.0001);
    }

    /// Ten tools that say what one says do not lift their server: it fits no better for repeating itself.
    #[test]
    fn a_server_gains_nothing_by_copies(world in worlds(), name in texts(), query in texts()) {
        let gain = |copies: usize| {
            let server = ServerId::new("zz").unwrap();
            let others = catalog(&world, false);
            let builder = others.tools().iter().fold(Catalog::builder(), |builder, entry| {
                builder.tool(entry.id.server.clone(), Tool::clone(&entry.tool))
            });
            let catalog = (0..copies).fold(builder, |builder, at| {
                builder.tool(server.clone(), Tool::new(format!("{name} {at}"), query.as_str()))
            });
            let catalog = catalog.build();
            let evidence = Arc::new(ServerEvidence::new(&catalog, Analyzer::default(), 1.0, None));
            let last = catalog.tools().len() as u32 - 1;
            let request = Request { text: &query, named: &[], allowed: None };
            evidence.weigh(&request, &[(last, 1.0)]).first().map_or(0.0, |gain| gain.score)
        };
        let (one, ten) = (gain(1), gain(10));
        prop_assert!(ten <= one, "{ten} {one}");
    }
}

#[test]
fn each_kind_tells_what_it_did() {
    let made = |server: &str, name: &str, text: &str| (ServerId::new(server).unwrap(), Tool::new(name, text));
    let catalog = [
        made("invoices", "create", "Write a new one"),
        made("invoices", "find", "Look for one by number"),
        made("tickets", "find", "Look for one by number"),
        made("vault", "unlock", "Needed before anything else"),
    ];
    let catalog = catalog.into_iter().fold(Catalog::builder(), |builder, (server, tool)| builder.tool(server, tool));
    let id = |server: &str, name: &str| ToolId::new(ServerId::new(server).unwrap(), name);
    let mut log = UsageLog::new(Authorization::default());
    log.record(1, "what does the customer owe", id("tickets", "find"));
    let hybrid = Hybrid::lexical(Lexical::new())
        .with_server_weight(0.5)
        .with_usage(Usage::new(&log))
        .with_co_use(CoUse::of_edges([(id("tickets", "find"), id("vault", "unlock"), 0.5)]));
    let index = hybrid.index(&catalog.build(), None).unwrap();

    let ranking = search(&index, "look for invoice 12", &Filter::new());
    assert_eq!(ranking.hits[0].tool, id("invoices", "find"));
    let channel = |ranking: &Ranking, name: &str| ranking.channels.iter().find(|c| c.name == name).unwrap().weight;
    assert_eq!((channel(&ranking, "usage"), channel(&ranking, "server") > 0.2), (0.0, true));
    // Two of four tools are the server's.
    assert_eq!(ranking.hits[0].channels["server"], 0.5);
    let of_tickets = ranking.hits.iter().find(|hit| hit.tool == id("tickets", "find")).unwrap();
    assert!(!of_tickets.channels.contains_key("server"));

    let ranking = search(&index, "what does this customer owe us?", &Filter::new());
    let (called, needed) = (&ranking.hits[0], &ranking.hits[1]);
    assert_eq!((&called.tool, called.tier, called.fields.len()), (&id("tickets", "find"), Tier::Scored, 0));
    assert!(called.channels["usage"] > 0.7 && ranking.coverage > 0.9, "{ranking:?}");
    assert_eq!((&needed.tool, &needed.used_with), (&id("vault", "unlock"), &Some(id("tickets", "find"))));
    assert_eq!(channel(&ranking, "server"), 0.0);
    assert!((channel(&ranking, "co-use") - 1.0 / 3.0).abs() < 1e-6);
    // What was called is not lifted over what is named, nor what is needed left behind.
    let ranking = search(&index, "`invoices/create` what does the customer owe", &Filter::new());
    assert_eq!((&ranking.hits[0].tool, ranking.hits[0].tier), (&id("invoices", "create"), Tier::Named));
}
