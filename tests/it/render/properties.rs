//! What holds for every layout, and layouts of every kind.

use proem::{
    json::canonical,
    render::{
        Anthropic, AttachedImage, Attachment, BedrockConverse, Block, Gemini, Layout, Message, OpenAiResponses,
        Provider, Request, SectionKind, ToolChoice, ToolSpec,
    },
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MARKS, all_providers, attachment, count_keys, server, tool};

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => any::<String>(),
        1 => "(</?attachment|</?server_instructions|>|\"|\\\\|\n|\\PC){0,12}",
    ]
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(null)), any::<f64>().prop_map(Value::from), texts().prop_map(Value::from)];
    let keys = "(type|properties|anyOf|allOf|oneOf|required|\\$ref|\\$defs|if|enum|[a-c])";
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(keys, inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
            Just(json!("object")),
        ]
    })
}

prop_compose! {
    fn tools()(of in "[ab]", name in "[a-c]{1,2}|\\PC{1,4}", description in texts(), schema in schemas(), generation in 0..2_u32)
        -> ToolSpec {
        tool(&of, &name).with_description(description).with_input_schema(schema).with_generation(generation)
    }
}

prop_compose! {
    fn attachments()(
        of in "[ab]", uri in texts(), label in texts(), text in texts(), generation in 0..2_u32,
        images in prop::collection::vec(("image/(png|jpg|tiff)", "[A-Za-z0-9+/]{0,8}"), 0..3),
    ) -> Attachment {
        images.into_iter().fold(
            attachment(&of, &uri, &text).with_label(label).with_generation(generation),
            |attachment, (mime_type, data)| attachment.with_image(AttachedImage::new(mime_type, data)),
        )
    }
}

fn messages() -> impl Strategy<Value = Message> {
    (any::<bool>(), texts(), prop::option::of(("image/(png|jpg|tiff)", "[A-Za-z0-9+/]{0,8}"))).prop_map(
        |(user, text, image)| {
            let message = if user { Message::user(text) } else { Message::assistant(text) };
            match image {
                Some((mime_type, data)) => message.with_block(Block::Image { mime_type, data }),
                None => message,
            }
        },
    )
}

/// Messages with calls and results too, wherever they may stand.
fn any_messages() -> impl Strategy<Value = Message> {
    let call = ("[a-c]", texts(), texts()).prop_map(|(id, key, value)| Block::ToolCall {
        id,
        name: "tool".into(),
        arguments: [(key, Value::from(value))].into_iter().collect(),
    });
    let result = ("[a-c]", messages(), any::<bool>()).prop_map(|(call_id, message, is_error)| Block::ToolResult {
        call_id,
        content: message.content,
        is_error,
    });
    (messages(), prop::collection::vec(prop_oneof![call, result], 0..3))
        .prop_map(|(message, blocks)| blocks.into_iter().fold(message, Message::with_block))
}

fn choices() -> impl Strategy<Value = ToolChoice> {
    prop_oneof![
        3 => Just(ToolChoice::Auto),
        1 => Just(ToolChoice::None),
        1 => Just(ToolChoice::Required),
        1 => "[a-c]{1,2}".prop_map(ToolChoice::Tool),
    ]
}

prop_compose! {
    pub(crate) fn layouts()(
        tools in prop::collection::vec(tools(), 0..6),
        system in prop::collection::vec(texts(), 0..3),
        instructions in prop::collection::vec(("[ab]", texts()), 0..3),
        attachments in prop::collection::vec(attachments(), 0..4),
        messages in prop::collection::vec(any_messages(), 0..5),
        choice in choices(),
        allowed in prop::option::of(prop::collection::btree_set("[a-c]{1,2}", 0..4)),
    ) -> Layout {
        let mut layout = Layout::new();
        layout.tools = tools;
        layout.system = system;
        layout.instructions = instructions.into_iter().map(|(of, text)| (server(&of), text)).collect();
        layout.attachments = attachments;
        layout.messages = messages;
        (layout.tool_choice, layout.allowed) = (choice, allowed);
        layout
    }
}

/// Without choice and mask, which stand after the messages.
fn free(mut layout: Layout) -> Layout {
    layout.allowed = None;
    layout.with_tool_choice(ToolChoice::Auto)
}

/// Everything up to the end of the last section before the messages, keys and brackets included.
fn before_messages(request: &Request) -> &str {
    let last = request.sections().iter().rfind(|section| section.kind != SectionKind::Messages);
    &request.as_str()[..last.map_or(0, |section| section.range.end)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_order_of_what_servers_give_does_not_matter(layout in layouts(), seed in any::<u64>()) {
        let mut shuffled = layout.clone();
        let turn = |n: usize| if n == 0 { 0 } else { seed as usize % n };
        let (t, i, a) = (turn(layout.tools.len()), turn(layout.instructions.len()), turn(layout.attachments.len()));
        shuffled.tools.rotate_left(t);
        shuffled.tools.reverse();
        shuffled.instructions.rotate_left(i);
        shuffled.attachments.rotate_left(a);
        shuffled.attachments.reverse();
        for provider in all_providers() {
            prop_assert_eq!(provider.render(&layout), provider.render(&shuffled));
        }
    }

    #[test]
    fn any_layout_gives_json_that_holds_every_tool_or_says_why_not(layout in layouts()) {
        for provider in all_providers() {
            let request = provider.render(&layout);
            let value: Value = serde_json::from_str(request.as_str()).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Value>(&format!("{request:#}")).unwrap(), &value);
            prop_assert_eq!(canonical(&value).len(), request.as_str().len());
            prop_assert_eq!(request.tools().count() + request.report().quarantined.len(), layout.tools.len());
            let mut end = 0;
            for section in request.sections() {
                prop_assert!(section.range.start >= end && section.bytes() > 0);
                end = section.range.end;
                prop_assert!(request.section_str(section.kind).is_some());
            }
            prop_assert!(request.sections().is_sorted_by_key(|section| section.kind));
        }
    }

    #[test]
    fn one_message_more_changes_nothing_before_the_messages(layout in layouts(), message in any_messages()) {
        let next = layout.clone().with_message(message);
        for provider in all_providers() {
            let (before, after) = (provider.render(&layout), provider.render(&next));
            if provider.name() == "bedrock" && before.tools().count() == 0 {
                continue; // The first call brings the tool with it that stands for none.
            }
            prop_assert!(after.as_str().starts_with(before_messages(&before)));
            prop_assert_eq!(before.prefix_digest(), after.prefix_digest());
        }
    }

    #[test]
    fn without_marks_one_message_more_only_appends(layout in layouts(), message in messages()) {
        let layout = free(layout);
        let next = layout.clone().with_message(message);
        let (anthropic, bedrock) = (Anthropic::new().without_breakpoints(), BedrockConverse::new().without_breakpoints());
        for provider in [&anthropic as &dyn Provider, &OpenAiResponses::new(), &Gemini::new(), &bedrock] {
            let (before, after) = (provider.render(&layout), provider.render(&next));
            let closed = before.as_str().trim_end_matches(['}', ']']);
            let open = ["user", "assistant", "model"]
                .iter()
                .find_map(|role| closed.strip_suffix(&format!(r#"],"role":"{role}""#)));
            prop_assert!(after.as_str().starts_with(open.unwrap_or(closed)), "{} {}", before, after);
        }
    }

    #[test]
    fn breakpoints_never_exceed_the_limit(layout in layouts()) {
        for provider in all_providers() {
            let value = provider.render(&layout).to_value();
            let marks = count_keys(&value, &MARKS);
            prop_assert!(marks <= Anthropic::MAX_BREAKPOINTS);
        }
    }

    #[test]
    fn an_attachment_closes_only_at_its_end(attachment in attachments()) {
        let text = attachment.rendered().to_lowercase();
        prop_assert_eq!(text.matches("</attachment").count(), 1);
        prop_assert_eq!(text.matches("<attachment").count(), 1);
        prop_assert_eq!(text.matches("<server_instructions").count(), 0);
        prop_assert!(text.ends_with("\n</attachment>"));
        let header = text.lines().next().unwrap();
        prop_assert_eq!(header.matches('"').count(), 6);
        prop_assert!(header.ends_with('>') && header.matches('>').count() == 1);
    }
}
