//! What each provider's API asks of a request, in our words from its documentation; and that
//! everything which is rendered keeps to it.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

mod anthropic;
mod bedrock;
mod broken;
mod check;
mod gemini;
mod openai_chat;
mod openai_responses;

use std::{fs, path::Path};

use proem::render::{Anthropic, BedrockConverse, Gemini, Layout, Message, OpenAiChat, OpenAiResponses, Provider};
use proptest::prelude::*;
use serde_json::Value;

use self::check::Faults;
use crate::render::{all_options, layouts, providers};

/// What `body` has that the provider of this name would refuse, each with its place. Schemas of tools
/// are looked at no deeper than their root.
pub(crate) fn check_request(provider_name: &str, body: &Value) -> Vec<String> {
    let mut faults = Faults::default();
    match provider_name {
        "anthropic" => anthropic::check(body, &mut faults),
        "openai-responses" => openai_responses::check(body, &mut faults),
        "openai-chat" => openai_chat::check(body, &mut faults),
        "gemini" => gemini::check(body, &mut faults),
        "bedrock" => bedrock::check(body, &mut faults),
        other => faults.add("", format!("no rules are written down for `{other}`")),
    }
    faults.into_list()
}

/// As they are, with the options that change most, and with those that a provider has beside.
fn every_option() -> Vec<Box<dyn Provider>> {
    let others: [Box<dyn Provider>; 8] = [
        Box::new(Anthropic::new().with_tool_additions().with_strict_tools()),
        Box::new(OpenAiResponses::new().with_tool_search().with_strict_tools()),
        Box::new(Anthropic::new().without_breakpoints()),
        Box::new(OpenAiChat::new().without_allowed_tools().with_strict_tools()),
        Box::new(Gemini::new().with_earlier_models()),
        Box::new(Gemini::new().with_cached_content("cachedContents/abc")),
        Box::new(BedrockConverse::new().without_breakpoints()),
        Box::new(BedrockConverse::new().with_tail_ttl(proem::render::CacheTtl::OneHour)),
    ];
    providers().into_iter().chain(all_options()).chain(others).collect()
}

#[test]
fn every_golden_request_is_one_that_its_provider_takes() {
    let mut checked = 0;
    for provider in providers() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(provider.name());
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let body: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            let faults = check_request(provider.name(), &body);
            assert!(faults.is_empty(), "{}: {faults:#?}", path.display());
            checked += 1;
        }
    }
    assert!(checked >= 5 * 6, "only {checked} golden files");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn whatever_the_layout_the_request_is_one_that_its_provider_takes(layout in layouts()) {
        let layout: Layout = layout.with_message(Message::user("And now?"));
        for provider in every_option() {
            let request = provider.render(&layout);
            let faults = check_request(provider.name(), &request.to_value());
            prop_assert!(faults.is_empty(), "{}: {:#?}\n{:#}", provider.name(), faults, request);
        }
    }
}
