//! Suggestions while a person types: asked for in pauses, kept for a while, bounded.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use proem::{
    catalog::{Aggregator, AggregatorOptions},
    client::{Client, ClientResult, ListKind, Page},
    error::ClientError,
    protocol::{Completion, CompletionRequest, CompletionTarget, ServerInfo},
    templates::{Completer, CompleterOptions},
};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, advance, sleep};

use crate::fake::id;

/// A server that suggests, and remembers what it was asked.
#[derive(Debug)]
struct Suggesting {
    info: ServerInfo,
    answer: Result<Completion, i64>,
    takes: Duration,
    asked: Mutex<Vec<CompletionRequest>>,
}

impl Client for Suggesting {
    fn info(&self) -> ClientResult<'_, ServerInfo> {
        Box::pin(async { Ok(self.info.clone()) })
    }

    fn list<'a>(&'a self, _: ListKind, _: Option<&'a str>) -> ClientResult<'a, Page> {
        Box::pin(async { Ok(Page::default()) })
    }

    fn complete<'a>(&'a self, request: &'a CompletionRequest) -> ClientResult<'a, Completion> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(request.clone());
            sleep(self.takes).await;
            self.answer.clone().map_err(|code| ClientError::rpc(code, "no"))
        })
    }
}

impl Suggesting {
    fn new(values: &[&str]) -> Self {
        let mut info = ServerInfo::default();
        info.capabilities = Some(capabilities(json!({"completions": {}})));
        Self { info, answer: Ok(Completion::new(values.to_vec())), takes: Duration::ZERO, asked: Mutex::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|request| request.value.clone()).collect()
    }
}

fn capabilities(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

async fn completer(server: &Arc<Suggesting>, options: CompleterOptions) -> Completer {
    let client: Arc<dyn Client> = Arc::<Suggesting>::clone(server);
    let servers = Aggregator::new([(id("wiki"), client)], AggregatorOptions::default());
    servers.refresh().await;
    Completer::with_options(Arc::new(servers), options)
}

fn typed(value: &str) -> CompletionRequest {
    CompletionRequest::new(CompletionTarget::template("wiki://{page}"), "page").with_value(value)
}

#[tokio::test(start_paused = true)]
async fn a_server_is_asked_when_typing_pauses_and_the_last_call_alone_is_answered() {
    let server = Arc::new(Suggesting::new(&["home", "house"]));
    let completer = completer(&server, CompleterOptions::default()).await;
    let wiki = id("wiki");
    let began = Instant::now();
    let type_on = async {
        sleep(Duration::from_millis(100)).await;
        let other = CompletionRequest::new(CompletionTarget::template("wiki://{page}"), "language");
        let (second, other) = tokio::join!(completer.complete(&wiki, typed("ho")), completer.complete(&wiki, other));
        assert!(other.unwrap().is_some()); // another argument supersedes nothing
        second
    };
    let first = async {
        let answer = completer.complete(&wiki, typed("h")).await;
        assert_eq!(began.elapsed(), Duration::from_millis(100)); // at once, not when its own time is over
        answer
    };
    let (first, second) = tokio::join!(first, type_on);
    assert_eq!(first.unwrap(), None);
    assert_eq!(second.unwrap().unwrap().values, ["home", "house"]);
    assert_eq!(began.elapsed(), Duration::from_millis(250));
    let mut asked = server.asked();
    asked.sort();
    assert_eq!(asked, ["", "ho"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_waited_for_is_superseded_too() {
    let mut server = Suggesting::new(&["home"]);
    server.takes = Duration::from_secs(3);
    let server = Arc::new(server);
    let completer = completer(&server, CompleterOptions::default()).await;
    let later = async {
        sleep(Duration::from_secs(1)).await;
        completer.complete(&id("wiki"), typed("ho")).await
    };
    let wiki = id("wiki");
    let (first, second) = tokio::join!(completer.complete(&wiki, typed("h")), later);
    assert_eq!((first.unwrap(), second.unwrap().is_some()), (None, true));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_leaves_the_next_one_alone() {
    let server = Arc::new(Suggesting::new(&["home"]));
    let completer = completer(&server, CompleterOptions::default()).await;
    let wiki = id("wiki");
    let dropped = tokio::time::timeout(Duration::from_millis(50), completer.complete(&wiki, typed("h"))).await;
    assert!(dropped.is_err());
    assert_eq!(completer.complete(&wiki, typed("h")).await.unwrap().unwrap().values, ["home"]);
    assert_eq!(server.asked(), ["h"]);
}

#[tokio::test(start_paused = true)]
async fn answers_are_kept_for_their_request_for_a_while_and_within_bounds() {
    let server = Arc::new(Suggesting::new(&["home"]));
    let completer = completer(&server, CompleterOptions::new().with_capacity(2)).await;
    let ask = async |value: &str| completer.complete(&id("wiki"), typed(value)).await.unwrap().unwrap();
    ask("h").await;
    let began = Instant::now();
    ask("h").await;
    assert_eq!(began.elapsed(), Duration::ZERO);
    // What a server says to a longer value cannot be told from its answer to a shorter one.
    ask("ho").await;
    assert_eq!(server.asked(), ["h", "ho"]);
    advance(Duration::from_secs(61)).await;
    ask("h").await;
    assert_eq!(server.asked(), ["h", "ho", "h"]);
    ask("x").await;
    ask("h").await; // "ho" went first
    ask("ho").await;
    assert_eq!(server.asked(), ["h", "ho", "h", "x", "ho"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_settled_is_told_to_servers_that_know_of_it() {
    for (version, known) in
        [(None, true), (Some("2025-03-26"), false), (Some("2025-06-18"), true), (Some("2026-07-28"), true)]
    {
        let mut server = Suggesting::new(&[]);
        server.info.protocol_version = version.map(str::to_owned);
        let server = Arc::new(server);
        let completer = completer(&server, CompleterOptions::default()).await;
        completer.complete(&id("wiki"), typed("h").with_known("language", "en")).await.unwrap();
        assert_eq!(server.asked.lock().unwrap()[0].known.contains_key("language"), known, "{version:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_completion_has_no_suggestions() {
    for (version, offered, code, asked) in [
        ("2026-07-28", json!({"tools": {}}), -32601, 0),
        ("2026-07-28", json!({"completions": {}}), -32601, 1),
        // Older than the capability.
        ("2024-11-05", json!({"tools": {}}), -32601, 1),
    ] {
        let mut server = Suggesting::new(&[]);
        server.info.protocol_version = Some(version.to_owned());
        server.info.capabilities = Some(capabilities(offered));
        server.answer = Err(code);
        let server = Arc::new(server);
        let completer = completer(&server, CompleterOptions::default()).await;
        let found = completer.complete(&id("wiki"), typed("h")).await.unwrap();
        assert_eq!(found, Some(Completion::default()));
        assert_eq!(server.asked().len(), asked, "{version}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_goes_wrong_is_said_with_the_server_and_not_kept() {
    let mut server = Suggesting::new(&[]);
    server.answer = Err(-32602);
    let server = Arc::new(server);
    let asking = completer(&server, CompleterOptions::default()).await;
    for _ in 0..2 {
        let error = asking.complete(&id("wiki"), typed("h")).await.unwrap_err().to_string();
        assert_eq!(error, "server `wiki`: completion/complete: the server answered error -32602: no");
    }
    assert_eq!(server.asked(), ["h", "h"]);
    assert!(asking.complete(&id("git"), typed("h")).await.unwrap_err().is_not_found());

    let mut slow = Suggesting::new(&[]);
    slow.takes = Duration::from_secs(3_600);
    let asking = completer(&Arc::new(slow), CompleterOptions::default()).await;
    assert!(asking.complete(&id("wiki"), typed("h")).await.unwrap_err().is_timeout());
}

#[tokio::test(start_paused = true)]
async fn suggestions_that_cannot_be_shown_are_left_out_and_counted_as_more() {
    let long = "a".repeat(Completer::MAX_VALUE_BYTES + 1);
    let server = Arc::new(Suggesting::new(&["home", "\u{1b}[2Jhouse", "hotel\n", &long, "hut"]));
    let completer = completer(&server, CompleterOptions::default()).await;
    let found = completer.complete(&id("wiki"), typed("h")).await.unwrap().unwrap();
    assert_eq!((found.values, found.total, found.has_more), (vec!["home".into(), "hut".into()], Some(5), true));
}
