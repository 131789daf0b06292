//! Items of the protocol: nothing that was sent is lost, and nothing that is sent makes a panic.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

use proem::{
    client::{ListKind, Page},
    json::canonical,
    protocol::{
        CallToolResult, ContentBlock, GetPromptResult, Prompt, ReadResourceResult, Resource, ResourceContents,
        ResourceTemplate, Role, Tool,
    },
};
use proptest::prelude::*;
use serde_json::{Map, Value, json, value::RawValue};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (0.0_f64..=1.0).prop_map(Value::from),
        Just(json!("user")),
        Just(json!("assistant")),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Objects that hold fields of the protocol, each with what belongs there or anything else.
fn item() -> impl Strategy<Value = Value> {
    let text = || prop_oneof![3 => "\\PC{1,8}".prop_map(Value::from), 1 => any_json()];
    let annotations = prop::collection::btree_map(
        prop::sample::select(vec![
            "audience",
            "priority",
            "lastModified",
            "title",
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
            "vendor",
        ]),
        prop_oneof![
            any_json(),
            Just(json!(["user", "robot"])),
            Just(json!(["user"])),
            Just(json!(true)),
            Just(json!(7))
        ],
        0..5,
    );
    let annotations =
        annotations.prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Map<_, _>>());
    let argument = prop::collection::btree_map(
        prop::sample::select(vec!["name", "title", "description", "required", "vendor"]),
        prop_oneof![any_json(), Just(json!("n")), any::<bool>().prop_map(Value::from)],
        0..5,
    );
    let argument = argument.prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Map<_, _>>());
    let fields = (
        prop::collection::btree_map(
            prop::sample::select(vec![
                "name",
                "uri",
                "uriTemplate",
                "title",
                "description",
                "mimeType",
                "vendor",
                "icons",
                "_meta",
            ]),
            text(),
            0..9,
        ),
        prop::option::of(prop_oneof![annotations.prop_map(Value::Object), any_json()]),
        prop::option::of(prop_oneof![
            prop::collection::vec(prop_oneof![3 => argument.prop_map(Value::Object), 1 => any_json()], 0..4)
                .prop_map(Value::from),
            any_json(),
        ]),
        prop::option::of(prop_oneof![any::<i64>().prop_map(Value::from), Just(json!(3.0)), any_json()]),
        prop::option::of(any_json()),
    );
    fields.prop_map(|(texts, annotations, arguments, size, schema)| {
        let mut map: Map<String, Value> = texts.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        let others = [
            ("annotations", annotations),
            ("arguments", arguments),
            ("size", size),
            ("outputSchema", schema.clone()),
            ("inputSchema", schema),
        ];
        map.extend(others.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?))));
        Value::Object(map)
    })
}

/// Nulls say nothing: a field that is null is as if it were absent.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

fn same(written: &Value, sent: &Value) -> Result<(), TestCaseError> {
    prop_assert_eq!(canonical(&without_nulls(written)), canonical(&without_nulls(sent)));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_read_is_written_as_it_was_sent(mut sent in item(), complete in any::<bool>()) {
        if complete {
            // So that many of them can be read.
            for field in ["name", "uri", "uriTemplate"] {
                sent[field] = json!("a:b");
            }
            sent["inputSchema"] = json!({"type": "object"});
        }
        if let Ok(read) = Tool::read(sent.clone()) {
            same(&read.item.to_value(), &sent)?;
        }
        if let Ok(read) = Resource::read(sent.clone()) {
            same(&read.item.to_value(), &sent)?;
        }
        if let Ok(read) = ResourceTemplate::read(sent.clone()) {
            same(&read.item.to_value(), &sent)?;
        }
        if let Ok(read) = Prompt::read(sent.clone()) {
            same(&read.item.to_value(), &sent)?;
        }
        let good = Tool::read(sent.clone()).is_ok() && Resource::read(sent.clone()).is_ok() && Prompt::read(sent).is_ok();
        prop_assert!(good || !complete);
    }

    #[test]
    fn nothing_that_is_sent_makes_a_panic(value in any_json(), item in item(), text in "\\PC{0,40}") {
        for value in [value, item] {
            _ = ContentBlock::read(value.clone());
            _ = ResourceContents::read(value.clone());
            for field in ["contents", "messages", "content"] {
                let inside = json!({field: [value.clone(), value.clone()]});
                _ = ReadResourceResult::read(inside.clone());
                _ = GetPromptResult::read(inside.clone());
                _ = CallToolResult::read(inside);
            }
            let raw = RawValue::from_string(value.to_string()).unwrap();
            for kind in ListKind::ALL {
                _ = Page::read(kind, &raw);
            }
        }
        _ = proem::resources::parse_timestamp(&text);
    }
}

#[test]
fn a_partly_understood_audience_is_used_and_kept() {
    let sent = json!({
        "uri": "a:1", "name": "one",
        "annotations": {"audience": ["user", "robot"], "priority": 7, "lastModified": "then"},
    });
    let read = Resource::read(sent.clone()).unwrap();
    assert_eq!(read.item.annotations.audience.as_deref(), Some([Role::User].as_slice()));
    assert_eq!(read.item.annotations.priority, None);
    assert!(!read.item.annotations.for_model());
    assert_eq!(read.notes.len(), 2);
    assert_eq!(read.item.to_value(), sent);
}

#[test]
fn arguments_that_cannot_be_read_are_kept_and_noted() {
    let sent = json!({"name": "draft", "arguments": [{"name": "a", "required": false}, {"title": "no name"}, 7]});
    let read = Prompt::read(sent.clone()).unwrap();
    assert_eq!(read.item.arguments.len(), 1);
    assert_eq!(read.notes, ["arguments[1]: `name` is missing", "arguments[2]: it is a number, not an object"]);
    assert_eq!(read.item.to_value(), sent);
    let sent = json!({"name": "draft", "arguments": [{"name": "a", "required": "yes"}]});
    let read = Prompt::read(sent.clone()).unwrap();
    assert_eq!(read.notes, ["arguments[0]: required is not a boolean"]);
    assert_eq!(read.item.to_value(), sent);
}

#[test]
fn a_name_that_is_missing_is_not_written_back() {
    let sent = json!({"uri": "a:1", "annotations": {}});
    let read = Resource::read(sent.clone()).unwrap();
    assert_eq!((read.item.name.as_str(), read.notes.len()), ("a:1", 1));
    assert_eq!(read.item.to_value(), sent);
}
