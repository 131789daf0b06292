//! The host's own tools, with which the model finds what is not before it.

use crate::{
    catalog::Catalog,
    id::{ServerId, ToolId},
    render::{ToolKind, ToolSpec},
    retrieval::Filter,
    tokens::{CountCache, TokenBudget},
};

/// The name of the tool that searches.
pub const SEARCH_TOOLS: &str = "search_tools";

/// The name of the tool that calls what was found.
pub const CALL_TOOL: &str = "call_tool";

/// The tool that searches.
pub fn search_tool() -> ToolSpec {
    own(SEARCH_TOOLS, ToolKind::Search)
}

/// The tool that calls what was found.
pub fn call_tool() -> ToolSpec {
    own(CALL_TOOL, ToolKind::Call)
}

#[allow(clippy::unwrap_used, reason = "a constant")]
fn own(name: &str, kind: ToolKind) -> ToolSpec {
    ToolSpec::new(ToolId::new(ServerId::new("proem").unwrap(), name), name).with_kind(kind)
}

/// What else there is to search for.
#[derive(Debug)]
pub struct Outline(String);

impl Outline {
    /// Of the servers whose tools may be offered.
    pub fn new(catalog: &Catalog, filter: &Filter) -> Self {
        let mut lines: Vec<String> = Vec::new();
        for server in catalog.servers() {
            let tools =
                catalog.tools().iter().filter(|tool| tool.id.server == server.id && filter.passes(tool)).count();
            if tools > 0 {
                lines.push(format!("{}: {tools} tools", server.id));
            }
        }
        Self(lines.join("\n"))
    }

    /// The text, if it fits.
    pub fn text(&self, budget: TokenBudget, counts: &CountCache) -> String {
        if counts.count(&self.0) > budget.tokens() { String::new() } else { self.0.clone() }
    }
}
