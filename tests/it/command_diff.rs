//! `proem diff`: why a cache would miss between two saved requests.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command_line::proem;

fn request() -> Value {
    let tool = |name: &str, text: &str| json!({"name": name, "description": text, "input_schema": {"type": "object"}});
    json!({
        "model": "claude-opus-5", "max_tokens": 1_000,
        "tools": [tool("log", "List commits, newest first"), tool("merge", "Merge a branch into another one")],
        "system": [{"type": "text", "text": "You help a small team with its releases.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "What is new on the release branch?"}],
    })
}

struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        files.write("a", &request());
        files
    }

    fn write(&self, name: &str, body: &Value) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, body.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }
}

#[test]
fn one_turn_more_extends() {
    let files = Files::new();
    let mut next = request();
    let said =
        [json!({"role": "assistant", "content": "Three commits."}), json!({"role": "user", "content": "Merge."})];
    next["messages"].as_array_mut().unwrap().extend(said);
    let run = proem(&["diff", &files.path("a"), &files.write("b", &next), "--exit-code"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(run.stdout, @r"
    the new request extends the old one: the cache holds, 24 bytes follow
     kept    4 of 4 segments, 265 bytes, 229 of them up to a cache mark of the old request
     tokens  about 60 kept, 7 written anew (tiktoken/o200k_base)
    ");
    let run = proem(&["diff", &files.path("a"), &files.path("a")]);
    assert!(run.stdout.starts_with("the same to a cache: all of it holds\n"), "{}", run.stdout);
}

#[test]
fn a_miss_says_from_where_on_and_why() {
    let files = Files::new();
    let mut next = request();
    next["tools"][1]["description"] = json!("Merge a branch into the current one");
    next["tools"].as_array_mut().unwrap().push(json!({"name": "graph", "input_schema": {}}));
    next["system"][0]["text"] = json!("You help a small team with its release of Friday.");
    let b = files.write("b", &next);
    let run = proem(&["diff", &files.path("a"), &b]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(run.stdout, @r#"
    the cache misses from tools[1] (merge) on: its description changed; 222 of 312 bytes are written anew
     kept    1 of 4 segments, 90 bytes, 0 of them up to a cache mark of the old request
     parts   at byte 126 of the prefix; tools[1] of the old request, at byte 369; tools[1] of the new request, at byte 378
             /description
             - "Merge a branch into another one"
             + "Merge a branch into the current one"
     also    tools[2] (graph): it is new
     also    system[0]: it says something else
             - …"ll team with its releases."
             + …"ll team with its release of Friday."
     tokens  about 21 kept, 52 written anew (tiktoken/o200k_base)
    "#);
    assert_eq!(proem(&["diff", &files.path("a"), &b, "--exit-code"]).code, Some(3));

    let diff = proem(&["diff", &files.path("a"), &b, "--json"]).json();
    assert_eq!((&diff["extends"], &diff["first"]["kind"]), (&json!(false), &json!("changed")));
    assert_eq!(diff["first"]["fields"][0]["pointer"], "/description");
    assert_eq!(diff["first"]["old"]["path"], "tools[1]");
    assert_eq!(diff["others"].as_array().unwrap().len(), 2);
    // The bytes are those of the files.
    let rest = |file: &str, request: &str| {
        let at = diff["first"][request]["byte"].as_u64().unwrap();
        fs::read_to_string(file).unwrap()[usize::try_from(at).unwrap()..].to_owned()
    };
    assert!(rest(&files.path("a"), "old").starts_with("another one"), "{diff}");
    assert!(rest(&b, "new").starts_with("the current one"), "{diff}");
    assert_eq!(diff["tokens"]["estimated"], true);
    assert!(diff["tokens"]["written"].as_u64() > diff["tokens"]["kept"].as_u64());
    assert_eq!(diff["kept"]["segments"], 1);
}

#[test]
fn a_setting_and_another_api_are_causes_too() {
    let files = Files::new();
    let mut next = request();
    next["model"] = json!("claude-sonnet-5");
    let run = proem(&["diff", &files.path("a"), &files.write("b", &next)]);
    insta::assert_snapshot!(run.stdout, @r#"
    the cache misses from tools on, by the setting `model`: it changed; 265 of 265 bytes are written anew
     kept    0 of 4 segments, 0 bytes
             - "claude-opus-5"
             + "claude-sonnet-5"
     tokens  about 0 kept, 60 written anew (tiktoken/o200k_base)
    "#);
    let chat = json!({"messages": [{"role": "system", "content": "x"}]});
    let run = proem(&["diff", &files.path("a"), &files.write("c", &chat)]);
    insta::assert_snapshot!(run.stdout.lines().next().unwrap(), @"no cache holds both: the requests are written for different APIs, anthropic and openai-chat");
}

#[test]
fn what_messages_say_can_be_left_out() {
    let files = Files::new();
    let mut next = request();
    next["messages"][0]["content"] = json!("What is new on the \u{202e}secret branch?");
    let b = files.write("b", &next);
    let whole = proem(&["diff", &files.path("a"), &b]).stdout;
    assert!(whole.contains("\\u{202e}secret branch") && !whole.contains('\u{202e}'), "{whole}");
    let run = proem(&["diff", &files.path("a"), &b, "--without-text"]);
    assert!(run.stdout.contains("and 1 more, not shown") && !run.stdout.contains("branch"), "{}", run.stdout);
}

#[test]
fn requests_come_from_logs_and_from_stdin() {
    let files = Files::new();
    let logged = files.write("b", &json!({"url": "https://api.example", "request": request()}));
    let mut child = Command::new(env!("CARGO_BIN_EXE_proem"))
        .args(["diff", "-", &logged])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(request().to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"the same to a cache"));
}

#[test]
fn what_cannot_be_compared_says_why() {
    let files = Files::new();
    let (a, missing) = (files.path("a"), files.path("missing"));
    let other = files.write("b", &json!({"prompt": "Hi"}));
    for (b, reason) in
        [(&missing, "missing: "), (&other, "b: invalid request body: it has none of the keys `messages`")]
    {
        let run = proem(&["diff", &a, b, "--exit-code"]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(reason), "{}", run.stderr);
    }
    for args in [&["diff"] as &[&str], &["diff", &a], &["diff", "-", "-"]] {
        assert_eq!(proem(args).code, Some(2), "{args:?}");
    }
}
