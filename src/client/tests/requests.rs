use std::collections::BTreeMap;

use rmcp::{ClientServiceExt, service::ClientLifecycleMode};
use serde_json::json;

use super::fake::{Era, client, error, ok, serve};
use crate::{
    client::{Client, PeerClient},
    error::ClientError,
    protocol::{Completion, CompletionRequest, CompletionTarget, InputResponses},
};

fn service_of_an_environment() -> CompletionRequest {
    CompletionRequest::new(CompletionTarget::template("deploy://{environment}/{service}/env"), "service")
        .with_value("w")
        .with_known("environment", "staging")
}

#[tokio::test]
async fn a_completion_goes_out_with_what_is_known_and_comes_back_leniently() {
    for era in Era::BOTH {
        let client = client(era, |method, message| match (method, message["params"]["ref"]["type"].as_str()) {
            ("completion/complete", Some("ref/resource")) => {
                let params = &message["params"];
                assert_eq!(params["ref"]["uri"], "deploy://{environment}/{service}/env");
                assert_eq!(params["argument"], json!({"name": "service", "value": "w"}));
                assert_eq!(params["context"], json!({"arguments": {"environment": "staging"}}));
                ok(message, r#"{"completion":{"values":["web",7,"worker"],"total":"many","hasMore":true},"later":1}"#)
            }
            ("completion/complete", Some("ref/prompt")) => {
                assert_eq!(message["params"]["ref"]["name"], "review");
                assert_eq!(message["params"]["context"], json!(null));
                error(message, -32601, "not here")
            }
            _ => Vec::new(),
        });
        let completion = client.complete(&service_of_an_environment()).await.unwrap();
        assert_eq!((completion.values, completion.has_more), (vec!["web".into(), "worker".into()], true));
        let prompt = CompletionRequest::new(CompletionTarget::prompt("review"), "ticket");
        assert!(matches!(client.complete(&prompt).await, Err(ClientError::Unsupported)));
    }
}

#[tokio::test]
async fn a_peer_that_a_framework_holds_completes_too() {
    let stream = serve(Era::Legacy, |method, message| match method {
        "completion/complete" => ok(message, r#"{"completion":{"values":["web"]}}"#),
        _ => Vec::new(),
    });
    let service = ().serve_with_lifecycle(stream, ClientLifecycleMode::Initialize).await.unwrap();
    let client = PeerClient::new(service.peer().clone());
    let mut expected = Completion::new(["web"]);
    expected.total = None;
    assert_eq!(client.complete(&service_of_an_environment()).await.unwrap(), expected);
}

#[tokio::test]
async fn what_a_server_asked_for_goes_out_as_it_was_answered() {
    let client = client(Era::Modern, |method, message| {
        let params = &message["params"];
        let asks = r#"{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create"}},
            "requestState":"opaque = {}"}"#
            .replace('\n', "");
        if params["requestState"].is_null() {
            assert!(params["inputResponses"].is_null());
            return ok(message, asks);
        }
        assert_eq!(params["requestState"], "opaque = {}");
        assert_eq!(params["inputResponses"], json!({"who": {"action": "accept", "content": {"name": "Ada"}}}));
        match method {
            "resources/read" => ok(message, r#"{"contents":[{"uri":"a:b","text":"for Ada"}]}"#),
            "prompts/get" => {
                assert_eq!(params["arguments"], json!({"topic": "cats"}));
                ok(message, r#"{"messages":[{"role":"user","content":{"type":"text","text":"for Ada"}}]}"#)
            }
            _ => Vec::new(),
        }
    });
    let arguments = BTreeMap::from([("topic".to_owned(), "cats".to_owned())]);
    let Err(ClientError::InputRequired(asked)) = client.read_resource("a:b").await else { panic!() };
    assert!(matches!(client.get_prompt("p", &arguments).await, Err(ClientError::InputRequired(_))));
    assert_eq!(asked.requests["who"], json!({"method": "elicitation/create"}));

    let input =
        InputResponses::new(asked.state).with_response("who", json!({"action": "accept", "content": {"name": "Ada"}}));
    let read = client.read_resource_with("a:b", &input).await.unwrap();
    assert_eq!(read.contents[0].text.as_deref(), Some("for Ada"));
    let got = client.get_prompt_with("p", &arguments, &input).await.unwrap();
    assert_eq!(got.messages.len(), 1);
}

#[tokio::test]
async fn a_server_that_wants_only_its_state_back_is_given_no_responses() {
    let client = client(Era::Modern, |method, message| match (method, &message["params"]["requestState"]) {
        ("resources/read", state) if state.is_null() => {
            ok(message, r#"{"resultType":"input_required","requestState":"7"}"#)
        }
        ("resources/read", state) => {
            assert_eq!((state, &message["params"]["inputResponses"]), (&json!("7"), &json!(null)));
            ok(message, r#"{"contents":[]}"#)
        }
        _ => Vec::new(),
    });
    let Err(ClientError::InputRequired(asked)) = client.read_resource("a:b").await else { panic!() };
    let input = InputResponses::new(asked.state);
    assert_eq!(client.read_resource_with("a:b", &input).await.unwrap().contents, []);
}
