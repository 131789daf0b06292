use std::{collections::BTreeMap, fmt};

use super::calls::SearchCall;
use crate::{
    error::{beginning, excerpt},
    id::ToolId,
    render::{Block, ToolSpec, neutral},
};

/// The most bytes of a refusal: eight faults with all that is told of each.
const MAX_REFUSAL_BYTES: usize = 8_192;

/// The result of a search: the tools that join the conversation by it, and the names of those that are
/// in it already. `tools` is what was found, best first, of which the search's limit is taken; `offered`
/// is what the conversation was offered so far, by exposed name.
pub fn found(
    call_id: impl Into<String>,
    search: &SearchCall,
    mut tools: Vec<ToolSpec>,
    offered: &BTreeMap<String, ToolId>,
) -> Block {
    tools.truncate(search.limit);
    let (known, new): (Vec<_>, Vec<_>) =
        tools.into_iter().partition(|tool| offered.get(&tool.exposed) == Some(&tool.tool));
    let mut content = Vec::new();
    if new.is_empty() && known.is_empty() {
        let query = neutral(&excerpt(&search.query));
        content.push(Block::Text(format!(
            "nothing fits: no tool was found for \"{query}\". Search once more in other words, or go on without one."
        )));
    }
    if !new.is_empty() {
        content.push(Block::Tools { tools: new });
    }
    if !known.is_empty() {
        let names: Vec<&str> = known.iter().map(|tool| tool.exposed.as_str()).collect();
        content.push(Block::Text(format!("already available: {}", names.join(", "))));
    }
    Block::ToolResult { call_id: call_id.into(), content, is_error: false }
}

/// The result of a call that was not made, with why: an [`Invalid`](crate::call::Invalid), an
/// [`Unresolved`](super::Unresolved), or whatever else the model can act on. Bounded, and unable to open
/// or close a delimiter.
pub fn refused(call_id: impl Into<String>, reason: &dyn fmt::Display) -> Block {
    let reason = reason.to_string();
    let kept = beginning(&reason, MAX_REFUSAL_BYTES);
    let text = format!("{}{}", neutral(kept), if kept.len() < reason.len() { "…" } else { "" });
    Block::ToolResult { call_id: call_id.into(), content: vec![Block::Text(text)], is_error: true }
}
