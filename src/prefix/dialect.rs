use std::fmt;

use serde::{Deserialize, Serialize};

use super::node::Node;
use crate::{Error, Result};

/// The form of a request body: whose API it is written for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    OpenaiResponses,
    /// OpenAI Chat Completions, and the many endpoints that speak it.
    OpenaiChat,
    /// Gemini generateContent.
    Gemini,
    /// Amazon Bedrock Converse.
    Bedrock,
}

impl Dialect {
    /// Its name in reports, in the spelling of [`Provider::name`](crate::render::Provider::name).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiResponses => "openai-responses",
            Self::OpenaiChat => "openai-chat",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
        }
    }

    /// Whether the API keeps a prefix only where the request carries a cache mark. The others keep
    /// prefixes by themselves, and marks add to that.
    pub fn keeps_marked_only(self) -> bool {
        matches!(self, Self::Anthropic | Self::Bedrock)
    }

    /// The form of a body, by its keys: those of the body first, then those of a tool, then those of
    /// the messages. Chat Completions and Anthropic write plain messages alike; then the model's name
    /// decides, and last of all `max_tokens`, which Anthropic requires.
    pub(super) fn of(body: Node<'_, '_>) -> Result<Self> {
        let has = |keys: &[&str]| keys.iter().any(|key| body.get(key).is_some());
        if has(&["contents", "systemInstruction", "system_instruction"]) {
            return Ok(Self::Gemini);
        }
        if !has(&["messages"]) {
            return match has(&["input", "instructions"]) {
                true => Ok(Self::OpenaiResponses),
                false => Err(Error::invalid("request body", "it has none of the keys `messages`, `input`, `contents`")),
            };
        }
        if has(&["toolConfig", "inferenceConfig", "modelId", "additionalModelRequestFields"]) {
            return Ok(Self::Bedrock);
        }
        if let Some(system) = body.get("system") {
            let tagged = system.items().next().is_some_and(|block| block.get("type").is_none());
            return Ok(if tagged { Self::Bedrock } else { Self::Anthropic });
        }
        if has(&["max_completion_tokens", "response_format", "prompt_cache_key", "reasoning_effort"]) {
            return Ok(Self::OpenaiChat);
        }
        if let Some(tool) = body.get("tools").and_then(|tools| tools.items().next()) {
            return Ok(if tool.get("function").is_some() { Self::OpenaiChat } else { Self::Anthropic });
        }
        if let Some(dialect) = body.get("messages").and_then(|messages| messages.items().find_map(by_message)) {
            return Ok(dialect);
        }
        Ok(match body.get("model").and_then(Node::text) {
            Some(model) if model.contains("claude") => Self::Anthropic,
            None if has(&["max_tokens"]) => Self::Anthropic,
            _ => Self::OpenaiChat,
        })
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What only one of the three forms that have `messages` can hold.
fn by_message(message: Node<'_, '_>) -> Option<Dialect> {
    let is_role = |role: &str| message.get("role").and_then(Node::text).is_some_and(|own| own == role);
    if message.get("tool_calls").is_some() || ["system", "developer", "tool"].into_iter().any(is_role) {
        return Some(Dialect::OpenaiChat);
    }
    message.get("content")?.items().find_map(|block| match block.get("type").and_then(Node::text).as_deref() {
        Some("text") if block.get("cache_control").is_some() => Some(Dialect::Anthropic),
        Some("text") if block.get("prompt_cache_breakpoint").is_some() => Some(Dialect::OpenaiChat),
        Some("text") => None,
        Some("image_url" | "input_audio" | "file" | "refusal") => Some(Dialect::OpenaiChat),
        Some(_) => Some(Dialect::Anthropic),
        None => block.is_object().then_some(Dialect::Bedrock),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::node::Document, *};

    #[track_caller]
    fn of(body: &str) -> Dialect {
        Dialect::of(Document::read(body).unwrap().root()).unwrap()
    }

    #[test]
    fn a_form_is_known_by_its_keys() {
        for (body, dialect) in [
            (r#"{"contents": []}"#, Dialect::Gemini),
            (r#"{"system_instruction": {"parts": []}, "tools": []}"#, Dialect::Gemini),
            (r#"{"input": "hi"}"#, Dialect::OpenaiResponses),
            (r#"{"messages": [], "inferenceConfig": {}}"#, Dialect::Bedrock),
            (r#"{"messages": [], "system": [{"text": "x"}]}"#, Dialect::Bedrock),
            (r#"{"messages": [{"role": "user", "content": [{"text": "x"}]}]}"#, Dialect::Bedrock),
            (r#"{"messages": [], "system": "x"}"#, Dialect::Anthropic),
            (r#"{"messages": [], "system": [{"type": "text", "text": "x"}]}"#, Dialect::Anthropic),
            (r#"{"messages": [], "tools": [{"name": "x", "input_schema": {}}]}"#, Dialect::Anthropic),
            (r#"{"messages": [], "tools": [{"type": "function", "function": {}}]}"#, Dialect::OpenaiChat),
            (r#"{"messages": [{"role": "system", "content": "x"}], "max_tokens": 1}"#, Dialect::OpenaiChat),
            (r#"{"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}"#, Dialect::Anthropic),
            (r#"{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}"#, Dialect::OpenaiChat),
            (r#"{"messages": [{"role": "user", "content": "x"}], "max_tokens": 1}"#, Dialect::Anthropic),
            (
                r#"{"messages": [{"role": "user", "content": "x"}], "max_tokens": 1, "model": "gpt-4.1"}"#,
                Dialect::OpenaiChat,
            ),
            (r#"{"messages": [{"role": "user", "content": "x"}], "model": "claude-opus-5"}"#, Dialect::Anthropic),
            (r#"{"messages": [{"role": "user", "content": "x"}]}"#, Dialect::OpenaiChat),
        ] {
            assert_eq!(of(body), dialect, "{body}");
        }
    }

    #[test]
    fn a_name_is_that_of_its_provider_and_of_its_json() {
        for (dialect, name) in [(Dialect::OpenaiResponses, "openai-responses"), (Dialect::Bedrock, "bedrock")] {
            assert_eq!((dialect.as_str(), serde_json::to_value(dialect).unwrap()), (name, name.into()));
        }
    }
}
