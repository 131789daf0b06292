mod answers;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::sync::broadcast;

use super::{Change, ListKind};
use crate::protocol::{
    CacheScope, CompletionTarget, ContentBlock, Prompt, PromptMessage, Resource, ResourceContents, ResourceTemplate,
    Role, ServerInfo, Tool,
};

/// A server made of items given in code: for a host's own tools, for documentation and for tests.
///
/// Clones share their items, so one can be changed while a host holds another.
///
/// It completes arguments once values were given for one.
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
    contents: BTreeMap<String, Vec<ResourceContents>>,
    messages: BTreeMap<String, Vec<PromptMessage>>,
    values: BTreeMap<(CompletionTarget, String), Vec<String>>,
    watched: BTreeSet<String>,
    page_size: Option<usize>,
    reads: (Option<Duration>, CacheScope),
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
            mime_type: resource.mime_type.clone(),
            ..ResourceContents::text(resource.uri.clone(), text)
        };
        self.with_contents(resource, [contents])
    }

    /// Adds a resource with everything that reading it gives: texts, blobs, several of them or none.
    #[must_use]
    pub fn with_contents(self, resource: Resource, contents: impl IntoIterator<Item = ResourceContents>) -> Self {
        self.state().contents.insert(resource.uri.clone(), contents.into_iter().collect());
        self.with_raw(ListKind::Resources, resource.to_value())
    }

    /// Sets how long what is read may be reused, and by whom. Unset: not at all.
    #[must_use]
    pub fn with_read_ttl(self, ttl: Duration, scope: CacheScope) -> Self {
        self.state().reads = (Some(ttl), scope);
        self
    }

    /// Adds a resource template.
    #[must_use]
    pub fn with_template(self, template: ResourceTemplate) -> Self {
        self.with_raw(ListKind::ResourceTemplates, template.to_value())
    }

    /// Adds a prompt of one user message; `{name}` in the text stands for the argument `name`.
    #[must_use]
    pub fn with_prompt(self, prompt: Prompt, text: impl Into<String>) -> Self {
        self.with_prompt_messages(prompt, [PromptMessage::new(Role::User, ContentBlock::text(text))])
    }

    /// Adds a prompt with its messages; `{name}` in their texts stands for the argument `name`.
    #[must_use]
    pub fn with_prompt_messages(self, prompt: Prompt, messages: impl IntoIterator<Item = PromptMessage>) -> Self {
        self.state().messages.insert(prompt.name.clone(), messages.into_iter().collect());
        self.with_raw(ListKind::Prompts, prompt.to_value())
    }

    /// Adds values that an argument is completed with, as far as they begin with what was typed.
    #[must_use]
    pub fn with_completions(
        self,
        target: CompletionTarget,
        argument: impl Into<String>,
        values: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.state().values.insert((target, argument.into()), values);
        self
    }

    /// Sets the server's instructions.
    #[must_use]
    pub fn with_instructions(self, text: impl Into<String>) -> Self {
        self.state().info.instructions = Some(text.into());
        self
    }

    /// Sets all that the server says of itself, its instructions included.
    #[must_use]
    pub fn with_info(self, info: ServerInfo) -> Self {
        self.state().info = info;
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
        self.announce(Change::List(ListKind::Tools));
    }

    /// Replaces the prompts and their messages, and says so to all that hear of changes.
    pub fn set_prompts(&self, prompts: impl IntoIterator<Item = (Prompt, Vec<PromptMessage>)>) {
        let mut state = self.state();
        let (list, messages) =
            prompts.into_iter().map(|(prompt, messages)| (prompt.to_value(), (prompt.name, messages))).unzip();
        state.lists.insert(ListKind::Prompts, list);
        state.messages = messages;
        drop(state);
        self.announce(Change::List(ListKind::Prompts));
    }

    /// Replaces the text of a resource, and says so to all that hear of changes. One that is not
    /// listed can be read from then on, as an instance of a template is.
    pub fn set_resource(&self, uri: impl Into<String>, text: impl Into<String>) {
        let uri = uri.into();
        let mime_type = self.state().contents.get(&uri).and_then(|contents| contents.first()?.mime_type.clone());
        self.set_contents(uri.clone(), [ResourceContents { mime_type, ..ResourceContents::text(uri, text) }]);
    }

    /// As [`set_resource`](Self::set_resource), with everything that reading it gives.
    pub fn set_contents(&self, uri: impl Into<String>, contents: impl IntoIterator<Item = ResourceContents>) {
        let uri = uri.into();
        self.state().contents.insert(uri.clone(), contents.into_iter().collect());
        self.announce(Change::Resource(uri));
    }

    /// The resources that the host [asked to hear of](super::Client::watch) last. All changes are
    /// told, these or others.
    pub fn watched(&self) -> BTreeSet<String> {
        self.state().watched.clone()
    }

    fn announce(&self, change: Change) {
        // Nobody may be listening.
        _ = self.changes.send(change);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is replaced in whole steps: a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
