use std::{borrow::Cow, collections::BTreeSet, mem};

use super::{
    report::RenderReport,
    tools::is_name,
    turns::{Part, Turn},
};
use crate::{error::excerpt, protocol::Role};

/// The longest id of a call, in bytes: Bedrock's and OpenAI's bound.
const MAX_ID: usize = 64;

/// What stands for the result of a call that was never answered.
const UNANSWERED: &str = "[no result]";

/// What stands for a result whose call is not in the turn before.
const ORPHAN: &str = "[the result of a call that is not before it, left out]";

/// Puts calls and results into the form without which providers refuse the whole request: names and
/// ids of letters, digits, `_` and `-`; no id twice; and for each call one result in the turn after
/// it, before everything but attachments, in the order of the calls.
///
/// A conversation that was cut, stopped while a tool ran, or begun with another provider may have
/// none of it. What a turn becomes depends on nothing after it, so that one message more changes
/// no byte before it. The calls of the last turn keep waiting. `search` is the name of the tool whose
/// results have a form of their own.
pub(super) fn pair<'a>(turns: &mut [Turn<'a>], search: Option<&str>, report: &mut RenderReport) {
    let mut ids = BTreeSet::new();
    let mut waiting: Vec<Call<'a>> = Vec::new();
    for turn in turns {
        match turn.role {
            Role::Assistant => waiting = named(turn, search, &mut ids, report),
            Role::User => answer(turn, mem::take(&mut waiting), report),
        }
    }
    if !waiting.is_empty() {
        report.notes.push("the last message calls tools: the API refuses it without their results".into());
    }
}

/// A call that waits for its result.
struct Call<'a> {
    /// Its id as the conversation has it.
    given: Cow<'a, str>,
    /// Its id in the request.
    id: Cow<'a, str>,
    /// Its result has a form of its own.
    is_search: bool,
    result: Option<Part<'a>>,
}

/// The calls of a turn of the model, with names and ids as they are to be.
fn named<'a>(
    turn: &mut Turn<'a>,
    search: Option<&str>,
    ids: &mut BTreeSet<Cow<'a, str>>,
    report: &mut RenderReport,
) -> Vec<Call<'a>> {
    let mut calls = Vec::new();
    for part in &mut turn.parts {
        let Part::Call { id, name, .. } = part else { continue };
        if !is_name(name) {
            let tidy = tidy(name);
            report.notes.push(format!("call of `{}`: rendered as `{tidy}`, no provider takes the name", excerpt(name)));
            *name = tidy.into();
        }
        let given = id.clone();
        if !is_id(id) || ids.contains(id) {
            // Counted from the beginning: the same in every turn. A few more where one is taken.
            *id =
                (ids.len()..).map(|n| Cow::Owned(format!("call_{n}"))).find(|id| !ids.contains(id)).unwrap_or_default();
        }
        ids.insert(id.clone());
        calls.push(Call { given, id: id.clone(), is_search: search == Some(&**name), result: None });
    }
    calls
}

/// Gives each call its result, in a turn of the user.
fn answer<'a>(turn: &mut Turn<'a>, mut calls: Vec<Call<'a>>, report: &mut RenderReport) {
    if calls.is_empty() && !turn.parts.iter().any(|part| matches!(part, Part::Result { .. })) {
        return;
    }
    let mut said = Vec::with_capacity(turn.parts.len());
    for mut part in turn.parts.drain(turn.attachments..) {
        let Part::Result { call_id, .. } = &mut part else {
            said.push(part);
            continue;
        };
        if let Some(call) = calls.iter_mut().find(|call| call.given == *call_id && call.result.is_none()) {
            call_id.clone_from(&call.id);
            call.result = Some(part);
        } else {
            report.notes.push(format!("result of call `{}`: left out, its call is not before it", excerpt(call_id)));
            said.push(Part::Text(ORPHAN.into()));
        }
    }
    turn.parts.extend(calls.into_iter().map(|Call { given, id, is_search, result }| {
        result.unwrap_or_else(|| {
            report.notes.push(format!("call `{}`: its result is missing, which the model is told", excerpt(&given)));
            Part::Result {
                call_id: id,
                parts: vec![Part::Text(UNANSWERED.into())],
                found: is_search.then(Vec::new),
                is_error: true,
            }
        })
    }));
    turn.parts.extend(said);
}

fn is_id(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// A name that every provider takes, as near as can be.
fn tidy(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let tidy: String = name.chars().take(MAX_ID - 2).map(kept).collect();
    if is_name(&tidy) { tidy } else { format!("_{tidy}") }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{
        protocol::Role,
        render::{Anthropic, Block, Layout, Message, Provider, RenderReport},
    };

    fn call(id: &str, name: &str) -> Block {
        Block::ToolCall { id: id.into(), name: name.into(), arguments: serde_json::Map::new() }
    }

    fn result(id: &str, text: &str) -> Block {
        Block::ToolResult { call_id: id.into(), content: vec![Block::Text(text.into())], is_error: false }
    }

    fn message(role: Role, blocks: impl IntoIterator<Item = Block>) -> Message {
        blocks.into_iter().fold(Message::new(role), Message::with_block)
    }

    /// The messages, each block shortened to its kind and what it says, and the notes.
    fn rendered(messages: impl IntoIterator<Item = Message>) -> (Value, RenderReport) {
        let layout = messages.into_iter().fold(Layout::new(), Layout::with_message);
        let request = Anthropic::new().render(&layout);
        let short = |block: &Value| match block["type"].as_str() {
            Some("tool_use") => format!("call {} {}", block["id"].as_str().unwrap(), block["name"].as_str().unwrap()),
            Some("tool_result") => {
                format!("{}: {}", block["tool_use_id"].as_str().unwrap(), block["content"][0]["text"].as_str().unwrap())
            }
            _ => block["text"].as_str().unwrap().into(),
        };
        let value = request.to_value();
        let blocks =
            |message: &Value| -> Vec<String> { message["content"].as_array().unwrap().iter().map(short).collect() };
        let messages: Vec<_> = value["messages"].as_array().unwrap().iter().map(blocks).collect();
        (json!(messages), request.report().clone())
    }

    #[test]
    fn results_stand_in_the_order_of_their_calls_and_none_is_missing() {
        let (messages, report) = rendered([
            Message::user("go"),
            message(Role::Assistant, [call("a", "one"), call("b", "two"), call("c", "three")]),
            message(Role::User, [Block::Text("hm".into()), result("c", "3"), result("x", "?")]),
            message(Role::User, [result("a", "1")]),
        ]);
        assert_eq!(
            messages,
            json!([
                ["go"],
                ["call a one", "call b two", "call c three"],
                ["a: 1", "b: [no result]", "c: 3", "hm", "[the result of a call that is not before it, left out]"]
            ])
        );
        assert_eq!(
            report.notes,
            [
                "result of call `x`: left out, its call is not before it",
                "call `b`: its result is missing, which the model is told"
            ]
        );
    }

    #[test]
    fn ids_and_names_that_providers_refuse_are_replaced() {
        let long = "x".repeat(65);
        let (messages, report) = rendered([
            Message::user("go"),
            message(Role::Assistant, [call("", "a.b"), call("", "1é"), call(&long, "c"), call("call_4", "")]),
            message(Role::User, [result("", "1"), result("", "2"), result(&long, "3"), result("call_4", "4")]),
            message(Role::Assistant, [call("call_4", "d")]),
            message(Role::User, [result("call_4", "5")]),
        ]);
        assert_eq!(
            messages,
            json!([
                ["go"],
                ["call call_0 a_b", "call call_1 _1_", "call call_2 c", "call call_4 _"],
                ["call_0: 1", "call_1: 2", "call_2: 3", "call_4: 4"],
                ["call call_5 d"],
                ["call_5: 5"]
            ])
        );
        assert_eq!(report.notes[0], "call of `a.b`: rendered as `a_b`, no provider takes the name");
        assert_eq!(report.notes.len(), 3);
    }

    #[test]
    fn calls_of_the_last_turn_wait() {
        let (messages, report) = rendered([Message::user("go"), message(Role::Assistant, [call("a", "one")])]);
        assert_eq!(messages, json!([["go"], ["call a one"]]));
        assert_eq!(report.notes, ["the last message calls tools: the API refuses it without their results"]);
    }
}
