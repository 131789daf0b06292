use serde_json::Value;

use super::{Dialect, node::Node, segment::Setting};
use crate::{json::canonical, render::SectionKind};

use SectionKind::{Messages, System, Tools};

/// What each API's cache depends on beside the text, and from which section on.
///
/// Anthropic: prompt caching docs, "what invalidates the cache"; structured outputs docs for the
/// format, which is told to the model as system text. OpenAI: prompt caching guide, where the schema
/// of the answer stands before the system message, and the cache key routes a request to its cache; a
/// stored `prompt` is the text that it names.
/// Bedrock keeps Claude's rules. A cache is one model's everywhere. What the sampler alone reads is
/// not here, and neither is OpenAI's `tool_choice`, which masks tools without touching the prompt.
fn names(dialect: Dialect) -> &'static [(&'static str, SectionKind)] {
    match dialect {
        Dialect::Anthropic => &[
            ("model", Tools),
            ("speed", System),
            ("output_config.format", System),
            ("output_format", System),
            ("tool_choice", Messages),
            ("thinking", Messages),
            ("output_config.effort", Messages),
        ],
        Dialect::OpenaiResponses => {
            &[("model", Tools), ("prompt_cache_key", Tools), ("prompt", System), ("text.format", System)]
        }
        Dialect::OpenaiChat => &[("model", Tools), ("prompt_cache_key", Tools), ("response_format", System)],
        Dialect::Gemini => &[("model", Tools), ("cachedContent", Tools)],
        Dialect::Bedrock => &[
            ("modelId", Tools),
            ("outputConfig", System),
            ("toolConfig.toolChoice", Messages),
            ("additionalModelRequestFields", Messages),
        ],
    }
}

/// The settings of a body that are there.
pub(super) fn read(body: Node<'_, '_>, dialect: Dialect, has_images: bool) -> Vec<Setting> {
    let setting = |name: &str, value: String, section| Setting { name: name.into(), value, section };
    let mut settings: Vec<_> = names(dialect)
        .iter()
        .filter_map(|(name, section)| {
            let value = name.split('.').try_fold(body, |value, key| value.get(key))?;
            let canonical = serde_json::from_str::<Value>(value.raw()).map(|value| canonical(&value));
            Some(setting(name, canonical.unwrap_or_else(|_| value.raw().into()), *section))
        })
        .collect();
    // Anthropic: the first picture of a conversation, or the last one that goes, costs all messages.
    if has_images && dialect == Dialect::Anthropic {
        settings.push(setting("images", "true".into(), Messages));
    }
    settings
}
