use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::fake::Era;
use crate::{
    client::{Change, Client, HttpClient, Limits, ListKind, tap::MAX_LINE},
    protocol::{CacheScope, CompletionRequest, CompletionTarget},
};

const TOKEN: &str = "token-1234567";

/// Requests that were seen: method and headers.
type Seen = Arc<Mutex<Vec<(String, BTreeMap<String, String>)>>>;

/// A streamable HTTP server of one era, at the URL that is returned.
async fn serve(era: Era) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/{TOKEN}/mcp", listener.local_addr().unwrap());
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(era, stream, Arc::clone(&log)));
        }
    });
    (url, seen)
}

async fn answer(era: Era, stream: TcpStream, seen: Seen) {
    let mut stream = BufReader::new(stream);
    let mut headers = BTreeMap::new();
    let mut first = String::new();
    stream.read_line(&mut first).await.unwrap();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    seen.lock().unwrap().push((method.clone(), headers));

    let id = &message["id"];
    let capabilities = json!({"tools": {"listChanged": true}, "resources": {}, "completions": {}});
    let result = match (method.as_str(), era) {
        ("server/discover", Era::Modern) => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
            "ttlMs": 0, "cacheScope": "private",
        }),
        ("initialize", Era::Legacy) => json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "old", "version": "1"},
        }),
        ("tools/list", _) => json!({
            "resultType": "complete", "ttlMs": 7000, "cacheScope": "public",
            "tools": [
                {"name": "good", "inputSchema": {"type": "object"}, "future": {"kept": 1.5}},
                {"name": "bad"},
                {"name": "rejected", "inputSchema": {"type": "object", "properties": {"a": {"type": "object", "x-mcp-header": "A"}}}},
            ],
        }),
        ("resources/read", _) if message["params"]["uri"] == "a:huge" => {
            let text = "x".repeat(MAX_LINE);
            json!({"contents": [{"uri": "a:huge", "text": text}]})
        }
        ("resources/read", _) => json!({
            "resultType": "complete", "ttlMs": 7000, "cacheScope": "public", "future": [1],
            "contents": [{"uri": "a:b", "text": "good"}, {"text": "no uri"}, {"uri": "a:c", "blob": "AAAA", "text": 7}],
        }),
        ("completion/complete", _) => json!({
            "resultType": "complete", "completion": {"values": ["a", 7], "hasMore": true, "total": -1},
        }),
        ("prompts/list", _) => {
            let message = json!({"jsonrpc": "2.0", "id": id, "result": {"prompts": [{"name": "p", "future": 1}, 7]}});
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            stream.write_all(format!("{head}data: {message}\n\n").as_bytes()).await.unwrap();
            return;
        }
        ("subscriptions/listen", Era::Modern) => {
            let event = |method: &str, mut params: Value| {
                params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": id});
                format!("data: {}\n\n", json!({"jsonrpc": "2.0", "method": method, "params": params}))
            };
            let accepted = json!({"notifications": {"toolsListChanged": true}});
            let events = event("notifications/subscriptions/acknowledged", accepted)
                + &event("notifications/tools/list_changed", json!({}));
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            stream.write_all(format!("{head}{events}").as_bytes()).await.unwrap();
            return std::future::pending().await;
        }
        ("notifications/initialized", _) => {
            stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            return;
        }
        ("server/discover", Era::Legacy) => {
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 4\r\n\r\nwhat").await.unwrap();
            return;
        }
        _ => {
            stream.write_all(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            return;
        }
    };
    let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    // Whoever has read enough hangs up.
    _ = stream.write_all((head + &body).as_bytes()).await;
}

#[tokio::test]
async fn what_is_read_and_completed_over_http_is_read_leniently() {
    for era in Era::BOTH {
        let client = HttpClient::new(serve(era).await.0);
        let read = client.read_resource("a:b").await.unwrap();
        let uris: Vec<_> = read.contents.iter().map(|contents| contents.uri.as_str()).collect();
        assert_eq!(uris, ["a:b", "a:c"]);
        assert_eq!((read.ttl, read.scope), (Some(Duration::from_secs(7)), CacheScope::Public));
        assert_eq!(read.extra["future"], json!([1]));
        let target = CompletionTarget::prompt("p");
        let completion = client.complete(&CompletionRequest::new(target, "argument")).await.unwrap();
        assert_eq!((completion.values, completion.total, completion.has_more), (vec!["a".into()], None, true));
    }
}

#[tokio::test]
async fn an_answer_above_the_bound_fails_alone() {
    for era in Era::BOTH {
        let client = HttpClient::new(serve(era).await.0);
        let failed = client.read_resource("a:huge").await.unwrap_err().to_string();
        assert_eq!(failed, "unreadable answer: it is longer than 67108864 bytes");
        assert!(client.read_resource("a:b").await.is_ok());
    }
}

#[tokio::test]
async fn a_page_over_http_in_both_eras() {
    for era in Era::BOTH {
        let (url, seen) = serve(era).await;
        let client = HttpClient::new(url).with_header("X-Key", "key-7654321");
        let version = if era == Era::Modern { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(client.info().await.unwrap().protocol_version.as_deref(), Some(version));
        let page = client.list(ListKind::Tools, None).await.unwrap();
        // The protocol has tools with an invalid header dropped, since 2026-07-28.
        assert_eq!(page.items.len(), if era == Era::Modern { 2 } else { 3 });
        assert!(page.items[0].get().contains(r#""future":{"kept":1.5}"#), "{:?}", page.items[0]);
        assert_eq!(page.items[1].get(), r#"{"name":"bad"}"#);
        for _ in 0..2 {
            let streamed = client.list(ListKind::Prompts, None).await.unwrap();
            assert_eq!(streamed.items[0].get(), r#"{"future":1,"name":"p"}"#);
            assert_eq!(streamed.items[1].get(), "7");
        }
        assert_eq!(page.ttl, Some(Duration::from_secs(7)));
        let seen = seen.lock().unwrap();
        let times = seen.iter().filter(|(method, _)| method == "prompts/list").count();
        assert_eq!(times, 3, "a server that streams is asked twice, but only once");
        let (_, headers) = seen.iter().find(|(method, _)| method == "tools/list").unwrap();
        assert_eq!(headers["x-key"], "key-7654321");
        assert_eq!(headers["mcp-protocol-version"], version);
    }
}

#[tokio::test]
async fn a_modern_server_pushes_over_its_stream() {
    let (url, _) = serve(Era::Modern).await;
    let client = HttpClient::new(url);
    let mut changes = client.changes().unwrap();
    client.info().await.unwrap();
    let change = timeout(Duration::from_secs(5), changes.recv()).await.unwrap().unwrap();
    assert_eq!(change, Change::List(ListKind::Tools));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_its_secrets() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = HttpClient::new(format!("http://{address}/{TOKEN}/mcp?key={TOKEN}"))
        .with_header("Authorization", format!("Bearer {TOKEN}"));
    let error = client.info().await.unwrap_err();
    assert!(
        error.to_string().starts_with(&format!("not reachable: http://{address}: the handshake failed: ")),
        "{error}"
    );
    assert!(error.to_string().contains("refused"), "{error}");
    assert!(!format!("{error:?} {client:?}").contains(TOKEN), "{error:?} {client:?}");
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let client = HttpClient::new(url).with_limits(&Limits::default().with_request(Duration::from_millis(100)));
    assert!(client.info().await.unwrap_err().is_timeout());
}

#[tokio::test]
async fn settings_that_http_forbids_are_named() {
    let error = HttpClient::new("http://h").with_header("a b", "secret-value").info().await.unwrap_err().to_string();
    assert_eq!(error, "not reachable: header `a b` has a name that HTTP forbids");
    let error = HttpClient::new("http://h").with_header("a", "hunter2-\nhunter2").info().await.unwrap_err().to_string();
    assert_eq!(error, "not reachable: header `a` has a value that HTTP forbids");
    let error = HttpClient::new("http://h").with_header("Accept", "a").info().await.unwrap_err().to_string();
    assert_eq!(error, "not reachable: header `Accept` is set by the protocol itself");
    let error = HttpClient::new("ftp://h").info().await.unwrap_err().to_string();
    assert_eq!(error, "not reachable: its URL does not begin with http:// or https://");
}
