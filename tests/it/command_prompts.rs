//! `proem prompts` and `proem prompt`: commands listed and invoked.

use std::fs;

use serde_json::{Value, json};

use crate::command_line::proem;

#[test]
fn prompts_are_listed_as_commands() {
    let run = proem(&["prompts", "--demo"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let line = run.stdout.lines().find(|line| line.contains("/draft_refund_review")).unwrap();
    for part in ["Review a refund", "ticket_id [tone]", "support"] {
        assert!(line.contains(part), "{line}");
    }
    let all = proem(&["prompts", "--demo", "--json"]).json();
    let all = all.as_array().unwrap();
    assert!(all.len() > 5 && run.stdout.contains(&format!("{0} of {0} prompts", all.len())));
    for prompt in all {
        assert!(prompt["command"].as_str().unwrap().starts_with('/') && prompt["digest"].is_string());
        assert_eq!(prompt["name"], prompt["definition"]["name"]);
    }
    let found = proem(&["prompts", "refund", "--demo", "--json"]).json();
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(found[0]["command"], "/draft_refund_review");
}

#[test]
fn a_prompt_is_invoked_by_each_of_its_names() {
    let invoked = |args: &[&str]| -> Value { proem(&[&["prompt"], args, &["--demo", "--json"]].concat()).json() };
    let one = invoked(&["draft_refund_review", "T-4711", "warm"]);
    for args in [
        &["/draft_refund_review", "T-4711", "tone=warm"] as &[&str],
        &["support:draft_refund_review", "tone=warm", "ticket_id=T-4711"],
        &["/support:draft_refund_review", "T-4711", "warm"],
        &["/draft_refund_review T-4711 'warm'"],
    ] {
        assert_eq!(invoked(args), one, "{args:?}");
    }
    assert_eq!((&one["server"], &one["name"]), (&json!("support"), &json!("draft_refund_review")));
    assert_eq!((&one["left_out"], &one["notes"]), (&json!([]), &json!([])));
    assert!(one["tokens"].as_u64().unwrap() > 100 && one["digest"].as_str().unwrap().len() == 64);
    let messages = one["messages"].as_array().unwrap();
    assert!(messages[0]["content"][0]["text"].as_str().unwrap().starts_with("<attachment server=\"support\""));
    assert!(one["messages"].to_string().contains("T-4711"));
}

#[test]
fn messages_are_shown_for_people_and_as_a_request() {
    let prompt = ["prompt", "draft_refund_review", "T-4711", "--demo"];
    let run = proem(&prompt);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for part in
        [" support/draft_refund_review: ", "\n user\n", "   <attachment server=", "\n tokens  about ", "\n digest  "]
    {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    for (provider, field) in [
        ("anthropic", "messages"),
        ("openai-responses", "input"),
        ("openai-chat", "messages"),
        ("gemini", "contents"),
        ("bedrock", "messages"),
    ] {
        let run = proem(&[&prompt[..], &["--request", "--provider", provider, "--model", "some-model"]].concat());
        let request = run.json();
        // Google's and Amazon's URLs name the model.
        let in_url = ["gemini", "bedrock"].contains(&provider);
        assert_eq!(request["model"], if in_url { Value::Null } else { "some-model".into() }, "{provider}");
        assert!(request[field].to_string().contains("T-4711") && request.get("tools").is_none(), "{provider}");
    }
    let run = proem(&[&prompt[..], &["--budget", "10"]].concat());
    assert!(run.stdout.contains("[resource support://policies/refunds/2026-09 on server support"), "{}", run.stdout);
    assert!(run.stdout.contains("\n link    support/support://policies/refunds/2026-09\n"), "{}", run.stdout);
    assert!(run.stdout.contains(" left out: message 1, resource support/support://policies/"), "{}", run.stdout);
}

#[test]
fn what_cannot_be_invoked_says_why() {
    for (args, reason) in [
        (&["prompt", "draft_refund_reveiw", "T-1"] as &[&str], "; there is /draft_refund_review"),
        (
            &["prompt", "draft_refund_review"],
            "invalid arguments of prompt draft_refund_review: `ticket_id` is required",
        ),
        (&["prompt", "draft_refund_review", "T-1", "tnoe=warm"], "`tnoe` is not one of its arguments; there is tone"),
        (&["prompt", "hand_over_shift", "now"], "it has none that could take `now`"),
        (&["prompt", "/draft_refund_review 'T-1 warm"], "a quote is not closed"),
    ] {
        let run = proem(&[args, &["--demo"]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{args:?}");
        assert!(run.stderr.contains(reason), "{args:?}: {}", run.stderr);
    }
    for args in [&["prompt", "--demo"] as &[&str], &["prompts"], &["prompt", "x", "--demo", "--json", "--request"]] {
        assert_eq!(proem(args).code, Some(2), "{args:?}");
    }
}

#[test]
fn hostile_names_are_listed_harmlessly() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("desk.json");
    let prompts = json!([
        {"name": "a\u{1b}[31m\u{202e}b", "title": "x\u{1b}]0;owned\u{7}\ny", "arguments": [{"name": "c\u{200f}\u{1b}d"}]},
        {"name": "it's \"two\" words"},
    ]);
    let text = json!({"server": "desk", "prompts": prompts}).to_string();
    fs::write(&capture, text).unwrap();
    let path = capture.to_str().unwrap();
    let run = proem(&["prompts", "--catalog", path]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout.contains(r"/$'a\u001b[31m\u202eb'") && run.stdout.contains(r#"/$'it\'s "two" words'"#),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}' || c == '\u{200f}'));
}
