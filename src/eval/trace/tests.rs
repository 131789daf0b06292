use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{id::ServerId, protocol::Tool};

fn catalog() -> Catalog {
    let tools = [("on-call", "get_shift"), ("on-call", "page"), ("wiki", "search"), ("mail", "search")];
    tools
        .into_iter()
        .fold(Catalog::builder(), |catalog, (server, name)| {
            catalog.tool(ServerId::new(server).unwrap(), Tool::new(name, "Does it"))
        })
        .build()
}

#[track_caller]
fn read(text: &str) -> Trace {
    Trace::read("log", text, &catalog()).unwrap()
}

/// Who is asked what, what is called with what result, round by round, and what is answered.
fn shown(trace: &Trace) -> Vec<String> {
    let turns = trace.conversations.iter().flat_map(|c| c.turns.iter().map(|turn| (c.id.as_str(), turn)));
    turns
        .map(|(id, turn)| {
            let call = |call: &TraceCall| format!("{}={}", call.tool, call.result.as_deref().unwrap_or("?"));
            let round = |calls: &Vec<TraceCall>| calls.iter().map(call).collect::<Vec<_>>().join(" ");
            let rounds = turn.rounds.iter().map(round).collect::<Vec<_>>().join("; ");
            let time = turn.time.map_or("-".to_owned(), |time| time.to_string());
            format!("{id} {time} {} [{rounds}] {}", turn.text, turn.answer.as_deref().unwrap_or("-"))
        })
        .collect()
}

#[test]
fn turns_are_read_line_by_line() {
    let trace = read(concat!(
        r#"{"conversation": "a", "time": "2026-05-04T09:00:00Z", "text": "who?", "tools_used": [["on-call", "get_shift"], ["wiki", "search"]], "results": [2, "Ada"], "answer": "Ada."}"#,
        "\n\n",
        r#"{"conversation": "b", "text": "hello"}"#,
        "\n",
        r#"{"conversation": "a", "time": 1777885301.9, "text": "page her", "tools_used": [["on-call", "fax"]], "results": [null]}"#,
    ));
    let expected = [
        "a 1777885200 who? [on-call/get_shift= x x wiki/search=Ada] Ada.",
        "a 1777885301 page her [] -",
        "b - hello [] -",
    ];
    assert_eq!(shown(&trace), expected);
    let notes =
        ["log: read as turns: 2 conversations", "log: calls left out, the catalog has no such tool: 1, of on-call/fax"];
    assert_eq!(trace.notes, notes);
    assert_eq!(trace.turns(), 3);
}

#[test]
fn faults_of_turns_name_the_line() {
    let good = r#"{"conversation": "a", "time": 9, "text": "x"}"#;
    for (line, expected) in [
        (r#"{"conversation": "a", "text": " "}"#, "line 3: `text` is blank"),
        (r#"{"conversation": "a", "text": "x", "tool_used": []}"#, "line 3: unknown field `tool_used`"),
        (r#"{"conversation": "a", "text": "x", "time": 8}"#, "line 3: `time` is before that of an earlier turn of `a`"),
        (r#"{"conversation": "a", "text": "x", "time": "soon"}"#, "line 3: `time` is no time such as"),
        (r#"{"conversation": "a", "text": "x", "time": -1}"#, "line 3: `time` must be from 0 to"),
        (r#"{"conversation": "a", "text": "x", "results": ["y"]}"#, "line 3: 1 results of 0 tools"),
        (
            r#"{"conversation": "a", "text": "x", "tools_used": [["wiki", "search"]], "results": [-1]}"#,
            "line 3: a result is no text",
        ),
        (r#"{"text": "x"}"#, "line 3: missing field `conversation`"),
        ("{", "it is no JSON: EOF while parsing an object at line 3"),
    ] {
        let error = Trace::read("log", &format!("{good}\n\n{line}"), &catalog()).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    assert_eq!(Trace::read("log", " \n", &catalog()).unwrap_err(), "it holds nothing");
    assert_eq!(
        Trace::read("log", "7", &catalog()).unwrap_err(),
        "line 1: it is neither a message nor a list of messages"
    );
    assert_eq!(
        Trace::read("log", r#"{"role": "robot"}"#, &catalog()).unwrap_err(),
        "read as messages, it holds no turn"
    );
}

fn anthropic() -> Value {
    json!([
        {"role": "assistant", "content": "Welcome."},
        {"role": "user", "content": [{"type": "text", "text": "who"}, {"type": "text", "text": "is on call?"}]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "1", "name": "get_shift", "input": {"day": "today"}},
            {"type": "tool_use", "id": "2", "name": "mcp__wiki__search", "input": {}},
            {"type": "tool_use", "id": "3", "name": "Bash", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "3", "content": "no"},
            {"type": "tool_result", "tool_use_id": "2", "content": [{"type": "text", "text": "a"}, {"type": "image"}]},
            {"type": "tool_result", "tool_use_id": "1", "content": "Ada"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "4", "name": "mail__search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "4"}]},
        {"role": "assistant", "content": "Ada is."},
        {"role": "user", "content": "thanks"},
        {"role": "user", "content": "bye"},
    ])
}

const ANTHROPIC: [&str; 2] =
    ["who\nis on call? [on-call/get_shift=Ada wiki/search=a; mail/search=] I look.\nAda is.", "thanks\nbye [] -"];

#[test]
fn messages_of_anthropic() {
    let messages = anthropic();
    let body = json!({"session_id": "s", "system": [{"type": "text", "text": "Be brief."}], "messages": messages});
    for (text, ids) in [
        (messages.to_string(), vec!["log 1"]),
        (format!("{messages:#}"), vec!["log 1"]),
        (body.to_string(), vec!["s"]),
        (format!("{body}\n{messages}"), vec!["s", "log 2"]),
        (json!([body, {"messages": messages}]).to_string(), vec!["s", "log 2"]),
    ] {
        let trace = read(&text);
        let expected: Vec<_> = ids.iter().flat_map(|id| ANTHROPIC.map(|turn| format!("{id} - {turn}"))).collect();
        assert_eq!(shown(&trace), expected);
        assert_eq!(trace.notes[0], format!("log: read as messages of Anthropic's form: {} conversations", ids.len()));
        assert!(trace.notes[1].ends_with(", of Bash"));
    }
    let trace = read(&body.to_string());
    assert_eq!(trace.conversations[0].system.as_deref(), Some("Be brief."));
    assert_eq!(trace.conversations[0].turns[0].rounds[0][0].arguments["day"], "today");
}

#[test]
fn records_of_messages_with_times() {
    let mut lines = vec![json!({"type": "summary", "summary": "Of it"})];
    for (second, message) in anthropic().as_array().unwrap().iter().enumerate() {
        let record =
            json!({"sessionId": "s", "timestamp": format!("2026-05-04T09:00:0{second}.5Z"), "message": message});
        lines.push(record);
    }
    lines.push(json!({"sessionId": "s", "isSidechain": true, "message": {"role": "user", "content": "in between"}}));
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    let trace = read(&lines.join("\n"));
    assert_eq!(shown(&trace), [format!("s 1777885201 {}", ANTHROPIC[0]), format!("s 1777885207 {}", ANTHROPIC[1])]);
    assert_eq!(trace.notes[1], "log: 2 values are left out: they are no messages");
}

#[test]
fn messages_of_openai_chat() {
    let call = |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{\"day\": 1}"}});
    let trace = read(
        &json!({"id": "c", "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "who is on call?"},
            {"role": "assistant", "content": null, "tool_calls": [call("1", "get_shift"), call("2", "page")]},
            {"role": "tool", "tool_call_id": "2", "content": "done"},
            {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "Ada"}]},
            {"role": "assistant", "content": "Ada is."},
        ]})
        .to_string(),
    );
    assert_eq!(shown(&trace), ["c - who is on call? [on-call/get_shift=Ada on-call/page=done] Ada is."]);
    assert_eq!(trace.notes, ["log: read as messages of OpenAI Chat's form: 1 conversations"]);
    assert_eq!(trace.conversations[0].system.as_deref(), Some("Be brief."));
    assert_eq!(trace.conversations[0].turns[0].rounds[0][0].arguments["day"], 1);
}

#[test]
fn a_name_that_two_servers_have_is_not_guessed() {
    let (catalog, mut found) = (catalog(), Vec::new());
    let mut names = Names::new(&catalog);
    for name in ["page", "search", "mail__search", "mcp__mail__search", "mcp__mail__page", "on-call__page"] {
        found.push(names.of_model(name).map_or("-".to_owned(), |tool| tool.to_string()));
    }
    assert_eq!(found, ["on-call/page", "-", "mail/search", "mail/search", "-", "on-call/page"]);
    let unknown = names.unknown().unwrap();
    assert_eq!(unknown, "calls left out, the catalog has no such tool: 2, of mcp__mail__page, search");
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(text in r#"([\[\]{}":, \n]|role|user|content|messages|conversation|text|[0-9]){0,60}"#) {
        _ = Trace::read("log", &text, &catalog());
    }

    #[test]
    fn lines_of_several_conversations_may_be_mixed(order in prop::collection::vec(0_usize..3, 1..20)) {
        let line = |(i, id): (usize, &usize)| format!(r#"{{"conversation": "{id}", "time": {i}, "text": "turn {i}"}}"#);
        let lines: Vec<_> = order.iter().enumerate().map(line).collect();
        let trace = read(&lines.join("\n"));
        prop_assert_eq!(trace.turns(), order.len());
        for conversation in &trace.conversations {
            let expected = order.iter().enumerate().filter(|(_, id)| id.to_string() == conversation.id);
            let times: Vec<_> = conversation.turns.iter().map(|turn| turn.time.unwrap()).collect();
            prop_assert_eq!(times, expected.map(|(i, _)| i as u64).collect::<Vec<_>>());
        }
    }
}
