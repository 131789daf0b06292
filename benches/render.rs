//! How long does it take to write a request of 64 tools and 20 messages, for each provider? And how long if the
//! tools are those of the turn before?
//!
//! Corpus: the first 64 tools of `corpus`, and a conversation of 20 messages of 400 bytes, every
//! fourth of which calls a tool whose result is the next. Caveat: rendering is linear in what is
//! rendered, so that a request with a long attachment takes longer.

#![allow(clippy::unwrap_used, reason = "a bench that fails should stop")]

#[allow(dead_code, reason = "each bench uses its part")]
mod corpus;
#[allow(dead_code, reason = "each bench uses its part")]
mod measure;

use criterion::BenchmarkId;
use proem::{
    protocol::Role,
    render::{
        Anthropic, BedrockConverse, Block, Gemini, Layout, Memo, Message, OpenAiChat, OpenAiResponses, Provider,
        ToolSpec,
    },
};
use serde_json::Map;

fn main() {
    let mut criterion = measure::criterion(30);
    let layout = layout();
    let providers: [&dyn Provider; 5] =
        [&Anthropic::new(), &OpenAiResponses::new(), &OpenAiChat::new(), &Gemini::new(), &BedrockConverse::new()];
    let mut group = criterion.benchmark_group("render");
    for provider in providers {
        let request = provider.render(&layout);
        println!("{}: {} bytes", provider.name(), request.as_str().len());
        group.bench_function(BenchmarkId::new("64_tools_20_messages", provider.name()), |b| {
            b.iter(|| provider.render(&layout));
        });
        // The next turn of a conversation: its messages grow, its tools are those of the turn before.
        let memo = Memo::new();
        group.bench_function(BenchmarkId::new("the_same_with_a_memo", provider.name()), |b| {
            b.iter(|| provider.render_with(&layout, &memo));
        });
    }
    group.finish();
    criterion.final_summary();
}

fn layout() -> Layout {
    let mut layout = Layout::new().with_model("some-model").with_system("Be brief, and say what you did.");
    for entry in corpus::catalog(64).tools() {
        layout = layout.with_tool(ToolSpec::from_entry(entry));
    }
    let text = "Please look at the \"release\" board again and tell me what is still open. ".repeat(6);
    for i in 0..5 {
        let id = format!("call-{i}");
        let call = Block::ToolCall { id: id.clone(), name: layout.tools[i].exposed.clone(), arguments: Map::new() };
        let result = Block::ToolResult { call_id: id, content: vec![Block::Text(text.clone())], is_error: false };
        layout = layout
            .with_message(Message::user(&text))
            .with_message(Message::new(Role::Assistant).with_block(call))
            .with_message(Message::new(Role::User).with_block(result))
            .with_message(Message::assistant(&text));
    }
    layout
}
