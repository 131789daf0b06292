use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};

use super::{
    asset::{Case, Effect, ToolAsset},
    template::{fill, fill_text},
};

/// What a tool answers to arguments, and what the call changes.
pub(super) fn answer<'a>(tool: &'a ToolAsset, arguments: &Map<String, Value>) -> (CallToolResult, Option<&'a Effect>) {
    if let Some(complaint) = complaint(&tool.definition.input_schema, arguments) {
        return (error(complaint), None);
    }
    let Some(case) = tool.answer.iter().find(|case| fits(case, arguments)) else {
        return (error("Nothing fits these arguments.".into()), None);
    };
    let text = case.text.as_ref().map(|text| fill_text(text, arguments));
    let data = case.data.as_ref().map(|data| fill(data, arguments));
    let result = match (data, text) {
        (_, text) if case.error => error(text.unwrap_or_default()),
        // The SDK repeats the data as text, for clients that read only text.
        (Some(data), None) => CallToolResult::structured(data),
        (Some(data), Some(text)) => {
            let mut result = CallToolResult::structured(data);
            result.content = vec![ContentBlock::text(text)];
            result
        }
        (None, text) => CallToolResult::success(vec![ContentBlock::text(text.unwrap_or_default())]),
    };
    (result, case.effect.as_ref())
}

fn error(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn fits(case: &Case, arguments: &Map<String, Value>) -> bool {
    case.when.iter().all(|(name, wanted)| arguments.get(name).unwrap_or(&Value::Null) == wanted)
}

/// The two mistakes that models make most; a demo needs no whole validator.
fn complaint(schema: &Map<String, Value>, arguments: &Map<String, Value>) -> Option<String> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            return Some(format!("The argument `{name}` is missing."));
        }
    }
    for (name, value) in arguments {
        let allowed = schema.get("properties")?.get(name).and_then(|property| property.get("enum")?.as_array());
        if let Some(allowed) = allowed.filter(|allowed| !allowed.contains(value)) {
            let allowed = allowed.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
            return Some(format!("The argument `{name}` must be one of {allowed}."));
        }
    }
    None
}
