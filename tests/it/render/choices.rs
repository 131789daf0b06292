//! Tool choice, and what one provider alone has.

use proem::{
    protocol::Role,
    render::{BedrockConverse, Block, Gemini, Layout, Message, Provider, SectionKind, ToolChoice},
};
use serde_json::{Value, json};

use super::{calls, check_golden, full, providers, tool};

#[test]
fn golden_choices() {
    let tools = ["merge", "log", "graph"].iter().fold(calls(), |layout, name| layout.with_tool(tool("git", name)));
    let masked = tools.clone().with_allowed(["log".into(), "merge".into()]);
    check_golden("choice_allowed.json", providers(), &masked);
    check_golden("choice_tool.json", providers(), &tools.clone().with_tool_choice(ToolChoice::Tool("log".into())));
    check_golden("choice_required.json", providers(), &masked.with_tool_choice(ToolChoice::Required));
    check_golden("choice_none.json", providers(), &tools.with_tool_choice(ToolChoice::None));
}

#[test]
fn golden_of_options_that_one_provider_has() {
    let earlier: Vec<Box<dyn Provider>> = vec![Box::new(Gemini::new().with_earlier_models())];
    check_golden("earlier_models.json", earlier, &calls());
    let cached: Vec<Box<dyn Provider>> = vec![Box::new(Gemini::new().with_cached_content("cachedContents/plan"))];
    check_golden("cached_content.json", cached, &full());
}

#[test]
fn a_choice_changes_no_byte_before_the_messages_end() {
    let layout = full();
    for provider in providers() {
        let free = provider.render(&layout);
        for choice in [ToolChoice::None, ToolChoice::Required, ToolChoice::Tool("log".into())] {
            let chosen = provider.render(&layout.clone().with_tool_choice(choice));
            assert_eq!(chosen.prefix_digest(), free.prefix_digest());
            assert_eq!(chosen.section_str(SectionKind::Messages), free.section_str(SectionKind::Messages));
            // Bedrock has it beside the tools, and nowhere else.
            let same = if provider.name() == "bedrock" { SectionKind::Tools } else { SectionKind::Messages };
            let end = free.section(same).unwrap().range.end;
            assert_eq!(chosen.as_str()[..end], free.as_str()[..end], "{}", provider.name());
        }
    }
}

#[test]
fn what_a_provider_cannot_hold_back_is_said() {
    let layout = full().with_allowed(["log".into()]);
    for provider in providers() {
        let notes = provider.render(&layout).report().notes.join("\n");
        let holds = !["anthropic", "bedrock"].contains(&provider.name());
        assert_eq!(notes.is_empty(), holds, "{}: {notes}", provider.name());
        assert!(holds || notes.contains("holds no tool back: calls of tools that are not allowed"), "{notes}");
    }
}

#[test]
fn gemini_is_handed_its_signatures_back_and_else_the_one_for_calls_of_others() {
    let call = |id: &str| Block::ToolCall { id: id.into(), name: "log".into(), arguments: serde_json::Map::new() };
    let result = |id: &str| Block::ToolResult { call_id: id.into(), content: vec![], is_error: false };
    let layout = Layout::new()
        .with_tool(tool("git", "log"))
        .with_message(Message::user("go"))
        .with_message(
            Message::assistant("Let me see.")
                .with_block(Block::Signature("dGV4dA==".into()))
                .with_block(call("a"))
                .with_block(Block::Signature("Y2FsbA==".into()))
                .with_block(call("b")),
        )
        .with_message(Message::new(Role::User).with_block(result("a")).with_block(result("b")))
        .with_message(Message::new(Role::Assistant).with_block(call("c")))
        .with_message(Message::new(Role::User).with_block(result("c")));
    let request = Gemini::new().render(&layout);
    let value = request.to_value();
    let signature = |content: usize, part: usize| &value["contents"][content]["parts"][part]["thoughtSignature"];
    assert_eq!((signature(1, 0), signature(1, 1)), (&json!("dGV4dA=="), &json!("Y2FsbA==")));
    assert_eq!((signature(1, 2), signature(3, 0)), (&Value::Null, &json!("skip_thought_signature_validator")));
    assert_eq!(request.report().notes, ["calls without a signature carry the one for calls of other models: c"]);
    for other in providers().iter().filter(|provider| provider.name() != "gemini") {
        let request = other.render(&layout);
        assert!(!request.as_str().contains("dGV4dA==") && request.report().is_empty(), "{request}");
    }
}

#[test]
fn bedrock_has_a_tool_wherever_it_has_calls() {
    let request = BedrockConverse::new().render(&calls());
    let value = request.to_value();
    assert_eq!(value["toolConfig"]["tools"][0]["toolSpec"]["name"], "no_tool");
    assert_eq!(request.tools().count(), 0, "a call of it finds nothing");
    assert_eq!(request.report().notes, ["the messages hold calls and the request no tools: `no_tool` stands for them"]);
}

#[test]
fn a_conversation_that_the_model_begins_has_a_line_of_the_user_before_it() {
    let layout = Layout::new().with_message(Message::assistant("Welcome.")).with_message(Message::user("Hello"));
    for provider in providers() {
        let request = provider.render(&layout);
        let needed = !provider.name().starts_with("openai");
        assert_eq!(request.as_str().contains("[the conversation goes on]"), needed, "{}", provider.name());
        assert_eq!(request.report().notes.len(), usize::from(needed));
    }
}
