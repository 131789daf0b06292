//! Exact figures on the benchmark sets, which stand beside the repository, not in it: in the folder
//! that `PROEM_SHARED` names, else in `../shared`. Where it is absent the tests say so and pass,
//! unless `PROEM_REQUIRE_SHARED` is `1`.

#![allow(clippy::unwrap_used, reason = "a set that cannot be read fails the test")]

use std::collections::BTreeMap;

use proem::{
    eval::{DataSet, EvalOptions, QueryForm, Report, evaluate},
    index::StaticEmbedder,
    retrieval::{Filter, Hybrid, Lexical, Query, Retriever, Tier, ToolIndex},
};

use crate::outside;

/// Opens a benchmark set.
pub(crate) fn set(name: &str) -> Option<DataSet> {
    Some(DataSet::open(outside::shared(&format!("bench/{name}"))?).unwrap())
}

/// NDCG@10, recall at 1, 5 and 10, completeness@10.
fn figures(set: &DataSet) -> String {
    shown(&evaluate(set, &Lexical::new(), 10, |_, _| {}).unwrap())
}

/// What a host retrieves with by default.
fn hybrid() -> Hybrid {
    Hybrid::new(StaticEmbedder::bundled())
}

fn shown(report: &Report) -> String {
    let row = &report.rows[0];
    format!(
        "{} tools, {} queries: {:.2} | {:.2} {:.2} {:.2} | {:.2}",
        row.tools, row.queries, row.ndcg_10, row.recall_1, row.recall_5, row.recall_10, row.completeness_10
    )
}

/// The annotator's steps as sub-queries, and with the request itself after them.
#[test]
fn livemcpbench_steps() {
    let Some(mut set) = set("livemcpbench") else { return };
    let steps = EvalOptions::new().with_queries(QueryForm::Steps);
    let report = evaluate(&set, &Lexical::new(), steps.clone(), |_, _| {}).unwrap();
    assert_eq!(shown(&report), "527 tools, 94 queries: 59.98 | 25.60 58.57 70.52 | 53.19");
    let row = &report.rows[0];
    assert_eq!((row.ndcg_5, row.mrr_10), (55.04, 66.40));
    assert_eq!((row.ci95["recall@10"], row.ci95["completeness@10"]), ([63.42, 77.63], [42.55, 62.77]));
    for query in &mut set.queries {
        query.steps.push(query.text.clone());
    }
    let report = evaluate(&set, &Lexical::new(), steps, |_, _| {}).unwrap();
    assert_eq!(shown(&report), "527 tools, 94 queries: 61.01 | 26.13 62.98 70.85 | 53.19");
}

/// 520 queries that need no tool against the 520 that were made to be set against them.
#[test]
fn metatool_no_tool() {
    let Some(mut set) = set("metatool") else { return };
    set.queries.retain(|query| matches!(query.split.as_deref(), Some("none" | "aware_pos")));
    let report = evaluate(&set, &Lexical::new(), 10, |_, _| {}).unwrap();
    let row = &report.rows[0];
    assert_eq!((row.queries, row.without_gold), (520, 520));
    assert_eq!((row.no_tool_auroc, row.no_tool_auroc_score), (Some(80.87), Some(79.83)));
    let split = EvalOptions::new().with_split("aware_pos");
    let report = evaluate(&set, &Lexical::new(), split, |_, _| {}).unwrap();
    assert_eq!((report.rows[0].queries, report.rows[0].no_tool_auroc), (520, None));
}

#[test]
fn livemcpbench() {
    let Some(set) = set("livemcpbench") else { return };
    assert_eq!(figures(&set), "527 tools, 94 queries: 38.85 | 19.03 39.07 43.50 | 23.40");
}

#[test]
fn stabletoolbench() {
    let Some(set) = set("stabletoolbench") else { return };
    assert_eq!(figures(&set), "2479 tools, 765 queries: 72.34 | 32.58 72.11 81.39 | 66.14");
}

#[test]
fn sealtools() {
    let Some(set) = set("sealtools") else { return };
    assert_eq!(figures(&set), "4076 tools, 1354 queries: 90.31 | 43.94 86.64 93.23 | 80.95");
}

#[test]
fn bfcl() {
    let Some(set) = set("bfcl") else { return };
    assert_eq!(figures(&set), "2574 tools, 2351 queries: 78.00 | 61.44 84.99 90.89 | 89.49");
}

#[test]
fn toollinkos() {
    let Some(set) = set("toollinkos") else { return };
    assert_eq!(figures(&set), "573 tools, 1569 queries: 33.17 | 13.56 23.01 26.63 | 2.80");
}

/// At most 1,000 queries of each split, evenly spaced: the whole set has 22,081, too many without optimization.
#[test]
fn metatool_sampled() {
    let Some(set) = set("metatool") else { return };
    assert_eq!(figures(&set.sampled(1_000)), "199 tools, 2017 queries: 61.11 | 41.65 68.15 75.48 | 71.44");
}

/// A tool that is named comes first: 100 names of LiveMCPBench that only one server has, evenly spaced.
#[test]
fn names_typed() {
    let Some(set) = set("livemcpbench") else { return };
    let mut count = BTreeMap::new();
    for tool in set.catalog.tools() {
        *count.entry(&tool.id.name).or_insert(0) += 1;
    }
    let unique: Vec<_> = set.catalog.tools().iter().filter(|tool| count[&tool.id.name] == 1).collect();
    let retrievers: [&dyn Retriever; 2] = [&Lexical::new(), &hybrid()];
    let [words, both] = retrievers.map(|retriever| retriever.index(&set.catalog, None).unwrap());
    let first = |index: &dyn ToolIndex, spell: &dyn Fn(&str, &str) -> String| {
        (0..100)
            .map(|i| &unique[i * unique.len() / 100].id)
            .filter(|id| {
                let query = spell(id.server.as_str(), &id.name);
                let ranking = index.search(&query.into(), &Filter::new(), 1).unwrap();
                ranking.hits.first().is_some_and(|hit| hit.tool == **id && hit.tier == Tier::Named)
            })
            .count()
    };
    for index in [words, both] {
        assert_eq!(first(&*index, &|_, name| name.to_owned()), 100);
        assert_eq!(first(&*index, &|server, name| format!("{server}__{name}")), 100);
        assert_eq!(first(&*index, &|server, name| format!("{server}/{name}")), 100);
        assert_eq!(first(&*index, &|_, name| name.replace(['_', '-'], " ")), 100);
        assert_eq!(first(&*index, &|_, name| format!("please use {name} now")), 100);
        // Two of them are plain words: in a sentence that speaks of no tool, that is no name.
        assert_eq!(first(&*index, &|_, name| format!("what does {name} do?")), 97);
    }
}

/// Words and the embedding that ships, which was trained on nothing of these sets: at most 200
/// queries of each split.
#[test]
fn hybrid_figures() {
    for (name, expected) in [
        ("bfcl", "2574 tools, 1240 queries: 80.87 | 63.17 85.94 91.72 | 89.11"),
        ("livemcpbench", "527 tools, 94 queries: 40.51 | 16.38 39.07 48.47 | 24.47"),
        ("metatool", "199 tools, 600 queries: 68.78 | 44.67 76.50 85.00 | 81.33"),
        ("sealtools", "4076 tools, 400 queries: 88.89 | 44.45 83.71 91.54 | 74.50"),
        ("stabletoolbench", "2479 tools, 765 queries: 72.63 | 32.72 71.97 82.21 | 67.32"),
        ("toollinkos", "573 tools, 200 queries: 34.48 | 15.83 23.67 26.29 | 4.00"),
    ] {
        let Some(set) = set(name) else { return };
        let report = evaluate(&set.sampled(200), &hybrid(), 10, |_, _| {}).unwrap();
        assert_eq!(shown(&report), expected, "{name}");
    }
}

#[test]
fn hybrid_steps() {
    let Some(set) = set("livemcpbench") else { return };
    let steps = EvalOptions::new().with_queries(QueryForm::Steps);
    let report = evaluate(&set, &hybrid(), steps, |_, _| {}).unwrap();
    assert_eq!(shown(&report), "527 tools, 94 queries: 62.14 | 25.25 65.42 73.18 | 56.38");
}

/// Half of the queries that need no tool get none, and at most 5 % of those that need one go without.
#[test]
fn hybrid_no_tool() {
    let Some(mut set) = set("metatool") else { return };
    set.queries.retain(|query| matches!(query.split.as_deref(), Some("none" | "aware_pos")));
    let report = evaluate(&set, &hybrid(), 10, |_, _| {}).unwrap();
    let row = &report.rows[0];
    let cut_off = row.cut_off.unwrap();
    assert_eq!(row.no_tool_auroc, Some(88.95));
    assert_eq!((cut_off.min_confidence, cut_off.no_tool_empty, cut_off.fitting_lost), (0.2, 54.23, 4.81));
}

/// Requests that stand alone are hardly ever taken for follow-ups: all queries of all sets.
#[test]
fn requests_that_stand_alone_are_no_follow_ups() {
    let names = ["livemcpbench", "stabletoolbench", "sealtools", "bfcl", "toollinkos", "metatool"];
    let counted = names.map(|name| {
        let set = set(name)?;
        let taken = set.queries.iter().filter(|query| Query::new(&query.text).is_follow_up()).count();
        Some((taken, set.queries.len()))
    });
    if counted.iter().all(Option::is_some) {
        let known = [(0, 94), (0, 765), (0, 1_354), (12, 2_351), (1, 1_569), (90, 22_081)];
        assert_eq!(counted.map(Option::unwrap), known);
    }
}
