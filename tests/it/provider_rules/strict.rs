//! What strict modes ask beyond the rest.

use serde_json::Value;

use super::{json_schema::each, providers::kinds};

/// OpenAI's guide on structured outputs, supported schemas, and the errors of the API: "'additionalProperties' is
/// required to be supplied and to be false"; "'required' is required to be supplied and to be an array including
/// every key in properties"; "schema must have a 'type' key"; "'oneOf' is not permitted"; "'default' is not
/// permitted"; "'uri' is not a valid format"; at most ten levels, 5,000 properties and 1,000 values of lists.
pub(super) fn openai(schema: &Value) -> Vec<String> {
    const TAKEN: [&str; 18] = [
        "type",
        "description",
        "enum",
        "anyOf",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
        "const",
    ];
    const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
    let mut faults = strictly(schema, &TAKEN, &FORMATS, true);
    let (mut properties, mut values) = (0, 0);
    each(schema, "", &mut |node, _| {
        properties += node["properties"].as_object().map_or(0, serde_json::Map::len);
        values += node["enum"].as_array().map_or(0, Vec::len);
    });
    if properties > 5_000 || values > 1_000 || levels(schema) > 10 {
        faults.push("is too large for strict mode".into());
    }
    faults
}

/// Anthropic's page on structured outputs, JSON Schema limitations: objects closed, no recursion, numerical, string
/// and array bounds refused but `minItems` of 0 and 1; ten formats.
pub(super) fn anthropic(schema: &Value) -> Vec<String> {
    const TAKEN: [&str; 10] = [
        "type",
        "description",
        "enum",
        "anyOf",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "format",
        "const",
    ];
    const FORMATS: [&str; 10] =
        ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];
    let mut taken = TAKEN.to_vec();
    taken.push("minItems");
    let mut faults = strictly(schema, &taken, &FORMATS, false);
    each(schema, "", &mut |node, at| {
        if node["minItems"].as_u64().is_some_and(|count| count > 1) {
            faults.push(format!("{at}: minItems is more than 1"));
        }
    });
    faults
}

/// The same page, complexity limits: 20 strict tools, 24 optional parameters and 16 of several types in a request.
pub(super) fn anthropic_together(schemas: &[&Value]) -> Vec<String> {
    let (mut optional, mut unions) = (0, 0);
    for schema in schemas {
        each(schema, "", &mut |node, _| {
            let required = node["required"].as_array().map_or(0, Vec::len);
            optional += node["properties"].as_object().map_or(0, serde_json::Map::len) - required;
            unions += usize::from(node["type"].is_array() || node.get("anyOf").is_some());
        });
    }
    if schemas.len() > 20 || optional > 24 || unions > 16 {
        return vec![format!("{} strict tools leave {optional} out and hold {unions} unions", schemas.len())];
    }
    Vec::new()
}

fn strictly(schema: &Value, taken: &[&str], formats: &[&str], requires_all: bool) -> Vec<String> {
    let mut faults = Vec::new();
    each(schema, "", &mut |node, at| {
        if at.ends_with("/additionalProperties") {
            return;
        }
        let mut fault = |what: String| faults.push(format!("{at}: {what}"));
        let Some(fields) = node.as_object() else { return fault("is no object".into()) };
        fields.keys().filter(|key| !taken.contains(&key.as_str())).for_each(|key| fault(format!("{key} is refused")));
        if !["type", "anyOf"].iter().any(|key| fields.contains_key(*key)) {
            fault("has no type".into());
        }
        if node.get("format").is_some_and(|format| !formats.iter().any(|known| format == known)) {
            fault(format!("{} is no format", node["format"]));
        }
        if kinds(&node["type"]).contains(&"array") && !node["items"].is_object() {
            fault("has no items".into());
        }
        if !kinds(&node["type"]).contains(&"object") {
            return;
        }
        if node["additionalProperties"] != false {
            fault("is not closed".into());
        }
        let required: Vec<&Value> = node["required"].as_array().into_iter().flatten().collect();
        let Some(properties) = node["properties"].as_object() else { return fault("has no properties".into()) };
        if requires_all && !properties.keys().all(|name| required.iter().any(|required| *required == name)) {
            fault("does not require all".into());
        }
        if !required.iter().all(|name| name.as_str().is_some_and(|name| properties.contains_key(name))) {
            fault("requires what is no property".into());
        }
    });
    faults
}

/// How many schemas lie in each other.
fn levels(schema: &Value) -> usize {
    let mut most = 0;
    each(schema, "", &mut |_, at| {
        let steps = at.split('/').filter(|step| matches!(*step, "properties" | "items" | "anyOf"));
        most = most.max(steps.count());
    });
    most + 1
}
