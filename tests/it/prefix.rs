//! What a prompt cache reads of requests: those that we render, and those that other clients write.

use std::{fs, path::Path};

use proem::{
    prefix::{Dialect, DifferenceKind, Prefix, PrefixDiff},
    render::{Message, SectionKind},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::render::{all_providers, layouts, providers};

#[track_caller]
fn read(body: &Value) -> Prefix {
    Prefix::read(&body.to_string()).unwrap()
}

/// Paths with names, roles and marks.
fn outline(prefix: &Prefix) -> Vec<String> {
    let segments = prefix.segments.iter();
    segments
        .map(|segment| {
            let name = segment.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
            let role = segment.role.as_ref().map(|role| format!(" by {role}")).unwrap_or_default();
            let mark = segment.mark.map(|mark| format!(" kept {:?}", mark.ttl_seconds)).unwrap_or_default();
            format!("{}{name}{role}{mark}", segment.path)
        })
        .collect()
}

#[test]
fn golden_requests_are_read_in_their_form() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut count = 0;
    for provider in providers() {
        for file in fs::read_dir(golden.join(provider.name())).unwrap() {
            let body = fs::read_to_string(file.unwrap().path()).unwrap();
            let prefix = Prefix::read(&body).unwrap();
            assert_eq!(prefix.dialect.as_str(), provider.name());
            assert!(prefix.segments.is_sorted_by_key(|segment| segment.section) && !prefix.segments.is_empty());
            count += 1;
        }
    }
    assert!(count >= 15);
}

#[test]
fn anthropic_as_other_clients_write_it() {
    let prefix = Prefix::read(
        r#"{
            "messages": [
                {"role": "user", "content": "Hi"},
                {"role": "user", "content": [
                    {"type": "text", "text": "there", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
                    {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}
                ]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "log", "input": {"z": 1, "a": 2}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [
                    {"type": "text", "text": "3 commits", "cache_control": {"type": "ephemeral"}}
                ]}]}
            ],
            "system": "Be brief.",
            "tools": [
                {"name": "log", "input_schema": {"properties": {"cache_control": {"type": "string"}}}},
                {"name": "later", "input_schema": {}, "defer_loading": true},
                {"type": "web_search_20250305", "name": "web_search", "cache_control": {"type": "ephemeral"}}
            ],
            "model": "claude-opus-5", "max_tokens": 100, "tool_choice": {"type": "auto"}, "temperature": 0.5
        }"#,
    )
    .unwrap();
    assert_eq!(
        outline(&prefix),
        [
            "tools[0] log",
            "tools[2] web_search kept None",
            "system",
            "messages[0].content by user",
            "messages[1].content[0] kept Some(3600)",
            "messages[1].content[1]",
            "messages[2].content[0] by assistant",
            "messages[3].content[0] by user kept None",
        ]
    );
    let texts: Vec<_> = prefix.segments.iter().map(|segment| &*segment.text).collect();
    assert_eq!(texts[0], r#"{"name":"log","input_schema":{"properties":{"cache_control":{"type":"string"}}}}"#);
    assert_eq!(texts[1], r#"{"type":"web_search_20250305","name":"web_search"}"#);
    assert_eq!(texts[2..5], ["\"Be brief.\"", "\"Hi\"", "\"there\""]);
    assert_eq!(texts[6], r#"{"type":"tool_use","id":"c1","name":"log","input":{"z":1,"a":2}}"#);
    assert_eq!(texts[7], r#"{"type":"tool_result","tool_use_id":"c1","content":["3 commits"]}"#);
    let settings: Vec<_> =
        prefix.settings.iter().map(|own| (own.name.as_str(), own.value.as_str(), own.section)).collect();
    assert_eq!(
        settings,
        [
            ("model", "\"claude-opus-5\"", SectionKind::Tools),
            ("tool_choice", r#"{"type":"auto"}"#, SectionKind::Messages),
            ("images", "true", SectionKind::Messages),
        ]
    );
}

#[test]
fn automatic_caching_marks_the_last_block() {
    let body = json!({
        "cache_control": {"type": "ephemeral", "ttl": "5m"}, "max_tokens": 1, "system": "x",
        "messages": [{"role": "user", "content": "Hi"}],
    });
    assert_eq!(outline(&read(&body)), ["system", "messages[0].content by user kept Some(300)"]);
}

#[test]
fn openai_chat_as_other_clients_write_it() {
    let prefix = read(&json!({
        "model": "gpt-5.6", "response_format": {"type": "json_object"},
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "Hi", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}
            ]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "log", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}]},
            {"role": "system", "content": "Time is short."},
        ],
        "tools": [{"type": "function", "function": {"name": "log", "parameters": {}}}],
    }));
    assert_eq!(
        outline(&prefix),
        [
            "tools[0] log",
            "messages[0].content by developer",
            "messages[1].content[0] by user kept Some(43200)",
            "messages[1].content[1]",
            "messages[2] by assistant",
            "messages[3] by tool kept None",
            "messages[4].content by system",
        ]
    );
    let sections: Vec<_> = prefix.segments.iter().map(|segment| segment.section.as_str()).collect();
    assert_eq!(sections, ["tools", "system", "messages", "messages", "messages", "messages", "messages"]);
    assert_eq!(prefix.settings[1].name, "response_format");
}

#[test]
fn openai_responses_with_tools_that_are_searched_for() {
    let prefix = read(&json!({
        "model": "gpt-5.6", "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Hi"},
            {"type": "function_call", "call_id": "c1", "name": "log", "arguments": "{}"},
            {"type": "tool_search_output", "tools": [{"type": "function", "name": "log", "defer_loading": true, "parameters": {}}]},
        ],
        "tools": [
            {"type": "tool_search", "execution": "client"},
            {"type": "function", "name": "log", "description": "Show", "defer_loading": true, "parameters": {"a": 1}},
            {"type": "namespace", "name": "git", "description": "Branches", "tools": [
                {"type": "function", "name": "merge", "defer_loading": true},
                {"type": "function", "name": "rebase"}
            ]},
            {"type": "mcp", "server_label": "wiki", "defer_loading": true},
        ],
    }));
    assert_eq!(
        outline(&prefix),
        [
            "tools[0] tool_search",
            "tools[1] log",
            "tools[2] git",
            "tools[3] wiki",
            "instructions",
            "input[0].content by user",
            "input[1]",
            "input[2]",
        ]
    );
    // What the model is told before it searches.
    let text = |at: usize| &*prefix.segments[at].text;
    assert!(text(1).contains("Show") && !text(1).contains("parameters"));
    assert!(text(2).contains("Branches") && text(2).contains("rebase") && !text(2).contains("merge"));
    // What it found is all there.
    assert!(text(7).contains("parameters"));
    assert_eq!(outline(&read(&json!({"input": "Hi"}))), ["input by user"]);
}

#[test]
fn gemini_in_both_spellings() {
    let body = |system: &str, declarations: &str| {
        json!({
            "contents": [
                {"parts": [{"text": "Hi"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "log", "args": {}}}]},
            ],
            system: {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]},
            "tools": [{declarations: [{"name": "log"}, {"name": "merge"}]}, {"googleSearch": {}}],
        })
    };
    let prefix = read(&body("systemInstruction", "functionDeclarations"));
    assert_eq!(
        outline(&prefix),
        [
            "tools[0].functionDeclarations[0] log",
            "tools[0].functionDeclarations[1] merge",
            "tools[1].googleSearch googleSearch",
            "systemInstruction.parts[0]",
            "systemInstruction.parts[1]",
            "contents[0].parts[0] by user",
            "contents[1].parts[0] by model",
        ]
    );
    let other = read(&body("system_instruction", "function_declarations"));
    assert!(PrefixDiff::between(&prefix, &other).extends);
}

#[test]
fn bedrock_marks_with_blocks_of_their_own() {
    let prefix = read(&json!({
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "log", "inputSchema": {"json": {}}}}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
            "toolChoice": {"any": {}},
        },
        "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
        "messages": [
            {"role": "user", "content": [{"text": "Hi"}, {"cachePoint": {"type": "default"}}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "log", "input": {}}}]},
        ],
    }));
    assert_eq!(
        outline(&prefix),
        [
            "toolConfig.tools[0] log kept Some(3600)",
            "system[0] kept None",
            "messages[0].content[0] by user kept None",
            "messages[1].content[0] by assistant",
        ]
    );
    assert_eq!(prefix.settings[0].name, "toolConfig.toolChoice");
}

#[test]
fn what_is_no_request_says_why() {
    for (body, reason) in [
        ("", "it is no JSON: EOF while parsing a value"),
        ("[]", "it has none of the keys `messages`, `input`, `contents`"),
        (r#"{"prompt": "Hi"}"#, "it has none of the keys"),
        (r#"{"messages": {}}"#, "`messages` is no list"),
        (r#"{"messages": ["Hi"]}"#, "`messages[0]` is no object"),
        (r#"{"messages": [], "tools": [{}, 1]}"#, "`tools[1]` is no object"),
        (r#"{"contents": [], "tools": [{"functionDeclarations": {}}]}"#, "`tools[0].functionDeclarations` is no list"),
    ] {
        let error = Prefix::read(body).unwrap_err().to_string();
        assert!(error.starts_with("invalid request body: ") && error.contains(reason), "{body}: {error}");
    }
    assert!(Prefix::read_as(Dialect::Gemini, "1").is_err());
}

/// A request of another client, before something happens to it.
fn base() -> Value {
    let tool = |name: &str| {
        json!({"name": name, "description": format!("To {name}"),
            "input_schema": {"type": "object", "properties": {"branch": {"type": "string"}, "n": {"type": "integer"}}}})
    };
    json!({
        "model": "claude-opus-5", "max_tokens": 100,
        "tools": [tool("diff"), tool("log"), tool("merge"), tool("rebase")],
        "system": [
            {"type": "text", "text": "You help a small team."},
            {"type": "text", "text": "It is 10:41 on Monday.", "cache_control": {"type": "ephemeral"}},
        ],
        "messages": [
            {"role": "user", "content": "What is new?"},
            {"role": "assistant", "content": "Three commits."},
            {"role": "user", "content": [{"type": "text", "text": "Merge them.", "cache_control": {"type": "ephemeral"}}]},
        ],
    })
}

fn changed(change: impl FnOnce(&mut Value)) -> PrefixDiff {
    let mut body = base();
    change(&mut body);
    PrefixDiff::between(&read(&base()), &read(&body))
}

fn list<'a>(body: &'a mut Value, key: &str) -> &'a mut Vec<Value> {
    body[key].as_array_mut().unwrap()
}

#[test]
fn what_changes_nothing_for_a_cache_extends() {
    for (what, change) in [
        ("nothing", (|_| {}) as fn(&mut Value)),
        ("a text as a list", |body| body["messages"][0]["content"] = json!([{"text": "What is new?", "type": "text"}])),
        ("marks that move on", |body| {
            body["messages"][2]["content"] = json!("Merge them.");
            let next = json!({"type": "text", "text": "Done?", "cache_control": {"type": "ephemeral"}});
            list(body, "messages").push(json!({"role": "user", "content": [next]}));
        }),
        ("a deferred tool", |body| list(body, "tools").insert(0, json!({"name": "new", "defer_loading": true}))),
        ("what the sampler reads", |body| body["temperature"] = json!(1)),
        ("one turn as two messages", |body| {
            list(body, "messages").push(json!({"role": "user", "content": "Please."}));
        }),
    ] {
        let diff = changed(change);
        assert!(diff.extends && diff.first.is_none() && diff.lost.segments == 0, "{what}: {diff}");
        assert_eq!(diff.kept.segments, 9, "{what}");
    }
}

#[test]
fn each_cause_is_named() {
    use DifferenceKind::{Added, Changed, Moved, Removed, Setting};
    type Case = (DifferenceKind, &'static str, &'static str, usize, fn(&mut Value));
    let cases: &[Case] = &[
        (Changed, "tools[1] (log)", "its description changed", 1, |body| body["tools"][1]["description"] = json!("x")),
        (Changed, "tools[1] (log)", "its description and input_schema changed", 1, |body| {
            body["tools"][1]["description"] = json!("x");
            body["tools"][1]["input_schema"]["properties"]["branch"] = json!({"type": "number"});
        }),
        (Added, "tools[2] (graph)", "it is new", 2, |body| list(body, "tools").insert(2, json!({"name": "graph"}))),
        (Added, "tools[4] (graph)", "it is new", 4, |body| list(body, "tools").push(json!({"name": "graph"}))),
        (Removed, "tools[1] (log)", "2 in a row are gone", 1, |body| drop(list(body, "tools").drain(1..3))),
        (Moved, "tools[1] (merge)", "tools in another order, it was tools[2]", 1, |body| {
            list(body, "tools").swap(1, 2)
        }),
        (Changed, "system[1]", "it says something else", 5, |body| {
            body["system"][1]["text"] = json!("It is 10:42 on Monday.");
        }),
        (Moved, "system[0]", "it was system[1]", 4, |body| list(body, "system").swap(0, 1)),
        (Removed, "system[1]", "it is gone", 5, |body| drop(list(body, "system").pop())),
        (Added, "system[0]", "it is new", 4, |body| {
            list(body, "system").insert(0, json!({"type": "text", "text": "x"}))
        }),
        (Removed, "messages[0].content", "2 in a row are gone", 6, |body| drop(list(body, "messages").drain(..2))),
        (Changed, "messages[0].content", "it is said by assistant instead of user", 6, |body| {
            body["messages"][0]["role"] = json!("assistant");
        }),
        (Changed, "messages[1].content", "it no longer begins a message by assistant", 7, |body| {
            body["messages"][1]["role"] = json!("user");
        }),
        (Setting, "the setting `model`", "it changed", 0, |body| body["model"] = json!("claude-sonnet-5")),
        (Setting, "the setting `speed`", "it is new", 4, |body| body["speed"] = json!("fast")),
        (Setting, "the setting `thinking`", "it is new", 6, |body| body["thinking"] = json!({"type": "adaptive"})),
        (Setting, "the setting `images`", "it is new", 6, |body| {
            list(body, "messages").push(json!({"role": "user", "content": [{"type": "image", "source": {}}]}));
        }),
    ];
    for (kind, item, cause, kept, change) in cases {
        let diff = changed(*change);
        let first = diff.first.as_ref().unwrap();
        let found = (first.kind, first.to_string(), first.cause.as_str(), diff.kept.segments);
        assert_eq!(found, (*kind, (*item).to_owned(), *cause, *kept), "{diff}");
        assert!(!diff.extends && diff.kept.segments + diff.lost.segments == 9, "{diff}");
    }
}

#[test]
fn the_order_of_keys_is_told_from_what_they_say() {
    let body = |tool: &str| format!(r#"{{"tools": [{tool}], "system": "x", "messages": []}}"#);
    let diff = |old: &str, new: &str| {
        PrefixDiff::between(&Prefix::read(&body(old)).unwrap(), &Prefix::read(&body(new)).unwrap())
    };
    let tool = r#"{"name": "log", "input_schema": {"type": "object", "maximum": 1}}"#;
    for (other, cause) in [
        (r#"{"input_schema": {"maximum": 1, "type": "object"}, "name": "log"}"#, "its keys are in another order"),
        (
            r#"{"name": "log", "input_schema": {"type": "object", "maximum": 1.0}}"#,
            "its numbers or characters are written otherwise",
        ),
    ] {
        let diff = diff(tool, other);
        assert_eq!(diff.first.as_ref().unwrap().cause, cause);
        assert!(diff.first.unwrap().fields.is_empty());
    }
    assert!(diff(tool, &tool.replace(' ', "\n  ")).extends, "white space is no difference");
}

#[test]
fn what_else_differs_is_told_in_short() {
    let diff = changed(|body| {
        list(body, "tools").swap(0, 1);
        body["tools"][2]["description"] = json!("x");
        list(body, "tools").extend((0..20).map(|i| json!({"name": format!("new{i}")})));
        body["system"][1]["text"] = json!("It is 10:42 on Monday.");
        body["tool_choice"] = json!({"type": "any"});
    });
    let others: Vec<_> = diff.others.iter().map(|other| (other.kind, other.to_string())).collect();
    assert_eq!(diff.first.as_ref().unwrap().to_string(), "tools[0] (log)");
    assert_eq!(
        others[..3],
        [
            (DifferenceKind::Setting, "the setting `tool_choice`".into()),
            (DifferenceKind::Changed, "tools[2] (merge)".into()),
            (DifferenceKind::Added, "tools[4] (new0)".into()),
        ]
    );
    assert_eq!((others.len(), diff.more), (PrefixDiff::MAX_OTHERS, 8), "{diff}");
}

#[test]
fn what_a_cache_can_read_ends_at_a_mark_where_only_marks_are_kept() {
    let diff = changed(|body| body["messages"][1]["content"] = json!("Four commits."));
    assert_eq!((diff.kept.segments, diff.readable.segments), (7, 6));
    let mut openai = json!({"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "y"}]});
    let old = read(&openai);
    openai["messages"][1]["content"] = json!("z");
    let diff = PrefixDiff::between(&old, &read(&openai));
    assert_eq!((diff.kept, diff.kept.segments), (diff.readable, 1));
}

#[test]
fn bodies_of_two_apis_share_nothing() {
    let chat = read(&json!({"messages": [{"role": "system", "content": "You help a small team."}]}));
    let diff = PrefixDiff::between(&chat, &read(&base()));
    assert_eq!((diff.kept.segments, diff.others.len()), (0, 0));
    let first = diff.first.unwrap();
    assert_eq!(first.kind, DifferenceKind::Dialect);
    assert_eq!(first.cause, "the requests are written for different APIs, openai-chat and anthropic");
}

#[test]
fn a_saved_prefix_does_not_hold_the_conversation() {
    let old = read(&base());
    let saved = serde_json::to_string(&old.clone().without_conversation()).unwrap();
    assert!(saved.contains("small team") && !saved.contains("Three commits"));
    let restored: Prefix = serde_json::from_str(&saved).unwrap();
    let mut body = base();
    body["messages"][1]["content"] = json!("Four commits.");
    let (whole, short) = (PrefixDiff::between(&old, &read(&body)), PrefixDiff::between(&restored, &read(&body)));
    assert_eq!((whole.kept, whole.lost, whole.written), (short.kept, short.lost, short.written));
    assert!(whole.to_string().contains("Four commits") && !short.to_string().contains("commits"), "{short}");
    assert!(!whole.clone().without_text().to_string().contains("commits"));
    assert_eq!(short.first.unwrap().cause, "it changed, and its text was not kept");
}

/// Something like a request: the keys of all forms, over values of every kind.
fn bodies() -> impl Strategy<Value = Value> {
    let keys = "(messages|contents|input|tools|system|systemInstruction|toolConfig|role|content|parts|type|text|name\
        |function|functionDeclarations|toolSpec|cache_control|cachePoint|ttl|defer_loading|model|instructions)";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(user|system|text|message|image|5m|9999999999d|é|\\PC{0,3})".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(keys, inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::hash_map(keys, value, 1..6).prop_map(|map| Value::Object(map.into_iter().collect()))
}

fn check(prefix: &Prefix, body: &str) {
    let mut ranges: Vec<_> = prefix.segments.iter().map(|segment| segment.range.clone()).collect();
    ranges.sort_by_key(|range| range.start);
    assert!(ranges.iter().all(|range| !range.is_empty() && body.get(range.clone()).is_some()), "{body}");
    assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{body}");
    assert!(prefix.segments.is_sorted_by_key(|segment| segment.section), "{body}");
    for segment in &prefix.segments {
        assert!(serde_json::from_str::<Value>(&segment.text).is_ok(), "{}", segment.text);
    }
    let again = PrefixDiff::between(prefix, prefix);
    assert!(again.extends && again.written.segments == 0 && again.others.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_json_is_read_or_refused(body in bodies(), other in bodies(), pretty in any::<bool>()) {
        let text = if pretty { format!("{body:#}") } else { body.to_string() };
        for dialect in
            [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::Bedrock]
        {
            let Ok(prefix) = Prefix::read_as(dialect, &text) else { continue };
            check(&prefix, &text);
            let Ok(other) = Prefix::read_as(dialect, &other.to_string()) else { continue };
            let diff = PrefixDiff::between(&prefix, &other);
            prop_assert_eq!(diff.extends, diff.lost.segments == 0);
            prop_assert!(diff.at >= diff.kept.bytes);
            let kept = |prefix: &Prefix| -> String {
                prefix.segments.iter().take(diff.kept.segments).map(|segment| &*segment.text).collect()
            };
            prop_assert_eq!(kept(&prefix), kept(&other));
        }
    }

    #[test]
    fn what_we_render_is_read_and_grows(layout in layouts(), text in "\\PC{1,20}") {
        for provider in all_providers() {
            let request = provider.render(&layout);
            let prefix = Prefix::read(request.as_str()).unwrap();
            // A body that says nothing could be anyone's.
            prop_assert!(prefix.segments.is_empty() || prefix.dialect.as_str() == provider.name(), "{}", request);
            check(&prefix, request.as_str());
            // Many lines are the same to a cache as one.
            let shown = Prefix::read(&format!("{request:#}")).unwrap();
            let written = PrefixDiff::between(&prefix, &shown);
            prop_assert!(written.extends && written.written.bytes == 0, "{}", written);
            // One message more, with all marks where they belong then.
            let next = provider.render(&layout.clone().with_message(Message::user(&text)));
            let diff = PrefixDiff::between(&prefix, &Prefix::read(next.as_str()).unwrap());
            prop_assert!(diff.extends, "{}: {}\n{}\n{}", provider.name(), diff, request, next);
            let saved: Prefix = serde_json::from_str(&serde_json::to_string(&prefix).unwrap()).unwrap();
            prop_assert_eq!(saved, prefix);
        }
    }

    #[test]
    fn two_tools_that_change_places_moved(layout in layouts(), seed in any::<usize>()) {
        for provider in all_providers() {
            let mut body = provider.render(&layout).to_value();
            let old = read(&body);
            let Some(tools) = body.get_mut("tools").and_then(Value::as_array_mut).filter(|tools| tools.len() > 1) else {
                continue;
            };
            let (one, other) = (seed % tools.len(), seed / 7 % tools.len());
            tools.swap(one, other);
            let diff = PrefixDiff::between(&old, &read(&body));
            if one == other {
                prop_assert!(diff.extends);
                continue;
            }
            let first = diff.first.unwrap();
            prop_assert_eq!((first.kind, diff.kept.segments), (DifferenceKind::Moved, one.min(other)));
            prop_assert_eq!(first.new.unwrap().path, format!("tools[{}]", one.min(other)));
            prop_assert!(diff.others.iter().all(|other| other.kind == DifferenceKind::Moved));
        }
    }
}
