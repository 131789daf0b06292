//! `proem resources`, `proem read`, and what `proem plan` attaches.

#![allow(clippy::unwrap_used, reason = "a program that cannot be run fails the test")]

use std::collections::BTreeMap;

use serde_json::Value;

use crate::command_line::proem;

const NOW: [&str; 3] = ["--demo", "--now", "2026-11-30T00:00:00Z"];

fn run(args: &[&str]) -> Value {
    proem(&[args, &NOW, &["--json"]].concat()).json()
}

/// The reasons of those that are left out, by URI.
fn reasons(excluded: &Value) -> BTreeMap<&str, &str> {
    let excluded = excluded.as_array().unwrap().iter();
    excluded.map(|left_out| (left_out["uri"].as_str().unwrap(), left_out["reason"].as_str().unwrap())).collect()
}

fn uris(selected: &Value) -> Vec<&str> {
    selected.as_array().unwrap().iter().map(|resource| resource["uri"].as_str().unwrap()).collect()
}

#[test]
fn one_plan_shows_each_rule() {
    let request = "a customer wants a refund for a duplicate charge on ticket T-4812";
    let plan = run(&["plan", request]);
    let (attached, left_out) = (uris(&plan["resources"]), reasons(&plan["resources_excluded"]));
    // For people only, though their server calls them required or nearly so.
    for uri in ["people://onboarding/first-day", "support://onboarding/welcome"] {
        assert_eq!(left_out[uri], "audience: not for the assistant");
    }
    for uri in ["deploy://freeze", "config://team-settings"] {
        assert!(attached.contains(&uri), "required: {attached:?}");
    }
    assert!(attached.contains(&"support://policies/refunds/2026-09"));
    assert_eq!(left_out["support://policies/refunds/2024-05"], "outdated: support://policies/refunds/2026-09 is newer");
    assert!(left_out["wiki://kitchen-rules"].starts_with("relevance: 0."));
    let tokens: u64 = plan["resources"].as_array().unwrap().iter().map(|r| r["tokens"].as_u64().unwrap()).sum();
    assert!(tokens <= 1_000);
    let sections = plan["prefix"]["sections"].as_array().unwrap();
    let rendered = sections.iter().find(|section| section["name"] == "attachments").unwrap();
    assert!(rendered["tokens"].as_u64().unwrap() <= 1_100, "what is counted is what is rendered: {rendered}");

    // Where it does not fit, the run says so.
    let tight = run(&["plan", request, "--resources-budget", "120"]);
    let left_out = reasons(&tight["resources_excluded"]);
    assert!(left_out["config://team-settings"].starts_with("required, but does not fit: "), "{left_out:?}");
    assert!(uris(&tight["resources"]).contains(&"deploy://freeze"), "{tight}");
    assert_eq!(uris(&run(&["plan", request, "--resources-budget", "0"])["resources"]), [""; 0]);
}

#[test]
fn resources_are_listed_with_reasons_and_their_paths_are_stable() {
    let report = run(&["resources", "when is the next release?", "--budget", "500"]);
    assert_eq!(report["budget"], 500);
    let selected = report["selected"].as_array().unwrap();
    assert_eq!(selected.iter().map(|r| r["tokens"].as_u64().unwrap()).sum::<u64>(), report["tokens"].as_u64().unwrap());
    let calendar = selected.iter().find(|r| r["uri"] == "wiki://release-calendar/2026-11").unwrap();
    assert_eq!(calendar["server"], "wiki");
    assert!(calendar["value"].as_f64().unwrap() > 0.5);
    assert!(calendar["reason"].as_str().unwrap().starts_with("relevance 0."));
    assert!(reasons(&report["excluded"]).len() > 20);

    let shown = proem(&[&["resources", "when is the next release?"] as &[&str], &NOW].concat()).stdout;
    assert!(shown.contains("wiki://release-calendar/2026-11"), "{shown}");
    assert!(shown.contains("more, with reasons in --json"), "{shown}");
    // Without a request, by priority and age.
    let report = run(&["resources"]);
    assert!(report["selected"][2]["reason"].as_str().unwrap().starts_with("priority "), "{report}");
}

#[test]
fn picks_come_first_and_rules_hold_for_them_too() {
    let report =
        run(&["resources", "--resource", "wiki://handbook", "--resource", "people:people://onboarding/first-day"]);
    assert_eq!(report["selected"][0]["uri"], "wiki://handbook");
    assert!(report["selected"][0]["cut"].as_str().unwrap().contains("sections"), "{report}");
    assert_eq!(reasons(&report["excluded"])["people://onboarding/first-day"], "audience: not for the assistant");

    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.json");
    std::fs::write(
        &rules,
        r#"{"version": 1, "classes": [{"name": "house", "onlyProviders": ["anthropic"]}],
            "rules": [{"uri": "wiki://*", "classes": ["house"], "owner": "wiki team"}]}"#,
    )
    .unwrap();
    let rules = rules.to_str().unwrap();
    let with =
        |provider: &str| run(&["resources", "--resource", "wiki://glossary", "--rules", rules, "--provider", provider]);
    let report = with("anthropic");
    assert_eq!(
        (&report["selected"][0]["owner"], &report["selected"][0]["classes"][0]),
        (&"wiki team".into(), &"house".into())
    );
    let report = with("openai-chat");
    assert!(reasons(&report["excluded"])["wiki://glossary"].starts_with("rule: data class `house`"), "{report}");

    for (args, expected) in [
        (["--resource", "wiki://nothing"], "error: no server lists `wiki://nothing`"),
        (["--rules", "/nowhere/rules.json"], "error: /nowhere/rules.json: "),
    ] {
        let failed = proem(&[&["resources"] as &[&str], &args, &NOW].concat());
        assert_eq!((failed.code, failed.stdout.as_str()), (Some(1), ""));
        assert!(failed.stderr.contains(expected), "{}", failed.stderr);
    }
}

#[test]
fn what_is_read_is_printed_as_it_is() {
    let one = proem(&["read", "wiki://glossary", "--demo"]);
    assert_eq!(one.code, Some(0), "{}", one.stderr);
    assert!(one.stdout.starts_with("- **Blue runner**: a build machine\n"), "{}", one.stdout);
    let several = proem(&["read", "wiki:wiki://glossary", "asset://logo/round.png", "sprint://42", "--demo"]);
    assert_eq!(several.code, Some(0), "{}", several.stderr);
    assert!(
        several.stdout.contains("--- design-assets/asset://logo/round.png: image/png, about "),
        "{}",
        several.stdout
    );
    assert!(several.stdout.contains("--- sprint-board/sprint://42"), "an instance of a template: {}", several.stdout);

    let json = proem(&["read", "wiki://glossary", "--demo", "--json"]).json();
    assert_eq!((&json[0]["server"], &json[0]["uri"]), (&"wiki".into(), &"wiki://glossary".into()));
    assert!(json[0]["contents"][0]["text"].is_string());

    // One that is not there does not keep the others away.
    let failed = proem(&["read", "wiki:wiki://nothing", "wiki://glossary", "--demo"]);
    assert_eq!(failed.code, Some(1));
    assert!(failed.stdout.contains("Blue runner"), "{}", failed.stdout);
    assert!(failed.stderr.contains("error: 1 of 2 resources were not read"), "{}", failed.stderr);
}
