use serde_json::json;

use super::calls::SearchCall;
use crate::{
    catalog::ExposedName,
    id::{ServerId, ToolId},
    render::{ToolKind, ToolSpec},
};

/// The name of the tool that searches. [Reserved](ExposedName::RESERVED): no server's tool has it.
pub const SEARCH_TOOLS: &str = ExposedName::RESERVED[0];

/// The name of the tool that calls others. [Reserved](ExposedName::RESERVED): no server's tool has it.
pub const CALL_TOOL: &str = ExposedName::RESERVED[1];

/// The tool with which a model searches for tools that are not before it.
///
/// Its words are part of every prefix that has it, so they change only with a release. Its
/// [`ToolId`] is `proem/search_tools`: the host's own, which no server answers to.
pub fn search_tool() -> ToolSpec {
    own(SEARCH_TOOLS, ToolKind::Search)
        .with_description(
            "Searches for tools that are available but not listed here. Use it when no tool at hand does what is \
             needed, before you say that it cannot be done. The answer defines the tools that fit best; they can be \
             called from then on. Search once for each separate task.",
        )
        .with_input_schema(json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "What the tool shall do, to what and in which service, in words that its name or \
                                    description would hold, such as `merge a pull request in github`",
                },
                "limit": {
                    "type": "integer",
                    "description": format!(
                        "The most tools to find, 1 to {}; {} if left out",
                        SearchCall::MAX_LIMIT, SearchCall::DEFAULT_LIMIT
                    ),
                },
            },
            "required": ["query"],
        }))
}

/// The tool with which a model calls tools that it was told of in a message, for providers that take no
/// tools besides their array.
///
/// Its words are part of every prefix that has it, so they change only with a release. Its
/// [`ToolId`] is `proem/call_tool`: the host's own, which no server answers to.
pub fn call_tool() -> ToolSpec {
    own(CALL_TOOL, ToolKind::Call)
        .with_description(
            "Calls a tool that a search found or a message defined. Tools that are listed here are called by \
             themselves.",
        )
        .with_input_schema(json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The tool's name, exactly as its definition gives it"},
                "arguments": {
                    "type": "object",
                    "description": "Its arguments, as its own input_schema asks for them",
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": false,
        }))
}

fn own(name: &'static str, kind: ToolKind) -> ToolSpec {
    ToolSpec::new(ToolId::new(ServerId::own(), name), name).with_kind(kind)
}
