//! What calls by the model come to: searches, bridged calls, arguments that do not fit, names that are not known.

use std::sync::Arc;

use proem::{
    Host, Session,
    client::MemoryClient,
    protocol::{Role, Tool},
    render::{Anthropic, Block, Message, OpenAiChat, OpenAiResponses, Provider},
    retrieval::{Filter, Lexical},
    session::{Delivery, Dispatched, SessionOptions},
    tokens::BytesPerToken,
};
use serde_json::{Value, json};

async fn host() -> Host {
    let tool = |name: &str, description: &str, parameter: &str| {
        Tool::new(name, description).with_input_schema(json!({
            "type": "object",
            "properties": {parameter: {"type": "string"}},
            "required": [parameter],
            "additionalProperties": false,
        }))
    };
    let git = MemoryClient::new()
        .with_definition(tool("merge", "Merge a branch into the current branch", "branch"))
        .with_definition(tool("tag", "Tag a commit as a release", "commit"));
    let mail = MemoryClient::new()
        .with_definition(tool("send_mail", "Send an e-mail to a person", "to"))
        .with_definition(tool("list_mails", "List the e-mails of the inbox", "inbox"));
    let host = Host::builder()
        .retriever(Lexical::new())
        .counter(BytesPerToken::default())
        .server("git", git)
        .server("mail", mail)
        .build()
        .unwrap();
    host.refresh().await;
    host
}

async fn session(host: &Host, delivery: Delivery, provider: impl Provider + 'static) -> Session {
    let options = SessionOptions::new().with_delivery(delivery).with_provider(provider).with_first(1);
    let now = "2026-10-01T00:00:00Z".parse().unwrap();
    let mut session = Session::with_options(Arc::clone(host.composer()), now, options);
    let filter = Filter::new().deny("mail/list_mails".parse().unwrap());
    session.turn("merge the branch").filter(filter).build().await.unwrap();
    session
}

async fn call(session: &mut Session, name: &str, arguments: Value) -> Dispatched {
    session.dispatch("call_1", name, arguments.as_object().unwrap()).await.unwrap()
}

/// The text of an answer, whether it is an error, and the tools that join with it.
fn answer(dispatched: &Dispatched) -> (String, bool, Vec<String>) {
    let Dispatched::Answer(Block::ToolResult { call_id, content, is_error }) = dispatched else {
        panic!("{dispatched:?}");
    };
    assert_eq!(call_id, "call_1");
    let (mut text, mut tools) = (String::new(), Vec::new());
    for block in content {
        match block {
            Block::Text(said) => text.push_str(said),
            Block::Tools { tools: joined } => tools.extend(joined.iter().map(|tool| tool.exposed.clone())),
            other => panic!("{other:?}"),
        }
    }
    (text, *is_error, tools)
}

#[tokio::test]
async fn a_tool_is_called_with_arguments_that_fit_its_own_schema() {
    let host = host().await;
    for delivery in [Delivery::PerTurn, Delivery::Deferred, Delivery::Bridge] {
        let mut session = session(&host, delivery, Anthropic::new()).await;
        let Dispatched::Call { tool, arguments, unchecked } = call(&mut session, "merge", json!({"branch": "x"})).await
        else {
            panic!("{delivery}");
        };
        assert_eq!((tool.to_string().as_str(), unchecked.len()), ("git/merge", 0));
        assert_eq!(Value::Object(arguments), json!({"branch": "x"}));
        let (text, is_error, _) = answer(&call(&mut session, "merge", json!({"brunch": "x"})).await);
        assert!(is_error && text.contains("/branch: expected a string, got nothing"), "{text}");
    }
}

#[tokio::test]
async fn a_search_brings_tools_that_can_be_called_then() {
    let host = host().await;
    for (delivery, provider) in [
        (Delivery::Deferred, Arc::new(Anthropic::new()) as Arc<dyn Provider>),
        (Delivery::Deferred, Arc::new(OpenAiResponses::new().with_tool_search())),
        (Delivery::Bridge, Arc::new(OpenAiChat::new())),
        (Delivery::Bridge, Arc::new(Anthropic::new())),
    ] {
        let options =
            SessionOptions::new().with_delivery(delivery).with_shared_provider(Arc::clone(&provider)).with_first(1);
        let mut session = host.session_with(options);
        let mut context = session.turn("merge the branch").build().await.unwrap();
        let query = json!({"query": "send an e-mail", "limit": 1});
        let found = call(&mut session, "search_tools", query.clone()).await;
        assert_eq!(answer(&found), (String::new(), false, vec!["send_mail".to_owned()]));
        let again = call(&mut session, "search_tools", query.clone()).await;
        assert_eq!(answer(&again), ("already available: send_mail".to_owned(), false, vec![]));

        // The request that goes on holds its definition, and routes it.
        let Dispatched::Answer(result) = found else { unreachable!() };
        let (id, name) = ("call_1".to_owned(), "search_tools".to_owned());
        let made = Block::ToolCall { id, name, arguments: query.as_object().cloned().unwrap() };
        context.add(Message::new(Role::Assistant).with_block(made));
        context.add(Message::new(Role::User).with_block(result));
        let request = context.render(&*provider);
        assert!(request.as_str().contains("Send an e-mail to a person"), "{request}");
        assert_eq!(request.tool("send_mail").unwrap().to_string(), "mail/send_mail");

        let direct = call(&mut session, "send_mail", json!({"to": "Ada"})).await;
        assert!(matches!(direct, Dispatched::Call { .. }), "{direct:?}");
        let bridged = call(&mut session, "call_tool", json!({"name": "send_mail", "arguments": {"to": "Ada"}})).await;
        assert_eq!(matches!(bridged, Dispatched::Call { .. }), delivery == Delivery::Bridge, "{bridged:?}");
        if delivery == Delivery::Bridge {
            assert_eq!(bridged, direct);
            let (text, is_error, _) =
                answer(&call(&mut session, "call_tool", json!({"name": "send_mail", "arguments": {}})).await);
            assert!(is_error && text.contains("/to: expected a string"), "{text}");
        }
    }
}

#[tokio::test]
async fn what_was_not_told_is_defined_and_what_is_denied_is_not_found() {
    let host = host().await;
    let mut session = session(&host, Delivery::Bridge, OpenAiChat::new()).await;
    let (text, is_error, tools) =
        answer(&call(&mut session, "call_tool", json!({"name": "tag", "arguments": {}})).await);
    assert!(is_error && text.contains("`tag` was not called"), "{text}");
    assert_eq!(tools, ["tag"]);
    let called = call(&mut session, "call_tool", json!({"name": "tag", "arguments": {"commit": "x"}})).await;
    assert!(matches!(called, Dispatched::Call { .. }), "{called:?}");

    let (_, _, tools) =
        answer(&call(&mut session, "search_tools", json!({"query": "list the e-mails of the inbox"})).await);
    assert!(!tools.contains(&"list_mails".to_owned()), "{tools:?}");
    let (text, is_error, tools) = answer(&call(&mut session, "list_mails", json!({})).await);
    assert!(is_error && tools.is_empty() && text.contains("no tool is named `list_mails`"), "{text}");
}

#[tokio::test]
async fn own_tools_are_there_only_where_the_policy_offers_them() {
    let host = host().await;
    let mut frozen = session(&host, Delivery::Frozen, Anthropic::new()).await;
    let (text, is_error, _) = answer(&call(&mut frozen, "search_tools", json!({"query": "mail"})).await);
    assert!(is_error, "{text}");
    let (text, is_error, tools) = answer(&call(&mut frozen, "tag", json!({"commit": "x"})).await);
    assert!(is_error && tools.is_empty() && text.contains("not offered"), "{text}");
    let mut fresh = host.session();
    let error = fresh.dispatch("1", "merge", &serde_json::Map::new()).await.unwrap_err().to_string();
    assert!(error.contains("no turn"), "{error}");
}

#[tokio::test]
async fn arguments_come_back_under_the_names_that_the_server_gave_them() {
    let list = Tool::new("list_mails", "List the e-mails of the inbox").with_input_schema(json!({
        "type": "object",
        "properties": {"filter[sender]": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["filter[sender]"],
        "additionalProperties": false,
    }));
    let builder = Host::builder().retriever(Lexical::new()).counter(BytesPerToken::default());
    let host = builder.server("mail", MemoryClient::new().with_definition(list)).build().unwrap();
    host.refresh().await;
    let mut session = host.session();
    let request = session.turn("list the e-mails").build().await.unwrap().render(&Anthropic::new());
    let schema = &request.to_value()["tools"][0]["input_schema"];
    let shown = schema["properties"].as_object().unwrap().keys().find(|name| name.contains("sender")).unwrap().clone();
    assert_ne!(shown, "filter[sender]", "Anthropic refuses brackets");
    // A null stands for what a strict schema makes the model write.
    let called = call(&mut session, "list_mails", json!({shown: "Ada", "limit": null})).await;
    let Dispatched::Call { arguments, .. } = called else { panic!("{called:?}") };
    assert_eq!(Value::Object(arguments), json!({"filter[sender]": "Ada"}));
}
