use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, value::RawValue};
use tokio::sync::broadcast;

use super::{Change, Client, ClientResult, ListKind, Page};
use crate::{
    error::ClientError,
    protocol::{
        ContentBlock, GetPromptResult, Prompt, PromptMessage, ReadResourceResult, Resource, ResourceContents,
        ResourceTemplate, Role, ServerInfo, Tool,
    },
};

/// A server made of items given in code: for a host's own tools, for documentation and for tests.
///
/// Clones share their items, so one can be changed while a host holds another.
///
/// ```
/// use proem::{client::MemoryClient, protocol::Tool};
///
/// let git = MemoryClient::new()
///     .with_tool("merge", "Merge a branch")
///     .with_resource("file:///notes.md", "Release on Friday.");
/// git.set_tools([Tool::new("rebase", "Rebase a branch")]); // a host that holds a clone hears of it
/// ```
#[derive(Clone, Debug)]
pub struct MemoryClient {
    state: Arc<Mutex<State>>,
    changes: broadcast::Sender<Change>,
}

#[derive(Debug, Default)]
struct State {
    info: ServerInfo,
    lists: BTreeMap<ListKind, Vec<Value>>,
    texts: BTreeMap<String, ResourceContents>,
    prompts: BTreeMap<String, String>,
    page_size: Option<usize>,
}

impl Default for MemoryClient {
    fn default() -> Self {
        Self { state: Arc::default(), changes: broadcast::channel(64).0 }
    }
}

impl MemoryClient {
    /// A server with nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool that takes no arguments.
    #[must_use]
    pub fn with_tool(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.with_definition(Tool::new(name, description))
    }

    /// Adds a tool with its whole definition.
    #[must_use]
    pub fn with_definition(self, tool: Tool) -> Self {
        self.with_raw(ListKind::Tools, tool.to_value())
    }

    /// Adds a text resource; its name is the last segment of the URI.
    #[must_use]
    pub fn with_resource(self, uri: impl Into<String>, text: impl Into<String>) -> Self {
        let uri = uri.into();
        let name = uri.rsplit('/').find(|segment| !segment.is_empty()).unwrap_or(&uri).to_owned();
        self.with_described_resource(Resource::new(uri, name), text)
    }

    /// Adds a text resource with its whole description.
    #[must_use]
    pub fn with_described_resource(self, resource: Resource, text: impl Into<String>) -> Self {
        let contents = ResourceContents {
            uri: resource.uri.clone(),
            mime_type: resource.mime_type.clone(),
            text: Some(text.into()),
            blob: None,
        };
        self.state().texts.insert(resource.uri.clone(), contents);
        self.with_raw(ListKind::Resources, resource.to_value())
    }

    /// Adds a resource template.
    #[must_use]
    pub fn with_template(self, template: ResourceTemplate) -> Self {
        self.with_raw(ListKind::ResourceTemplates, template.to_value())
    }

    /// Adds a prompt of one user message; `{name}` in the text stands for the argument `name`.
    #[must_use]
    pub fn with_prompt(self, prompt: Prompt, text: impl Into<String>) -> Self {
        self.state().prompts.insert(prompt.name.clone(), text.into());
        self.with_raw(ListKind::Prompts, prompt.to_value())
    }

    /// Sets the server's instructions.
    #[must_use]
    pub fn with_instructions(self, text: impl Into<String>) -> Self {
        self.state().info.instructions = Some(text.into());
        self
    }

    /// Adds an item as a server would send it, whole or broken.
    #[must_use]
    pub fn with_raw(self, kind: ListKind, item: Value) -> Self {
        self.state().lists.entry(kind).or_default().push(item);
        self
    }

    /// Gives lists in pages of `items` (at least 1). Unset: one page.
    #[must_use]
    pub fn with_page_size(self, items: usize) -> Self {
        self.state().page_size = Some(items.max(1));
        self
    }

    /// Replaces the tools, and says so to all that hear of changes.
    pub fn set_tools(&self, tools: impl IntoIterator<Item = Tool>) {
        let tools = tools.into_iter().map(|tool| tool.to_value()).collect();
        self.state().lists.insert(ListKind::Tools, tools);
        // Nobody may be listening.
        _ = self.changes.send(Change::List(ListKind::Tools));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is replaced in whole steps: a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client for MemoryClient {
    fn info(&self) -> ClientResult<'_, ServerInfo> {
        let info = self.state().info.clone();
        Box::pin(async { Ok(info) })
    }

    fn list<'a>(&'a self, kind: ListKind, cursor: Option<&'a str>) -> ClientResult<'a, Page> {
        Box::pin(async move {
            let state = self.state();
            let items = state.lists.get(&kind).map(Vec::as_slice).unwrap_or_default();
            let start = match cursor {
                None => 0,
                Some(text) => text
                    .parse()
                    .ok()
                    .filter(|start| *start <= items.len())
                    .ok_or_else(|| ClientError::rpc(ClientError::INVALID_PARAMS, "invalid cursor"))?,
            };
            let end = state.page_size.map_or(items.len(), |size| items.len().min(start + size));
            let raw = items[start..end]
                .iter()
                .map(serde_json::value::to_raw_value)
                .collect::<Result<Vec<Box<RawValue>>, _>>();
            Ok(Page {
                next_cursor: (end < items.len()).then(|| end.to_string()),
                ..Page::new(raw.map_err(|error| ClientError::malformed(error.to_string()))?)
            })
        })
    }

    fn read_resource<'a>(&'a self, uri: &'a str) -> ClientResult<'a, ReadResourceResult> {
        Box::pin(async move {
            let contents = self.state().texts.get(uri).cloned();
            let contents =
                contents.ok_or_else(|| ClientError::rpc(ClientError::INVALID_PARAMS, "resource not found"))?;
            Ok(ReadResourceResult { contents: vec![contents], ..ReadResourceResult::default() })
        })
    }

    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
    ) -> ClientResult<'a, GetPromptResult> {
        Box::pin(async move {
            let text = self.state().prompts.get(name).cloned();
            let mut text = text.ok_or_else(|| ClientError::rpc(ClientError::INVALID_PARAMS, "no such prompt"))?;
            for (argument, value) in arguments {
                text = text.replace(&format!("{{{argument}}}"), value);
            }
            let message = PromptMessage::new(Role::User, ContentBlock::text(text));
            Ok(GetPromptResult { messages: vec![message], ..GetPromptResult::default() })
        })
    }

    fn changes(&self) -> Option<broadcast::Receiver<Change>> {
        Some(self.changes.subscribe())
    }
}
