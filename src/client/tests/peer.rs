use std::time::Duration;

use rmcp::{
    ClientServiceExt, ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as RmcpTool},
    service::{ClientLifecycleMode, RequestContext},
};
use serde_json::Value;
use tokio::time::timeout;

use super::fake::{Era, ok, serve};
use crate::client::{Change, ChangeHandler, Client, ListKind, PeerClient, StreamClient};

/// A real server of rmcp's with one tool.
#[derive(Clone)]
struct Real;

impl ServerHandler for Real {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = serde_json::from_str::<serde_json::Map<String, Value>>(r#"{"type":"object"}"#).unwrap();
        Ok(ListToolsResult::with_all_items(vec![RmcpTool::new("merge", "Merge a branch", schema)]))
    }
}

#[tokio::test]
async fn a_server_of_rmcp_in_the_same_process() {
    let (near, far) = tokio::io::duplex(4096);
    tokio::spawn(async { Real.serve(far).await.unwrap().waiting().await.unwrap() });
    let (read, write) = tokio::io::split(near);
    let client = StreamClient::new(read, write);
    assert_eq!(client.info().await.unwrap().protocol_version.as_deref(), Some("2026-07-28"));
    let page = client.list(ListKind::Tools, None).await.unwrap();
    assert!(page.items[0].get().contains("Merge a branch"));
}

#[tokio::test]
async fn a_peer_that_a_framework_holds_in_both_eras() {
    for mode in [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: vec![rmcp::model::ProtocolVersion::V_2026_07_28] },
    ] {
        let (near, far) = tokio::io::duplex(4096);
        tokio::spawn(async { Real.serve(far).await.unwrap().waiting().await.unwrap() });
        let service = ().serve_with_lifecycle(near, mode).await.unwrap();
        let client = PeerClient::new(service.peer().clone());
        assert!(client.info().await.unwrap().offers("tools"));
        assert_eq!(client.list(ListKind::Tools, None).await.unwrap().items.len(), 1);
        assert!(client.list(ListKind::Prompts, None).await.unwrap_err().is_unsupported());
    }
}

#[tokio::test]
async fn a_peer_keeps_the_page_that_rmcp_cannot_decode() {
    let bad = r#"{"name":"a"}"#;
    let stream = serve(Era::Legacy, move |method, message| match method {
        "tools/list" => ok(message, format!(r#"{{"tools":[{bad},{{"name":"b","inputSchema":{{}},"future":1}}]}}"#)),
        _ => Vec::new(),
    });
    let service = ().serve_with_lifecycle(stream, ClientLifecycleMode::Initialize).await.unwrap();
    let client = PeerClient::new(service.peer().clone());
    let page = client.list(ListKind::Tools, None).await.unwrap();
    assert_eq!(page.items[0].get(), bad);
    assert!(page.items[1].get().contains("future"));
    assert!(client.changes().is_none(), "nobody tells a bare peer of the initialize era");
}

#[tokio::test]
async fn a_handler_that_a_framework_serves_hands_changes_on() {
    let stream = serve(Era::Legacy, |method, _| match method {
        "notifications/initialized" => [
            r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}"#,
            "",
        ]
        .join("\n")
        .into_bytes(),
        _ => Vec::new(),
    });
    let handler = ChangeHandler::new(());
    let mut early = handler.subscribe();
    let service = handler.clone().serve_with_lifecycle(stream, ClientLifecycleMode::Initialize).await.unwrap();
    let client = PeerClient::new(service.peer().clone()).with_changes(&handler);
    assert!(client.changes().is_some());
    let mut heard = Vec::new();
    for _ in 0..2 {
        heard.push(timeout(Duration::from_secs(5), early.recv()).await.unwrap().unwrap());
    }
    heard.sort_by_key(|change| format!("{change:?}"));
    assert_eq!(heard, [Change::List(ListKind::Prompts), Change::Resource("a:b".into())]);
}
