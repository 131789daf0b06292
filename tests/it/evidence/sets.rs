//! Exact figures, with words alone below the evidence.

use std::fs;

use proem::{
    catalog::Catalog,
    eval::{DataSet, EvalOptions, Metrics, QueryForm, evaluate, usage_split},
    id::{ServerId, ToolId},
    protocol::Tool,
    retrieval::{CoUse, Filter, Hybrid, Lexical, Retriever, ToolIndex, Usage},
};

use crate::{eval::set, outside};

fn words() -> Hybrid {
    Hybrid::lexical(Lexical::new())
}

/// NDCG@10 with words alone and with evidence.
fn gain(set: &DataSet, evidence: &Hybrid, options: EvalOptions) -> String {
    let figure =
        |retriever: &dyn Retriever| evaluate(set, retriever, options.clone(), |_, _| {}).unwrap().rows[0].ndcg_10;
    format!("{:.2} > {:.2}", figure(&words()), figure(evidence))
}

/// What the documentation of `Hybrid::with_server_weight` tells.
fn server_gain(name: &str, form: QueryForm) -> Option<String> {
    Some(gain(&set(name)?, &words().with_server_weight(0.06), EvalOptions::new().with_queries(form)))
}

#[test]
fn servers_of_livemcpbench() {
    let Some(found) = server_gain("livemcpbench", QueryForm::Full) else { return };
    assert_eq!(found, "38.85 > 39.38");
    assert_eq!(server_gain("livemcpbench", QueryForm::Steps).unwrap(), "59.98 > 59.69");
}

#[test]
fn servers_of_stabletoolbench() {
    let Some(found) = server_gain("stabletoolbench", QueryForm::Full) else { return };
    assert_eq!(found, "72.34 > 73.26");
}

#[test]
fn servers_of_toollinkos() {
    let Some(found) = server_gain("toollinkos", QueryForm::Full) else { return };
    assert_eq!(found, "33.17 > 33.45");
}

/// One server with ten tools that repeat the request in their descriptions, or in their names too,
/// takes no more from the others than without the evidence, under a quota of five tools a server.
#[test]
fn a_server_that_repeats_the_request_gains_nothing() {
    let Some(set) = set("livemcpbench") else { return };
    let attacker = ServerId::new("attacker").unwrap();
    let recall = |retriever: &Hybrid, in_names: bool| {
        let (mut sum, mut index) = (0.0, None);
        for query in &set.queries {
            let honest = set.catalog.tools().iter().fold(Catalog::builder(), |builder, entry| {
                builder.tool(entry.id.server.clone(), Tool::clone(&entry.tool))
            });
            let catalog = (0..10).fold(honest, |builder, at| {
                let name = if in_names { format!("{} {at}", query.text) } else { format!("tool{at}") };
                builder.tool(attacker.clone(), Tool::new(name, query.text.as_str()))
            });
            let next = retriever.index(&catalog.build(), index.as_ref()).unwrap();
            let mut of_attacker = 0;
            let mut taken = next.search(&query.text.as_str().into(), &Filter::new(), 20).unwrap().hits;
            taken.retain(|hit| {
                of_attacker += usize::from(hit.tool.server == attacker);
                hit.tool.server != attacker || of_attacker <= 5
            });
            let tools: Vec<ToolId> = taken.into_iter().map(|hit| hit.tool).collect();
            sum += Metrics::of(&tools, &query.groups).recall[3];
            index = Some(next);
        }
        format!("{:.2}", 100.0 * sum / set.queries.len() as f64)
    };
    let with = words().with_server_weight(0.06);
    assert_eq!([recall(&words(), false), recall(&with, false)], ["39.60", "40.67"]);
    assert_eq!([recall(&words(), true), recall(&with, true)], ["39.60", "39.78"]);
}

/// The set's queries need the dependencies of the tools that they name, and `depends.jsonl` holds
/// these dependencies: what perfect edges can give.
#[test]
fn edges_that_a_host_knows() {
    let Some(set) = set("toollinkos") else { return };
    let edges = fs::read_to_string(outside::shared("bench/toollinkos/depends.jsonl").unwrap()).unwrap();
    let tool = |value: &serde_json::Value| {
        let [server, name] = [&value[0], &value[1]].map(|text| text.as_str().unwrap().to_owned());
        ToolId::new(ServerId::new(server).unwrap(), name)
    };
    let edges = edges.lines().map(|line| {
        let edge: serde_json::Value = serde_json::from_str(line).unwrap();
        (tool(&edge["tool"]), tool(&edge["depends_on"]), 1.0)
    });
    let co_use = CoUse::of_edges(edges);
    assert_eq!(gain(&set, &words().with_co_use(co_use), EvalOptions::new()), "33.17 > 56.36");
}

#[test]
fn edges_that_are_learned() {
    for (name, expected) in
        [("toollinkos", "33.77 > 52.50"), ("stabletoolbench", "72.21 > 74.01"), ("livemcpbench", "31.42 > 33.33")]
    {
        let Some(set) = set(name) else { return };
        let (log, test) = usage_split(&set);
        assert_eq!(gain(&test, &words().with_co_use(log.co_use()), EvalOptions::new()), expected, "{name}");
    }
}

/// 2,000 of the requests for a single tool, one half the log and one half the test.
#[test]
fn usage() {
    let Some(mut set) = set("metatool") else { return };
    set.queries.retain(|query| query.split.as_deref() == Some("single"));
    let (log, test) = usage_split(&set.sampled(2_000));
    assert_eq!((log.len(), test.queries.len()), (1_000, 1_000));
    assert_eq!(gain(&test, &words().with_usage(Usage::new(&log)), EvalOptions::new()), "55.91 > 67.51");
}

/// What a filter keeps out is brought neither by calls nor by edges.
#[test]
fn nothing_lifts_what_is_kept_out() {
    let Some(set) = set("livemcpbench") else { return };
    let (log, test) = usage_split(&set);
    let evidence = words().with_server_weight(0.06).with_usage(Usage::new(&log)).with_co_use(log.co_use());
    let index: std::sync::Arc<dyn ToolIndex> = evidence.index(&set.catalog, None).unwrap();
    let mut brought = 0;
    for query in &test.queries {
        let gold: Vec<ToolId> = query.groups.concat();
        let filter = Filter::new().predicate(move |entry| !gold.contains(&entry.id));
        let hits = index.search(&query.text.as_str().into(), &filter, 527).unwrap().hits;
        assert!(hits.iter().all(|hit| query.groups.iter().all(|group| !group.contains(&hit.tool))));
        brought += hits.iter().filter(|hit| hit.channels.contains_key("usage") && hit.fields.is_empty()).count();
    }
    assert!(brought > 0, "calls bring tools that no word found");
}
