//! Schemas that no one would write, and those that servers write by mistake.

use std::collections::BTreeSet;

use proem::{
    id::{ServerId, ToolId},
    render::{Anthropic, Layout, Memo, OpenAiChat, OpenAiResponses, Provider, ToolSpec},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{check_tools, count_tools};
use crate::render::providers;

fn all() -> Vec<Box<dyn Provider>> {
    let mut all = providers();
    all.push(Box::new(Anthropic::new().with_strict_tools()));
    all.push(Box::new(OpenAiResponses::new().with_strict_tools()));
    all.push(Box::new(OpenAiChat::new().with_strict_tools()));
    all
}

/// Values that are not of the form that a keyword has.
fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i16>().prop_map(Value::from),
        any::<f32>().prop_map(Value::from),
        "[a-z ]{0,6}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!(["a", 1, null])),
        Just(json!({"a": {"$ref": "#"}})),
    ]
}

fn kind() -> impl Strategy<Value = Value> {
    let one = prop::sample::select(vec!["string", "number", "integer", "boolean", "array", "object", "null", "any"]);
    prop_oneof![
        6 => one.clone().prop_map(Value::from),
        2 => prop::collection::vec(one, 0..4).prop_map(Value::from),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-d]",
        1 => prop::sample::select(vec!["$ref", "type", "properties", "filter[x]", "a/b~c", "", "ü"]).prop_map(String::from),
        1 => "[a-z.]{60,70}",
    ]
}

fn reference() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        "#",
        "#/$defs/a",
        "#/$defs/b",
        "#/definitions/c",
        "#/properties/a",
        "#/$defs/a/properties/b",
        "#/$defs/none",
        "https://example.com/s.json",
        "#anchor",
        "",
    ])
    .prop_map(Value::from)
}

fn scalar_keyword() -> impl Strategy<Value = (String, Value)> {
    let count = || (0..5_u64).prop_map(Value::from);
    let number = || prop_oneof![any::<i32>().prop_map(Value::from), (-9.5..9.5).prop_map(Value::from)];
    let values = || {
        prop::collection::vec(
            prop_oneof![
                Just(json!("")),
                Just(json!("a")),
                Just(json!(1)),
                Just(json!(1.5)),
                Just(Value::Null),
                Just(json!(true)),
                Just(json!({"a": 1}))
            ],
            0..4,
        )
        .prop_map(Value::from)
    };
    let keyword = |keyword: &'static str| Just(keyword.to_owned());
    prop_oneof![
        (keyword("type"), kind()),
        (keyword("type"), kind()),
        (keyword("$ref"), reference()),
        (keyword("enum"), values()),
        (keyword("const"), anything()),
        (keyword("default"), anything()),
        (keyword("description"), "[a-z ]{0,9}".prop_map(Value::from)),
        (keyword("nullable"), any::<bool>().prop_map(Value::from)),
        (keyword("required"), prop::collection::vec(name(), 0..3).prop_map(Value::from)),
        (
            keyword("format"),
            prop::sample::select(vec!["uuid", "date-time", "int32", "uri", "enum"]).prop_map(Value::from)
        ),
        (keyword("pattern"), prop::sample::select(vec!["^a$", "(?!a)b", "(", "[z-a]", "a{2}"]).prop_map(Value::from)),
        (
            prop::sample::select(vec!["minLength", "maxLength", "minItems", "maxItems", "minProperties"])
                .prop_map(String::from),
            count()
        ),
        (
            prop::sample::select(vec!["minimum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"])
                .prop_map(String::from),
            number()
        ),
        (
            prop::sample::select(vec![
                "exclusiveMinimum",
                "exclusiveMaximum",
                "uniqueItems",
                "additionalProperties",
                "additionalItems",
                "items",
                "required"
            ])
            .prop_map(String::from),
            any::<bool>().prop_map(Value::from)
        ),
        (
            prop::sample::select(vec![
                "type",
                "properties",
                "items",
                "required",
                "enum",
                "anyOf",
                "allOf",
                "oneOf",
                "minLength",
                "$defs",
                "$ref",
                "description",
                "pattern",
                "not",
                "x-own",
                "title",
                "$schema",
                "id"
            ])
            .prop_map(String::from),
            anything()
        ),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        8 => prop::collection::vec(scalar_keyword(), 0..5)
            .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        1 => any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 5, |inner| {
        let named = || {
            prop::collection::hash_map(name(), inner.clone(), 0..4)
                .prop_map(|named| Value::Object(named.into_iter().collect()))
        };
        let list = || prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
        let keyword = prop_oneof![
            4 => (Just("properties".to_owned()), named()),
            2 => (prop::sample::select(vec!["$defs", "definitions", "patternProperties", "dependentSchemas",
                "dependencies"]).prop_map(String::from), named()),
            3 => (prop::sample::select(vec!["anyOf", "oneOf", "allOf", "prefixItems", "items"]).prop_map(String::from),
                list()),
            3 => (prop::sample::select(vec!["items", "additionalProperties", "not", "if", "then", "contains",
                "propertyNames", "additionalItems", "unevaluatedProperties"]).prop_map(String::from), inner.clone()),
        ];
        (prop::collection::vec(scalar_keyword(), 0..4), prop::collection::vec(keyword, 0..4))
            .prop_map(|(a, b)| Value::Object(a.into_iter().chain(b).collect::<Map<_, _>>()))
    })
}

/// Schemas whose root is mostly that of arguments, so that what is within it is reached.
fn input_schema() -> impl Strategy<Value = Value> {
    let defs = || {
        prop::collection::hash_map("[abc]", schema(), 0..3).prop_map(|named| Value::Object(named.into_iter().collect()))
    };
    (schema(), defs(), defs(), prop::bool::weighted(0.9)).prop_map(|(schema, defs, definitions, is_object)| {
        let mut root = schema.as_object().cloned().unwrap_or_default();
        if is_object {
            root.insert("type".into(), "object".into());
            root.remove("$ref");
            if !root.get("properties").is_some_and(Value::is_object) {
                root.remove("properties");
            }
        }
        root.insert("$defs".into(), defs);
        root.insert("definitions".into(), definitions);
        root.into()
    })
}

fn layout(schemas: &[Value]) -> Layout {
    schemas.iter().enumerate().fold(Layout::new(), |layout, (i, schema)| {
        let name = format!("tool_{i}");
        let tool = ToolSpec::new(ToolId::new(ServerId::new("s").unwrap(), name.as_str()), name);
        layout.with_tool(tool.with_input_schema(schema.clone()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_schema_is_taken_or_put_aside(schemas in prop::collection::vec(input_schema(), 1..4)) {
        let layout = layout(&schemas);
        let memo = Memo::new();
        for provider in all() {
            let request = provider.render(&layout);
            let body = request.to_value();
            let faults = check_tools(provider.name(), &body);
            prop_assert!(faults.is_empty(), "{}: {faults:#?}\n{body}", provider.name());
            let aside: BTreeSet<_> = request.report().quarantined.iter().map(|tool| &tool.exposed).collect();
            prop_assert_eq!(count_tools(provider.name(), &body) + aside.len(), schemas.len());
            for _ in 0..2 {
                prop_assert_eq!(&request, &provider.render_with(&layout, &memo));
            }
        }
    }
}

/// Definitions of which each holds the next twice: written out, the last would stand a million times.
#[test]
fn definitions_that_double_end() {
    let defs: Map<String, Value> = (0..40)
        .map(|i| {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            (format!("d{i}"), json!({"type": "object", "properties": {"a": next, "b": next}}))
        })
        .chain([("d40".to_owned(), json!({"type": "string"}))])
        .collect();
    let schema = json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": defs});
    for provider in all() {
        let request = provider.render(&layout(std::slice::from_ref(&schema)));
        let body = request.to_value();
        assert_eq!(check_tools(provider.name(), &body), Vec::<String>::new(), "{}", provider.name());
        assert!(request.as_str().len() < 300_000, "{}: {}", provider.name(), request.as_str().len());
    }
}

/// A type that holds itself is told once, and in words from there on.
#[test]
fn a_type_that_holds_itself_ends() {
    let node = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
    });
    let schema = json!({"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}});
    for provider in all() {
        let request = provider.render(&layout(std::slice::from_ref(&schema)));
        assert_eq!(check_tools(provider.name(), &request.to_value()), Vec::<String>::new(), "{}", provider.name());
        if matches!(provider.name(), "gemini" | "bedrock") {
            assert!(request.as_str().contains("A `Node` again"), "{request}");
            let losses = &request.report().repaired[0].losses;
            assert!(losses[0].starts_with("/properties/root/properties/children/items "), "{losses:?}");
        }
    }
}
