//! Attaching: reading what was selected, late, at once and within bounds.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

use std::{sync::Arc, time::Duration};

use proem::{
    catalog::{Aggregator, AggregatorOptions},
    client::{Client, ClientResult, ListKind, Page},
    error::{ClientError, InputRequired},
    id::ResourceId,
    index::CallbackEmbedder,
    protocol::{InputResponses, ReadResourceResult, ServerInfo},
    resources::{
        Attached, AttachedResource, Attaching, Governance, KnownTexts, ReadLimits, ResourceExclusion, ResourceOptions,
        attach, select,
    },
    retrieval::Dense,
    tokens::{BytesPerToken, CountCache, TokenBudget},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    fake::{Fake, Step, id},
    resources::{now, uri, why},
};

fn text(text: &str) -> Option<Value> {
    Some(json!({"contents": [{"uri": "x", "mimeType": "text/plain", "text": text}]}))
}

fn options(tokens: usize) -> ResourceOptions {
    ResourceOptions::new(now()).with_budget(TokenBudget::new(tokens))
}

/// As a request would hold it, in few bytes.
fn rendered(resource: &AttachedResource) -> String {
    format!("<{}>{}</>", resource.id.uri, resource.text)
}

async fn attached(fake: Fake, options: &ResourceOptions, bytes_per_token: usize) -> Attached {
    let servers = Aggregator::new([(id("wiki"), fake.boxed())], AggregatorOptions::default());
    let selection = select(&servers.refresh().await, &Governance::default(), None, "", options);
    let counts = CountCache::new(Arc::new(BytesPerToken::new(bytes_per_token)));
    let known = KnownTexts::new();
    let with = Attaching::new(&servers, &counts, &rendered).with_known(&known);
    let attached = attach(selection, options, &with).await;
    for resource in attached.resources.iter().filter(|resource| !resource.text.is_empty()) {
        assert!(known.summary(&resource.id).is_some(), "{} was read", resource.id);
    }
    attached
}

fn listed<'a>(fake: Fake, names: impl IntoIterator<Item = &'a str>) -> Fake {
    let items = names.into_iter().map(|name| json!({"uri": name, "name": name, "size": 4}));
    fake.with(ListKind::Resources, [Step::items(items)])
}

fn texts(attached: &Attached) -> Vec<(&str, &str)> {
    attached.resources.iter().map(|resource| (&*resource.id.uri, resource.text.as_str())).collect()
}

#[tokio::test(start_paused = true)]
async fn one_that_cannot_be_read_is_left_out_with_its_reason_and_the_others_stand() {
    let sound = json!({"contents": [{"uri": "x", "mimeType": "audio/wav", "blob": "UklGRgAAAABXQVZF"}]});
    let both = json!({"contents": [
        {"uri": "x", "mimeType": "text/plain", "text": "one"}, {"uri": "y", "blob": "AAAA"},
        {"uri": "elsewhere://z", "mimeType": "text/html", "text": "two"},
    ]});
    let fake = Fake::new()
        .with_read("a", Duration::ZERO, text("good"))
        .with_read("b", Duration::ZERO, Some(sound))
        .with_read("c", Duration::ZERO, Some(json!({"contents": []})))
        .with_read("d", Duration::ZERO, Some(both))
        .with_read("e", Duration::ZERO, None)
        .with_read("f", Duration::ZERO, text(&"x".repeat(5_000)));
    let mut limits = ReadLimits::default();
    limits.bytes = 4_096;
    let fake = listed(fake, ["a", "b", "c", "d", "e", "f", "gone"]);
    let attached = attached(fake, &options(10_000).with_reading(limits), 4).await;
    // What a content calls itself is shown, whoever's name it is: the delimiters say whose it is.
    assert_eq!(texts(&attached), [("a", "good"), ("d", "[x]\none\n\n[elsewhere://z]\ntwo")]);
    assert_eq!(attached.resources[1].mime_type.as_deref(), Some("text/plain"));
    assert_eq!(why(&attached.excluded, "b"), ["no text: audio/wav, 12 bytes"]);
    assert_eq!(why(&attached.excluded, "c"), ["no text: it is empty"]);
    assert_eq!(why(&attached.excluded, "e"), ["not read: server `wiki`: resources/read: no answer within 10s"]);
    assert!(why(&attached.excluded, "f")[0].contains("5000 bytes"), "{:?}", attached.excluded);
    assert_eq!(why(&attached.excluded, "gone"), ["not found: its server does not have it"]);
    assert_eq!(attached.excluded.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_turn_does_not_wait_longer_than_it_is_worth() {
    let names: Vec<_> = (0..60).map(|i| format!("r{i:02}")).collect();
    let fake = names.iter().fold(Fake::new(), |fake, name| fake.with_read(name, Duration::ZERO, None));
    let fake = fake.with_read("r00", Duration::from_secs(9), text("in time"));
    let items = names.iter().map(|name| json!({"uri": name, "name": name, "size": 4, "annotations": {"priority": 1}}));
    let fake = fake.with(ListKind::Resources, [Step::items(items)]);
    let started = tokio::time::Instant::now();
    let attached = attached(fake, &options(10_000).with_top(16), 4).await;
    assert!(started.elapsed() <= Duration::from_secs(21), "{:?}", started.elapsed());
    assert_eq!((texts(&attached), attached.excluded.len()), (vec![("r00", "in time")], 59));
    assert_eq!(why(&attached.excluded, "r59"), ["not read: the others took all the time"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_attached_does_not_depend_on_who_answers_first() {
    let mut all = Vec::new();
    for delays in [[5, 1, 3], [1, 5, 3], [3, 3, 1]] {
        let fake = ["a", "b", "c"].into_iter().zip(delays).fold(Fake::new(), |fake, (name, delay)| {
            fake.with_read(name, Duration::from_secs(delay), text(&name.repeat(400)))
        });
        let started = tokio::time::Instant::now();
        // Each is estimated at 41 tokens and costs 102: two fit beside what the third was to cost.
        all.push(attached(listed(fake, ["a", "b", "c"]), &options(260).with_trim(false), 4).await);
        assert!(started.elapsed() <= Duration::from_secs(5), "one after the other");
    }
    assert_eq!(texts(&all[0]).iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(all[0].tokens, 204);
    assert_eq!(why(&all[0].excluded, "c"), ["budget: 102 tokens, 56 left"]);
    assert!(all[1..].iter().all(|other| *other == all[0]));
}

#[tokio::test(start_paused = true)]
async fn a_text_that_is_too_long_is_trimmed_to_what_the_others_leave() {
    let line = |n: usize| format!("Line {n} says little.\n");
    let long: String = (0..2_000).map(line).collect();
    let fake = Fake::new().with_read("a", Duration::ZERO, text(&long)).with_read("b", Duration::ZERO, text("short"));
    let attached = attached(listed(fake, ["a", "b"]), &options(400), 4).await;
    assert!(attached.tokens <= 400 && attached.tokens > 300, "{}", attached.tokens);
    let [a, b] = &attached.resources[..] else { panic!("{:?}", attached.excluded) };
    assert!(a.text.starts_with("Line 0 says little.\n"));
    let cut = a.cut.as_ref().unwrap();
    assert!((10..100).contains(&cut.kept) && cut.of >= 2_000, "{cut:?}");
    assert_eq!((b.text.as_str(), &b.cut), ("short", &None));
    // Which revision it is does not depend on how much of it is shown.
    assert_eq!(a.digest, {
        let fake = Fake::new().with_read("a", Duration::ZERO, text(&long));
        let whole = self::attached(listed(fake, ["a"]), &options(100_000), 4).await;
        assert_eq!(whole.resources[0].text, long);
        whole.resources[0].digest
    });
}

#[tokio::test(start_paused = true)]
async fn what_is_required_takes_from_the_rest_what_it_costs_more() {
    let item = |name: &str, priority: f64| json!({"uri": name, "name": name, "size": 400, "annotations": {"priority": priority}});
    let items = [item("required", 1.0), item("a", 0.9), item("b", 0.8)];
    let fake = Fake::new().with(ListKind::Resources, [Step::items(items)]);
    // All are estimated at 140 tokens; the required one costs 302, the others 102 each.
    let fake = fake.with_read("required", Duration::ZERO, text(&"x".repeat(1_194)));
    let fake = fake.with_read("a", Duration::ZERO, text(&"a".repeat(400)));
    let fake = fake.with_read("b", Duration::ZERO, text(&"b".repeat(400)));
    let attached = attached(fake, &options(420).with_trim(false), 4).await;
    let found: Vec<_> = attached.resources.iter().map(|resource| (&*resource.id.uri, resource.tokens)).collect();
    assert_eq!(found, [("required", 302), ("a", 102)]);
    assert_eq!(why(&attached.excluded, "b"), ["budget: 102 tokens, 16 left"]);
}

#[tokio::test(start_paused = true)]
async fn where_sizes_were_guessed_too_high_more_is_read() {
    let names: Vec<String> = (0..6).map(|i| format!("r{i}")).collect();
    let fake =
        names.iter().fold(Fake::new(), |fake, name| fake.with_read(name, Duration::ZERO, text(&"x".repeat(600))));
    let items = names.iter().map(|name| json!({"uri": name, "name": name}));
    let fake = fake.with(ListKind::Resources, [Step::items(items)]);
    // Each is estimated at 540 tokens and costs 152.
    let attached = attached(fake.clone(), &options(800), 4).await;
    assert_eq!((attached.resources.len(), attached.tokens), (5, 5 * 152));
    assert_eq!(attached.excluded.len(), 1);
    assert_eq!(self::attached(fake, &options(800).with_top(3), 4).await.resources.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_link_that_no_list_has_is_read_where_it_is_picked() {
    let fake = Fake::new().with_read("tool://result/7", Duration::ZERO, text("linked"));
    let picked = options(1_000).with_pin(uri("tool://result/7")).with_pin(uri("tool://result/8"));
    let attached = attached(listed(fake, []), &picked, 4).await;
    assert_eq!(texts(&attached), [("tool://result/7", "linked")]);
    assert_eq!(attached.resources[0].reason, "picked");
    assert_eq!(why(&attached.excluded, "tool://result/8"), ["not found: its server does not have it"]);
}

#[tokio::test]
async fn a_server_that_asks_for_input_is_surfaced_and_answered() {
    #[derive(Debug)]
    struct Asking;

    impl Client for Asking {
        fn info(&self) -> ClientResult<'_, ServerInfo> {
            Box::pin(async { Ok(ServerInfo::default()) })
        }

        fn list<'a>(&'a self, kind: ListKind, _: Option<&'a str>) -> ClientResult<'a, Page> {
            let item = serde_json::value::to_raw_value(&json!({"uri": "safe://plan", "name": "plan"})).unwrap();
            Box::pin(async move { Ok(Page::new(if kind == ListKind::Resources { vec![item] } else { Vec::new() })) })
        }

        fn read_resource<'a>(&'a self, _: &'a str) -> ClientResult<'a, ReadResourceResult> {
            let requests = json!({"who": {"method": "elicitation/create", "params": {"message": "Your badge?"}}});
            let Value::Object(requests) = requests else { unreachable!() };
            let asked = InputRequired::new(requests, Some("sealed".into()));
            Box::pin(async { Err(ClientError::InputRequired(Box::new(asked))) })
        }

        fn read_resource_with<'a>(
            &'a self,
            uri: &'a str,
            input: &'a InputResponses,
        ) -> ClientResult<'a, ReadResourceResult> {
            let said = format!("{} {:?}", input.responses["who"]["content"], input.state);
            let sent = json!({"contents": [{"uri": uri, "text": said}]});
            Box::pin(async { Ok(ReadResourceResult::read(sent).unwrap().item) })
        }
    }

    let host = proem::Host::builder().server("vault", Asking).counter(BytesPerToken::new(4));
    let embedder = CallbackEmbedder::new("constant/1", 1, |texts, _| Ok(vec![vec![1.0]; texts.len()]));
    let host = host.retriever(Dense::new(embedder)).build().unwrap();
    host.refresh().await;
    let attached = host.attach("", &options(1_000)).await;
    let plan = ResourceId::new(id("vault"), "safe://plan");
    let [excluded] = &attached.excluded[..] else { panic!("{attached:?}") };
    assert_eq!(excluded.reason.to_string(), "its server asks for input first (elicitation/create)");
    let ResourceExclusion::InputRequired(asked) = &excluded.reason else { panic!() };
    assert!(!format!("{asked:?}").contains("sealed"), "the state stays out of logs");
    let input = InputResponses::new(asked.state.clone())
        .with_response("who", json!({"action": "accept", "content": "badge 7"}));
    let attached = host.attach("", &options(1_000).with_input(plan, input)).await;
    assert_eq!(attached.resources[0].text, "\"badge 7\" Some(\"sealed\")");
}

proptest! {
    #[test]
    fn neither_estimates_nor_texts_go_over_the_budgets(
        resources in prop::collection::btree_map(
            "[a-z]{1,3}",
            (prop::option::of(0..4_000_u64), prop::option::of(0.0_f64..=1.0), any::<bool>(), 0..3_000_usize),
            0..24,
        ),
        pins in prop::collection::vec("[a-z]{1,3}", 0..4),
        budget in 0..2_000_usize,
        bytes in 0..6_000_u64,
        top in 0..20_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let items = resources.iter().map(|(name, (size, priority, required, _))| {
            let priority = if *required { Some(1.0) } else { *priority };
            json!({"uri": name, "name": name, "size": size, "annotations": {"priority": priority}})
        });
        let fake = Fake::new().with(ListKind::Resources, [Step::items(items)]);
        let fake = resources.iter().fold(fake, |fake, (name, (.., bytes))| {
            fake.with_read(name, Duration::ZERO, text(&"word ".repeat(*bytes / 5)))
        });
        let mut options = options(budget).with_top(top).with_max_bytes(bytes);
        options.pins = pins.iter().map(|pin| uri(pin)).collect();
        let attached = runtime.block_on(attached(fake, &options, 2));
        prop_assert!(attached.tokens <= budget);
        let counted: usize = attached.resources.iter().map(|resource| rendered(resource).len().div_ceil(2)).sum();
        prop_assert_eq!(attached.tokens, counted);
        prop_assert!(attached.resources.iter().map(|resource| resource.text.len() as u64).sum::<u64>() <= bytes);
        let mut told: Vec<_> = attached.resources.iter().map(|resource| &resource.id).collect();
        told.extend(attached.excluded.iter().map(|excluded| &excluded.id));
        told.sort();
        let before = told.len();
        told.dedup();
        prop_assert_eq!(before, told.len(), "told twice");
        // With nothing to spend and nothing picked, nothing was asked for.
        let asked = budget > 0 || !pins.is_empty();
        prop_assert!(asked || told.is_empty());
        for name in resources.keys().filter(|_| asked) {
            prop_assert!(told.contains(&&uri(name)), "{} is lost", name);
        }
    }
}
