//! Resources: who may see them, what they are worth, what they cost, and reading them.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

use std::{sync::Arc, time::Duration};

use proem::{
    catalog::{Aggregator, AggregatorOptions, Catalog},
    client::ListKind,
    id::ResourceId,
    protocol::{Annotations, Resource, Role},
    resources::{Attached, ReadLimits, ResourceExclusion, ResourceOptions, ResourceSelection, attach, rank, select},
    tokens::{BytesPerToken, CountCache, TokenBudget},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fake::{Fake, Step, id};

fn now() -> jiff::Timestamp {
    "2026-10-01T00:00:00Z".parse().unwrap()
}

fn resource(uri: &str, change: impl FnOnce(&mut Annotations)) -> Resource {
    let mut resource = Resource::new(uri, uri);
    resource.size = Some(400);
    change(&mut resource.annotations);
    resource
}

fn catalog(resources: impl IntoIterator<Item = Resource>) -> Catalog {
    resources.into_iter().fold(Catalog::builder(), |builder, resource| builder.resource(id("wiki"), resource)).build()
}

fn uri(name: &str) -> ResourceId {
    ResourceId::new(id("wiki"), name)
}

fn options(tokens: usize) -> ResourceOptions {
    ResourceOptions::new(now()).with_budget(TokenBudget::new(tokens))
}

fn chosen(selection: &ResourceSelection) -> Vec<&str> {
    selection.resources.iter().map(|resource| &*resource.id.uri).collect()
}

fn why(excluded: &[proem::resources::ExcludedResource], name: &str) -> Vec<String> {
    excluded.iter().filter(|other| &*other.id.uri == name).map(|other| other.reason.to_string()).collect()
}

#[test]
fn an_audience_without_the_assistant_keeps_a_resource_from_the_model_even_if_it_is_picked() {
    let catalog = catalog([
        resource("user", |hints| hints.audience = Some(vec![Role::User])),
        resource("both", |hints| hints.audience = Some(vec![Role::User, Role::Assistant])),
        resource("open", |_| {}),
    ]);
    let selection = select(&catalog, &options(10_000).with_pin(uri("user")).with_pin(uri("gone")));
    assert_eq!(chosen(&selection), ["both", "open"]);
    assert_eq!(why(&selection.excluded, "user"), ["audience: not for the assistant"]);
    assert_eq!(why(&selection.excluded, "gone"), ["picked, but no server lists it"]);
}

#[test]
fn saying_nothing_is_neither_required_nor_optional() {
    let priority = |priority: f64| move |hints: &mut Annotations| hints.priority = Some(priority);
    let catalog = catalog([
        resource("zero", priority(0.0)),
        resource("absent", |_| {}),
        resource("much", priority(0.9)),
        resource("required", priority(1.0)),
        resource("nan", priority(f64::NAN)),
        resource("seven", priority(7.0)),
    ]);
    let ranked = rank(&catalog, now());
    let order: Vec<_> = ranked.iter().map(|resource| &*resource.entry.id.uri).collect();
    assert_eq!(order, ["required", "much", "absent", "nan", "seven", "zero"]);
    assert!(ranked.iter().all(|resource| (0.0..=1.0).contains(&resource.value.total())));
}

#[test]
fn newer_is_worth_more_and_an_unreadable_time_is_worth_the_middle() {
    let at = |time: &'static str| move |hints: &mut Annotations| hints.last_modified = Some(time.into());
    let catalog = catalog([
        resource("old", at("2020-01-01")),
        resource("strange", at("last Tuesday")),
        resource("new", at("2026-09-30T12:00:00+02:00")),
        resource("silent", |_| {}),
    ]);
    let order: Vec<_> = rank(&catalog, now()).iter().map(|resource| resource.entry.id.uri.to_string()).collect();
    assert_eq!(order, ["new", "silent", "strange", "old"]);
}

#[test]
fn required_comes_first_and_is_told_where_it_does_not_fit() {
    let mut large = resource("large", |hints| hints.priority = Some(1.0));
    large.size = Some(1_000_000);
    let catalog = catalog([
        large,
        resource("required", |hints| hints.priority = Some(1.0)),
        resource("other", |hints| hints.priority = Some(0.9)),
    ]);
    let selection = select(&catalog, &options(150));
    assert_eq!((chosen(&selection), selection.estimated_tokens), (vec!["required"], 100));
    assert_eq!(why(&selection.excluded, "large"), ["required, but does not fit: 250000 tokens, 150 left"]);
    assert_eq!(why(&selection.excluded, "other"), ["budget: 100 tokens, 50 left"]);
    // What a person picks comes before what a server requires, in the order given, once.
    let picks = options(200).with_pin(uri("other")).with_pin(uri("other"));
    assert_eq!(chosen(&select(&catalog, &picks)), ["other", "required"]);
}

#[test]
fn a_server_that_calls_everything_required_does_not_make_a_host_read_everything() {
    let all = (0..1_000).map(|i| {
        let mut resource = resource(&format!("r{i}"), |hints| hints.priority = Some(1.0));
        resource.size = Some(0);
        resource
    });
    let selection = select(&catalog(all), &options(10_000));
    assert_eq!((selection.resources.len(), selection.excluded.len()), (32, 968));
    assert!(selection.excluded.iter().all(|excluded| excluded.reason == ResourceExclusion::Top));
}

#[test]
fn an_unknown_size_has_an_estimate() {
    let selection = select(&catalog([Resource::new("a", "a")]), &options(499));
    assert_eq!(why(&selection.excluded, "a"), ["budget: 500 tokens, 499 left"]);
    let selection = select(&catalog([Resource::new("a", "a")]), &options(500));
    assert_eq!(selection.resources[0].estimated_tokens, 500);
}

fn text(text: &str) -> Option<Value> {
    Some(json!({"contents": [{"uri": "x", "mimeType": "text/plain", "text": text}]}))
}

async fn read(fake: Fake, names: &[&str], budget: usize, limits: ReadLimits) -> Attached {
    let items = names.iter().map(|name| json!({"uri": name, "name": name, "size": 4}));
    let fake = fake.with(ListKind::Resources, [Step::items(items)]);
    let servers = Aggregator::new([(id("wiki"), fake.boxed())], AggregatorOptions::default());
    let catalog = servers.refresh().await;
    let counts = CountCache::new(Arc::new(BytesPerToken::new(4)));
    let selection = select(&catalog, &options(budget));
    attach(&servers, selection, TokenBudget::new(budget), &limits, &counts).await
}

fn texts(attached: &Attached) -> Vec<(&str, &str)> {
    attached.texts.iter().map(|text| (&*text.id.uri, text.text.as_str())).collect()
}

#[tokio::test(start_paused = true)]
async fn one_that_cannot_be_read_is_left_out_with_its_reason_and_the_others_stand() {
    let blob = json!({"contents": [{"uri": "x", "blob": "AAAA"}]});
    let both = json!({"contents": [
        {"uri": "x", "mimeType": "text/plain", "text": "one"}, {"uri": "y", "blob": "AAAA"},
        {"uri": "z", "mimeType": "text/html", "text": "two"},
    ]});
    let fake = Fake::new()
        .with_read("a", Duration::ZERO, text("good"))
        .with_read("b", Duration::ZERO, Some(blob))
        .with_read("c", Duration::ZERO, Some(json!({"contents": []})))
        .with_read("d", Duration::ZERO, Some(both))
        .with_read("e", Duration::ZERO, None)
        .with_read("f", Duration::ZERO, text(&"x".repeat(5_000)));
    let mut limits = ReadLimits::default();
    limits.bytes = 4_096;
    let attached = read(fake, &["a", "b", "c", "d", "e", "f", "gone"], 10_000, limits).await;
    assert_eq!(texts(&attached), [("a", "good"), ("d", "one\n\ntwo")]);
    assert_eq!(attached.texts[1].mime_type.as_deref(), Some("text/plain"));
    assert_eq!(why(&attached.excluded, "b"), ["no text"]);
    assert_eq!(why(&attached.excluded, "c"), ["no text"]);
    assert_eq!(why(&attached.excluded, "e"), ["not read: server `wiki`: resources/read: no answer within 10s"]);
    assert_eq!(why(&attached.excluded, "f"), ["not read: it has 5000 bytes of text, more than 4096"]);
    assert!(why(&attached.excluded, "gone")[0].contains("-32602"), "{:?}", attached.excluded);
    assert_eq!(attached.excluded.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_turn_does_not_wait_longer_than_it_is_worth() {
    let names: Vec<_> = (0..60).map(|i| format!("r{i:02}")).collect();
    let fake = names.iter().fold(Fake::new(), |fake, name| fake.with_read(name, Duration::ZERO, None));
    let fake = fake.with_read("r00", Duration::from_secs(9), text("in time"));
    let items = names.iter().map(|name| json!({"uri": name, "name": name, "size": 4, "annotations": {"priority": 1}}));
    let fake = fake.with(ListKind::Resources, [Step::items(items)]);
    let servers = Aggregator::new([(id("wiki"), fake.boxed())], AggregatorOptions::default());
    let selection = select(&servers.refresh().await, &options(1_000).with_top(16));
    assert_eq!(selection.resources.len(), 60);
    let started = tokio::time::Instant::now();
    let counts = CountCache::new(Arc::new(BytesPerToken::new(4)));
    let attached = attach(&servers, selection, TokenBudget::new(1_000), &ReadLimits::default(), &counts).await;
    assert!(started.elapsed() <= Duration::from_secs(21), "{:?}", started.elapsed());
    assert_eq!((texts(&attached), attached.excluded.len()), (vec![("r00", "in time")], 59));
    assert_eq!(why(&attached.excluded, "r59"), ["not read: the others took all the time"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_attached_does_not_depend_on_who_answers_first() {
    let delays = [[5, 1, 3], [1, 5, 3], [3, 3, 1]];
    let mut all = Vec::new();
    for delays in delays {
        let fake = ["a", "b", "c"].into_iter().zip(delays).fold(Fake::new(), |fake, (name, delay)| {
            fake.with_read(name, Duration::from_secs(delay), text(&name.repeat(40)))
        });
        let started = tokio::time::Instant::now();
        // Each is estimated at one token, costs ten, and two fit.
        all.push(read(fake, &["a", "b", "c"], 25, ReadLimits::default()).await);
        assert!(started.elapsed() <= Duration::from_secs(5), "one after the other");
    }
    assert_eq!(texts(&all[0]).iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(all[0].tokens, 20);
    assert_eq!(why(&all[0].excluded, "c"), ["budget: 10 tokens, 5 left"]);
    assert!(all[1..].iter().all(|other| *other == all[0]));
}

proptest! {
    #[test]
    fn neither_estimates_nor_texts_go_over_the_budget(
        resources in prop::collection::btree_map(
            "[a-z]{1,3}",
            (prop::option::of(0..4_000_u64), prop::option::of(0.0_f64..=1.0), any::<bool>(), 0..600_usize),
            0..24,
        ),
        pins in prop::collection::vec("[a-z]{1,3}", 0..4),
        budget in 0..2_000_usize,
        top in 0..20_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let items = resources.iter().map(|(name, (size, priority, required, _))| {
            let priority = if *required { Some(1.0) } else { *priority };
            json!({"uri": name, "name": name, "size": size, "annotations": {"priority": priority}})
        });
        let fake = Fake::new().with(ListKind::Resources, [Step::items(items)]);
        let fake = resources.iter().fold(fake, |fake, (name, (.., bytes))| {
            fake.with_read(name, Duration::ZERO, text(&"x".repeat(*bytes)))
        });
        let (selection, attached) = runtime.block_on(async {
            let servers = Aggregator::new([(id("wiki"), fake.boxed())], AggregatorOptions::default());
            let catalog = servers.refresh().await;
            let mut options = options(budget).with_top(top);
            options.pins = pins.iter().map(|pin| uri(pin)).collect();
            let selection = select(&catalog, &options);
            let counts = CountCache::new(Arc::new(BytesPerToken::new(1)));
            let limits = ReadLimits::default();
            let attached = attach(&servers, selection.clone(), TokenBudget::new(budget), &limits, &counts).await;
            (selection, attached)
        });
        prop_assert!(selection.estimated_tokens <= budget);
        prop_assert!(attached.tokens <= budget);
        prop_assert_eq!(attached.tokens, attached.texts.iter().map(|text| text.text.len()).sum::<usize>());
        let mut told: Vec<_> = attached.texts.iter().map(|text| &text.id).collect();
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
