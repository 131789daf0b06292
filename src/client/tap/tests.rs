use rmcp::model::{
    ClientRequest, DiscoverRequest, DiscoverRequestParams, InitializeRequest, InitializeRequestParams,
    ListToolsRequest, PingRequest,
};
use tokio::io::{DuplexStream, duplex};

use super::*;

/// A tap that waits for the answers 1 (read by Proem), 2 (read by rmcp).
fn tap(bytes: impl Into<Vec<u8>>) -> Tap<io::Cursor<Vec<u8>>, DuplexStream> {
    let mut tap =
        Tap::new(io::Cursor::new(bytes.into()), duplex(1 << 16).0, Duration::from_secs(5), TapNotes::default());
    ask(&mut tap, 1, ClientRequest::ListToolsRequest(ListToolsRequest::default()));
    ask(&mut tap, 2, ClientRequest::PingRequest(PingRequest::default()));
    tap
}

fn ask<R: AsyncRead + Send + Unpin>(tap: &mut Tap<R, DuplexStream>, id: i64, request: ClientRequest) {
    drop(tap.send(JsonRpcMessage::request(request, RequestId::Number(id))));
}

fn raw(message: Option<ServerJsonRpcMessage>) -> Value {
    match message {
        Some(JsonRpcMessage::Response(response)) => match response.result {
            ServerResult::CustomResult(CustomResult(value)) => value,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn error(message: Option<ServerJsonRpcMessage>) -> String {
    match message {
        Some(JsonRpcMessage::Error(error)) => error.error.message.into_owned(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_answer_for_proem_passes_as_its_text() {
    let result = r#"{"tools":[{"name":1,"future":{"b":1.50,"a":2}},7],"x":[]}"#;
    let mut tap = tap(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{result}}}\n"));
    assert_eq!(raw(tap.next().await), result);
    assert!(tap.next().await.is_none());
}

#[tokio::test]
async fn garbage_is_dropped_and_the_connection_lives() {
    let mut bytes = b"Server listening on stdio\n\n[1,2]\n7\n\xff\xfe\n{\"half\":\n".to_vec();
    bytes.extend_from_slice("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}\r\n".as_bytes());
    let mut tap = tap(bytes);
    assert_eq!(raw(tap.next().await), "{}");
    assert_eq!(tap.notes.dropped(), 5);
}

#[tokio::test]
async fn an_answer_that_is_not_utf_8_fails_its_request_at_once() {
    let mut tap = tap(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[\"\xff\"]}}\n".to_vec());
    assert_eq!(raw(tap.next().await), serde_json::json!(["it is not UTF-8"]));
}

#[tokio::test]
async fn depth_costs_only_who_cannot_read_it() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let mut tap =
        tap(format!("{{\"id\":1,\"result\":{{\"tools\":{deep}}}}}\n{{\"id\":2,\"result\":{{\"x\":{deep}}}}}\n"));
    assert_eq!(raw(tap.next().await), format!("{{\"tools\":{deep}}}"));
    assert!(error(tap.next().await).starts_with("unreadable answer: "));
}

#[tokio::test]
async fn a_line_above_the_bound_is_skipped_and_fails_its_request() {
    let long = "x".repeat(5_000);
    let text = format!(
        "{{\"result\":{{\"tools\":[\"{long}\"],\"id\":2}},\"id\":1}}\n{{\"id\":2,\"error\":{{\"code\":-1}}}}\n"
    );
    let mut tap = tap(text).with_max_line(1_000);
    assert_eq!(raw(tap.next().await), serde_json::json!(["it is longer than 1000 bytes"]));
    assert_eq!(error(tap.next().await), "(no message)");
}

#[tokio::test]
async fn a_request_fails_before_the_line_that_is_too_long_ends() {
    let (mut server, read) = duplex(1 << 16);
    let mut tap = Tap::new(read, duplex(1 << 16).0, Duration::from_secs(5), TapNotes::default()).with_max_line(1_000);
    ask(&mut tap, 1, ClientRequest::ListToolsRequest(ListToolsRequest::default()));
    ask(&mut tap, 2, ClientRequest::ListToolsRequest(ListToolsRequest::default()));
    server.write_all(format!("{{\"id\":1,\"result\":\"{}", "x".repeat(5_000)).as_bytes()).await.unwrap();
    assert_eq!(raw(tap.next().await), serde_json::json!(["it is longer than 1000 bytes"]));
    server.write_all("\",\"id\":2}\n{\"id\":2,\"result\":{}}\n".as_bytes()).await.unwrap();
    assert_eq!(raw(tap.next().await), "{}");
}

#[tokio::test]
async fn a_line_above_the_bound_that_answers_nobody_is_passed_over() {
    let long = "x".repeat(5_000);
    let text = format!("{{\"id\":9,\"result\":\"{long}\"}}\n{{\"id\":1,\"result\":{{}}}}\n");
    let mut tap = tap(text).with_max_line(1_000);
    assert_eq!(raw(tap.next().await), "{}");
}

#[tokio::test]
async fn a_line_above_the_bound_that_names_no_request_ends_the_connection() {
    let mut tap = tap(format!("{}\n{{\"id\":1,\"result\":{{}}}}\n", "x".repeat(5_000))).with_max_line(1_000);
    assert!(tap.next().await.is_none());
    assert_eq!(tap.notes.ended().unwrap(), "the server sent a line of more than 1000 bytes");
}

#[tokio::test]
async fn late_and_unasked_answers_are_dropped() {
    let mut tap = tap("{\"id\":9,\"result\":{}}\n{\"id\":1,\"result\":{}}\n{\"id\":1,\"result\":{}}\n");
    assert_eq!(raw(tap.next().await), "{}");
    assert!(tap.next().await.is_none());
}

#[tokio::test]
async fn messages_of_the_server_go_to_rmcp() {
    let mut tap = tap(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
    );
    assert!(matches!(tap.next().await, Some(JsonRpcMessage::Notification(_))));
    assert!(matches!(tap.next().await, Some(JsonRpcMessage::Request(_))));
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_probe_is_answered_for_the_server() {
    let (read, _server) = duplex(64);
    let mut tap = Tap::new(read, duplex(1 << 16).0, Duration::from_secs(3), TapNotes::default());
    ask(&mut tap, 1, ClientRequest::DiscoverRequest(DiscoverRequest::new(DiscoverRequestParams {})));
    assert_eq!(error(tap.next().await), "no answer to server/discover in time");
}

#[tokio::test]
async fn a_probe_that_is_answered_after_the_next_handshake_began_is_nobodys() {
    let text = "{\"id\":1,\"result\":{}}\n{\"id\":2,\"error\":{\"code\":-1}}\n".to_owned();
    let mut tap =
        Tap::new(io::Cursor::new(text.into_bytes()), duplex(1 << 16).0, Duration::from_secs(60), TapNotes::default());
    ask(&mut tap, 1, ClientRequest::DiscoverRequest(DiscoverRequest::new(DiscoverRequestParams {})));
    ask(&mut tap, 2, ClientRequest::InitializeRequest(InitializeRequest::new(InitializeRequestParams::default())));
    assert!(matches!(tap.next().await, Some(JsonRpcMessage::Error(error)) if error.id == Some(RequestId::Number(2))));
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_bad(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let bytes = lines.join(&b'\n');
            run(async {
                let mut tap = tap(bytes).with_max_line(24);
                while tap.next().await.is_some() {}
            });
        }

        #[test]
        fn an_answer_survives_any_garbage_before_it(garbage in "[^\\n]{0,60}") {
            let parses = serde_json::from_str::<Value>(garbage.trim()).is_ok();
            prop_assume!(!parses);
            let message = run(async { tap(format!("{garbage}\n{{\"id\":1,\"result\":{{}}}}\n")).next().await });
            // Garbage that has the look of the answer (`{"id":1`) may fail it, but never hide it.
            let answered = matches!(message, Some(JsonRpcMessage::Response(_)));
            prop_assert!(answered);
        }

        #[test]
        fn the_id_is_found_wherever_it_stands(id in any::<u32>(), text in any::<String>(), first in any::<bool>()) {
            let result = serde_json::json!({"id": 0, "text": text}).to_string();
            let message = if first {
                format!("{{\"id\":{id},\"result\":{result}}}")
            } else {
                format!("{{\"result\" : {result} , \"id\" : {id} }}")
            };
            prop_assert_eq!(TopId::of(message.as_bytes()), Some(RequestId::Number(id.into())));
        }
    }
}
