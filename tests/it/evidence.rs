//! What evidence beside words gives on the benchmark sets, and that it stays within its context.

use std::sync::Arc;

use proem::{
    Host,
    catalog::{Authorization, Catalog},
    client::MemoryClient,
    id::{ServerId, ToolId},
    retrieval::{Hybrid, Lexical, Retriever, Usage, UsageLog},
    tokens::BytesPerToken,
};

fn report_log(authorization: Authorization) -> UsageLog {
    let mut log = UsageLog::new(authorization);
    log.record(1, "the usual figures", ToolId::new(ServerId::new("sales").unwrap(), "export_month"));
    log
}

fn host(log: &UsageLog, authorization: Authorization) -> proem::Result<Host> {
    Host::builder()
        .server("sales", MemoryClient::new().with_tool("export_month", "Write a spreadsheet"))
        .server("secrets", MemoryClient::new().with_tool("show", "Show a password"))
        .authorization(authorization)
        .retriever(Hybrid::lexical(Lexical::new()).with_usage(Usage::new(log)))
        .counter(BytesPerToken::default())
        .build()
}

#[tokio::test]
async fn a_log_orders_the_tools_of_its_own_context_only() {
    let anna = || Authorization::new("anna");
    let log = report_log(anna());
    let error = host(&log, Authorization::new("bert")).unwrap_err().to_string();
    assert_eq!(error, "invalid retriever `hybrid`: it holds data of another authorization context");
    let host = host(&log, anna()).unwrap();
    host.refresh().await;
    let context = host.session().turn("the usual figures again").build().await.unwrap();
    let first = &context.selection().tools[0];
    assert_eq!((first.id.to_string(), first.reason.to_string()), ("sales/export_month".into(), "matched usage".into()));
}

#[test]
fn no_request_is_shown_by_debug() {
    let log = report_log(Authorization::new("anna"));
    let retriever = Hybrid::lexical(Lexical::new()).with_usage(Usage::new(&log)).with_co_use(log.co_use());
    let index: Arc<dyn proem::retrieval::ToolIndex> = retriever.index(&Catalog::default(), None).unwrap();
    let shown = format!("{retriever:?} {index:?} {log:?}");
    assert!(shown.contains("calls: 1") && !shown.contains("usual") && !shown.contains("anna"), "{shown}");
}

#[cfg(all(feature = "bundled", feature = "eval"))]
mod sets;
