//! Tools that are asked for by their names, however little else is known of them.

#![allow(clippy::unwrap_used, reason = "an index that cannot be built fails the test")]

use proem::{
    catalog::Catalog,
    id::ServerId,
    index::StaticEmbedder,
    protocol::Tool,
    retrieval::{Filter, Hybrid, Lexical, Retriever},
};
use serde_json::json;

/// What each retriever finds, best first.
fn found(tools: &[(&str, Tool)], query: &str) -> [Vec<String>; 2] {
    let id = |server: &str| ServerId::new(server).unwrap();
    let tools = tools.iter().cloned();
    let catalog = tools.fold(Catalog::builder(), |builder, (server, tool)| builder.tool(id(server), tool)).build();
    let retrievers: [&dyn Retriever; 2] = [&Lexical::new(), &Hybrid::new(StaticEmbedder::bundled())];
    retrievers.map(|retriever| {
        let ranking = retriever.index(&catalog, None).unwrap().search(&query.into(), &Filter::new(), 5).unwrap();
        ranking.hits.iter().map(|hit| hit.tool.to_string()).collect()
    })
}

/// Tools that the requests here have nothing to do with.
fn others() -> Vec<(&'static str, Tool)> {
    [("play_song", "Plays a song by its title"), ("water_plants", "Waters the plants on the balcony")]
        .map(|(name, about)| ("home", Tool::new(name, about)))
        .to_vec()
}

#[test]
fn two_servers_may_have_a_tool_of_one_name() {
    let mut tools = others();
    tools.push(("tracker", Tool::new("create_issue", "Opens an issue in the team's tracker")));
    tools.push(("forge", Tool::new("create_issue", "Opens an issue in a repository")));
    for query in ["create_issue", "create issue", "open an issue about the crash"] {
        for hits in found(&tools, query) {
            let mut first = hits[..2].to_vec();
            first.sort();
            assert_eq!(first, ["forge/create_issue", "tracker/create_issue"], "{query}");
        }
    }
    for hits in found(&tools, "create_issue in the tracker") {
        assert_eq!(hits[0], "tracker/create_issue");
    }
}

#[test]
fn a_tool_without_a_description_is_found_by_its_name_and_its_parameters() {
    let schema = json!({"type": "object", "properties": {"source_currency": {}, "target_currency": {}, "amount": {}}});
    let mut tools = others();
    tools.push(("bank", Tool::new("fx_rates", "").with_input_schema(schema)));
    for query in ["fx_rates", "what are the fx rates today?", "change an amount from one currency to another"] {
        for hits in found(&tools, query) {
            assert_eq!(hits[0], "bank/fx_rates", "{query}");
        }
    }
}
