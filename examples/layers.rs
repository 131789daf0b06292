//! Each layer alone, without a host: a catalog, an index, a ranking, a selection, a request.
//!
//! Benchmarks of retrieval need only the first three; a framework with its own catalog can start
//! anywhere. Run it with `cargo run --example layers`.

use std::sync::Arc;

use proem::{
    Result, TokenBudget,
    catalog::Catalog,
    id::ServerId,
    protocol::Tool,
    render::{Layout, Message, OpenAiResponses, Provider, ToolSpec},
    retrieval::{Filter, Lexical, Query, Retriever},
    selection::{SelectionOptions, select},
    tokens::{CountCache, Tiktoken},
};

fn main() -> Result<()> {
    // A catalog made by hand. Two servers have a tool of the same name.
    let (board, tracker) = (ServerId::new("board")?, ServerId::new("tracker")?);
    let catalog = Catalog::builder()
        .tool(board.clone(), Tool::new("createCard", "Add a card with a title and an owner to a column"))
        .tool(board.clone(), Tool::new("search", "Find cards by text"))
        .tool(tracker.clone(), Tool::new("search", "Find bugs by text, label or version"))
        .tool(tracker, Tool::new("close", "Close a bug and say how it was solved"))
        .build();
    for tool in catalog.tools() {
        println!("{:20} the model knows it as {}", tool.id.to_string(), tool.exposed);
    }

    // An index of it, and a ranking that says which field gave what.
    let index = Lexical::default().index(&catalog, None)?;
    let query = Query::new("find the bugs of version 2");
    let filter = Filter::new().deny("*/close".parse()?);
    let ranking = index.search(&query, &filter, 10)?;
    for hit in &ranking.hits {
        println!("{}. {} {:.2} {:?}", hit.rank, hit.tool, hit.score, hit.fields);
    }

    // What fits into 120 tokens.
    let counts = CountCache::new(Arc::new(Tiktoken::default()));
    let options = SelectionOptions::default().with_budget(TokenBudget::new(120));
    let selection = select(&catalog, &ranking, &filter, &options, &counts);
    for tool in &selection.excluded {
        println!("left out: {}/{} ({})", tool.server, tool.name, tool.reason);
    }

    // A request for another provider, from a layout made by hand.
    let mut layout = Layout::new().with_message(Message::user(&query.text));
    for tool in &selection.tools {
        if let Some(entry) = catalog.tool(&tool.id) {
            layout = layout.with_tool(ToolSpec::from_entry(entry));
        }
    }
    let request = OpenAiResponses::new().render(&layout);
    println!("{request:#}");
    Ok(())
}
