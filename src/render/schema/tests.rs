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
