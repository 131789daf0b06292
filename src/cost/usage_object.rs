use serde_json::Value;

use super::usage::Usage;
use crate::{Error, Result};

/// Where a usage object lies in what a provider answers: a response, or an event of a stream.
const PLACES: [&str; 7] =
    ["", "/usage", "/usageMetadata", "/message/usage", "/response/usage", "/response/usageMetadata", "/metadata/usage"];

impl Usage {
    /// Reads a provider's usage object, or a response or event that holds one. Whose it is shows by
    /// its keys, and with it whether its input counts cached tokens:
    ///
    /// | provider | input, cached included | input, cached apart | read | written |
    /// |---|---|---|---|---|
    /// | Anthropic | | `input_tokens` | `cache_read_input_tokens` | `cache_creation_input_tokens`, by time in `cache_creation` |
    /// | OpenAI Responses | `input_tokens` | | `input_tokens_details.cached_tokens` | `….cache_write_tokens` |
    /// | OpenAI Chat | `prompt_tokens` | | `prompt_tokens_details.cached_tokens` | `….cache_write_tokens` |
    /// | Gemini | `promptTokenCount` | | `cachedContentTokenCount` | |
    /// | Bedrock | | `inputTokens` | `cacheReadInputTokens` | `cacheWriteInputTokens`, by time in `cacheDetails` |
    ///
    /// Gemini's `toolUsePromptTokenCount` is input beside the prompt, its `thoughtsTokenCount`
    /// output beside the candidates. For which time OpenAI wrote is not said: it counts as the usual.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if there is no usage object, or with the field of
    /// it that is missing, is no count, or does not fit the others.
    pub fn read(value: &Value) -> Result<Self> {
        for place in PLACES {
            let Some(object) = value.pointer(place) else { continue };
            let has = |key| object.get(key).is_some_and(|value| !value.is_null());
            if has("promptTokenCount") {
                return gemini(object);
            } else if has("inputTokens") {
                return bedrock(object);
            } else if has("prompt_tokens") {
                return openai(object, "prompt_tokens", "prompt_tokens_details", "completion_tokens");
            } else if has("input_tokens_details") {
                return openai(object, "input_tokens", "input_tokens_details", "output_tokens");
            } else if has("input_tokens") {
                return anthropic(object);
            }
        }
        Err(Error::invalid(
            "usage object",
            "it has none of `input_tokens`, `prompt_tokens`, `promptTokenCount` and `inputTokens`",
        ))
    }
}

fn anthropic(object: &Value) -> Result<Usage> {
    let written = count(object, "/cache_creation_input_tokens")?;
    let by_time = |ttl| count(object, &format!("/cache_creation/ephemeral_{ttl}_input_tokens"));
    let long = by_time("1h")?;
    Ok(Usage {
        uncached: required(object, "/input_tokens")?,
        read: count(object, "/cache_read_input_tokens")?,
        // The sum is what older responses have alone; the parts are what newer gateways may have alone.
        written: by_time("5m")?.max(written.saturating_sub(long)),
        written_long: long,
        output: count(object, "/output_tokens")?,
    })
}

fn openai(object: &Value, input: &str, details: &str, output: &str) -> Result<Usage> {
    let read = count(object, &format!("/{details}/cached_tokens"))?;
    let written = count(object, &format!("/{details}/cache_write_tokens"))?;
    Ok(Usage {
        uncached: rest(required(object, &format!("/{input}"))?, read.saturating_add(written), input)?,
        read,
        written,
        written_long: 0,
        output: count(object, &format!("/{output}"))?,
    })
}

fn gemini(object: &Value) -> Result<Usage> {
    let read = count(object, "/cachedContentTokenCount")?;
    let prompt = rest(required(object, "/promptTokenCount")?, read, "promptTokenCount")?;
    let output = count(object, "/candidatesTokenCount")?;
    Ok(Usage {
        uncached: prompt.saturating_add(count(object, "/toolUsePromptTokenCount")?),
        read,
        written: 0,
        written_long: 0,
        output: output.saturating_add(count(object, "/thoughtsTokenCount")?),
    })
}

fn bedrock(object: &Value) -> Result<Usage> {
    let written = count(object, "/cacheWriteInputTokens")?;
    let mut long = 0_u64;
    for detail in object.get("cacheDetails").and_then(Value::as_array).into_iter().flatten() {
        if detail.get("ttl").and_then(Value::as_str) == Some("1h") {
            long = long.saturating_add(required(detail, "/inputTokens")?);
        }
    }
    Ok(Usage {
        uncached: required(object, "/inputTokens")?,
        read: count(object, "/cacheReadInputTokens")?,
        written: written.saturating_sub(long),
        written_long: long,
        output: count(object, "/outputTokens")?,
    })
}

/// The count at `pointer`; 0 if it is absent, as counts of nothing often are.
fn count(object: &Value, pointer: &str) -> Result<u64> {
    match object.pointer(pointer) {
        None | Some(Value::Null) => Ok(0),
        Some(value) => value
            .as_u64()
            .ok_or_else(|| Error::invalid("usage object", format!("{} is no count of tokens", field(pointer)))),
    }
}

fn required(object: &Value, pointer: &str) -> Result<u64> {
    match object.pointer(pointer) {
        None | Some(Value::Null) => Err(Error::invalid("usage object", format!("{} is missing", field(pointer)))),
        Some(_) => count(object, pointer),
    }
}

fn field(pointer: &str) -> String {
    format!("`{}`", pointer.trim_start_matches('/').replace('/', "."))
}

fn rest(all: u64, part: u64, field: &str) -> Result<u64> {
    all.checked_sub(part).ok_or_else(|| {
        Error::invalid("usage object", format!("of {all} tokens in `{field}`, {part} are said to be cached"))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts(value: &Value) -> [u64; 5] {
        let usage = Usage::read(value).unwrap();
        [usage.uncached, usage.read, usage.written, usage.written_long, usage.output]
    }

    #[test]
    fn every_provider_in_its_own_words() {
        for (value, expected) in [
            (
                json!({"input_tokens": 21, "cache_creation_input_tokens": 188_086, "cache_read_input_tokens": 0, "output_tokens": 393}),
                [21, 0, 188_086, 0, 393],
            ),
            (
                json!({"input_tokens": 50, "cache_creation_input_tokens": 556, "cache_read_input_tokens": 1_800, "output_tokens": 503,
                    "cache_creation": {"ephemeral_5m_input_tokens": 456, "ephemeral_1h_input_tokens": 100}}),
                [50, 1_800, 456, 100, 503],
            ),
            (json!({"input_tokens": 9, "cache_creation": {"ephemeral_5m_input_tokens": 7}}), [9, 0, 7, 0, 0]),
            (json!({"input_tokens": 9, "cache_read_input_tokens": null, "output_tokens": 1}), [9, 0, 0, 0, 1]),
            (
                json!({"input_tokens": 2_006, "input_tokens_details": {"cached_tokens": 1_024, "cache_write_tokens": 900}, "output_tokens": 300, "total_tokens": 2_306}),
                [82, 1_024, 900, 0, 300],
            ),
            (
                json!({"prompt_tokens": 2_006, "completion_tokens": 300, "total_tokens": 2_306, "prompt_tokens_details": {"cached_tokens": 1_920}}),
                [86, 1_920, 0, 0, 300],
            ),
            (json!({"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": null}), [12, 0, 0, 0, 3]),
            (
                json!({"promptTokenCount": 5_000, "cachedContentTokenCount": 4_090, "candidatesTokenCount": 10, "thoughtsTokenCount": 30, "toolUsePromptTokenCount": 7, "totalTokenCount": 5_047}),
                [917, 4_090, 0, 0, 40],
            ),
            (json!({"promptTokenCount": 4}), [4, 0, 0, 0, 0]),
            (
                json!({"inputTokens": 11, "outputTokens": 5, "cacheReadInputTokens": 2_000, "cacheWriteInputTokens": 300,
                    "cacheDetails": [{"ttl": "1h", "inputTokens": 200}, {"ttl": "5m", "inputTokens": 100}]}),
                [11, 2_000, 100, 200, 5],
            ),
        ] {
            assert_eq!(parts(&value), expected, "{value}");
        }
    }

    #[test]
    fn whole_answers_and_events_are_taken() {
        let anthropic = json!({"input_tokens": 1, "output_tokens": 2});
        for value in [
            json!({"type": "message", "content": [], "usage": anthropic}),
            json!({"type": "message_start", "message": {"usage": anthropic}}),
            json!({"type": "response.completed", "response": {"usage": {"input_tokens": 1, "input_tokens_details": {}, "output_tokens": 2}}}),
            json!({"candidates": [], "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2}}),
            json!({"metadata": {"usage": {"inputTokens": 1, "outputTokens": 2}}}),
        ] {
            assert_eq!(parts(&value), [1, 0, 0, 0, 2], "{value}");
        }
    }

    #[test]
    fn errors_say_what_is_missing() {
        for (value, expected) in [
            (json!({"usage": null}), "it has none of `input_tokens`"),
            (json!([1]), "it has none of `input_tokens`"),
            (json!({"input_tokens": "many"}), "`input_tokens` is no count of tokens"),
            (
                json!({"input_tokens": 5, "cache_read_input_tokens": -1}),
                "`cache_read_input_tokens` is no count of tokens",
            ),
            (json!({"input_tokens_details": {"cached_tokens": 3}}), "`input_tokens` is missing"),
            (
                json!({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 6}}),
                "of 5 tokens in `prompt_tokens`, 6 are said to be cached",
            ),
            (json!({"inputTokens": 1, "cacheDetails": [{"ttl": "1h"}]}), "`inputTokens` is missing"),
        ] {
            let message = Usage::read(&value).unwrap_err().to_string();
            assert!(message.starts_with("invalid usage object: ") && message.contains(expected), "{message}");
        }
    }
}
