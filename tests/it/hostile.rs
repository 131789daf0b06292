//! Servers that do harm: each costs itself only, within bounds, and is named.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

use std::{collections::BTreeSet, time::Instant};

use proem::{
    catalog::{Aggregator, AggregatorOptions, Catalog},
    client::{Change, Limits, ListKind},
    evidence::FindingKind,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fake::{Fake, Step, id, tool};

/// The catalog of a bad server beside a good one, which must be there whole.
async fn beside(bad: Fake, options: AggregatorOptions) -> Catalog {
    let good = Fake::new().with_tools(["send", "reply"]);
    let servers = Aggregator::new([(id("bad"), bad.boxed()), (id("mail"), good.boxed())], options);
    let catalog = servers.refresh().await;
    let good: Vec<_> = catalog.tools().iter().filter(|entry| entry.id.server == id("mail")).collect();
    assert_eq!(good.len(), 2);
    assert!(catalog.findings().iter().all(|finding| finding.server == id("bad")));
    assert!(catalog.failures().all(|(server, _)| *server == id("bad")));
    catalog
}

fn bad_tools(items: impl IntoIterator<Item = String>) -> Fake {
    Fake::new().with(ListKind::Tools, [Step::raw(items)])
}

fn kinds(catalog: &Catalog) -> Vec<FindingKind> {
    catalog.findings().iter().map(|finding| finding.kind).collect()
}

fn of_bad(catalog: &Catalog) -> usize {
    catalog.tools().iter().filter(|entry| entry.id.server == id("bad")).count()
}

#[tokio::test]
async fn large_items_are_left_out() {
    let described =
        |bytes: usize| json!({"name": "x", "description": "x".repeat(bytes), "inputSchema": {}}).to_string();
    for bytes in [50 << 20, 2 << 20] {
        let catalog =
            beside(bad_tools([described(bytes), tool("fine").to_string()]), AggregatorOptions::default()).await;
        assert_eq!((kinds(&catalog), of_bad(&catalog)), (vec![FindingKind::TooLarge], 1));
        assert_eq!(catalog.findings()[0].item, "tools/list[0]");
    }
}

#[tokio::test]
async fn lists_larger_than_the_limits_are_cut() {
    let items = (0..100).map(|i| tool(&format!("tool{i}")).to_string());
    let mut options = AggregatorOptions::default();
    options.limits = Limits::default().with_bytes(2_000);
    let catalog = beside(bad_tools(items), options).await;
    assert_eq!(kinds(&catalog), [FindingKind::ListCut]);
    assert!((1..100).contains(&of_bad(&catalog)));
}

#[tokio::test]
async fn a_schema_nested_without_end_is_left_out() {
    for depth in [97, 200, 10_000, 200_000] {
        let nested = format!("{}{}", r#"{"a":"#.repeat(depth), "1") + &"}".repeat(depth);
        let item = format!(r#"{{"name":"deep","inputSchema":{nested}}}"#);
        let arrays = format!(r#"{{"name":"deep","inputSchema":{{"a":{}{}}}}}"#, "[".repeat(depth), "]".repeat(depth));
        let catalog = beside(bad_tools([item, arrays, tool("fine").to_string()]), AggregatorOptions::default()).await;
        assert_eq!((kinds(&catalog), of_bad(&catalog)), (vec![FindingKind::TooLarge; 2], 1), "{depth}");
    }
}

#[tokio::test]
async fn a_cursor_that_never_advances_ends() {
    let bad = Fake::new().with(ListKind::Tools, [Step::items([tool("merge")]).endless()]);
    let catalog = beside(bad, AggregatorOptions::default()).await;
    assert_eq!(of_bad(&catalog), 1);
    assert!(catalog.findings().iter().any(|finding| finding.kind == FindingKind::ListCut), "{:?}", catalog.findings());
}

#[tokio::test]
async fn a_hundred_thousand_tools_are_taken_and_more_are_cut() {
    let started = Instant::now();
    let items = (0..100_010).map(|i| format!(r#"{{"name":"tool{i}","inputSchema":{{}}}}"#));
    let catalog = beside(bad_tools(items), AggregatorOptions::default()).await;
    assert_eq!((of_bad(&catalog), kinds(&catalog)), (100_000, vec![FindingKind::ListCut]));
    // In a debug build on a busy machine; what matters is that it is not quadratic.
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[tokio::test]
async fn names_that_become_equal_stay_apart_and_findings_are_bounded() {
    let names = (0..3_000).map(|i| {
        // No two are equal, all become underscores.
        let name: String = format!("{i:012b}").chars().map(|c| if c == '0' { '.' } else { ' ' }).collect();
        json!({"name": name, "inputSchema": {}}).to_string()
    });
    let catalog = beside(bad_tools(names), AggregatorOptions::default()).await;
    assert_eq!(of_bad(&catalog), 3_000);
    let exposed: BTreeSet<_> = catalog.tools().iter().map(|entry| entry.exposed.as_str()).collect();
    assert_eq!(exposed.len(), 3_002);
    assert_eq!(catalog.findings().len(), 101);
    assert_eq!(catalog.findings()[100].message, "2900 more tools are renamed");
    for entry in catalog.tools() {
        assert_eq!(catalog.exposed(entry.exposed.as_str()).unwrap().id, entry.id);
    }
}

#[tokio::test]
async fn a_thousand_tools_of_one_name_are_one() {
    let items =
        (0..1_000).map(|i| json!({"name": "same", "description": i.to_string(), "inputSchema": {}}).to_string());
    let catalog = beside(bad_tools(items), AggregatorOptions::default()).await;
    assert_eq!((of_bad(&catalog), catalog.findings().len()), (1, 101));
    assert_eq!(catalog.exposed("same").unwrap().tool.description.as_deref(), Some("0"));
}

#[tokio::test]
async fn what_is_told_of_a_server_is_bounded_and_on_one_line() {
    let name = "\u{1b}[31m\n".repeat(10_000);
    let items = (0..120).map(|_| json!({"name": name, "title": 7, "inputSchema": {}}).to_string());
    let mut options = AggregatorOptions::default();
    options.limits = Limits::default().with_bytes(20 << 20);
    let catalog = beside(bad_tools(items), options).await;
    let bytes: usize = catalog.findings().iter().map(|finding| finding.item.len() + finding.message.len()).sum();
    assert!(bytes < 200_000, "{bytes}");
    assert!(catalog.findings().iter().all(|finding| !finding.to_string().contains(char::is_control)));
}

#[tokio::test(start_paused = true)]
async fn news_without_end_do_not_fill_the_memory_or_starve_the_others() {
    let bad = Fake::new().with_tools(["merge"]);
    let servers = Aggregator::new([(id("bad"), bad.boxed())], AggregatorOptions::default());
    servers.refresh().await;
    for round in 0..200 {
        for i in 0..100 {
            bad.say(Change::Resource(format!("a:{round}-{i}")));
        }
        tokio::task::yield_now().await;
    }
    let (_, changes) = servers.changed().await;
    assert!(changes.resources.len() <= 4_096, "{}", changes.resources.len());
    assert!(changes.lists.contains(&(id("bad"), ListKind::Resources)));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let keys = prop_oneof![
            Just("name".to_owned()),
            Just("inputSchema".to_owned()),
            Just("annotations".to_owned()),
            Just("uri".to_owned()),
            "\\PC{0,4}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(keys, inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn all_good_items_survive_whatever_stands_beside_them(
        junk in prop::collection::vec(any_json(), 0..24),
        at in prop::collection::vec(any::<prop::sample::Index>(), 3),
        size in 1..9_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bad = ListKind::ALL.into_iter().fold(Fake::new(), |fake, kind| {
            let mut items = junk.clone();
            for (i, at) in at.iter().enumerate() {
                let name = format!("good item {i}");
                let good = json!({"name": name, "uri": name, "uriTemplate": name, "inputSchema": {"type": "object"}});
                items.insert(at.index(items.len() + 1), good);
            }
            fake.with(kind, [Step::items(items).paged(size)])
        });
        let catalog = runtime.block_on(beside(bad, AggregatorOptions::default()));
        prop_assert_eq!(catalog.failures().count(), 0);
        let good = |name: &str| name.starts_with("good item ");
        prop_assert_eq!(catalog.tools().iter().filter(|entry| good(&entry.id.name)).count(), 3);
        prop_assert_eq!(catalog.resources().iter().filter(|entry| good(&entry.id.uri)).count(), 3);
        prop_assert_eq!(catalog.templates().iter().filter(|entry| good(&entry.id.uri_template)).count(), 3);
        prop_assert_eq!(catalog.prompts().iter().filter(|entry| good(&entry.id.name)).count(), 3);
        // Nothing is lost silently: what is not in the lists is in the findings.
        let listed = catalog.tools().len() - 2 + catalog.resources().len() + catalog.templates().len() + catalog.prompts().len();
        let left_out = catalog.findings().iter().filter(|finding| {
            matches!(finding.kind, FindingKind::MalformedItem | FindingKind::TooLarge | FindingKind::Duplicate)
        });
        prop_assert_eq!(listed + left_out.count(), 4 * (junk.len() + 3));
    }
}
