//! `proem simulate`: a trace of the demo servers replayed, as a table, as JSON, as a page.

use std::fs;

use serde_json::Value;

use crate::command_line::proem;

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/trace.jsonl");

fn simulated(args: &[&str]) -> crate::command_line::Run {
    proem(&[&["simulate", "--trace", TRACE, "--demo"], args].concat())
}

#[test]
fn a_trace_is_shown_as_a_table_with_a_chart() {
    let run = simulated(&["--policy", "per-turn", "--policy", "frozen", "--policy", "auto"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("note: trace.jsonl: read as turns: 5 conversations"), "{}", run.stderr);
    insta::assert_snapshot!(run.stdout, @r"
    trace.jsonl: 5 conversations, 23 turns, anthropic/claude-sonnet-4-6

     policy    as        prefix changed  offered  written  read     uncached  hits    cost $  of all  tools/turn  rejected
     per_turn            100.0 %         95.8 %   85,000   77,745   313       47.7 %  0.3430  -       2980        -
     frozen              0.0 %           54.2 %   26,300   98,645   655       78.5 %  0.1302  -       3001        -
     auto      deferred  0.0 %           95.8 %   38,077   154,526  0         80.2 %  0.1891  -       2314        -

    per_turn  ████████████████████████████████████████████████████████████ $0.3430
    frozen    ██████████████████████▉ $0.1302
    auto      █████████████████████████████████▏ $0.1891
    ");
}

#[test]
fn every_price_sheet_is_a_line_of_json() {
    let sheets = ["--prices", "openai/gpt-5.4", "--prices", "gemini/gemini-2.5-flash"];
    let run = simulated(&[&sheets as &[&str], &["--policy", "bridge", "--json"]].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let reports: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named: Vec<_> = reports.iter().map(|report| report["price_sheet"].as_str().unwrap()).collect();
    assert_eq!(named, ["openai/gpt-5.4", "gemini/gemini-2.5-flash"]);
    for report in &reports {
        assert_eq!((&report["source"], &report["conversations"]), (&"trace.jsonl".into(), &5.into()));
        let row = &report["policies"][0];
        assert_eq!((&row["policy"], &row["prefix_changed_ratio"]), (&"bridge".into(), &0.0.into()));
        assert!(row["cost_with_output"].as_f64() > row["cost"].as_f64(), "all answers are in the trace: {row}");
        assert!(row["cost_ratio_to_all"].is_null(), "that policy was not asked for");
    }
    assert_eq!(reports[1]["policies"][0]["provider"], "gemini");
}

#[test]
fn own_prices_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (prices, html) = (path("prices.json"), path("costs.html"));
    let sheet = r#"{"provider": "own", "model": "m", "as_of": "2026-10-24", "sources": ["a bill"],
        "prices": {"input": 1, "read": 0, "output": 0},
        "cache": {"minimum": 1024, "kept": "all", "ttl_seconds": 300, "refreshed": true}}"#;
    fs::write(&prices, sheet).unwrap();
    let run = simulated(&["--prices", &prices, "--policy", "frozen", "--html", &html, "--json"]);
    let row = &run.json()["policies"][0];
    // What is read is free, and what is written costs what input does.
    let uncached = row["tokens"]["uncached"].as_f64().unwrap();
    assert!((row["cost"].as_f64().unwrap() - uncached / 1e6).abs() < 1e-6, "{row}");
    assert_eq!((&row["provider"], &row["cost"]), (&"openai-chat".into(), &row["cost_with_output"]));
    let page = fs::read_to_string(html).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("own/m") && page.contains("<svg "));
}

#[test]
fn what_is_missing_is_told() {
    for (args, code, reason) in [
        (vec!["simulate"], 2, "--data <DIR>|--trace <FILE>"),
        (vec!["simulate", "--trace", TRACE], 2, "required"),
        (vec!["simulate", "--data", "x", "--demo"], 2, "cannot be used with"),
        (vec!["simulate", "--trace", TRACE, "--demo", "--policy", "some"], 2, "known are per_turn, all"),
        (vec!["simulate", "--trace", TRACE, "--demo", "--prices", "a/b"], 1, "none that ships is called `a/b`"),
        (vec!["simulate", "--trace", "no.jsonl", "--demo"], 1, "no.jsonl: "),
        (vec!["simulate", "--data", "no-such-folder"], 1, "no-such-folder: "),
    ] {
        let run = proem(&args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(code), ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(reason), "{args:?}: {}", run.stderr);
    }
}
