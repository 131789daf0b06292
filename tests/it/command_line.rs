//! The `proem` program: exit codes, what goes to which stream, and the paths of its JSON.

#![allow(clippy::unwrap_used, reason = "a program that cannot be run fails the test")]

use std::{
    fs,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::outside;

/// What a run of the program left behind.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn proem(args: &[&str]) -> Run {
    let output = command(args).output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Run {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proem"));
    command.args(args).env_remove("PROEM_LOG").stdin(Stdio::null());
    command
}

#[test]
fn what_is_done_exits_with_0_and_leaves_stderr_to_notes() {
    for args in [
        &["plan", "merge the release branch", "--demo"] as &[&str],
        &["plan", "merge the release branch", "--demo", "--json"],
        &["plan", "merge the release branch", "--demo", "--request"],
        &["search", "merge the release branch", "--demo"],
        &["search", "ship it", "--part", "merge the release branch", "--part", "mail the team", "--demo"],
        &["plan", "yes, do it", "--after", "merge the release branch", "--demo"],
        &["catalog", "--demo"],
        &["catalog", "--demo", "--outline"],
        &["search", "merge the release branch", "--demo", "--kind", "read", "--topic", "issue"],
        &["plan", "merge the release branch", "--demo", "--kind", "update"],
        &["--help"],
        &["prompts", "--demo"],
        &["prompts", "--demo", "--json"],
        &["prompt", "hand_over_shift", "--demo"],
        &["plan", "--help"],
        &["prompts", "--help"],
        &["prompt", "--help"],
        &["--version"],
    ] {
        let run = proem(args);
        assert_eq!(run.code, Some(0), "{args:?}: {}", run.stderr);
        assert!(run.stdout.ends_with('\n') && run.stdout.len() > 1, "{args:?}");
        assert!(run.stderr.lines().all(|line| line.starts_with("note: ")), "{args:?}: {}", run.stderr);
        assert!(!run.stdout.lines().any(|line| line.starts_with("note: ")), "{args:?}");
    }
}

#[test]
fn what_failed_exits_with_1_and_says_what_on_stderr_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let missing = folder.path().join("missing.json").to_str().unwrap().to_owned();
    let no_json = file("no.json", "mcpServers:");
    let no_servers = file("empty.json", r#"{"mcpServers": {}}"#);
    let dead = file("dead.json", r#"{"mcpServers": {"dead": {"command": "no-such-mcp-server"}}}"#);
    for (args, reason) in [
        (["--config", &missing], "missing.json: "),
        (["--catalog", &missing], "missing.json: "),
        (["--config", &no_json], "no.json: it is no JSON"),
        (["--catalog", &no_json], "no.json: it is no JSON"),
        (["--config", &no_servers], "no server to ask"),
        (["--config", &dead], "server `dead`: connect: not reachable: cannot start `no-such-mcp-server`"),
    ] {
        for command in [&["catalog"] as &[&str], &["plan", "merge"], &["search", "merge", "--json"]] {
            let run = proem(&[command, &args].concat());
            assert_eq!(run.code, Some(1), "{command:?} {args:?}");
            assert_eq!(run.stdout, "", "{command:?} {args:?}");
            assert!(run.stderr.contains(reason), "{command:?} {args:?}: {}", run.stderr);
            assert!(run.stderr.lines().last().unwrap().starts_with("error: "), "{}", run.stderr);
        }
    }
}

#[test]
fn one_server_that_fails_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("mcp.json");
    fs::write(&config, r#"{"mcpServers": {"dead": {"command": "no-such-mcp-server"}, "odd": {"cmd": "x"}}}"#).unwrap();
    let run = proem(&["plan", "merge the release branch", "--demo", "--config", config.to_str().unwrap(), "--json"]);
    let plan = run.json();
    assert!(run.stderr.contains("warning: server `dead`: connect: not reachable"), "{}", run.stderr);
    assert!(run.stderr.contains("warning: invalid server `odd`: it has neither `command` nor `url`"), "{}", run.stderr);
    assert_eq!(plan["catalog"]["failures"][0]["server"], "dead");
    assert!(plan["selection"]["tools"][0]["name"].is_string(), "the others are there");
}

#[test]
fn bad_usage_exits_with_2() {
    for args in [
        &[] as &[&str],
        &["plan"],
        &["plan", "merge"],
        &["plan", "--demo"],
        &["plan", "merge", "--demo", "--no-such-option"],
        &["plan", "merge", "--demo", "--json", "--request"],
        &["plan", "merge", "--demo", "--tools-budget", "many"],
        &["plan", "merge", "--demo", "--provider", "nobody"],
        &["plan", "merge", "--demo", "--now", "yesterday"],
        &["search", "merge", "--demo", "--deny", "/"],
        &["search", "merge", "--demo", "--kind", "reed"],
        &["search", "merge", "--demo", "--embedder", "minilm"],
        &["search", "merge", "--demo", "--embedder", "local:"],
        &["search", "merge", "--demo", "--dense-weight", "2"],
        &["catalog", "--demo", "--timeout", "0"],
        &["catalog", "--demo", "--tokens", "100"],
        &["catalog", "--demo", "--outline", "--json"],
        &["no-such-command"],
    ] {
        let run = proem(args);
        assert_eq!(run.code, Some(2), "{args:?}");
        assert_eq!(run.stdout, "", "{args:?}");
        assert!(run.stderr.contains("Usage:") || run.stderr.contains("--help"), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn a_request_that_needs_no_tool_gets_none_unless_asked_for() {
    let small_talk = ["plan", "hello, how are you?", "--demo"];
    let run = proem(&small_talk);
    assert!(run.stdout.contains("no tool fits this request: ") && run.stdout.contains("--min-confidence 0"));
    let plan = proem(&[&small_talk[..], &["--json"]].concat()).json();
    assert_eq!(plan["selection"]["tools"], json!([]));
    assert!(plan["selection"]["confidence"].as_f64().unwrap() < 0.2);
    let plan = proem(&[&small_talk[..], &["--json", "--min-confidence", "0"]].concat()).json();
    assert!(!plan["selection"]["tools"].as_array().unwrap().is_empty());
}

#[test]
fn a_retriever_and_an_embedder_may_be_chosen() {
    let channels = |args: &[&str]| {
        let hits = proem(&[&["search", "merge the release branch", "--demo", "--json"], args].concat()).json();
        let channels = hits[0]["channels"].as_object().unwrap();
        channels.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(channels(&[]), "dense lexical");
    assert_eq!(channels(&["--retriever", "hybrid", "--server-weight", "0.1"]), "dense lexical server");
    assert_eq!(channels(&["--retriever", "lexical"]), "");
    let run = proem(&["search", "merge", "--demo", "--embedder", "local:no-such-folder"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    let reason = if cfg!(feature = "fastembed") { "no-such-folder" } else { "without the feature `fastembed`" };
    assert!(run.stderr.contains(reason), "{}", run.stderr);
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let mut child =
        command(&["catalog", "--demo", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("error") && !stderr.contains("panicked"), "{stderr}");
}

#[test]
fn the_paths_of_a_plan_are_stable() {
    let plan = proem(&["plan", "merge the release branch", "--demo", "--json", "--now", "2026-11-30T00:00:00Z"]).json();
    let kinds = json!({
        "query": "string",
        "catalog": {
            "digest": "string", "servers": "number", "tools": "number", "resources": "number", "prompts": "number",
            "tool_tokens": "number", "failures": [], "findings": []
        },
        "selection": {
            "tools": [{
                "server": "string", "name": "string", "exposed": "string", "tokens": "number", "score": "number",
                "rank": "number", "form": "string", "reason": "string"
            }],
            "excluded": [{"server": "string", "name": "string", "reason": "string"}],
            "tokens": "number", "confidence": "number"
        },
        "instructions": [{"server": "string", "tokens": "number", "given": "boolean"}],
        "resources": [{
            "server": "string", "uri": "string", "tokens": "number", "value": "number", "reason": "string",
            "digest": "string"
        }],
        "resources_excluded": [{"server": "string", "uri": "string", "reason": "string"}],
        "tokens": {
            "catalog": "number", "selected": "number", "saved_ratio": "number", "counter": "string",
            "estimated": "boolean"
        },
        "prefix": {
            "digest": "string",
            "sections": [{"name": "string", "digest": "string", "bytes": "number", "tokens": "number"}]
        },
        "timings_us": {"index": "number", "search": "number", "select": "number", "render": "number", "total": "number"}
    });
    let mut missing = Vec::new();
    differences(&kinds, &plan, "", &mut missing);
    assert!(missing.is_empty(), "{missing:#?}");
    assert_eq!(plan["query"], "merge the release branch");
    assert_eq!(plan["tokens"]["catalog"], plan["catalog"]["tool_tokens"]);
    assert_eq!(plan["tokens"]["selected"], plan["selection"]["tokens"]);
}

#[test]
fn the_paths_of_a_search_and_of_a_catalog_are_stable() {
    let hits = proem(&["search", "merge the release branch", "--demo", "--json", "--top", "3"]).json();
    let kinds = json!([{
        "server": "string", "name": "string", "score": "number", "rank": "number", "tier": "string", "fields": {},
        "channels": {"lexical": "number", "dense": "number"}
    }]);
    let mut missing = Vec::new();
    differences(&kinds, &hits, "", &mut missing);
    assert_eq!(hits.as_array().unwrap().len(), 3);
    assert_eq!(hits[0]["rank"], 1);
    assert!(hits[0]["fields"].as_object().unwrap().values().all(Value::is_number));

    let catalog = proem(&["catalog", "--demo", "--json"]).json();
    let kinds = json!({
        "digest": "string", "tool_tokens": "number", "findings": [],
        "facets": [{"server": "string", "topic": "string", "kind": "string", "tools": "number"}],
        "servers": [{
            "server": "string", "digest": "string", "protocol": "string",
            "tools": [{
                "exposed": "string", "digest": "string", "kind": "string", "topic": "string",
                "definition": {"name": "string"}
            }],
            "resources": [], "resource_templates": [], "prompts": []
        }]
    });
    differences(&kinds, &catalog, "", &mut missing);
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn an_outline_keeps_to_its_tokens() {
    let outline = |tokens: &str| proem(&["catalog", "--demo", "--outline", "--tokens", tokens]);
    let (large, small) = (outline("400"), outline("40"));
    assert!(large.stdout.contains("Topics:\n- ") && large.stdout.contains(": read "), "{}", large.stdout);
    assert!(small.stdout.len() < large.stdout.len());
    let counter = proem::tokens::Tiktoken::default();
    assert!(proem::tokens::TokenCounter::count(&counter, small.stdout.trim_end()) <= 40, "{}", small.stdout);
    let none = outline("1");
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""));
    assert!(none.stderr.contains("error: 1 tokens are too few for any outline"), "{}", none.stderr);
}

#[test]
fn a_search_asks_for_kinds_and_topics_and_tells_what_was_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let topics = folder.path().join("topics.json");
    fs::write(&topics, r#"{"version": 1, "nodes": [{"label": "lists", "tools": ["*/*list*"]}]}"#).unwrap();
    let run = |more: &[&str]| {
        proem(&[&["search", "list branches", "--demo", "--json", "--topics", topics.to_str().unwrap()], more].concat())
    };
    let lists = run(&["--topic", "lists"]);
    let hits = lists.json();
    assert!(!hits.as_array().unwrap().is_empty());
    assert!(hits.as_array().unwrap().iter().all(|hit| hit["name"].as_str().unwrap().contains("list")), "{hits}");
    assert!(lists.stderr.contains("note: topic lists: "), "{}", lists.stderr);
    let unknown = run(&["--topic", "cakes"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(1), ""));
    assert!(unknown.stderr.contains("error: no topic `cakes` in this catalog: lists\n"), "{}", unknown.stderr);
    fs::write(&topics, "{").unwrap();
    let broken = run(&["--kind", "read"]);
    assert!(broken.code == Some(1) && broken.stderr.contains("topics.json: it is no JSON"), "{}", broken.stderr);
}

#[test]
fn parts_and_turns_say_what_brought_a_hit() {
    let origins = |args: &[&str]| {
        let run = proem(&[&["search", "--demo", "--json", "--top", "4"], args].concat()).json();
        let origins = run.as_array().unwrap().iter().map(|hit| hit["origin"].as_str().map(str::to_owned));
        origins.collect::<Vec<_>>()
    };
    let told = |origins: &[&str]| origins.iter().map(|origin| Some((*origin).to_owned())).collect::<Vec<_>>();
    let parts = origins(&["", "--part", "merge the release branch", "--part", "mail the team"]);
    assert_eq!(parts, told(&["sub-query 1", "sub-query 2", "sub-query 1", "sub-query 2"]));
    assert_eq!(origins(&["yes, do it", "--after", "merge the release branch"]), told(&["the turn before"; 4]));
    assert_eq!(origins(&["merge the release branch", "--after", "mail the team"]), [None, None, None, None]);
}

#[cfg(feature = "eval")]
#[test]
fn an_evaluation_tells_all_figures() {
    let folder = tempfile::tempdir().unwrap();
    let set = |name: &str, queries: &str| {
        let folder = folder.path().join(name);
        fs::create_dir(&folder).unwrap();
        let tools = ["merge", "rebase"]
            .map(|name| json!({"server": "git", "name": name, "description": name, "inputSchema": {}}).to_string());
        fs::write(folder.join("tools.jsonl"), tools.join("\n")).unwrap();
        fs::write(folder.join("queries.jsonl"), queries).unwrap();
    };
    let gold = r#""gold": [["git", "merge"], ["git", "rebase"]]"#;
    set(
        "with",
        &format!(
            r#"{{"id": 1, "query": "x", {gold}, "split": "a", "steps": ["merge", "rebase"]}}
        {{"id": 2, "query": "hello", "gold": [], "split": "b"}}"#
        ),
    );
    set("without", &format!(r#"{{"id": 1, "query": "merge", {gold}}}"#));
    let data = folder.path().to_str().unwrap();
    let run = proem(&["eval", "--data", data, "--queries", "steps", "--json"]);
    assert!(run.stderr.contains("note: without is left out: none of its queries has steps"), "{}", run.stderr);
    let kinds = json!({
        "set": "string", "retriever": "string", "embedder": "string", "tools": "number", "queries": "number", "without_gold": "number",
        "recall@1": "number", "recall@3": "number", "recall@5": "number", "recall@10": "number", "ndcg@5": "number",
        "ndcg@10": "number", "completeness@10": "number", "mrr": "number", "no_tool_auroc": "number",
        "no_tool_auroc_score": "number", "ci95": {"recall@10": ["number"], "mrr": ["number"]},
        "latency_us": {"p50": "number", "p95": "number", "p99": "number"}, "index_ms": "number",
        "tokens": {"catalog": "number", "selected_mean": "number", "saved_ratio": "number", "counter": "string"},
        "cut_off": {"min_confidence": "number", "no_tool_empty": "number", "fitting_lost": "number"},
        "corpus_digest": "string",
        "config": {"version": "string", "retriever": "string", "k": "number", "queries": "string", "split": "null", "sample": "null",
            "bootstrap_seed": "number", "bootstrap_samples": "number"}
    });
    let row = run.json();
    let mut missing = Vec::new();
    differences(&kinds, &row, "", &mut missing);
    assert!(missing.is_empty(), "{missing:#?}");
    assert_eq!((&row["recall@10"], &row["ci95"]["recall@1"]), (&json!(100.0), &json!([50.0, 50.0])));
    assert_eq!(row["config"]["queries"], "steps");
    let run = proem(&["eval", "--data", data, "--split", "c"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.contains("note: with is left out: it has no split `c`: a, b"), "{}", run.stderr);
    let table = proem(&["eval", "--data", data]);
    assert_eq!((table.code, table.stdout.lines().count()), (Some(0), 3), "{}", table.stdout);
}

#[test]
fn a_request_is_a_body_and_nothing_else() {
    for (provider, tools, text) in [
        ("anthropic", "/tools/0/input_schema", "/messages"),
        ("openai-responses", "/tools/0/parameters", "/input"),
        ("openai-chat", "/tools/0/function/parameters", "/messages"),
        ("gemini", "/tools/0/functionDeclarations/0/parameters", "/contents"),
        ("bedrock", "/toolConfig/tools/0/toolSpec/inputSchema/json", "/messages"),
    ] {
        let args = ["plan", "merge the release branch", "--demo", "--request", "--provider", provider];
        let args = [&args[..], &["--model", "some-model", "--now", "2026-11-30T00:00:00Z"]].concat();
        let run = proem(&args);
        let body = run.json();
        // Google's and Amazon's URLs name the model.
        let in_url = ["gemini", "bedrock"].contains(&provider);
        assert_eq!(body["model"], if in_url { Value::Null } else { "some-model".into() }, "{provider}");
        assert!(body.pointer(tools).is_some_and(Value::is_object), "{provider}");
        assert!(body.pointer(text).is_some_and(|text| text.to_string().contains("merge the release branch")));
        assert_eq!(proem(&args).stdout, run.stdout, "{provider}: same input, same bytes");
    }
}

#[test]
fn captures_are_planned_without_a_network() {
    let Some(folder) = outside::shared("real-servers") else { return };
    let query = "open a merge request in gitlab from my branch";
    let plan = proem(&["plan", query, "--catalog", folder.to_str().unwrap(), "--json"]).json();
    assert_eq!((&plan["catalog"]["servers"], &plan["catalog"]["tools"]), (&json!(22), &json!(989)));
    assert_eq!(plan["selection"]["tools"][0]["name"], "create_merge_request");
    assert!(plan["tokens"]["saved_ratio"].as_f64().unwrap() >= 0.97);
}

/// Where `value` lacks a path of `kinds`, or holds another kind there. More paths are no difference.
fn differences(kinds: &Value, value: &Value, path: &str, out: &mut Vec<String>) {
    match (kinds, value) {
        (Value::Object(fields), Value::Object(values)) => {
            for (name, kind) in fields {
                match values.get(name) {
                    Some(value) => differences(kind, value, &format!("{path}/{name}"), out),
                    None => out.push(format!("{path}/{name} is missing")),
                }
            }
        }
        (Value::Array(kinds), Value::Array(values)) => {
            let Some(kind) = kinds.first() else { return };
            if values.is_empty() {
                out.push(format!("{path} is empty"));
            }
            for (i, value) in values.iter().enumerate() {
                differences(kind, value, &format!("{path}/{i}"), out);
            }
        }
        (Value::String(kind), value) => {
            let is = match value {
                Value::String(_) => "string",
                Value::Number(_) => "number",
                Value::Bool(_) => "boolean",
                Value::Null => "null",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            if kind != is {
                out.push(format!("{path} is {is}, not {kind}"));
            }
        }
        _ => out.push(format!("{path} is of another kind")),
    }
}

#[test]
fn the_readme_shows_what_a_run_prints() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let shown = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let query = readme.split("-- plan \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    // The day on which the README's resources were as old as it says.
    let now = "2026-11-30T00:00:00Z";
    let run = proem(&["plan", query, "--demo", "--now", now]);
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with(" time")).map(str::to_owned).collect()
    };
    assert_eq!(lines(&run.stdout), lines(shown));
    assert!(readme.lines().count() <= 150);
}
