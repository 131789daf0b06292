use serde_json::{Map, Value};

/// What a message of a log says, piece by piece.
pub(super) enum Piece<'a> {
    /// The host's own text.
    System(String),
    /// By the user.
    Asked(String),
    /// By the model.
    Said(String),
    Call {
        id: &'a str,
        name: &'a str,
        arguments: Map<String, Value>,
    },
    Result {
        id: &'a str,
        text: String,
    },
}

/// Whose API a message is written for, where it shows.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Api {
    Anthropic,
    OpenAiChat,
}

/// Reads a message; `None` if it is none.
pub(super) fn pieces(message: &Value) -> Option<(Option<Api>, Vec<Piece<'_>>)> {
    let content = message.get("content").unwrap_or(&Value::Null);
    let mut api = None;
    let mut pieces = Vec::new();
    match message.get("role")?.as_str()? {
        "system" | "developer" => pieces.extend(text(content).map(Piece::System)),
        "user" => {
            pieces.extend(blocks(content, "tool_result").filter_map(|block| {
                api = Some(Api::Anthropic);
                let text = text(block.get("content").unwrap_or(&Value::Null)).unwrap_or_default();
                Some(Piece::Result { id: block.get("tool_use_id")?.as_str()?, text })
            }));
            pieces.extend(text(content).map(Piece::Asked));
        }
        "assistant" => {
            pieces.extend(text(content).map(Piece::Said));
            pieces.extend(blocks(content, "tool_use").filter_map(|block| {
                api = Some(Api::Anthropic);
                let arguments = block.get("input").and_then(Value::as_object).cloned().unwrap_or_default();
                Some(Piece::Call { id: block.get("id")?.as_str()?, name: block.get("name")?.as_str()?, arguments })
            }));
            let calls = message.get("tool_calls").and_then(Value::as_array);
            pieces.extend(calls.into_iter().flatten().filter_map(|call| {
                api = Some(Api::OpenAiChat);
                let function = call.get("function")?;
                let arguments = function.get("arguments").and_then(Value::as_str);
                let arguments = arguments.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
                Some(Piece::Call { id: call.get("id")?.as_str()?, name: function.get("name")?.as_str()?, arguments })
            }));
        }
        "tool" => {
            api = Some(Api::OpenAiChat);
            let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
            pieces.push(Piece::Result { id, text: text(content).unwrap_or_default() });
        }
        _ => return None,
    }
    Some((api, pieces))
}

/// The text of a content: a string, or its blocks of text. `None` if it is blank.
pub(super) fn text(content: &Value) -> Option<String> {
    let texts: Vec<&str> = match content {
        Value::String(text) => vec![text],
        content => blocks(content, "text").filter_map(|block| block.get("text")?.as_str()).collect(),
    };
    let text = texts.join("\n");
    (!text.trim().is_empty()).then_some(text)
}

fn blocks<'a>(content: &'a Value, kind: &'static str) -> impl Iterator<Item = &'a Value> {
    let blocks = content.as_array().into_iter().flatten();
    blocks.filter(move |block| block.get("type").and_then(Value::as_str) == Some(kind))
}
