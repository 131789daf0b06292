//! Prompts: templates that a person invokes, as slash commands of all servers.
//!
//! Prompts are user-controlled: nothing in this crate gets one by itself. [`commands`] lists them,
//! [`check_arguments`] refuses what the server would refuse before it is asked, and [`get`] asks.
//!
//! ```
//! use proem::{catalog::Catalog, id::ServerId, prompts, protocol::Prompt};
//!
//! let desk = ServerId::new("support")?;
//! let prompt = Prompt::new("draft_reply", "Draft a reply").with_argument("ticket", true);
//! let catalog = Catalog::builder().prompt(desk, prompt.clone()).build();
//! assert_eq!(prompts::commands(&catalog)[0].command, "/draft_reply");
//!
//! let error = prompts::check_arguments(&prompt, &Default::default()).unwrap_err();
//! assert_eq!(error.to_string(), "invalid arguments of prompt draft_reply: `ticket` is required");
//! # Ok::<(), proem::Error>(())
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tokio::time::timeout;

use crate::{
    Error, Result,
    catalog::{Aggregator, Catalog, PromptEntry},
    error::{ClientError, excerpt},
    id::PromptId,
    protocol::{GetPromptResult, Prompt},
};

/// A prompt as a person types it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Command {
    /// `/name`, or `/server:name` where several servers have a prompt of that name.
    pub command: String,
    /// The prompt.
    pub entry: Arc<PromptEntry>,
}

/// All prompts as commands, by server and name.
pub fn commands(catalog: &Catalog) -> Vec<Command> {
    let qualified = |id: &PromptId| format!("{}:{}", id.server, id.name);
    let ids = || catalog.prompts().iter().map(|entry| &entry.id);
    let mut seen = BTreeSet::new();
    let mut shared: BTreeSet<&str> = ids().map(|id| &*id.name).filter(|name| !seen.insert(*name)).collect();
    // A name that reads like another prompt's qualified name is qualified too.
    let all: BTreeSet<String> = ids().map(qualified).collect();
    shared.extend(seen.into_iter().filter(|name| all.contains(*name)));
    let command = |entry: &Arc<PromptEntry>| {
        let id = &entry.id;
        let command = if shared.contains(&*id.name) { qualified(id) } else { id.name.to_string() };
        Command { command: format!("/{command}"), entry: Arc::clone(entry) }
    };
    catalog.prompts().iter().map(command).collect()
}

/// Checks that all required arguments are there and not empty, and that no other is.
///
/// # Errors
/// [`Error::Invalid`] that names the prompt and each argument that is missing or not known.
pub fn check_arguments(prompt: &Prompt, arguments: &BTreeMap<String, String>) -> Result<()> {
    let missing = prompt
        .arguments
        .iter()
        .filter(|argument| argument.required && arguments.get(&argument.name).is_none_or(String::is_empty))
        .map(|argument| format!("`{}` is required", excerpt(&argument.name)));
    let unknown = arguments
        .keys()
        .filter(|name| prompt.arguments.iter().all(|argument| argument.name != **name))
        .map(|name| format!("`{}` is not one of its arguments", excerpt(name)));
    let faults: Vec<String> = missing.chain(unknown).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(Error::invalid(format!("arguments of prompt {}", excerpt(&prompt.name)), faults.join(", ")))
}

/// Gets a prompt that a person invoked.
///
/// # Errors
/// [`Error::NotFound`] if the catalog does not list it, [`Error::Invalid`] for its arguments
/// before the server is asked, [`Error::Server`] if the server fails or takes longer than
/// [`Limits::request`](crate::client::Limits::request).
pub async fn get(
    servers: &Aggregator,
    catalog: &Catalog,
    id: &PromptId,
    arguments: &BTreeMap<String, String>,
) -> Result<GetPromptResult> {
    let entry = catalog.prompt(id).ok_or_else(|| Error::NotFound {
        server: id.server.clone(),
        kind: "prompt",
        item: id.name.to_string(),
    })?;
    check_arguments(&entry.prompt, arguments)?;
    let client = servers.client(&id.server)?;
    let limit = servers.limits().request;
    let answer = timeout(limit, client.get_prompt(&id.name, arguments)).await;
    let answer = answer.unwrap_or(Err(ClientError::Timeout { after: limit }));
    answer.map_err(|error| error.at(&id.server, "prompts/get"))
}
