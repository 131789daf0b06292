use std::collections::{BTreeMap, BTreeSet};

use rmcp::model::{CustomResult, JsonObject, ListToolsResult, MetaObject, ServerResult, Tool};
use serde_json::{Value, value::RawValue};

use super::ListKind;

/// The `_meta` key under which a page of tools carries its text, and a tool its place in it.
const KEY: &str = "proem/carried";

/// A list's result as rmcp's HTTP transport needs it, with the result's own text inside.
///
/// That transport looks into a page of tools: it drops those whose `x-mcp-header` is invalid, and
/// learns the headers of the others. So a page of tools goes through it decoded, as far as its
/// tools can be, and carries its text in `_meta`. The other lists go through as their text.
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only that transport needs it"))]
pub(super) fn carry(kind: ListKind, result: &RawValue) -> ServerResult {
    let text = Value::String(result.get().to_owned());
    let items = (kind == ListKind::Tools).then(|| items(result)).flatten();
    let Some(items) = items else { return ServerResult::CustomResult(CustomResult(text)) };
    let mut tools = Vec::with_capacity(items.len());
    let mut places = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        if let Ok(mut tool) = serde_json::from_str::<Tool>(item.get()) {
            tool.meta = Some(meta(place.into()));
            tools.push(tool);
            places.push(Value::from(place));
        }
    }
    let mut page = ListToolsResult::with_all_items(tools);
    page.meta = Some(meta(Value::Array(vec![text, Value::Array(places)])));
    ServerResult::ListToolsResult(page)
}

/// The text of a page of tools that came through, without the tools that were dropped on the way.
pub(super) fn carried(page: &mut ListToolsResult) -> Option<String> {
    let Some(Value::Array(mut parts)) = page.meta.as_mut()?.0.remove(KEY) else { return None };
    let (Some(Value::Array(places)), Some(Value::String(text))) = (parts.pop(), parts.pop()) else { return None };
    let places: BTreeSet<u64> = places.iter().filter_map(Value::as_u64).collect();
    let came: BTreeSet<u64> = page.tools.iter().filter_map(|tool| tool.meta.as_ref()?.0.get(KEY)?.as_u64()).collect();
    let dropped: BTreeSet<u64> = places.difference(&came).copied().collect();
    if dropped.is_empty() { Some(text) } else { without(&text, &dropped) }
}

fn without(text: &str, dropped: &BTreeSet<u64>) -> Option<String> {
    let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).ok()?;
    let items: Vec<&RawValue> = serde_json::from_str(fields.get("tools")?.get()).ok()?;
    let kept: Vec<&RawValue> =
        (0_u64..).zip(items).filter(|(place, _)| !dropped.contains(place)).map(|(_, item)| item).collect();
    let kept = serde_json::value::to_raw_value(&kept).ok()?;
    fields.insert("tools".into(), kept);
    serde_json::to_string(&fields).ok()
}

fn items(result: &RawValue) -> Option<Vec<&RawValue>> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(result.get()).ok()?;
    serde_json::from_str(fields.get("tools")?.get()).ok()
}

fn meta(value: Value) -> MetaObject {
    MetaObject(JsonObject::from_iter([(KEY.to_owned(), value)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(text: &str, drop_name: &str) -> String {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        match carry(ListKind::Tools, &raw) {
            ServerResult::ListToolsResult(mut page) => {
                page.tools.retain(|tool| tool.name != drop_name);
                carried(&mut page).unwrap()
            }
            ServerResult::CustomResult(CustomResult(Value::String(text))) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_page_comes_through_whole_but_for_what_was_dropped() {
        let text = r#"{"tools":[{"name":"a","inputSchema":{},"new":1.50},{"name":"bad"},{"name":"b","inputSchema":{}}],"x":1}"#;
        assert_eq!(through(text, ""), text);
        assert_eq!(through(text, "b"), r#"{"tools":[{"name":"a","inputSchema":{},"new":1.50},{"name":"bad"}],"x":1}"#);
        assert_eq!(through(r#"{"tools":7}"#, ""), r#"{"tools":7}"#);
    }
}
