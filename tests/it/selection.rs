//! What must hold of every selection, and each limit by itself.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use proem::{
    catalog::{Catalog, TrustTier},
    id::ToolId,
    protocol::{Schema, Tool},
    retrieval::{Filter, Hit, Ranking, Tier},
    selection::{Definition, Exclusion, Form, Inclusion, Selection, SelectionOptions, catalog_tokens, select},
    tokens::{BytesPerToken, CountCache, TokenBudget},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fake::id;

fn bytes() -> CountCache {
    CountCache::new(Arc::new(BytesPerToken::new(1)))
}

/// Servers a, b and so on, each with so many tools t0, t1 and so on.
fn catalog(servers: &[usize]) -> Catalog {
    let mut builder = Catalog::builder();
    for (server, tools) in ["a", "b", "c", "d"].into_iter().zip(servers) {
        for i in 0..*tools {
            builder = builder.tool(id(server), Tool::new(format!("t{i}"), "Does something"));
        }
    }
    builder.build()
}

/// Hits in the order given, as `server/tool`, with their scores.
fn ranking(hits: &[(&str, f32)]) -> Ranking {
    let mut ranking = Ranking::default();
    ranking.confidence = Some(1.0);
    for (i, (tool, score)) in hits.iter().enumerate() {
        let (server, name) = tool.split_once('/').unwrap();
        let mut hit = hit(ToolId::new(id(server), name));
        (hit.score, hit.rank) = (*score, i + 1);
        ranking.hits.push(hit);
    }
    ranking
}

fn hit(tool: ToolId) -> Hit {
    Hit::new(tool, 1.0, 1)
}

fn chosen(selection: &Selection) -> Vec<String> {
    selection.tools.iter().map(|tool| tool.id.to_string()).collect()
}

fn why<'a>(selection: &'a Selection, tool: &str) -> Vec<&'a Exclusion> {
    let excluded = selection.excluded.iter();
    excluded.filter(|other| format!("{}/{}", other.server, other.name) == tool).map(|other| &other.reason).collect()
}

#[test]
fn pins_come_first_and_a_denied_pin_does_not_come() {
    let catalog = catalog(&[3, 3]);
    let options = SelectionOptions::default()
        .with_pin("b/t1".parse().unwrap())
        .with_pin("a/t2".parse().unwrap())
        .with_pin("a/t0".parse().unwrap())
        .with_pin("z".parse().unwrap());
    let filter = Filter::new().deny("a/t0".parse().unwrap());
    let selection = select(&catalog, &ranking(&[("a/t1", 1.0), ("b/t1", 0.9)]), &filter, &options, &bytes());
    assert_eq!(chosen(&selection), ["a/t2", "b/t1", "a/t1"]);
    assert_eq!(why(&selection, "a/t0"), [&Exclusion::Filtered("denied")]);
    assert_eq!(why(&selection, "z/*"), [&Exclusion::Unknown]);
    assert_eq!((selection.tools[1].rank, &selection.tools[1].reason), (Some(2), &Inclusion::Pinned));
}

#[test]
fn one_server_has_its_quota_until_places_stay_free() {
    let catalog = catalog(&[6, 2]);
    let hits = [("a/t0", 1.0), ("a/t1", 1.0), ("a/t2", 1.0), ("a/t3", 1.0), ("b/t0", 0.9), ("b/t1", 0.9)];
    let options = SelectionOptions::default().with_top(4).with_per_server(2);
    let selection = select(&catalog, &ranking(&hits), &Filter::new(), &options, &bytes());
    assert_eq!(chosen(&selection), ["a/t0", "a/t1", "b/t0", "b/t1"]);
    assert_eq!(why(&selection, "a/t2"), [&Exclusion::Quota]);
    // Five places: the best that waits is taken, at its rank.
    let selection = select(&catalog, &ranking(&hits), &Filter::new(), &options.with_top(5), &bytes());
    assert_eq!(chosen(&selection), ["a/t0", "a/t1", "a/t2", "b/t0", "b/t1"]);
    assert_eq!(why(&selection, "a/t3"), [&Exclusion::Quota]);
}

#[test]
fn one_text_has_two_places_until_places_stay_free() {
    let same = "Sends a short message to one person or to a whole group, now or at any time in the future, with files";
    let builder = (0..4).fold(Catalog::builder(), |builder, i| builder.tool(id("a"), Tool::new(format!("t{i}"), same)));
    let builder = builder.tool(id("a"), Tool::new("u0", "Deletes a message")).tool(id("b"), Tool::new("t0", same));
    let catalog = builder.tool(id("b"), Tool::new("t1", same)).build();
    let hits =
        [("a/t0", 1.0), ("a/t1", 1.0), ("a/t2", 1.0), ("a/t3", 1.0), ("a/u0", 0.9), ("b/t0", 0.9), ("b/t1", 0.8)];
    let options = SelectionOptions::default().with_top(5).with_per_server(5);
    let selection = select(&catalog, &ranking(&hits), &Filter::new(), &options, &bytes());
    assert_eq!(chosen(&selection), ["a/t0", "a/t1", "a/u0", "b/t0", "b/t1"]);
    assert_eq!(why(&selection, "a/t2"), [&Exclusion::NearDuplicate]);
    // A place stays free: the best that waits has it, at its rank.
    let selection = select(&catalog, &ranking(&hits), &Filter::new(), &options.clone().with_top(6), &bytes());
    assert_eq!(chosen(&selection), ["a/t0", "a/t1", "a/t2", "a/u0", "b/t0", "b/t1"]);
    assert_eq!(why(&selection, "a/t3"), [&Exclusion::NearDuplicate]);
    let selection = select(&catalog, &ranking(&hits), &Filter::new(), &options.with_per_text(4), &bytes());
    assert_eq!(chosen(&selection), ["a/t0", "a/t1", "a/t2", "a/t3", "a/u0"]);
}

#[test]
fn an_untrusted_server_has_fewer_places_until_places_stay_free() {
    let mut builder = Catalog::builder().trust(id("a"), TrustTier::Untrusted);
    for (server, tool) in ["a", "b"].into_iter().flat_map(|server| (0..4).map(move |tool| (server, tool))) {
        builder = builder.tool(id(server), Tool::new(format!("t{tool}"), "Does something"));
    }
    let catalog = builder.build();
    let hits =
        [("a/t0", 1.0), ("a/t1", 1.0), ("a/t2", 1.0), ("b/t0", 0.9), ("b/t1", 0.9), ("b/t2", 0.9), ("b/t3", 0.9)];
    let options = SelectionOptions::default().with_top(5).with_per_server(4);
    let run = |options: &SelectionOptions| select(&catalog, &ranking(&hits), &Filter::new(), options, &bytes());
    assert_eq!(chosen(&run(&options)), ["a/t0", "b/t0", "b/t1", "b/t2", "b/t3"]);
    assert_eq!(why(&run(&options), "a/t1"), [&Exclusion::Quota]);
    let two = options.clone().with_per_untrusted_server(2);
    assert_eq!(chosen(&run(&two)), ["a/t0", "a/t1", "b/t0", "b/t1", "b/t2"]);
    assert_eq!(chosen(&run(&options.with_top(7))).len(), 7);
    // Never more than the others have.
    assert_eq!(chosen(&run(&two.with_per_server(1).with_top(2))), ["a/t0", "b/t0"]);
}

#[test]
fn no_single_server_pushes_all_others_out() {
    let servers = catalog(&[3, 2, 2]);
    let hits =
        [("a/t0", 9.0), ("a/t1", 9.0), ("a/t2", 1.0), ("b/t0", 1.0), ("b/t1", 0.9), ("c/t0", 0.8), ("c/t1", 0.8)];
    let options = SelectionOptions::default().with_min(2);
    let run = |catalog: &Catalog, hits: &[(&str, f32)]| {
        chosen(&select(catalog, &ranking(hits), &Filter::new(), &options, &bytes())).join(" ")
    };
    assert_eq!(run(&servers, &hits), "a/t0 a/t1 b/t0 b/t1 c/t0 c/t1");
    assert_eq!(run(&servers, &hits[2..]), "a/t2 b/t0 b/t1 c/t0 c/t1");
    // A trusted one does.
    let trusted = Catalog::builder().trust(id("a"), TrustTier::Trusted);
    let tools = servers.tools().iter();
    let trusted = tools.fold(trusted, |builder, entry| builder.tool(entry.id.server.clone(), (*entry.tool).clone()));
    assert_eq!(run(&trusted.build(), &hits), "a/t0 a/t1");
    // Untrusted ones are no measure at all, however many they are.
    let untrusted = ["a", "c"].map(id).into_iter().fold(Catalog::builder(), |builder, server| {
        builder.trust(server.clone(), TrustTier::Untrusted).tool(server, Tool::new("t0", ""))
    });
    let tools = ["t0", "t1", "t2"].into_iter();
    let mixed = tools.fold(untrusted, |builder, tool| builder.tool(id("b"), Tool::new(tool, ""))).build();
    let hits = [("a/t0", 9.0), ("c/t0", 9.0), ("b/t0", 1.0), ("b/t1", 0.6), ("b/t2", 0.3)];
    assert_eq!(run(&mixed, &hits), "a/t0 c/t0 b/t0 b/t1");
    assert_eq!(run(&mixed, &hits[..2]), "a/t0 c/t0");
}

#[test]
fn depth_top_confidence_and_the_providers_cap() {
    let catalog = catalog(&[5]);
    let hits = [("a/t0", 1.0), ("a/t1", 0.9), ("a/t2", 0.3), ("a/t3", 0.2), ("a/t4", 0.1)];
    let options = SelectionOptions::default().with_min(3);
    let run =
        |options: &SelectionOptions, ranking: &Ranking| select(&catalog, ranking, &Filter::new(), options, &bytes());
    let selection = run(&options, &ranking(&hits));
    assert_eq!(chosen(&selection), ["a/t0", "a/t1", "a/t2"]);
    assert_eq!(why(&selection, "a/t3"), [&Exclusion::Depth]);
    let selection = run(&options.clone().with_ratio(0.0).with_top(4), &ranking(&hits));
    assert_eq!((selection.tools.len(), why(&selection, "a/t4")), (4, vec![&Exclusion::Top]));
    let selection = run(&options.clone().with_provider_cap(1).with_pin("a/t4".parse().unwrap()), &ranking(&hits));
    assert_eq!((chosen(&selection), why(&selection, "a/t0")), (vec!["a/t4".into()], vec![&Exclusion::ProviderCap]));

    let mut unsure = ranking(&hits);
    unsure.confidence = Some(0.2);
    let sure = options.clone().with_min_confidence(0.5);
    let selection = run(&sure.clone().with_pin("a/t4".parse().unwrap()), &unsure);
    assert_eq!((chosen(&selection), why(&selection, "a/t0")), (vec!["a/t4".into()], vec![&Exclusion::Confidence]));
    unsure.hits[0].tier = Tier::Named;
    assert_eq!(run(&sure, &unsure).tools[0].reason, Inclusion::Named);
}

#[test]
fn scores_below_zero_have_no_ratio() {
    let catalog = catalog(&[5]);
    let hits = [("a/t0", -1.0), ("a/t1", -2.0), ("a/t2", -3.0), ("a/t3", -4.0), ("a/t4", f32::NAN)];
    let selection = select(&catalog, &ranking(&hits), &Filter::new(), &SelectionOptions::default(), &bytes());
    assert_eq!(selection.tools.len(), 5);
}

#[test]
fn what_several_pins_and_hits_name_is_decided_once() {
    let catalog = catalog(&[2]);
    let options = SelectionOptions::default()
        .with_budget(TokenBudget::ZERO)
        .with_pin("a".parse().unwrap())
        .with_pin("a/t0".parse().unwrap());
    let hits = [("a/t0", 1.0), ("a/t0", 1.0), ("a/gone", 1.0)];
    let selection = select(&catalog, &ranking(&hits), &Filter::new(), &options, &bytes());
    assert_eq!(why(&selection, "a/t0"), [&Exclusion::Budget(0)]);
    assert_eq!(why(&selection, "a/gone"), [&Exclusion::Unknown]);
    let options = SelectionOptions::default();
    let selection = select(&catalog, &ranking(&hits), &Filter::new(), &options, &bytes());
    assert_eq!(chosen(&selection), ["a/t0"]);
}

#[test]
fn a_tool_that_does_not_fit_is_offered_in_the_largest_form_that_does() {
    let schema = json!({
        "type": "object",
        "properties": {"branch": {"type": "string", "description": "Which branch. ".repeat(40)}},
    });
    let tool = Tool::new("merge", "Merges one branch into another. ".repeat(30)).with_input_schema(schema);
    let catalog = Catalog::builder().tool(id("git"), tool.clone()).build();
    let counts = bytes();
    let mut seen = Vec::new();
    for budget in (0..=catalog_tokens(&catalog, &counts)).rev() {
        let options = SelectionOptions::default().with_budget(TokenBudget::new(budget));
        let selection = select(&catalog, &ranking(&[("git/merge", 1.0)]), &Filter::new(), &options, &counts);
        assert!(selection.tokens <= budget);
        match selection.tools.first() {
            Some(tool) if seen.last() != Some(&Some(tool.form)) => seen.push(Some(tool.form)),
            None if seen.last() != Some(&None) => seen.push(None),
            _ => {}
        }
    }
    let all = [Form::Full, Form::ShortDescription, Form::MinimalSchema, Form::NameOnly];
    assert_eq!(seen, all.map(Some).into_iter().chain([None]).collect::<Vec<_>>());
    assert_eq!(Definition::of(&tool, Form::NameOnly).input_schema, Schema::any_object());
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "description": "Words about it", "enum": ["x", "y"]})),
        Just(json!({"$ref": "#/$defs/a"})),
        Just(json!(true)),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            prop::collection::btree_map("[a-c]|type|enum|description", inner.clone(), 0..4)
                .prop_map(|map| json!({"type": "object", "properties": map, "required": ["a"], "title": "T"})),
            inner.clone().prop_map(|item| json!({"type": "array", "items": item, "minItems": 1})),
            prop::collection::vec(inner, 0..3).prop_map(|all| json!({"anyOf": all, "default": null})),
        ]
    })
}

fn some_tool() -> impl Strategy<Value = Tool> {
    (schemas(), prop::option::of("( ?\\PC{1,12}[.!。 ]?){0,40}"), any::<bool>()).prop_map(|(schema, text, none)| {
        let mut tool = Tool::new("x", "").with_input_schema(schema);
        tool.description = text;
        if none {
            tool.input_schema = Schema::from(json!({}));
        }
        tool
    })
}

fn inputs() -> impl Strategy<Value = (Catalog, Ranking, Filter, SelectionOptions)> {
    let tools = prop::collection::btree_map(("[a-d]", "[a-f]{1,2}"), some_tool(), 0..24);
    let hits = prop::collection::vec(("[a-d]", "[a-f]{1,2}", -1.0_f32..10.0, any::<bool>()), 0..32);
    let options = (
        0..1_500_usize,
        0..12_usize,
        0..4_usize,
        0.0_f32..1.0,
        prop::option::of(0..5_usize),
        0..10_usize,
        0.0_f32..1.0,
    );
    let pins = prop::collection::vec("[a-d](/[a-f*]{1,2})?", 0..3);
    let denied = prop::option::of("[a-d*](/[a-f*]{1,2})?");
    (tools, hits, options, pins, denied, 0.0_f32..1.0).prop_map(|(tools, hits, options, pins, denied, coverage)| {
        let mut builder = Catalog::builder();
        let mut known: Vec<ToolId> = Vec::new();
        for ((server, name), mut tool) in tools {
            tool.name.clone_from(&name);
            known.push(ToolId::new(id(&server), name));
            builder = builder.tool(id(&server), tool);
        }
        let mut ranking = Ranking::default();
        ranking.coverage = coverage;
        // Every known tool is ranked, with some that are not known and some twice.
        let unknown = hits.iter().map(|(server, name, ..)| ToolId::new(id(server), name.as_str()));
        let scores: Vec<f32> = hits.iter().map(|(_, _, score, _)| *score).collect();
        for (i, tool) in known.into_iter().chain(unknown).enumerate() {
            let mut hit = hit(tool);
            hit.rank = i + 1;
            hit.score = scores.get(i).copied().unwrap_or(1.0);
            ranking.hits.push(hit);
        }
        let (budget, top, min, ratio, per_server, cap, confidence) = options;
        let mut selection = SelectionOptions::default()
            .with_budget(TokenBudget::new(budget))
            .with_top(top)
            .with_min(min)
            .with_ratio(ratio)
            .with_provider_cap(cap)
            .with_min_confidence(confidence);
        selection.per_server = per_server;
        selection.pins = pins.iter().map(|pin| pin.parse().unwrap()).collect();
        let filter = denied.map_or(Filter::new(), |pattern| Filter::new().deny(pattern.parse().unwrap()));
        (builder.build(), ranking, filter, selection)
    })
}

proptest! {
    #[test]
    fn every_selection_keeps_its_limits_and_accounts_for_every_hit((catalog, ranking, filter, options) in inputs()) {
        for counts in [bytes(), CountCache::new(Arc::new(BytesPerToken::new(4)))] {
            let selection = select(&catalog, &ranking, &filter, &options, &counts);
            let sum: usize = selection.tools.iter().map(|tool| tool.tokens).sum();
            prop_assert_eq!(sum, selection.tokens);
            prop_assert!(selection.tokens <= options.budget.tokens());
            prop_assert!(selection.tools.len() <= options.provider_cap);
            let pinned = selection.tools.iter().take_while(|tool| tool.reason == Inclusion::Pinned).count();
            let ranked = &selection.tools[pinned..];
            prop_assert!(ranked.iter().all(|tool| tool.reason != Inclusion::Pinned), "a pin comes late");
            prop_assert!(ranked.len() <= options.top);
            prop_assert!(ranked.is_sorted_by_key(|tool| tool.rank));
            prop_assert!(selection.tools[..pinned].is_sorted_by_key(|tool| &tool.id));

            let mut told: BTreeMap<(String, String), usize> = BTreeMap::new();
            for tool in &selection.tools {
                let entry = catalog.tool(&tool.id).unwrap();
                prop_assert!(filter.passes(entry));
                prop_assert_eq!(&tool.definition, &Definition::of(&entry.tool, tool.form));
                *told.entry((tool.id.server.to_string(), tool.id.name.to_string())).or_default() += 1;
            }
            for tool in &selection.excluded {
                let pin = catalog.tools().iter().all(|entry| *entry.id.server.as_str() != *tool.server || *entry.id.name != *tool.name);
                if !(pin && tool.reason == Exclusion::Unknown) {
                    *told.entry((tool.server.to_string(), tool.name.to_string())).or_default() += 1;
                }
            }
            prop_assert!(told.values().all(|n| *n == 1), "told more than once: {told:?}");
            for hit in &ranking.hits {
                if catalog.tool(&hit.tool).is_some() {
                    prop_assert!(told.contains_key(&(hit.tool.server.to_string(), hit.tool.name.to_string())));
                } else {
                    prop_assert!(selection.excluded.iter().any(|tool| *tool.server == *hit.tool.server.as_str() && *tool.name == *hit.tool.name));
                }
            }
            prop_assert_eq!(&selection, &select(&catalog, &ranking, &filter, &options, &counts));
        }
    }

    #[test]
    fn no_form_is_larger_than_the_one_before(tool in some_tool()) {
        let sizes = Form::ALL.map(|form| {
            let definition = Definition::of(&tool, form);
            definition.description.unwrap_or_default().len() + definition.input_schema.as_str().len()
        });
        prop_assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    }
}

#[test]
fn the_whole_catalog_is_the_sum_of_its_tools_however_many_count() {
    let catalog = catalog(&[400, 300]);
    let counts = bytes();
    let each: usize = {
        let options = SelectionOptions::default()
            .with_budget(TokenBudget::new(usize::MAX))
            .with_provider_cap(usize::MAX)
            .with_pin("*".parse().unwrap());
        select(&catalog, &Ranking::default(), &Filter::new(), &options, &counts).tokens
    };
    assert_eq!(catalog_tokens(&catalog, &counts), each);
    assert_eq!(catalog.tools().iter().map(|entry| &entry.exposed).collect::<BTreeSet<_>>().len(), 700);
}
