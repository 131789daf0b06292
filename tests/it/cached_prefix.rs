//! What must hold for conversations with every provider and under every policy.

use std::sync::Arc;

use proem::{
    Host, Session, TokenBudget,
    client::MemoryClient,
    id::ToolId,
    prefix::{Prefix, PrefixDiff},
    protocol::{Role, Tool},
    render::{Anthropic, Block, Message, OpenAiResponses, Provider, Request},
    retrieval::Lexical,
    session::{Delivery, SessionEvent, SessionOptions},
    tokens::BytesPerToken,
};
use proptest::{prelude::*, sample::select};
use serde_json::{Map, Value, json};

use crate::render;

const WORDS: [&str; 10] = ["merge", "branch", "mail", "send", "read", "file", "city", "storm", "event", "calendar"];

/// Every provider, and those with a form for tools that join.
fn providers() -> Vec<Arc<dyn Provider>> {
    let mut providers: Vec<Arc<dyn Provider>> = render::providers().into_iter().map(Arc::from).collect();
    providers.push(Arc::new(Anthropic::new().with_tool_additions()));
    providers.push(Arc::new(OpenAiResponses::new().with_tool_search()));
    providers.push(Arc::new(OpenAiResponses::new().with_tool_search().with_breakpoints()));
    providers
}

#[derive(Clone, Debug)]
struct Step {
    query: String,
    /// What the model answers, and whether it calls the first tool that it has.
    answer: String,
    calls: bool,
    event: Option<SessionEvent>,
    /// Whether the session is written and read again before this step.
    restored: bool,
}

fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(select(WORDS.as_slice()), count).prop_map(|words| words.join(" "))
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let event = prop_oneof![
        8 => Just(None),
        1 => Just(Some(SessionEvent::Compacted)),
        1 => Just(Some(SessionEvent::Expired)),
    ];
    let step = (words(1..4), words(0..4), any::<bool>(), event, any::<bool>())
        .prop_map(|(query, answer, calls, event, restored)| Step { query, answer, calls, event, restored });
    prop::collection::vec(step, 2..6)
}

fn servers() -> Vec<(&'static str, MemoryClient)> {
    let tool = |name: &str, description: &str| {
        let schema = json!({"type": "object", "properties": {"what": {"type": "string", "description": description}}});
        Tool::new(name, description).with_input_schema(schema)
    };
    let mut servers = Vec::new();
    for (i, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let mut client = MemoryClient::new().with_instructions(format!("Server {name} is used with care."));
        for (j, word) in WORDS.iter().enumerate().filter(|(j, _)| j % 4 == i || j % 3 == i) {
            let other = WORDS[(i + j) % WORDS.len()];
            client = client.with_definition(tool(&format!("{word}_{other}"), &format!("{word} the {other} of {name}")));
        }
        let uri = format!("{name}://{}", WORDS[i]);
        servers.push((name, client.with_resource(uri, format!("All about the {} of {name}.", WORDS[i]))));
    }
    servers
}

async fn host(order: &[usize], page: usize) -> Host {
    let servers = servers();
    let mut builder = Host::builder().retriever(Lexical::new()).counter(BytesPerToken::default());
    for i in order {
        let (name, client) = servers[*i].clone();
        builder = builder.server(name, client.with_page_size(page));
    }
    let host = builder.build().unwrap();
    host.refresh().await;
    host
}

/// The requests of a conversation, each with whether the session says that the prefix was made anew.
async fn talk(host: &Host, provider: &Arc<dyn Provider>, delivery: Delivery, steps: &[Step]) -> Vec<(Request, bool)> {
    let options = || {
        SessionOptions::new()
            .with_delivery(delivery)
            .with_shared_provider(Arc::clone(provider))
            .with_first(3)
            .with_later(2)
    };
    let mut now: jiff::Timestamp = "2026-10-01T00:00:00Z".parse().unwrap();
    let mut session = Session::with_options(Arc::clone(host.composer()), now, options());
    let mut history = Vec::new();
    let mut requests = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        if step.restored {
            session = host.restore_session(options(), &session.to_json()).unwrap();
        }
        if let Some(event) = step.event {
            session.event(event);
            if event == SessionEvent::Compacted {
                history = vec![Message::user("In short."), Message::assistant("Yes.")];
            }
        }
        let turn = session.turn(step.query.as_str()).messages(history.clone()).system("Be brief.");
        let mut context = turn.tools(TokenBudget::new(1_000)).resources(TokenBudget::new(200)).build().await.unwrap();
        history.push(Message::user(&step.query));
        let mut send = |session: &mut Session, request: Request| {
            now = now.checked_add(jiff::SignedDuration::from_secs(30)).unwrap();
            let sent = session.sent(&request, now).unwrap();
            requests.push((request, sent.decision.is_some()));
        };
        send(&mut session, context.render(&**provider));
        let called = context.delivered().offered.iter().next().map(|(name, tool)| (name.clone(), tool.clone()));
        if let Some((name, tool)) = called.filter(|_| step.calls) {
            // The turn goes on: a call, its result, another request.
            session.used(&tool);
            let id = format!("call_{i}");
            let call = Block::ToolCall { id: id.clone(), name, arguments: Map::new() };
            let result = Block::ToolResult { call_id: id, content: vec![Block::Text("Done.".into())], is_error: false };
            for message in [Message::new(Role::Assistant).with_block(call), Message::new(Role::User).with_block(result)]
            {
                context.add(message.clone());
                history.push(message);
            }
            send(&mut session, context.render(&**provider));
        }
        history.push(Message::assistant(format!("Well: {}", step.answer)));
    }
    requests
}

fn count(value: &Value, key: &str) -> usize {
    match value {
        Value::Array(items) => items.iter().map(|item| count(item, key)).sum(),
        Value::Object(map) => map.iter().map(|(k, v)| usize::from(k == key) + count(v, key)).sum(),
        _ => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn every_request_goes_on_where_the_one_before_ended_unless_the_session_says_why(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let host = runtime.block_on(host(&[0, 1, 2, 3], 100));
        for provider in providers() {
            for delivery in Delivery::ALL {
                let requests = runtime.block_on(talk(&host, &provider, delivery, &steps));
                let prefixes: Vec<_> = requests.iter().map(|(request, _)| Prefix::read(request.as_str()).unwrap()).collect();
                for (i, pair) in prefixes.windows(2).enumerate() {
                    let (old, new) = (&pair[0], &pair[1]);
                    let extends = old.segments.len() <= new.segments.len()
                        && old.segments.iter().zip(&new.segments).all(|(old, new)| old.text == new.text && old.role == new.role);
                    let said = requests[i + 1].1;
                    prop_assert!(
                        extends || said,
                        "{} {delivery}: {}\n{}\n{}",
                        provider.name(), PrefixDiff::between(old, new), requests[i].0, requests[i + 1].0,
                    );
                    let may_change = matches!(delivery, Delivery::PerTurn | Delivery::Append) || steps.iter().any(|step| step.event.is_some());
                    prop_assert!(extends || may_change, "{} {delivery}", provider.name());
                }
            }
        }
    }

    #[test]
    fn the_order_of_servers_and_their_pages_change_no_byte(
        steps in steps(),
        order in Just(vec![0, 1, 2, 3]).prop_shuffle(),
        page in 1..4_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (one, other) = runtime.block_on(async { (host(&[0, 1, 2, 3], 100).await, host(&order, page).await) });
        for provider in providers() {
            for delivery in Delivery::ALL {
                let talk = |host| runtime.block_on(talk(host, &provider, delivery, &steps));
                let (one, other) = (talk(&one), talk(&other));
                let bytes = |requests: &[(Request, bool)]| requests.iter().map(|(request, _)| request.to_string()).collect::<Vec<_>>();
                prop_assert_eq!(bytes(&one), bytes(&other), "{} {}", provider.name(), delivery);
            }
        }
    }

    #[test]
    fn breakpoints_keep_to_their_number_and_away_from_deferred_tools(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let host = runtime.block_on(host(&[0, 1, 2, 3], 100));
        for provider in providers() {
            for delivery in Delivery::ALL {
                for (request, _) in runtime.block_on(talk(&host, &provider, delivery, &steps)) {
                    let body = request.to_value();
                    let marks = ["cache_control", "prompt_cache_breakpoint", "cachePoint"].iter().map(|key| count(&body, key)).sum::<usize>();
                    prop_assert!(marks <= 4, "{request}");
                    for tool in body["tools"].as_array().into_iter().flatten() {
                        let deferred = tool["defer_loading"] == json!(true);
                        prop_assert!(!deferred || count(tool, "cache_control") == 0, "{tool}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_tool_before_the_model_leads_back_to_one_that_a_server_has(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let host = runtime.block_on(host(&[0, 1, 2, 3], 100));
        let listed: Vec<ToolId> = host.catalog().tools().iter().map(|entry| entry.id.clone()).collect();
        for provider in providers() {
            for delivery in Delivery::ALL {
                for (request, _) in runtime.block_on(talk(&host, &provider, delivery, &steps)) {
                    prop_assert!(request.report().quarantined.is_empty(), "{:?}", request.report());
                    for (name, tool) in request.tools() {
                        prop_assert!(listed.contains(tool), "{name}");
                    }
                }
            }
        }
    }
}
