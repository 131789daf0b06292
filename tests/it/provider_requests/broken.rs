//! Requests that are wrong in one way each: a rule that finds nothing holds nothing.

use proem::{
    id::{ServerId, ToolId},
    protocol::Role,
    render::{
        Anthropic, BedrockConverse, Block, Gemini, Layout, Message, OpenAiChat, OpenAiResponses, Provider, ToolChoice,
        ToolSpec,
    },
};
use serde_json::{Value, json};

use super::check_request;

/// A tool, a system text, a picture, a call with its result, and a choice.
fn layout() -> Layout {
    let id = ToolId::new(ServerId::new("git").unwrap(), "log");
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let call = Block::ToolCall { id: "c1".into(), name: "log".into(), arguments: serde_json::Map::new() };
    let result = Block::ToolResult { call_id: "c1".into(), content: vec![Block::Text("3".into())], is_error: true };
    let picture = Block::Image { mime_type: "image/png".into(), data: "aGVsbG8=".into() };
    Layout::new()
        .with_tool(ToolSpec::new(id, "log").with_description("Show commits").with_input_schema(schema))
        .with_system("Be brief.")
        .with_message(Message::user("See.").with_block(picture))
        .with_message(Message::new(Role::Assistant).with_block(call))
        .with_message(Message::new(Role::User).with_block(result))
        .with_tool_choice(ToolChoice::Tool("log".into()))
}

/// Sets what stands at each pointer (`null` takes it away), and looks for the fault.
fn breaks(provider: &dyn Provider, cases: &[(&str, Value, &str)]) {
    let good = provider.render(&layout()).to_value();
    assert_eq!(check_request(provider.name(), &good), Vec::<String>::new(), "{good:#}");
    for (pointer, value, expected) in cases {
        let mut broken = good.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = broken.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}: {good:#}"));
        match (parent, value) {
            (Value::Object(object), Value::Null) => assert!(object.remove(key).is_some(), "{pointer}"),
            (Value::Object(object), value) => _ = object.insert(key.into(), value.clone()),
            (Value::Array(items), Value::Null) => _ = items.remove(key.parse().unwrap()),
            (Value::Array(items), value) if key == "-" => items.push(value.clone()),
            (Value::Array(items), value) => items[key.parse::<usize>().unwrap()] = value.clone(),
            (other, _) => panic!("{pointer} is in {other}"),
        }
        let faults = check_request(provider.name(), &broken);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{} {pointer}: {faults:#?}", provider.name());
    }
}

#[test]
fn of_anthropic() {
    let tool = json!({"name": "log", "input_schema": {"type": "object"}});
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    let text = json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}});
    breaks(
        &Anthropic::new(),
        &[
            ("/max_tokens", Value::Null, "lacks `max_tokens`"),
            ("/max_tokens", json!(0), "no positive number"),
            ("/stop", json!(1), "has `stop`"),
            ("/tools/-", tool, "two tools of one name"),
            ("/tools/0/name", json!("a b"), "tools[0]"),
            ("/tools/0/input_schema", json!({"type": "object", "oneOf": []}), "`oneOf` at its root"),
            ("/tools/0/description", json!(" "), "blank"),
            ("/system", json!([]), "is empty"),
            ("/system/0/cache_control", mark, "an hour after five minutes"),
            ("/messages", json!([]), "is empty"),
            ("/messages/0", Value::Null, "does not begin with the user"),
            ("/messages/0/role", json!("system"), "none of"),
            ("/messages/0/content/0/text", json!(""), "blank"),
            ("/messages/0/content/1/source/data", json!("a"), "no base64"),
            ("/messages/0/content/1/source/media_type", json!("image/tiff"), "image/tiff"),
            ("/messages/0/content", json!([text, text, text]), "6 cache marks"),
            ("/messages/1/content/0/id", json!("c2"), "call `c2` has no result"),
            ("/messages/1/content/0/input", json!("{}"), "no object"),
            ("/messages/1/role", json!("user"), "of one role in a row"),
            ("/messages/2", Value::Null, "call `c1` has no result"),
            ("/messages/2/content/0/tool_use_id", json!("c2"), "no call `c2` waits"),
            (
                "/messages/2/content",
                json!([{"type": "text", "text": "a"}, {"type": "tool_result", "tool_use_id": "c1"}]),
                "after something else",
            ),
            ("/tool_choice/name", json!("gone"), "no tool is named"),
            ("/tool_choice/type", json!("required"), "none of"),
            ("/tools", Value::Null, "there are no tools"),
        ],
    );
}

#[test]
fn of_openai_responses() {
    breaks(
        &OpenAiResponses::new(),
        &[
            ("/messages", json!([]), "has `messages`"),
            ("/max_output_tokens", json!("9"), "no positive number"),
            ("/tools/0/strict", json!(true), "is strict and open"),
            ("/tools/0/name", json!("a.b"), "a.b"),
            (
                "/tools",
                json!(vec![
                    json!({"type": "function", "name": "a", "parameters": {"type": "object"}, "strict": false});
                    129
                ]),
                "more than 128",
            ),
            ("/input/0/role", json!("tool"), "none of"),
            ("/input/1/content/0/type", json!("output_text"), "none of"),
            ("/input/1/content/1/image_url", json!("https://example.com/a.png"), "no picture"),
            ("/input/1/content/0/prompt_cache_breakpoint", json!({}), "not explicit"),
            ("/input/2/arguments", json!({}), "no object in a string"),
            ("/input/2/call_id", json!(""), "is \"\""),
            ("/input/2", Value::Null, "no call `c1` waits"),
            ("/input/3", Value::Null, "call `c1` has no result"),
            ("/input/3/output", json!([]), "is empty"),
            ("/tool_choice", json!("any"), "none of"),
            ("/tool_choice/name", json!("gone"), "no tool is named"),
            ("/tool_choice", json!({"type": "allowed_tools", "mode": "auto", "tools": []}), "is empty"),
        ],
    );
}

#[test]
fn of_openai_chat() {
    breaks(
        &OpenAiChat::new(),
        &[
            ("/max_completion_tokens", json!(-1), "no positive number"),
            ("/tools/0/function/parameters", json!({"type": "string"}), "asks for no object"),
            ("/messages/1/role", json!("system"), "not the first message"),
            ("/messages/1/content/1/image_url/url", json!("data:image/png;base64,=="), "no base64"),
            ("/messages/2/tool_calls", Value::Null, "neither content nor calls"),
            ("/messages/2/tool_calls/0/function/arguments", json!("[]"), "no object in a string"),
            ("/messages/3/tool_call_id", json!("c9"), "no call `c9` waits"),
            ("/messages/3/content", json!(["a"]), "no string"),
            ("/messages/3", Value::Null, "call `c1` has no result"),
            ("/tool_choice/function/name", json!("gone"), "no tool is named"),
            ("/tool_choice", json!({"type": "allowed_tools", "mode": "auto", "tools": []}), "lacks `allowed_tools`"),
        ],
    );
}

#[test]
fn of_gemini() {
    breaks(
        &Gemini::new(),
        &[
            ("/model", json!("gemini"), "has `model`"),
            ("/cachedContent", json!("cachedContents/a"), "stands beside a cache"),
            ("/generationConfig", json!({"maxOutputTokens": 0}), "no positive number"),
            ("/tools/0/functionDeclarations/0/name", json!("1a"), "begins with no letter"),
            ("/tools/0/functionDeclarations/0/description", Value::Null, "lacks `description`"),
            ("/tools/0/functionDeclarations/0/parameters/properties", json!({}), "an empty object"),
            ("/tools/0/functionDeclarations/0/parametersJsonSchema", json!({"type": "object"}), "two schemas"),
            ("/systemInstruction/parts/0/text", json!(" "), "blank"),
            ("/contents/0/role", json!("assistant"), "none of"),
            ("/contents/0", Value::Null, "does not begin with the user"),
            ("/contents/0/parts/1/inlineData/mimeType", json!("image/bmp"), "image/bmp"),
            ("/contents/0/parts/0/thoughtSignature", json!("aaaa"), "is signed"),
            ("/contents/1/parts/0/thoughtSignature", Value::Null, "no signature"),
            ("/contents/1/parts/0/thoughtSignature", json!("?"), "no base64"),
            ("/contents/1/parts/0/text", json!("a"), "has `functionCall`"),
            ("/contents/2/parts/0/functionResponse/name", json!("gone"), "its results are"),
            ("/contents/2/parts/0/functionResponse/response", json!("3"), "no object"),
            ("/contents/2", Value::Null, "ends with calls"),
            ("/toolConfig/functionCallingConfig/mode", json!("AUTO"), "takes no names"),
            ("/toolConfig/functionCallingConfig/allowedFunctionNames/0", json!("gone"), "no tool is named"),
        ],
    );
}

#[test]
fn of_bedrock() {
    let point = json!({"cachePoint": {"type": "default"}});
    breaks(
        &BedrockConverse::new(),
        &[
            ("/modelId", json!("a"), "has `modelId`"),
            ("/inferenceConfig", json!({"maxTokens": 0}), "no positive number"),
            ("/toolConfig", Value::Null, "calls in messages and no tools"),
            ("/toolConfig/tools/0", Value::Null, "nothing before it"),
            ("/toolConfig/tools/0/toolSpec/description", json!(""), "blank"),
            ("/toolConfig/tools/0/toolSpec/inputSchema", json!({"type": "object"}), "lacks `json`"),
            ("/toolConfig/toolChoice", json!({"none": {}}), "has `none`"),
            ("/toolConfig/toolChoice/tool/name", json!("gone"), "no tool is named"),
            ("/system/1/cachePoint/ttl", json!("1h"), "an hour after five minutes"),
            ("/system/0", json!({"text": "a", "guardContent": {}}), "has `guardContent`"),
            ("/messages/0/content/1/image/format", json!("bmp"), "bmp"),
            ("/messages/0/content/1/image/source/bytes", json!("a"), "no base64"),
            ("/messages/0/content", json!([{"text": "a"}, point, point]), "5 cache points"),
            ("/messages/1/content/0/toolUse/toolUseId", json!("c.1"), "is \"c.1\""),
            ("/messages/1/content/0/toolUse/input", json!([]), "no object"),
            ("/messages/2/content/0/toolResult/content", json!([]), "a failure says nothing"),
            ("/messages/2/content/0/toolResult/status", json!("failed"), "none of"),
            ("/messages/2/content/0/toolResult/toolUseId", json!("c2"), "no call `c2` waits"),
            ("/messages/2", Value::Null, "call `c1` has no result"),
        ],
    );
}

#[test]
fn of_nobody_known() {
    assert_eq!(check_request("other", &json!({})), [": no rules are written down for `other`"]);
}
