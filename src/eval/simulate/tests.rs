use std::{collections::BTreeMap, num::NonZeroUsize};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    cost::PriceSheet,
    id::{ServerId, ToolId},
    protocol::Tool,
    session::{Delivery, SessionOptions},
    tokens::{BytesPerToken, TokenBudget},
};

const WORDS: [&str; 8] = ["invoice", "branch", "ticket", "flight", "payslip", "deploy", "weather", "contract"];

/// Eight servers of five tools, of which five are more than the shortest prefix that is kept.
fn catalog() -> Catalog {
    let verbs = ["create", "find", "delete", "update", "export"];
    let all = WORDS.iter().flat_map(|word| verbs.map(|verb| (*word, verb)));
    all.fold(Catalog::builder(), |catalog, (word, verb)| {
        let which = format!("Which {word} it is about, by its number, its name or its address. ").repeat(10);
        let property = json!({"type": "string", "description": which});
        let schema = json!({"type": "object", "properties": {"which": property, "format": property}});
        let tool = Tool::new(format!("{verb}_{word}"), format!("Use it to {verb} a {word}")).with_input_schema(schema);
        catalog.tool(ServerId::new(word).unwrap(), tool)
    })
    .build()
}

/// A conversation that goes through words, one a turn, and calls the tool that finds one.
fn conversation(id: &str, words: &[&str], with_results: bool) -> String {
    let lines = words.iter().map(|word| {
        let results = if with_results { json!([12]) } else { json!([]) };
        let text = format!("the {word} of last week");
        json!({"conversation": id, "text": text, "tools_used": [[word, format!("find_{word}")]], "results": results})
            .to_string()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn options(policies: &[Delivery]) -> SimulationOptions {
    SimulationOptions::new()
        .with_counter(std::sync::Arc::new(BytesPerToken::default()))
        .with_retriever(std::sync::Arc::new(crate::retrieval::Lexical::new()))
        .with_policies(policies.iter().copied())
        .with_session(SessionOptions::new().with_first(5).with_later(5).with_outline(TokenBudget::new(100)))
        .with_threads(NonZeroUsize::MIN)
}

fn simulated(lines: &str, options: &SimulationOptions) -> Vec<SimulationReport> {
    let catalog = catalog();
    let trace = Trace::read("log", lines, &catalog).unwrap();
    simulate(&catalog, &trace, options, |_, _| {}).unwrap()
}

fn rows(report: &SimulationReport) -> BTreeMap<Delivery, &PolicyRow> {
    report.policies.iter().map(|row| (row.policy, row)).collect()
}

#[test]
fn what_each_policy_does() {
    let lines = conversation("a", &["invoice", "branch", "ticket", "invoice"], true);
    let report = &simulated(&lines, &options(&SimulationOptions::POLICIES))[0];
    assert_eq!((report.conversations, report.turns), (1, 4));
    let rows = rows(report);
    let (all, per_turn, frozen) = (rows[&Delivery::All], rows[&Delivery::PerTurn], rows[&Delivery::Frozen]);
    let (append, deferred, bridge) = (rows[&Delivery::Append], rows[&Delivery::Deferred], rows[&Delivery::Bridge]);
    for row in [all, frozen, deferred, bridge] {
        assert_eq!(row.prefix_changed_ratio, 0.0, "{}", row.policy);
    }
    assert_eq!((per_turn.prefix_changed_ratio, append.prefix_changed_ratio), (1.0, 0.6667));
    for row in [all, per_turn, append, deferred, bridge] {
        assert_eq!((row.tools_offered_ratio, row.tools_offered_mean), (1.0, 1.0), "{}", row.policy);
        // A turn is two requests: one that calls, one that is answered.
        assert_eq!((row.requests, row.rejected), (8, 0), "{}", row.policy);
    }
    // What it does not offer is not called: the invoice twice, and no branch and no ticket.
    assert_eq!((frozen.tools_offered_ratio, frozen.requests), (0.3333, 6));
    assert!(per_turn.tool_tokens < all.tool_tokens / 4.0);
    assert!(frozen.cost < deferred.cost && deferred.cost < bridge.cost && bridge.cost < all.cost);
    assert_eq!(all.cost_ratio_to_all, Some(1.0));
    assert_eq!(all.cost_with_output, None, "no answers are known");
    assert_eq!(deferred.delivery, [(Delivery::Deferred, 1)].into());
}

#[test]
fn costs_are_those_of_the_tokens() {
    let lines = conversation("a", &["invoice", "branch"], false);
    for sheet in ["anthropic/claude-sonnet-4-6", "openai/gpt-5.4"] {
        let sheet = PriceSheet::named(sheet).unwrap();
        let report = &simulated(&lines, &options(&[Delivery::All]).with_sheets([sheet.clone()]))[0];
        let row = &report.policies[0];
        let TokenSums { written, read, uncached } = row.tokens;
        assert!(read > 0 && row.requests == 2, "{row:?}");
        let write = sheet.prices.write.unwrap_or(sheet.prices.input);
        let dollars =
            (written as f64 * write + read as f64 * sheet.prices.read + uncached as f64 * sheet.prices.input) / 1e6;
        assert!((row.cost - dollars).abs() < 1e-6, "{} {dollars}", row.cost);
        assert!((row.hit_ratio - read as f64 / (written + read + uncached) as f64).abs() < 1e-4);
    }
}

#[test]
fn answers_make_the_output_known() {
    let line = |answer: &str| format!(r#"{{"conversation": "a", "text": "the invoice", "answer": "{answer}"}}"#);
    let cost = |answer: &str| {
        let report = simulated(&line(answer), &options(&[Delivery::PerTurn]));
        (report[0].policies[0].cost, report[0].policies[0].cost_with_output.unwrap())
    };
    let (short, long) = (cost("Here."), cost(&"word ".repeat(1_000)));
    assert_eq!(short.0, long.0);
    // A quarter of 5,000 bytes at 15 dollars a million.
    assert!((long.1 - long.0 - 1_250.0 * 15e-6).abs() < 1e-4, "{long:?}");
    assert!(short.1 > short.0);
}

#[test]
fn a_pause_beyond_the_time_is_paid_for_and_changes_nothing() {
    let lines = conversation("a", &["invoice", "invoice"], false);
    let row = |pause| {
        let options = options(&[Delivery::Deferred]).with_pause_seconds(pause);
        simulated(&lines, &options)[0].policies[0].clone()
    };
    let (soon, late) = (row(300), row(301));
    assert!(soon.tokens.read > 0 && late.tokens.read == 0);
    assert!(late.cost > soon.cost);
    assert_eq!(late.prefix_changed_ratio, 0.0);
}

#[test]
fn a_tool_counts_that_is_there_by_its_use() {
    let catalog = catalog();
    let lines = conversation("a", &["invoice", "branch"], false);
    let mut trace = Trace::read("log", &lines, &catalog).unwrap();
    let branch = ToolId::new(ServerId::new("branch").unwrap(), "find_branch");
    let offered = |trace: &Trace| {
        let reports = simulate(&catalog, trace, &options(&[Delivery::PerTurn]), |_, _| {}).unwrap();
        reports[0].policies[0].tools_offered_ratio
    };
    assert_eq!(offered(&trace), 1.0);
    trace.conversations[0].turns.swap(0, 1);
    trace.conversations[0].turns[0].rounds = trace.conversations[0].turns[1].rounds.clone();
    trace.conversations[0].turns[1].rounds.clear();
    assert_eq!(offered(&trace), 0.0, "the invoice was needed before it was there");
    trace.conversations[0].turns[0].rounds.clear();
    trace.conversations[0].needs = vec![vec![branch.clone(), ToolId::new(ServerId::new("x").unwrap(), "y")]];
    assert_eq!(offered(&trace), 1.0, "any of a group, at any time");
}

#[test]
fn a_provider_that_takes_fewer_tools_would_have_refused() {
    let server = ServerId::new("many").unwrap();
    let tools = (0..130).map(|i| Tool::new(format!("tool_{i}"), "Does it"));
    let catalog = tools.fold(Catalog::builder(), |catalog, tool| catalog.tool(server.clone(), tool)).build();
    let trace = Trace::read("log", r#"{"conversation": "a", "text": "tool 7"}"#, &catalog).unwrap();
    let sheets = ["openai/gpt-5.4", "anthropic/claude-sonnet-4-6"].map(|name| PriceSheet::named(name).unwrap().clone());
    let options = options(&[Delivery::All, Delivery::PerTurn]).with_sheets(sheets);
    let reports = simulate(&catalog, &trace, &options, |_, _| {}).unwrap();
    let rejected = |report: &SimulationReport| report.policies.iter().map(|row| row.rejected).collect::<Vec<_>>();
    assert_eq!(reports.iter().map(rejected).collect::<Vec<_>>(), [[1, 0], [0, 0]]);
}

#[tokio::test]
async fn it_runs_within_a_runtime_and_tells_how_far_it_is() {
    let (catalog, mut told) = (catalog(), Vec::new());
    let lines = [conversation("a", &["invoice"], false), conversation("b", &["flight"], false)].join("\n");
    let trace = Trace::read("log", &lines, &catalog).unwrap();
    simulate(&catalog, &trace, &options(&[Delivery::Auto]), |done, all| told.push((done, all))).unwrap();
    assert_eq!(told, [(1, 2), (2, 2)]);
    assert!(simulate(&catalog, &Trace::default(), &options(&[Delivery::Auto]), |_, _| {}).unwrap()[0].turns == 0);
}

#[test]
fn a_report_is_written_as_json_and_as_a_page() {
    let mut report =
        simulated(&conversation("a", &["invoice", "branch"], false), &options(&[Delivery::All, Delivery::Auto]));
    let value = serde_json::to_value(&report[0]).unwrap();
    let keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["conversations", "policies", "price_sheet", "source", "turns"]);
    assert_eq!((&value["source"], &value["policies"][1]["policy"]), (&"log".into(), &"auto".into()));
    assert_eq!(value["policies"][1]["delivery"], json!({"deferred": 1}));
    for key in ["prefix_changed_ratio", "tools_offered_ratio", "cost", "cost_ratio_to_all", "hit_ratio"] {
        assert!(value["policies"][0][key].is_number(), "{key}");
    }
    for key in ["written", "read", "uncached"] {
        assert!(value["policies"][0]["tokens"][key].is_u64(), "{key}");
    }
    report[0].source = "<b>&".into();
    let page = page(&report);
    assert!(page.contains("&lt;b&gt;&amp;") && !page.contains("<b>") && !page.contains("<script"));
    assert_eq!(page.matches("<rect ").count(), 2 * (1 + 3 + 1));
    assert_eq!(page.matches("<svg ").count(), page.matches("</svg>").count());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Replayed again, in another order, on more threads: the same figures.
    #[test]
    fn the_report_depends_on_the_conversations_alone(
        words in prop::collection::vec((prop::collection::vec(0_usize..8, 1..4), any::<bool>()), 2..5),
        turned in 0_usize..4,
    ) {
        let catalog = catalog();
        let conversations: Vec<_> = words.iter().enumerate().map(|(i, (words, with_results))| {
            let words: Vec<_> = words.iter().map(|word| WORDS[*word]).collect();
            conversation(&i.to_string(), &words, *with_results)
        }).collect();
        let mut trace = Trace::read("log", &conversations.join("\n"), &catalog).unwrap();
        let options = options(&[Delivery::PerTurn, Delivery::Append, Delivery::Auto]);
        let once = simulate(&catalog, &trace, &options, |_, _| {}).unwrap();
        prop_assert_eq!(&simulate(&catalog, &trace, &options, |_, _| {}).unwrap(), &once);
        let turned = turned % trace.conversations.len();
        trace.conversations.rotate_left(turned);
        let options = options.with_threads(NonZeroUsize::new(3).unwrap());
        prop_assert_eq!(&simulate(&catalog, &trace, &options, |_, _| {}).unwrap(), &once);
    }
}
