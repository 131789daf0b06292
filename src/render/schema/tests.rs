use proptest::prelude::*;
use serde_json::json;

use super::*;

fn plain(schema: Value) -> Result<(Value, Vec<String>), String> {
    let schema = Schema::from(schema);
    let Repaired { schema: repaired, losses } = repair(&schema, PLAIN_ROOT)?;
    Ok((repaired.to_value(), losses))
}

#[test]
fn a_good_schema_stays_and_an_empty_one_is_completed() {
    let good = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}});
    assert_eq!(plain(good.clone()), Ok((good, vec![])));
    let object = json!({"type": "object", "properties": {}});
    assert_eq!(plain(json!({})), Ok((object.clone(), vec![])));
    assert_eq!(plain(json!({"$schema": "http://json-schema.org/draft-07/schema#"})), Ok((object, vec![])));
}

#[test]
fn branches_move_to_the_root() {
    let (schema, losses) = plain(json!({
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "$defs": {"C": {"type": "object", "properties": {"c": {}}, "required": ["c", "x"]}},
        "oneOf": [{"properties": {"a": {"const": 1}, "b": {"type": "integer"}}, "required": ["x"]}, {"$ref": "#/$defs/C"}],
        "allOf": [{"required": ["b"]}, {"required": ["a"]}],
        "if": {}, "then": {},
    }))
    .unwrap();
    assert_eq!(schema["properties"], json!({"a": {"type": "string"}, "b": {"type": "integer"}, "c": {}}));
    assert_eq!(schema["required"], json!(["a", "b", "x"]));
    assert!(schema.get("oneOf").is_none() && schema.get("if").is_none());
    assert_eq!(losses.len(), 3, "{losses:?}");
}

#[test]
fn a_root_that_points_at_a_definition_becomes_it() {
    let (schema, losses) = plain(json!({
        "$ref": "#/$defs/a~1b",
        "$defs": {"a/b": {"$ref": "#/$defs/In"}, "In": {"type": ["object", "null"], "properties": {"q": {}}}},
    }))
    .unwrap();
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["properties"], json!({"q": {}}));
    assert_eq!(losses, ["root `type` is `object` alone: its other types are no longer said"]);
}

#[test]
fn what_cannot_be_repaired_is_refused_with_a_reason() {
    for (schema, reason) in [
        (json!({"type": "string"}), "asks for \"string\""),
        (json!({"properties": [{}]}), "`properties`"),
        (json!({"$ref": "https://example.com/s.json"}), "does not hold"),
        (json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}), "itself"),
        (json!({"x": "y".repeat(MAX_BYTES)}), "larger"),
        ((0..json::MAX_DEPTH).fold(json!({}), |inner, _| json!({"a": inner})), "deeper"),
    ] {
        let error = plain(schema).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn losses_say_where_and_are_counted_beyond_a_few() {
    let properties: Object = (10..30).map(|i| (format!("p/{i}"), json!({"minLength": -1}))).collect();
    let (_, losses) = plain(json!({"not": {}, "properties": properties})).unwrap();
    assert_eq!(losses.len(), 9);
    assert_eq!(losses[0], "root `not` is removed: its condition is no longer said");
    assert_eq!(losses[1], "/properties/p~110 `minLength` is not of its form: it is removed");
    assert_eq!(losses[8], "and 13 more");
}

/// Schemas of which about half are plain: what is plain with now and then something that is not.
fn nearly_plain() -> impl Strategy<Value = Value> {
    let text = || prop::sample::select(vec!["Some words.", "", " ", "a \"b\" \\ c\n", "\u{1}é"]);
    let odd = (
        prop::sample::select(vec![
            "$schema",
            "additionalProperties",
            "default",
            "format",
            "title",
            "enum",
            "items",
            "minLength",
            "minItems",
            "minimum",
            "exclusiveMinimum",
            "const",
            "required",
            "type",
            "description",
            "uniqueItems",
            "nullable",
            "anyOf",
            "maximum",
            "allOf",
            "oneOf",
            "prefixItems",
            "additionalItems",
            "dependencies",
            "$ref",
            "pattern",
            "x-own",
        ]),
        prop_oneof![
            Just(json!("string")),
            Just(json!(true)),
            Just(json!(false)),
            Just(json!(3)),
            Just(json!(-1.5)),
            Just(json!(["a", "b"])),
            Just(json!(["a", "a"])),
            Just(json!([])),
            Just(json!([1, ""])),
            Just(json!(null)),
            Just(json!({"type": "string"})),
            Just(json!([{"type": "integer"}])),
            Just(json!("array")),
            Just(json!(["string", "null"])),
        ],
    );
    let with = move |schema: Value, odd: Option<(&'static str, Value)>, described: Option<&'static str>| {
        let mut schema = schema.as_object().cloned().unwrap_or_default();
        schema.extend(described.map(|text| ("description".to_owned(), text.into())));
        schema.extend(odd.map(|(keyword, value)| (keyword.to_owned(), value)));
        Value::Object(schema)
    };
    let extras = (prop::option::weighted(0.2, odd), prop::option::of(text()));
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "minLength": 1})),
        Just(json!({"type": "string", "enum": ["a", "b"]})),
        Just(json!({"type": "integer", "minimum": 0})),
        Just(json!({"type": "boolean"})),
    ];
    let leaf = (leaf, extras.clone()).prop_map(move |(schema, (odd, text))| with(schema, odd, text));
    leaf.prop_recursive(3, 16, 4, move |inner| {
        let named = prop::collection::btree_map(prop::sample::select(vec!["a", "b", "c[]", "é"]), inner.clone(), 0..4);
        let object = (named, any::<bool>(), prop::option::of(any::<bool>())).prop_map(|(named, requires, closed)| {
            let mut schema = json!({"type": "object", "properties": named});
            if requires {
                schema["required"] = named.keys().take(1).copied().collect();
            }
            if let Some(closed) = closed {
                schema["additionalProperties"] = closed.into();
            }
            schema
        });
        let schema = prop_oneof![
            3 => object,
            1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            1 => prop::collection::vec(inner, 1..3).prop_map(|branches| json!({"anyOf": branches})),
        ];
        (schema, extras.clone()).prop_map(move |(schema, (odd, text))| with(schema, odd, text))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_plain_is_what_the_rules_would_make_of_it(schema in nearly_plain()) {
        let schema = Schema::from(schema);
        for rules in [PLAIN_ROOT, OPENAI, GEMINI, BEDROCK] {
            let by_rules = repair(&schema, &Rules { dialect: None, list: rules.list });
            if let Some(plain) = rules.dialect.and_then(|dialect| dialect.plain(&schema)) {
                let plain = Repaired { schema: plain, losses: vec![] };
                prop_assert_eq!(by_rules.as_ref(), Ok(&plain), "{:?}", rules.dialect);
            }
            // A rule that is passed over would have changed nothing.
            let mut tree = schema.to_map();
            let mut told = Told::default();
            let all = rules.list.iter().try_for_each(|rule| (rule.repair)(&mut tree, &mut told.root()));
            let by_all = all.map(|()| Repaired { schema: tree.into(), losses: told.into_sentences() });
            prop_assert_eq!(by_rules, by_all, "{:?}", rules.dialect);
        }
    }
}

#[test]
fn most_schemas_are_plain() {
    let schema = |more: Value| {
        let mut schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Where \"it\" is."},
                "lines": {"type": "array", "items": {"type": "integer", "minimum": 1}},
                "mode": {"type": "string", "enum": ["a", "b"]},
            },
            "required": ["path"],
        });
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Schema::from(schema)
    };
    let bare = schema(json!({}));
    let full = schema(json!({"$schema": "http://json-schema.org/draft-07/schema#", "additionalProperties": false}));
    let closed = schema(json!({"additionalProperties": false}));
    for (dialect, expected) in
        [(Dialect::Anthropic, &closed), (Dialect::OpenAi, &closed), (Dialect::Gemini, &bare), (Dialect::Bedrock, &bare)]
    {
        assert_eq!(dialect.plain(&bare).as_ref(), Some(&bare), "{dialect:?}");
        assert_eq!(dialect.plain(&full).as_ref(), Some(expected), "{dialect:?}");
        for odd in [json!({"anyOf": [{}]}), json!({"$defs": {}}), json!({"properties": {"a": true}})] {
            assert_eq!(dialect.plain(&schema(odd)), None, "{dialect:?}");
        }
    }
}
