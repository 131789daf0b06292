//! Earlier drafts of JSON Schema in the words of 2020-12, with nothing lost.

use serde_json::Value;

use super::{Losses, Object, walk};

/// Draft-03 to draft-07 and OpenAPI become 2020-12, which Anthropic and OpenAI hold schemas against.
pub(super) fn modern(schema: &mut Object, losses: &mut Losses<'_>) -> Result<(), String> {
    walk::parents_first(schema, losses, &mut |schema, _| {
        tuple(schema);
        exclusive(schema, "exclusiveMinimum", "minimum");
        exclusive(schema, "exclusiveMaximum", "maximum");
        required_properties(schema);
        dependencies(schema);
        // OpenAPI 3.0's word, which is none of JSON Schema: arguments are not validated by it.
        if schema.get("nullable").is_some_and(Value::is_boolean) {
            schema.remove("nullable");
        }
    });
    Ok(())
}

/// `items` as a list is `prefixItems`, and `additionalItems` is then `items`.
fn tuple(schema: &mut Object) {
    let rest = schema.remove("additionalItems");
    if !schema.get("items").is_some_and(Value::is_array) {
        return;
    }
    if let Some(list) = schema.remove("items")
        && list.as_array().is_some_and(|list| !list.is_empty())
    {
        schema.insert("prefixItems".into(), list);
    }
    if let Some(rest) = rest {
        schema.insert("items".into(), rest);
    }
}

/// `exclusiveMinimum: true` beside `minimum` is the number itself.
fn exclusive(schema: &mut Object, exclusive: &str, bound: &str) {
    let Some(&Value::Bool(is_exclusive)) = schema.get(exclusive) else { return };
    schema.remove(exclusive);
    if is_exclusive && let Some(bound) = schema.remove(bound) {
        schema.insert(exclusive.into(), bound);
    }
}

/// `required: true` at a property is its name in the list of the object.
fn required_properties(schema: &mut Object) {
    if schema.get("required").is_some_and(Value::is_boolean) {
        schema.remove("required");
    }
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let mut required = Vec::new();
    for (name, property) in properties.iter_mut() {
        let Some(property) = property.as_object_mut() else { continue };
        if let Some(&Value::Bool(is_required)) = property.get("required") {
            property.remove("required");
            required.extend(is_required.then(|| Value::from(name.as_str())));
        }
    }
    required.sort_unstable_by(|a, b| a.as_str().cmp(&b.as_str()));
    if !required.is_empty()
        && let Value::Array(names) = schema.entry("required").or_insert_with(|| Value::Array(Vec::new()))
    {
        required.retain(|name| !names.contains(name));
        names.append(&mut required);
    }
}

/// `dependencies` is two keywords by now: one for names, one for schemas.
fn dependencies(schema: &mut Object) {
    let Some(Value::Object(dependencies)) = schema.remove("dependencies") else { return };
    for (name, needs) in dependencies {
        let keyword = if needs.is_array() { "dependentRequired" } else { "dependentSchemas" };
        if let Value::Object(all) = schema.entry(keyword).or_insert_with(|| Value::Object(Object::new())) {
            all.entry(name).or_insert(needs);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::losses::Told, *};

    #[test]
    fn earlier_drafts_say_the_same_in_new_words() {
        for (old, new) in [
            (json!({"items": [{}, {}], "additionalItems": false}), json!({"prefixItems": [{}, {}], "items": false})),
            (json!({"items": {}, "additionalItems": false}), json!({"items": {}})),
            (json!({"minimum": 0, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 0})),
            (json!({"maximum": 9, "exclusiveMaximum": false}), json!({"maximum": 9})),
            (json!({"exclusiveMaximum": 9}), json!({"exclusiveMaximum": 9})),
            (
                json!({"properties": {"b": {"required": true}, "a": {"required": true}, "c": {"required": false}}}),
                json!({"properties": {"b": {}, "a": {}, "c": {}}, "required": ["a", "b"]}),
            ),
            (
                json!({"dependencies": {"a": ["b"], "c": {"minProperties": 2}}}),
                json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"minProperties": 2}}}),
            ),
            (json!({"type": "string", "nullable": true}), json!({"type": "string"})),
        ] {
            let mut schema = json!({"properties": {"inner": old}}).as_object().cloned().unwrap();
            let mut told = Told::default();
            modern(&mut schema, &mut told.root()).unwrap();
            assert_eq!(schema["properties"]["inner"], new);
            assert!(told.into_sentences().is_empty());
        }
    }
}
