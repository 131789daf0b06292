//! What each way of delivering tools costs and offers on LiveMCPBench, its steps as turns: exact
//! figures, and the bounds that `docs/sessions.md` states.

use proem::{
    cost::PriceSheet,
    eval::{PolicyRow, QueryForm, SimulationOptions, SimulationReport, TokenSums, simulate},
    session::Delivery,
};

use crate::eval::set;

fn row(report: &SimulationReport, policy: Delivery) -> &PolicyRow {
    report.policy(policy).unwrap()
}

/// Prefix changed, needed tools offered, tokens written, read and uncached, cost.
fn shown(report: &SimulationReport) -> String {
    let line = |row: &PolicyRow| {
        let TokenSums { written, read, uncached, .. } = row.tokens;
        let shares = format!("{:.4} {:.4}", row.prefix_changed_ratio, row.tools_offered_ratio);
        format!("{}: {shares} | {written} {read} {uncached} | {:.4}", row.policy, row.cost)
    };
    report.policies.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn livemcpbench_at_prices_of_five_minutes() {
    let Some(set) = set("livemcpbench") else { return };
    let policies = [Delivery::All, Delivery::PerTurn, Delivery::Deferred, Delivery::Bridge, Delivery::Auto];
    let options = SimulationOptions::new().with_policies(policies);
    let report = &simulate(&set.catalog, &set.trace(QueryForm::Steps), &options, |_, _| {}).unwrap()[0];
    assert_eq!((report.conversations, report.turns), (94, 267));
    for policy in [Delivery::Deferred, Delivery::Bridge] {
        let row = row(report, policy);
        assert_eq!(row.prefix_changed_ratio, 0.0, "{policy}");
        assert!(row.tools_offered_ratio >= 0.68, "{policy}: {}", row.tools_offered_ratio);
    }
    let (auto, per_turn) = (row(report, Delivery::Auto), row(report, Delivery::PerTurn));
    assert_eq!((auto.prefix_changed_ratio, per_turn.prefix_changed_ratio), (0.0, 1.0));
    assert!(auto.cost_ratio_to_all.unwrap() <= 0.06, "{:?}", auto.cost_ratio_to_all);
    assert!(auto.cost <= 0.6 * per_turn.cost, "{} of {}", auto.cost, per_turn.cost);
    insta::assert_snapshot!(shown(report), @r"
    all: 0.0000 1.0000 | 7852985 14444639 0 | 33.7821
    per_turn: 1.0000 0.7953 | 770253 0 4235 | 2.9012
    deferred: 0.0000 0.7047 | 337328 469178 0 | 1.4057
    bridge: 0.0000 0.7047 | 347083 485929 0 | 1.4473
    auto: 0.0000 0.7047 | 337328 469178 0 | 1.4057
    ");
}

/// Every fourth or so of the tasks: wherever a provider takes tools later, nothing before them changes.
#[test]
fn livemcpbench_with_every_provider() {
    let Some(set) = set("livemcpbench") else { return };
    let set = set.sampled(4);
    let sheets = ["openai/gpt-5.4", "openai/gpt-5.6-sol", "gemini/gemini-2.5-flash", "bedrock/amazon.nova-pro"];
    let options = SimulationOptions::new()
        .with_policies([Delivery::PerTurn, Delivery::Deferred, Delivery::Bridge])
        .with_sheets(sheets.map(|name| PriceSheet::named(name).unwrap().clone()));
    for report in simulate(&set.catalog, &set.trace(QueryForm::Steps), &options, |_, _| {}).unwrap() {
        let per_turn = row(&report, Delivery::PerTurn);
        for policy in [Delivery::Deferred, Delivery::Bridge] {
            let row = row(&report, policy);
            assert_eq!((row.prefix_changed_ratio, row.rejected), (0.0, 0), "{} {policy}", report.price_sheet);
            assert!(row.cost < 0.75 * per_turn.cost, "{} {policy}: {}", report.price_sheet, row.cost);
            assert!(row.hit_ratio > per_turn.hit_ratio + 0.3, "{} {policy}", report.price_sheet);
        }
    }
}
