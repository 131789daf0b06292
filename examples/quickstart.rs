//! The whole job in one page: servers, a catalog, a turn, a request, and back to the tool.
//!
//! Run it with `cargo run --example quickstart`: it needs no network and no model.

use proem::{
    Host, Result, TokenBudget,
    client::{ListKind, MemoryClient},
    protocol::{Annotations, Resource, Tool},
    render::Anthropic,
};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // A server is anything that implements `Client`: a child process, an HTTP endpoint, an rmcp
    // peer that your framework holds, a capture file, or, as here, items given in code.
    let git = MemoryClient::new()
        .with_definition(Tool::new("merge", "Merge a branch into another one").with_input_schema(json!({
            "type": "object",
            "properties": {
                "source": {"type": "string", "description": "Branch to merge, such as release/2.4"},
                "target": {"type": "string", "description": "Branch to merge into"},
            },
            "required": ["source", "target"],
        })))
        .with_tool("blame", "Show who last changed each line of a file")
        .with_tool("bisect", "Find the commit that broke something");
    let files = MemoryClient::new().with_tool("read_file", "Read a text file").with_described_resource(
        Resource::new("file:///release.md", "Release notes").with_annotations(Annotations::new().with_priority(0.9)),
        "Release 2.4 goes out on Friday. Merge only what is reviewed.",
    );
    // One item is broken, and costs itself only.
    let crm = MemoryClient::new()
        .with_tool("find_customer", "Find a customer by name or e-mail address")
        .with_raw(ListKind::Tools, json!({"name": "no_schema"}));

    let host = Host::builder().server("git", git).server("files", files).server("crm", crm).build()?;
    let catalog = host.refresh().await;
    for (server, error) in catalog.failures() {
        eprintln!("{server}: {error}");
    }
    for finding in catalog.findings() {
        println!("finding: {finding}");
    }

    let mut session = host.session();
    let context = session
        .turn("merge the release branch into main")
        .tools(TokenBudget::new(2_000))
        .resources(TokenBudget::new(1_000))
        .model("some-model")
        .system("You work in a shell. Be brief.")
        .build()
        .await?;

    println!("\n{}\n", context.report(&Anthropic::new()));
    for tool in &context.selection().tools {
        println!("offered: {} ({}, {} tokens)", tool.id, tool.reason, tool.tokens);
    }
    let request = context.render(&Anthropic::new());
    println!("\n{request:#}\n");

    // The model answers with a name; it means what this turn offered, and nothing else.
    let tool = context.route("merge")?;
    println!("call {} on server {}", tool.name, tool.server);
    if let Err(error) = context.route("format_disk") {
        println!("{error}");
    }
    Ok(())
}
