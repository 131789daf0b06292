//! A framework that already holds rmcp clients: Proem borrows their peers and leaves them their lives.
//!
//! The server here is one of the demo servers, at the other end of an in-process pipe.
//! Run it with `cargo run --example rmcp_peer --features demo`.

use std::error::Error;

use proem::{
    Host, TokenBudget,
    client::{ChangeHandler, PeerClient},
    demo,
    render::OpenAiChat,
};
use rmcp::{
    model::ProtocolVersion,
    service::{ClientLifecycleMode, ClientServiceExt},
};
use serde_json::{Map, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let support = demo::servers().into_iter().find(|server| server.id() == "support").ok_or("no support desk")?;

    // What a framework does anyway. `ChangeHandler` hears of changed lists on the way.
    let changes = ChangeHandler::new(());
    let heard = changes.clone();
    let newest = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let service = changes.serve_with_lifecycle(support.serve(), newest).await?;

    let client = PeerClient::new(service.peer().clone()).with_changes(&heard);
    let host = Host::builder().server("support", client).build()?;
    let catalog = host.refresh().await;
    println!("{} tools, {} prompts", catalog.tools().len(), catalog.prompts().len());

    // A prompt is invoked by a person: here as a line that was typed.
    let commands = host.commands();
    if let Err(error) = host.prompt(&commands.parse("/draft_refund_review")?).await {
        println!("{error}");
    }
    let prompt = host.prompt(&commands.parse("/draft_refund_review T-4711")?).await?;

    let mut session = host.session();
    let context = session
        .turn("look up the ticket and draft the refund")
        .prompt(&prompt)
        .tools(TokenBudget::new(1_500))
        .build()
        .await?;
    println!("{:#}", context.render(&OpenAiChat::new()));

    // The model's call goes back to the server that offered the tool.
    let tool = context.route("tickets_get")?.clone();
    let arguments: Map<_, _> = json!({"ticket_id": "T-4711"}).as_object().cloned().unwrap_or_default();
    let result = host.client(&tool.server)?.call_tool(&tool.name, arguments).await?;
    println!("{tool}: {}", if result.is_error { "failed" } else { "answered" });
    for block in &result.content {
        println!("{block:?}");
    }
    service.cancel().await?;
    Ok(())
}
