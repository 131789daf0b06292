//! What a repaired schema lets through, the original lets through: an example for each kind of repair.

use proem::{
    call::validate,
    id::{ServerId, ToolId},
    protocol::Schema,
    render::{Anthropic, Layout, OpenAiChat, OpenAiResponses, Provider, ToolSpec, original_arguments},
};
use serde_json::{Value, json};

use super::{check_tools, declared};
use crate::render::providers;

/// Whether a value fits a schema that was rendered, by the keywords of these tests; `nullable` is Gemini's.
fn fits(whole: &Value, schema: &Value, value: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return schema == true };
    if value.is_null() && schema.get("nullable") == Some(&json!(true)) {
        return true;
    }
    let is = |kind: &str| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    let fit = |schema: &Value, value: &Value| fits(whole, schema, value);
    schema.iter().all(|(keyword, says)| {
        let list = || says.as_array().unwrap();
        let number =
            |fits: fn(f64, f64) -> bool| value.as_f64().is_none_or(|value| fits(value, says.as_f64().unwrap()));
        match keyword.as_str() {
            "type" => match says {
                Value::String(kind) => is(kind),
                _ => list().iter().any(|kind| is(kind.as_str().unwrap())),
            },
            "enum" => list().contains(value),
            "const" => says == value,
            "$ref" => fit(whole.pointer(&says.as_str().unwrap()[1..].replace("%20", " ")).unwrap(), value),
            "anyOf" => list().iter().any(|branch| fit(branch, value)),
            "oneOf" => list().iter().filter(|branch| fit(branch, value)).count() == 1,
            "allOf" => list().iter().all(|branch| fit(branch, value)),
            "minimum" => number(|value, least| value >= least),
            "exclusiveMinimum" if says.is_number() => number(|value, least| value > least),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= says.as_u64().unwrap()),
            "required" => value
                .as_object()
                .is_none_or(|value| list().iter().all(|name| value.contains_key(name.as_str().unwrap()))),
            "properties" => value.as_object().is_none_or(|value| {
                value.iter().all(|(name, value)| says.get(name).is_none_or(|schema| fit(schema, value)))
            }),
            "additionalProperties" => value.as_object().is_none_or(|value| {
                let known = schema.get("properties").and_then(Value::as_object);
                let mut rest = value.iter().filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)));
                rest.all(|(_, value)| fit(says, value))
            }),
            "items" => value.as_array().is_none_or(|items| match says {
                Value::Array(places) => items.iter().zip(places).all(|(item, place)| fit(place, item)),
                _ => {
                    let places = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                    items.iter().skip(places).all(|item| fit(says, item))
                }
            }),
            "prefixItems" => {
                value.as_array().is_none_or(|items| items.iter().zip(list()).all(|(item, place)| fit(place, item)))
            }
            _ => true,
        }
    })
}

fn all() -> Vec<Box<dyn Provider>> {
    let mut all = providers();
    all.push(Box::new(Anthropic::new().with_strict_tools()));
    all.push(Box::new(OpenAiResponses::new().with_strict_tools()));
    all.push(Box::new(OpenAiChat::new().with_strict_tools()));
    all
}

/// The schema that a provider is given.
fn rendered(provider: &dyn Provider, schema: &Value) -> (Value, Vec<String>, bool) {
    let tool = ToolSpec::new(ToolId::new(ServerId::new("s").unwrap(), "t"), "t").with_input_schema(schema.clone());
    let request = provider.render(&Layout::new().with_tool(tool));
    let body = request.to_value();
    assert_eq!(check_tools(provider.name(), &body), Vec::<String>::new());
    let tools = declared(provider.name(), &body);
    let [tool] = &tools[..] else { panic!("{}", request.report()) };
    let losses = request.report().repaired.iter().flat_map(|tool| tool.losses.clone()).collect();
    (tool.schema.cloned().unwrap_or_else(|| json!({"type": "object"})), losses, tool.is_strict)
}

/// A schema of the argument `p` and what a model may send for it by every provider's schema.
fn examples() -> Vec<(Value, Value)> {
    let pet = |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}, "age": {"type": "integer"}}, "required": ["kind"]});
    vec![
        (json!({"const": "a"}), json!("a")),
        (json!({"type": "integer", "const": 3}), json!(3)),
        (json!({"enum": [1, 2]}), json!(2)),
        (json!({"enum": ["a", null]}), json!("a")),
        (json!({"enum": ["a", 1]}), json!(1)),
        (json!({"enum": ["", "a"]}), json!("a")),
        (json!({"type": ["string", "null"]}), json!(null)),
        (json!({"type": ["string", "number"], "minimum": 1}), json!(2)),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null}), json!("a")),
        (json!({"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "d"}), json!(1)),
        (json!({"oneOf": [pet("cat"), pet("dog")]}), json!({"kind": "dog", "age": 3})),
        (
            json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"required": ["a"]}]}),
            json!({"a": "x"}),
        ),
        (json!({"type": "array"}), json!(["a"])),
        (json!({"type": "array", "items": true}), json!(["a"])),
        (json!({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}), json!(["a", 1])),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}),
            json!(["a", 1]),
        ),
        (json!({}), json!("a")),
        (json!(true), json!(2)),
        (json!({"description": "Anything."}), json!(true)),
        (json!({"type": "object"}), json!({"any_name": "a"})),
        (json!({"type": "object", "additionalProperties": {"type": "integer"}}), json!({"any_name": 1})),
        (
            json!({"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"type": "integer"}}),
            json!({"b": 1}),
        ),
        (json!({"type": "object", "required": ["a"]}), json!({"a": "x"})),
        (json!({"type": "object", "properties": {"a": {"type": "string", "required": true}}}), json!({"a": "x"})),
        (json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true}), json!(1)),
        (json!({"type": "number", "exclusiveMinimum": 0}), json!(0.5)),
        (json!({"type": "string", "format": "uuid"}), json!("7c0e8f0e-0000-4000-8000-000000000000")),
        (json!({"type": "string", "pattern": "^(?!x)"}), json!("a")),
        (json!({"$ref": "#/$defs/Node"}), json!({"name": "a", "children": []})),
        (json!({"$ref": "#/definitions/Old%20One", "description": "d"}), json!("a")),
        (json!({"properties": {"a": {"type": "string"}}}), json!({"a": "x"})),
        (json!({"items": {"type": "string"}}), json!(["x"])),
        (json!({"type": "null"}), json!(null)),
    ]
}

#[test]
fn what_is_let_through_is_let_through_by_the_original() {
    for (property, example) in examples() {
        let schema = json!({
            "type": "object",
            "properties": {"p": property},
            "required": ["p"],
            "$defs": {"Node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
            }},
            "definitions": {"Old One": {"type": "string"}},
        });
        let sent = json!({"p": example});
        for provider in all() {
            let (repaired, losses, _) = rendered(&*provider, &schema);
            assert!(fits(&repaired, &repaired, &sent), "{}: {sent} and {repaired}", provider.name());
            let arguments = original_arguments(&Schema::from(schema.clone()), sent.as_object().cloned().unwrap());
            assert!(validate(&Schema::from(schema.clone()), &arguments).is_ok(), "{sent} and {schema}");
            assert!(
                losses.iter().all(|loss| loss.starts_with("/properties/p") || loss.starts_with("root ")),
                "{losses:?}"
            );
        }
    }
}

#[test]
fn an_argument_that_is_left_out_is_null_in_strict_mode() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1},
            "mode": {"enum": ["a", "b"]},
            "note": {"type": ["string", "null"]},
            "at": {"type": "object", "properties": {"line": {"type": "integer"}}, "additionalProperties": false},
        },
        "required": ["path"],
    });
    for provider in
        [&OpenAiResponses::new().with_strict_tools() as &dyn Provider, &OpenAiChat::new().with_strict_tools()]
    {
        let (strict, _, is_strict) = rendered(provider, &schema);
        assert!(is_strict);
        let sent = json!({"path": "a", "limit": null, "mode": null, "note": null, "at": {"line": null}});
        assert!(fits(&strict, &strict, &sent), "{strict}");
        assert!(!fits(&strict, &strict, &json!({"path": "a"})), "strict mode asks for all");
        let arguments = original_arguments(&Schema::from(schema.clone()), sent.as_object().cloned().unwrap());
        // `null` is a note of its own; the others were left out.
        assert_eq!(Value::from(arguments), json!({"path": "a", "note": null, "at": {}}));
    }
    let (strict, _, is_strict) = rendered(&Anthropic::new().with_strict_tools(), &schema);
    assert!(is_strict);
    assert!(fits(&strict, &strict, &json!({"path": "a"})), "Anthropic's lets it be left out");
}

#[test]
fn what_strict_mode_would_forbid_is_not_strict() {
    let provider = OpenAiResponses::new().with_strict_tools();
    for (property, reason) in [
        (json!({}), "/properties/p may be anything"),
        (json!({"type": "object"}), "/properties/p takes any names"),
        (json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true}), "any names"),
        (json!({"type": "array"}), "/properties/p is a list of anything"),
        (json!({"type": "array", "prefixItems": [{"type": "string"}]}), "goes on with anything"),
        (json!({"$ref": "#"}), "hold themselves"),
    ] {
        let schema = json!({"type": "object", "properties": {"p": property}});
        let (_, _, is_strict) = rendered(&provider, &schema);
        assert!(!is_strict, "{schema}");
        let tool = ToolSpec::new(ToolId::new(ServerId::new("s").unwrap(), "t"), "t").with_input_schema(schema);
        let notes = provider.render(&Layout::new().with_tool(tool)).report().notes.join(" ");
        assert!(notes.starts_with("s/t is not strict: ") && notes.contains(reason), "{notes}");
    }
}

#[test]
fn only_the_first_twenty_are_strict_for_anthropic() {
    let schema = json!({"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]});
    let layout = (10..35).fold(Layout::new(), |layout, i| {
        let name = format!("t{i}");
        let tool = ToolSpec::new(ToolId::new(ServerId::new("s").unwrap(), name.as_str()), name);
        layout.with_tool(tool.with_input_schema(schema.clone()))
    });
    let request = Anthropic::new().with_strict_tools().render(&layout);
    let body = request.to_value();
    assert_eq!(check_tools("anthropic", &body), Vec::<String>::new());
    let strict: Vec<bool> = declared("anthropic", &body).iter().map(|tool| tool.is_strict).collect();
    assert_eq!(strict, [vec![true; 20], vec![false; 5]].concat());
    assert_eq!(request.report().notes.len(), 5);
}

#[test]
fn names_that_anthropic_refuses_come_back() {
    let long = "x".repeat(80);
    let schema = json!({
        "type": "object",
        "properties": {"filter[name]": {"type": "string"}, "filter_name_": {"type": "string"}, (long.as_str()): {}},
        "required": ["filter[name]"],
    });
    let (repaired, losses, _) = rendered(&Anthropic::new(), &schema);
    assert!(losses.is_empty(), "{losses:?}");
    let names: Vec<&String> = repaired["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 3);
    let sent: Value = names.iter().map(|name| ((*name).clone(), json!(name))).collect::<serde_json::Map<_, _>>().into();
    let arguments = original_arguments(&Schema::from(schema), sent.as_object().cloned().unwrap());
    let mut back: Vec<&String> = arguments.keys().collect();
    back.sort();
    assert_eq!(back, ["filter[name]", "filter_name_", long.as_str()]);
    assert_eq!(arguments["filter_name_"], "filter_name_");
    assert_eq!(repaired["required"].as_array().unwrap().len(), 1);
}
