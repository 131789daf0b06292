use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Conversation, Trace, TraceCall, TraceTurn, names::Names};

/// Reads turns, one a line.
#[derive(Default)]
pub(super) struct TurnLines {
    conversations: Vec<Conversation>,
    by_id: HashMap<String, usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    conversation: String,
    time: Option<Value>,
    text: String,
    #[serde(default)]
    tools_used: Vec<(String, String)>,
    #[serde(default)]
    results: Vec<Value>,
    answer: Option<String>,
}

impl TurnLines {
    pub(super) fn add(&mut self, value: Value, names: &mut Names<'_>) -> Result<(), String> {
        let line: Line = serde_json::from_value(value).map_err(|error| error.to_string())?;
        if line.text.trim().is_empty() {
            return Err("`text` is blank".into());
        }
        if line.results.len() > line.tools_used.len() {
            return Err(format!("{} results of {} tools", line.results.len(), line.tools_used.len()));
        }
        let time = line.time.as_ref().filter(|time| !time.is_null()).map(seconds).transpose()?;
        let mut results = line.results.iter().map(result);
        let mut calls = Vec::new();
        for (server, name) in &line.tools_used {
            let result = results.next().transpose()?.flatten();
            if let Some(tool) = names.of_server(server, name) {
                calls.push(TraceCall { result, ..TraceCall::new(tool) });
            }
        }
        let next = self.conversations.len();
        let at = *self.by_id.entry(line.conversation.clone()).or_insert(next);
        if at == next {
            self.conversations.push(Conversation::new(line.conversation));
        }
        let Some(conversation) = self.conversations.get_mut(at) else { return Ok(()) };
        let last = conversation.turns.iter().rev().find_map(|turn| turn.time);
        if time.zip(last).is_some_and(|(time, last)| time < last) {
            return Err(format!("`time` is before that of an earlier turn of `{}`", conversation.id));
        }
        let rounds = if calls.is_empty() { Vec::new() } else { vec![calls] };
        conversation.push(TraceTurn { time, text: line.text, rounds, answer: line.answer })
    }

    pub(super) fn finish(self) -> Vec<Conversation> {
        self.conversations
    }
}

/// A time in whole seconds: RFC 3339 from 1970 on, or a number.
pub(super) fn seconds(time: &Value) -> Result<u64, String> {
    let seconds = match time {
        Value::String(text) => match text.parse::<jiff::Timestamp>() {
            Ok(time) => time.as_second() as f64,
            Err(_) => return Err("`time` is no time such as 2026-05-04T09:00:00Z".into()),
        },
        time => time.as_f64().ok_or("`time` is neither a text nor a number of seconds")?,
    };
    // Until the year 5138; more is milliseconds, or a mistake.
    if (0.0..1e11).contains(&seconds) {
        Ok(seconds as u64)
    } else {
        Err("`time` must be from 0 to 100,000,000,000 seconds".into())
    }
}

/// What a call gave: a text, or one of so many tokens.
fn result(value: &Value) -> Result<Option<String>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        size => match size.as_u64().filter(|size| *size <= Trace::MAX_RESULT_TOKENS) {
            // With a space before it, it is one token to every tokenizer that counts here.
            Some(size) => Ok(Some(" x".repeat(usize::try_from(size).unwrap_or_default()))),
            None => Err(format!("a result is no text, and no number of up to {} tokens", Trace::MAX_RESULT_TOKENS)),
        },
    }
}
