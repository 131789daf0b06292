//! Resources: who may see them, what they are worth, and which fit into the budgets.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

use proem::{
    catalog::{Catalog, TrustTier},
    id::ResourceId,
    protocol::{Annotations, Resource, ResourceTemplate, Role},
    resources::{
        DataClass, Destination, ExcludedResource, Governance, ReadLimits, Relevance, ResourceExclusion,
        ResourceOptions, ResourceRule, ResourceSelection, rank, select,
    },
    tokens::TokenBudget,
};
use proptest::prelude::*;

use crate::fake::id;

/// What a resource of 400 bytes is estimated to cost: a quarter of it, and its delimiters.
const EACH: usize = 140;

pub(crate) fn now() -> jiff::Timestamp {
    "2026-10-01T00:00:00Z".parse().unwrap()
}

fn resource(uri: &str, change: impl FnOnce(&mut Annotations)) -> Resource {
    let mut resource = Resource::new(uri, uri).with_size(400);
    change(&mut resource.annotations);
    resource
}

fn with_priority(uri: &str, priority: f64) -> Resource {
    resource(uri, |hints| hints.priority = Some(priority))
}

fn catalog(resources: impl IntoIterator<Item = Resource>) -> Catalog {
    resources.into_iter().fold(Catalog::builder(), |builder, resource| builder.resource(id("wiki"), resource)).build()
}

pub(crate) fn uri(name: &str) -> ResourceId {
    ResourceId::new(id("wiki"), name)
}

fn options(tokens: usize) -> ResourceOptions {
    ResourceOptions::new(now()).with_budget(TokenBudget::new(tokens))
}

/// By priority and age alone, without rules.
fn by_value(catalog: &Catalog, options: &ResourceOptions) -> ResourceSelection {
    select(catalog, &Governance::default(), None, "", options)
}

fn ranked(catalog: &Catalog, relevance: Option<&Relevance>) -> Vec<String> {
    let ranked = rank(catalog, &Governance::default(), relevance, &options(0));
    assert!(ranked.iter().all(|resource| (0.0..=1.0).contains(&resource.value.total())));
    ranked.iter().map(|resource| resource.entry.id.uri.to_string()).collect()
}

fn chosen(selection: &ResourceSelection) -> Vec<&str> {
    selection.resources.iter().map(|resource| &*resource.id.uri).collect()
}

pub(crate) fn why(excluded: &[ExcludedResource], name: &str) -> Vec<String> {
    excluded.iter().filter(|other| &*other.id.uri == name).map(|other| other.reason.to_string()).collect()
}

#[test]
fn an_audience_without_the_assistant_keeps_a_resource_from_the_model_even_if_it_is_picked() {
    let catalog = catalog([
        resource("user", |hints| hints.audience = Some(vec![Role::User])),
        // Roles that the protocol does not know were left out when it was read.
        resource("nobody", |hints| hints.audience = Some(vec![])),
        resource("both", |hints| hints.audience = Some(vec![Role::User, Role::Assistant])),
        resource("open", |_| {}),
    ]);
    let picks = options(10_000).with_pin(uri("user")).with_pin(ResourceId::new(id("gone"), "x:"));
    let selection = by_value(&catalog, &picks);
    assert_eq!(chosen(&selection), ["both", "open"]);
    assert_eq!(why(&selection.excluded, "user"), ["audience: not for the assistant"]);
    assert_eq!(why(&selection.excluded, "nobody"), ["audience: not for the assistant"]);
    assert_eq!(why(&selection.excluded, "x:"), ["picked, but there is no such server"]);
}

#[test]
fn what_no_list_has_is_as_its_template_says() {
    let template = |uri: &str, audience| {
        let mut template = ResourceTemplate::new(uri, "notes");
        template.mime_type = Some("text/markdown".into());
        template.annotations = Annotations::new().with_audience(audience);
        template
    };
    let catalog = Catalog::builder()
        .template(id("wiki"), template("note://{day}", vec![Role::User]))
        .template(id("wiki"), template("page://{+path}", vec![Role::Assistant]))
        .template(id("wiki"), template("page://private/{name}", vec![Role::User]))
        .build();
    let picks = ["note://friday", "page://a/b", "page://private/diary", "link://from-a-tool"];
    let options = picks.iter().fold(options(10_000), |options, pick| options.with_pin(uri(pick)));
    let selection = by_value(&catalog, &options);
    assert_eq!(chosen(&selection), ["page://a/b", "link://from-a-tool"]);
    assert_eq!(selection.resources[0].mime_type.as_deref(), Some("text/markdown"));
    for private in ["note://friday", "page://private/diary"] {
        assert_eq!(why(&selection.excluded, private), ["audience: not for the assistant"]);
    }
}

#[test]
fn saying_nothing_is_neither_required_nor_optional() {
    let catalog = catalog([
        with_priority("zero", 0.0),
        resource("absent", |_| {}),
        with_priority("much", 0.9),
        with_priority("required", 1.0),
        with_priority("nan", f64::NAN),
        with_priority("seven", 7.0),
    ]);
    assert_eq!(ranked(&catalog, None), ["required", "much", "absent", "nan", "seven", "zero"]);
}

#[test]
fn newer_is_worth_more_and_an_unreadable_time_is_worth_the_middle() {
    let at = |time: &'static str| move |hints: &mut Annotations| hints.last_modified = Some(time.into());
    let catalog = catalog([
        resource("old", at("2020-01-01")),
        resource("strange", at("last Tuesday")),
        resource("far", at("99999-01-01T00:00:00Z")),
        resource("new", at("2026-09-30T12:00:00+02:00")),
        resource("silent", |_| {}),
    ]);
    assert_eq!(ranked(&catalog, None), ["new", "far", "silent", "strange", "old"]);
}

#[test]
fn what_the_request_is_about_comes_before_what_matters_in_general() {
    let catalog = catalog([with_priority("about", 0.2), with_priority("much", 0.9), with_priority("required", 1.0)]);
    let relevance = Relevance::default().with(uri("about"), 0.8).with(uri("much"), 0.1).with(uri("required"), f64::NAN);
    assert_eq!(ranked(&catalog, Some(&relevance)), ["required", "about", "much"]);
    let selection = select(&catalog, &Governance::default(), Some(&relevance), "", &options(10_000));
    assert_eq!(chosen(&selection), ["required", "about"]);
    assert_eq!(selection.resources[1].reason(), "relevance 0.80, priority 0.20, recency 0.50");
    assert_eq!(why(&selection.excluded, "much"), ["relevance: 0.10"]);
    // Beside a much better one, more is asked for.
    let two = Relevance::default().with(uri("about"), 0.8).with(uri("much"), 0.3);
    let selection = select(&catalog, &Governance::default(), Some(&two), "", &options(10_000));
    assert_eq!(why(&selection.excluded, "much"), ["relevance: 0.30"]);
    let all = options(10_000).with_min_relevance(0.0).with_min_share(0.0);
    assert_eq!(chosen(&select(&catalog, &Governance::default(), Some(&two), "", &all)), ["required", "about", "much"]);
    // A pick needs no relevance.
    let pick = options(10_000).with_pin(uri("much"));
    assert_eq!(chosen(&select(&catalog, &Governance::default(), Some(&relevance), "", &pick))[0], "much");
}

#[test]
fn an_older_version_gives_way_to_the_newest_unless_the_request_names_its_year() {
    let version = |uri: &str, time: &'static str| resource(uri, |hints| hints.last_modified = Some(time.into()));
    let catalog = catalog([
        version("a://policy/2024-05", "2024-05-02"),
        version("a://policy/2025-01", "2025-01-10"),
        version("a://policy/2026-09", "2026-09-14"),
        version("a://issue/41", "2024-01-01"),
        version("a://issue/42", "2026-01-01"),
        resource("a://policy/2023-01", |_| {}),
    ]);
    let selection = |request: &str, options: &ResourceOptions| {
        let selection = select(&catalog, &Governance::default(), None, request, options);
        let mut chosen: Vec<_> = chosen(&selection).into_iter().map(str::to_owned).collect();
        chosen.sort();
        (chosen, why(&selection.excluded, "a://policy/2024-05"))
    };
    let always = ["a://issue/41", "a://issue/42", "a://policy/2023-01"];
    let (chosen, reason) = selection("the policy", &options(10_000));
    assert_eq!(chosen, [&always[..], &["a://policy/2026-09"]].concat());
    assert_eq!(reason, ["outdated: a://policy/2026-09 is newer"]);
    let (chosen, _) = selection("what was the policy in May 2024?", &options(10_000));
    assert_eq!(chosen, [&always[..], &["a://policy/2024-05", "a://policy/2026-09"]].concat());
    let (chosen, _) = selection("", &options(10_000).with_pin(uri("a://policy/2025-01")));
    assert_eq!(chosen, [&always[..], &["a://policy/2025-01", "a://policy/2026-09"]].concat());
    assert_eq!(selection("", &options(10_000).with_older_versions(true)).0.len(), 6);
}

#[test]
fn required_comes_first_and_is_told_where_it_does_not_fit() {
    let catalog = catalog([
        with_priority("large", 1.0).with_size(1_000_000),
        with_priority("required", 1.0),
        with_priority("other", 0.9),
    ]);
    let whole = options(EACH + 60).with_trim(false);
    let selection = by_value(&catalog, &whole);
    assert_eq!((chosen(&selection), selection.estimated_tokens), (vec!["required"], EACH));
    assert_eq!(why(&selection.excluded, "large"), ["required, but does not fit: 250040 tokens, 60 left"]);
    assert_eq!(why(&selection.excluded, "other"), ["budget: 140 tokens, 60 left"]);
    // What a person picks comes before what a server requires, in the order given, once.
    let picks = options(2 * EACH).with_pin(uri("other")).with_pin(uri("other"));
    assert_eq!(chosen(&by_value(&catalog, &picks)), ["other", "required"]);
}

#[test]
fn what_is_too_long_is_trimmed_to_half_of_the_budget_and_a_pick_to_its_share() {
    let long = |uri: &str, priority| with_priority(uri, priority).with_size(40_000);
    let catalog = catalog([long("a", 1.0), long("b", 0.5), with_priority("short", 0.4)]);
    let planned = |options: &ResourceOptions| {
        let selection = by_value(&catalog, options);
        assert!(selection.estimated_tokens <= options.budget.tokens());
        selection.resources.iter().map(|r| (r.id.uri.to_string(), r.estimated_tokens)).collect::<Vec<_>>()
    };
    let (a, b, short) = ("a".to_owned(), "b".to_owned(), "short".to_owned());
    let expected = [(a.clone(), 500), (b.clone(), 360), (short.clone(), EACH)];
    assert_eq!(planned(&options(1_000)), expected);
    assert_eq!(planned(&options(1_000).with_trim(false)), [(short, EACH)]);
    // Two picks share, whichever is first.
    assert_eq!(planned(&options(1_000).with_pin(uri("b")).with_pin(uri("a"))), [(b, 500), (a, 500)]);
}

#[test]
fn a_server_that_is_not_trusted_requires_nothing() {
    let build = |tier| {
        let catalog = Catalog::builder().resource(id("wiki"), with_priority("pushy", 1.0));
        catalog.trust(id("wiki"), tier).build()
    };
    let none = Relevance::default();
    let selection = |tier| select(&build(tier), &Governance::default(), Some(&none), "", &options(1_000));
    assert_eq!(chosen(&selection(TrustTier::Standard)), ["pushy"]);
    assert_eq!(why(&selection(TrustTier::Untrusted).excluded, "pushy"), ["relevance: 0.00"]);
}

#[test]
fn a_server_that_calls_everything_required_does_not_make_a_host_read_everything() {
    let all = (0..1_000).map(|i| with_priority(&format!("r{i}"), 1.0).with_size(0));
    let selection = by_value(&catalog(all), &options(10_000));
    assert_eq!((selection.resources.len(), selection.excluded.len()), (32, 968));
    assert!(selection.excluded.iter().all(|excluded| excluded.reason == ResourceExclusion::Top));
}

#[test]
fn bytes_have_a_budget_of_their_own() {
    let catalog = catalog([
        Resource::new("large", "large").with_size(5 << 20),
        Resource::new("picture", "picture").with_mime_type("image/png").with_size(3_000),
        Resource::new("text", "text").with_size(2_000),
    ]);
    let selection = by_value(&catalog, &options(100_000).with_max_bytes(5_000));
    assert_eq!(why(&selection.excluded, "large"), ["bytes: 5242880, 4194304 left"], "more than is ever read");
    assert_eq!(chosen(&selection), ["picture"], "4,000 bytes as base64");
    assert_eq!(why(&selection.excluded, "text"), ["bytes: 2000, 1000 left"]);
    assert_eq!(chosen(&by_value(&catalog, &options(100_000))), ["picture", "text"]);
}

#[test]
fn sizes_that_nothing_has_do_no_harm() {
    let sizes = [u64::MAX, u64::MAX - 1, 1 << 63, 1 << 62, u64::MAX / 3, 0];
    let kinds = ["text/plain", "image/png"];
    let all = sizes.iter().flat_map(|size| kinds.map(|kind| (size, kind))).enumerate().map(|(i, (size, kind))| {
        let priority = if i % 2 == 0 { 1.0 } else { 0.5 };
        with_priority(&format!("r{i}"), priority).with_size(*size).with_mime_type(kind)
    });
    let catalog = catalog(all);
    for (tokens, read, bytes) in [(1_000, 4 << 20, 1 << 20), (usize::MAX, usize::MAX, u64::MAX), (usize::MAX, 9, 9)] {
        let mut reading = ReadLimits::default();
        reading.bytes = read;
        let base = options(tokens).with_reading(reading).with_max_bytes(bytes);
        for options in [base.clone(), base.clone().with_trim(false), base.with_pin(uri("r0")).with_pin(uri("r1"))] {
            let selection = by_value(&catalog, &options);
            assert!(selection.estimated_tokens <= tokens);
            assert_eq!(selection.resources.len() + selection.excluded.len(), 12);
        }
    }
}

#[test]
fn an_unknown_size_has_an_estimate() {
    let catalog = catalog([Resource::new("a", "a")]);
    let selection = by_value(&catalog, &options(539).with_trim(false));
    assert_eq!(why(&selection.excluded, "a"), ["budget: 540 tokens, 539 left"]);
    assert_eq!(by_value(&catalog, &options(540)).resources[0].estimated_tokens, 540);
}

#[test]
fn the_hosts_rules_decide_where_the_servers_hints_only_hint() {
    let rules = Governance::new()
        .with_class(DataClass::new("personal").only_providers(["anthropic"]))
        .unwrap()
        .with_rule(ResourceRule::new().with_uri("hr://*").with_class("personal").with_owner("people team"))
        .unwrap()
        .with_rule(ResourceRule::new().with_uri("log://*").with_max_tokens(200))
        .unwrap()
        .with_rule(ResourceRule::new().with_uri("open://*").with_audience([Role::Assistant]))
        .unwrap();
    let for_user = |uri: &str| resource(uri, |hints| hints.audience = Some(vec![Role::User]));
    let long = with_priority("log://today", 1.0).with_size(8_000);
    let catalog =
        catalog([resource("hr://salaries", |_| {}), long, for_user("open://notice"), for_user("shut://notice")]);
    let select = |options: &ResourceOptions| select(&catalog, &rules, None, "", options);
    let selection = select(&options(4_000).with_pin(uri("hr://salaries")));
    assert_eq!(chosen(&selection), ["log://today", "open://notice"]);
    assert_eq!(selection.resources[0].estimated_tokens, 200);
    let reasons = why(&selection.excluded, "hr://salaries");
    assert!(reasons[0].starts_with("rule: data class `personal`"), "{reasons:?}");
    assert_eq!(why(&selection.excluded, "shut://notice"), ["audience: not for the assistant"]);
    let to = |provider: &str| options(4_000).with_destination(Destination::new().with_provider(provider));
    assert!(!chosen(&select(&to("openai-chat"))).contains(&"hr://salaries"));
    let selection = select(&to("anthropic"));
    let found = selection.resources.iter().find(|resource| &*resource.id.uri == "hr://salaries").unwrap();
    assert_eq!(found.decision.owner.as_deref(), Some("people team"));
}

/// The best that any choice of at most `top` of them is worth.
fn exact(resources: &[(f64, usize)], tokens: usize, top: usize) -> f64 {
    let Some(((value, cost), rest)) = resources.split_first() else { return 0.0 };
    let without = exact(rest, tokens, top);
    if *cost > tokens || top == 0 { without } else { without.max(value + exact(rest, tokens - cost, top - 1)) }
}

proptest! {
    #[test]
    fn a_selection_is_worth_nine_tenths_of_the_best_at_least(
        resources in prop::collection::vec((0_u64..4_000, 0.0_f64..1.0), 0..12),
        budget in 1_usize..3_000,
        top in 0_usize..9,
    ) {
        let named = resources.iter().enumerate();
        let catalog = catalog(named.map(|(i, (size, priority))| with_priority(&format!("r{i}"), *priority).with_size(*size)));
        let options = options(budget).with_top(top).with_trim(false);
        let selection = by_value(&catalog, &options);
        let all: Vec<_> = rank(&catalog, &Governance::default(), None, &options)
            .iter()
            .map(|ranked| (ranked.value.total(), ranked.entry.resource.size.unwrap().div_ceil(4) as usize + 40))
            .collect();
        let worth: f64 = selection.resources.iter().map(|resource| resource.value.total()).sum();
        prop_assert!(selection.estimated_tokens <= budget);
        prop_assert!(selection.resources.len() <= top);
        prop_assert!(worth >= 0.9 * exact(&all, budget, top), "{} of {}", worth, exact(&all, budget, top));
    }

    #[test]
    fn the_order_of_servers_and_lists_changes_nothing(
        resources in prop::collection::btree_map("[ab]:[a-z]{1,3}", (0_u64..9_000, prop::option::of(0.0_f64..=1.0)), 0..12),
        rotation in 0_usize..12,
        budget in 0_usize..3_000,
    ) {
        let mut order: Vec<_> = resources.iter().collect();
        let build = |order: &[(&String, &(u64, Option<f64>))]| {
            order.iter().fold(Catalog::builder(), |builder, (name, (size, priority))| {
                let mut resource = Resource::new(name.as_str(), name.as_str()).with_size(*size);
                resource.annotations.priority = *priority;
                builder.resource(id(&name[..1]), resource)
            }).build()
        };
        let first = by_value(&build(&order), &options(budget));
        if !order.is_empty() {
            let length = order.len();
            order.rotate_left(rotation % length);
        }
        let second = by_value(&build(&order), &options(budget));
        prop_assert_eq!(chosen(&first), chosen(&second));
        prop_assert_eq!(first.excluded, second.excluded);
    }
}
