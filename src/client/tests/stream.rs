use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::fake::{Era, client, client_with, error, ok};
use crate::{
    client::{Change, Client, Cut, Limits, ListKind, StreamClient, list_all},
    error::ClientError,
    protocol::Tool,
};

fn list_of(items: &[&str]) -> String {
    format!("{{\"tools\":[{}],\"ttlMs\":5000,\"cacheScope\":\"public\"}}", items.join(","))
}

#[tokio::test]
async fn what_a_server_says_of_itself_is_kept_whole() {
    for era in Era::BOTH {
        let info = client(era, |_, _| Vec::new()).info().await.unwrap();
        let version = if era == Era::Modern { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(info.protocol_version.as_deref(), Some(version));
        assert_eq!(info.instructions.as_deref(), Some("Be brief."));
        assert_eq!(info.capabilities.unwrap()["vendor"], json!({"kept": true}));
        assert_eq!(info.implementation.unwrap()["name"], "fake");
    }
}

#[tokio::test]
async fn malformed_items_cost_themselves_only_and_unknown_fields_survive() {
    let good =
        r#"{"name":"a","inputSchema":{"type":"object","x":1.50},"annotations":{"readOnlyHint":"yes"},"future":[1]}"#;
    for era in Era::BOTH {
        let client = client(era, move |method, message| match method {
            "tools/list" => ok(message, list_of(&[r#"{"description":"no name"}"#, good, "7"])),
            _ => Vec::new(),
        });
        let page = client.list(ListKind::Tools, None).await.unwrap();
        assert_eq!(page.items.len(), 3);
        assert_eq!(page.items[1].get(), good);
        assert_eq!(page.ttl, Some(Duration::from_secs(5)));
        assert!(Tool::read(serde_json::from_str(page.items[0].get()).unwrap()).is_err());
    }
}

#[tokio::test]
async fn cursors_go_out_as_they_came_and_a_repeated_one_ends_the_list() {
    for era in Era::BOTH {
        let client = client(era, |method, message| match (method, message["params"]["cursor"].as_str()) {
            ("tools/list", None) => ok(message, r#"{"tools":[1],"nextCursor":""}"#),
            ("tools/list", Some("")) => ok(message, r#"{"tools":[2],"nextCursor":"again"}"#),
            ("tools/list", Some("again")) => ok(message, r#"{"tools":[3],"nextCursor":"again"}"#),
            _ => Vec::new(),
        });
        let listing = list_all(&client, ListKind::Tools, &Limits::default()).await.unwrap();
        let items: Vec<&str> = listing.items().map(|item| item.get()).collect();
        assert_eq!((items, listing.cut), (vec!["1", "2", "3"], Some(Cut::RepeatedCursor)));
    }
}

#[tokio::test]
async fn garbage_between_the_messages_is_no_failure() {
    for era in Era::BOTH {
        let client = client(era, |method, message| match method {
            "tools/list" => {
                [b"Listening...\n\xff\xfe\xfd\n[]\n{\"a\":\n".to_vec(), ok(message, list_of(&["{}"]))].concat()
            }
            _ => Vec::new(),
        });
        assert_eq!(client.list(ListKind::Tools, None).await.unwrap().items.len(), 1);
        assert_eq!(client.list(ListKind::Tools, None).await.unwrap().items.len(), 1);
    }
}

#[tokio::test]
async fn a_schema_10_000_deep_costs_one_tool() {
    let deep = format!(
        r#"{{"name":"deep","inputSchema":{}{}}}"#,
        r#"{"a":"#.repeat(10_000),
        "1".to_owned() + &"}".repeat(10_000)
    );
    let client = client(Era::Legacy, move |method, message| match method {
        "tools/list" => ok(message, list_of(&[&deep, r#"{"name":"good"}"#])),
        _ => Vec::new(),
    });
    let page = client.list(ListKind::Tools, None).await.unwrap();
    assert_eq!(page.items[1].get(), r#"{"name":"good"}"#);
    assert!(serde_json::from_str::<Value>(page.items[0].get()).is_err());
}

#[tokio::test]
async fn a_description_of_50_mb_costs_one_tool() {
    let client = client(Era::Modern, |method, message| match method {
        "tools/list" => {
            let big = format!(r#"{{"name":"big","description":"{}"}}"#, "x".repeat(50_000_000));
            ok(message, list_of(&[&big, r#"{"name":"good"}"#]))
        }
        _ => Vec::new(),
    });
    let page = client.list(ListKind::Tools, None).await.unwrap();
    assert_eq!(page.items[0].get().len(), 50_000_031);
    assert_eq!(page.items[1].get(), r#"{"name":"good"}"#);
}

#[tokio::test]
async fn a_page_above_the_bound_fails_at_once_and_the_next_request_works() {
    let client = client(Era::Modern, |method, message| match method {
        "tools/list" => ok(message, format!("[\"{}\"]", "x".repeat(crate::client::tap::MAX_LINE))),
        "prompts/list" => ok(message, r#"{"prompts":[]}"#),
        _ => Vec::new(),
    });
    let failed = client.list(ListKind::Tools, None).await.unwrap_err();
    assert_eq!(failed.to_string(), "unreadable answer: it is longer than 67108864 bytes");
    assert!(client.list(ListKind::Prompts, None).await.is_ok());
}

#[tokio::test]
async fn errors_say_what_the_server_said() {
    let client = client(Era::Legacy, |method, message| match method {
        "tools/list" => error(message, -32601, "no tools here"),
        "resources/read" => error(message, -32002, "no such resource"),
        "prompts/get" => ok(message, r#"{"resultType":"input_required","inputRequests":{}}"#),
        "tools/call" => ok(message, r#"{"resultType":"task","taskId":"1"}"#),
        "prompts/list" => ok(message, r#"{"prompts":{}}"#),
        _ => Vec::new(),
    });
    assert!(client.list(ListKind::Tools, None).await.unwrap_err().is_unsupported());
    assert!(client.read_resource("a:b").await.unwrap_err().is_not_found());
    assert!(matches!(client.get_prompt("p", &BTreeMap::new()).await, Err(ClientError::InputRequired(_))));
    let task = client.call_tool("t", Map::new()).await.unwrap_err();
    assert_eq!(task.to_string(), "unreadable answer: the result of tools/call: resultType `task` is not known");
    assert!(matches!(client.list(ListKind::Prompts, None).await, Err(ClientError::Malformed { .. })));
}

#[tokio::test]
async fn answers_are_read_leniently() {
    let client = client(Era::Modern, |method, message| match method {
        "resources/read" => {
            assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
            ok(message, r#"{"contents":[{"uri":"a:b","text":"t","future":1},{"text":"no uri"}]}"#)
        }
        "prompts/get" => {
            assert_eq!(message["params"]["arguments"], json!({"topic": "cats"}));
            ok(message, r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}},{"role":"robot"}]}"#)
        }
        "tools/call" => {
            assert_eq!(message["params"]["arguments"], json!({"n": 1}));
            ok(message, r#"{"content":[{"type":"hologram"}],"isError":true}"#)
        }
        _ => Vec::new(),
    });
    assert_eq!(client.read_resource("a:b").await.unwrap().contents.len(), 1);
    let arguments = [("topic".to_owned(), "cats".to_owned())].into();
    assert_eq!(client.get_prompt("p", &arguments).await.unwrap().messages.len(), 1);
    let arguments = [("n".to_owned(), json!(1))].into_iter().collect();
    assert!(client.call_tool("t", arguments).await.unwrap().is_error);
}

#[tokio::test]
async fn changes_sound_the_same_in_both_eras() {
    let legacy = client(Era::Legacy, |method, _| match method {
        "notifications/initialized" => [
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#,
            "",
        ]
        .join("\n")
        .into_bytes(),
        _ => Vec::new(),
    });
    let modern = client(Era::Modern, |method, message| match method {
        "subscriptions/listen" => {
            assert_eq!(
                message["params"]["notifications"],
                json!({"toolsListChanged": true, "resourcesListChanged": true})
            );
            let note = |method: &str, params: Value| {
                let mut params = params;
                params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
                format!("{}\n", json!({"jsonrpc": "2.0", "method": method, "params": params}))
            };
            let accepted = json!({"notifications": {"toolsListChanged": true, "resourcesListChanged": true}});
            [
                note("notifications/subscriptions/acknowledged", accepted),
                note("notifications/tools/list_changed", json!({})),
                note("notifications/resources/list_changed", json!({})),
            ]
            .concat()
            .into_bytes()
        }
        _ => Vec::new(),
    });
    for client in [legacy, modern] {
        let mut changes = client.changes().unwrap();
        client.info().await.unwrap();
        let mut heard = Vec::new();
        for _ in 0..3 {
            heard.push(timeout(Duration::from_secs(5), changes.recv()).await.unwrap().unwrap());
        }
        heard.sort_by_key(|change| format!("{change:?}"));
        let expected = [ListKind::ResourceTemplates, ListKind::Resources, ListKind::Tools].map(Change::List);
        assert_eq!(heard, expected);
    }
}

#[tokio::test]
async fn watched_resources_are_asked_for_in_both_eras() {
    for era in Era::BOTH {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let client = client(era, move |method, message| {
            let params = &message["params"];
            let updated = |uri: &str| {
                let meta = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
                let params = match era {
                    Era::Modern => json!({"uri": uri, "_meta": meta}),
                    Era::Legacy => json!({"uri": uri}),
                };
                format!(
                    "{}\n",
                    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params})
                )
            };
            match method {
                "subscriptions/listen" => {
                    let filter = &params["notifications"];
                    let meta = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
                    let params = json!({"notifications": filter, "_meta": meta});
                    let method = "notifications/subscriptions/acknowledged";
                    let mut answer = format!("{}\n", json!({"jsonrpc": "2.0", "method": method, "params": params}));
                    for uri in filter["resourceSubscriptions"].as_array().into_iter().flatten() {
                        log.lock().unwrap().push(format!("+{}", uri.as_str().unwrap()));
                        answer += &updated(uri.as_str().unwrap());
                    }
                    answer.into_bytes()
                }
                "resources/subscribe" => {
                    let uri = params["uri"].as_str().unwrap();
                    log.lock().unwrap().push(format!("+{uri}"));
                    [ok(message, "{}"), updated(uri).into_bytes()].concat()
                }
                "resources/unsubscribe" => {
                    log.lock().unwrap().push(format!("-{}", params["uri"].as_str().unwrap()));
                    ok(message, "{}")
                }
                _ => Vec::new(),
            }
        });
        let mut changes = client.changes().unwrap();
        for uri in ["a:1", "a:2"] {
            client.watch(&[uri.to_owned()].into()).await.unwrap();
            let change = timeout(Duration::from_secs(5), changes.recv()).await.unwrap().unwrap();
            assert_eq!(change, Change::Resource(uri.into()));
        }
        let expected = if era == Era::Modern { vec!["+a:1", "+a:2"] } else { vec!["+a:1", "-a:1", "+a:2"] };
        assert_eq!(*asked.lock().unwrap(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_ends_is_opened_again_but_not_for_ever() {
    let opened = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    let client = client(Era::Modern, move |method, message| match method {
        "subscriptions/listen" => {
            count.fetch_add(1, Ordering::Relaxed);
            let meta = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
            let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
            let method = "notifications/subscriptions/acknowledged";
            let accepted = json!({"jsonrpc": "2.0", "method": method, "params": params});
            let end = ok(message, json!({"resultType": "complete", "_meta": meta}).to_string());
            [format!("{accepted}\n").into_bytes(), end].concat()
        }
        _ => Vec::new(),
    });
    let mut changes = client.changes().unwrap();
    client.info().await.unwrap();
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(opened.load(Ordering::Relaxed), 6);
    // What may have been missed in between is to be read again.
    assert_eq!(changes.try_recv().unwrap(), Change::List(ListKind::Tools));
}

#[tokio::test(start_paused = true)]
async fn a_tool_call_has_more_time_than_a_list() {
    let client = client(Era::Legacy, |_, _| Vec::new());
    client.info().await.unwrap();
    let listed = client.list(ListKind::Tools, None).await.unwrap_err();
    assert!(matches!(listed, ClientError::Timeout { after } if after == Limits::default().request));
    let called = client.call_tool("t", Map::new()).await.unwrap_err();
    assert!(matches!(called, ClientError::Timeout { after } if after == Limits::default().call));
}

#[tokio::test]
async fn a_server_that_refuses_to_push_is_as_good_as_any() {
    let client = client(Era::Modern, |method, message| match method {
        "subscriptions/listen" => error(message, -32603, "Subscription limit reached"),
        "tools/list" => ok(message, list_of(&[])),
        _ => Vec::new(),
    });
    assert!(client.list(ListKind::Tools, None).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_times_out_in_every_phase() {
    let limits = Limits::default().with_request(Duration::from_secs(6));
    let client = client_with(&limits, Era::Modern, |_, _| Vec::new());
    assert!(client.info().await.is_ok());
    assert!(client.list(ListKind::Tools, None).await.unwrap_err().is_timeout());

    let (near, _far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(near);
    let silent = StreamClient::with_limits(read, write, &limits);
    assert!(silent.info().await.unwrap_err().is_timeout());
}

#[tokio::test(start_paused = true)]
async fn a_server_silent_on_the_probe_is_of_the_initialize_era() {
    let (near, far) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
        let (read, mut write) = tokio::io::split(far);
        let mut lines = BufReader::new(read).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "initialize" {
                let result =
                    r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"old","version":"1"}}"#;
                write.write_all(&ok(&message, result)).await.unwrap();
            }
        }
    });
    let (read, write) = tokio::io::split(near);
    let client = StreamClient::with_limits(read, write, &Limits::default().with_request(Duration::from_secs(6)));
    let started = tokio::time::Instant::now();
    assert_eq!(client.info().await.unwrap().protocol_version.as_deref(), Some("2025-06-18"));
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_slow_start_goes_on_when_a_request_gave_up() {
    let (near, far) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(40)).await;
        super::fake::run(Era::Legacy, Arc::new(|_: &str, _: &Value| Vec::new()), far).await;
    });
    let (read, write) = tokio::io::split(near);
    let client = StreamClient::new(read, write);
    assert!(client.info().await.unwrap_err().is_timeout());
    assert!(client.info().await.is_ok());
}

#[tokio::test]
async fn a_stream_that_ended_says_so() {
    let (near, far) = tokio::io::duplex(64);
    drop(far);
    let (read, write) = tokio::io::split(near);
    let client = StreamClient::new(read, write);
    assert!(matches!(client.info().await, Err(ClientError::Unreachable { .. })));
    assert_eq!(client.info().await.unwrap_err().to_string(), "not reachable: the stream has ended");
}
