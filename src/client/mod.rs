//! Servers: one [`Client`] for each, whatever stands behind it.
//!
//! | client | what stands behind it | feature |
//! |---|---|---|
//! | [`MemoryClient`] | items given in code | |
//! | [`CaptureClient`] | a file with what a server once listed | |
//! | `StreamClient` | a server in the same process, or at the other end of a socket | `rmcp` |
//! | `StdioClient` | a child process that Proem starts and restarts | `rmcp` |
//! | `HttpClient` | a streamable HTTP server | `http` |
//! | `PeerClient` | an rmcp peer that a framework already holds | `rmcp` |
//!
//! [`Config`] reads the `mcpServers` files that hosts share, and makes clients of them.
//!
//! ```
//! use proem::client::{Client, Limits, ListKind, MemoryClient, list_all};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let git = MemoryClient::new().with_tool("merge", "Merge a branch").with_tool("rebase", "Rebase a branch");
//! let tools = list_all(&git, ListKind::Tools, &Limits::default()).await?;
//! assert_eq!(tools.items().count(), 2);
//! assert!(git.info().await?.offers("tools"));
//! # Ok::<(), proem::error::ClientError>(())
//! # }).unwrap();
//! ```
//!
//! A client speaks raw pages and answers; reading them leniently is the work of
//! [`protocol`](crate::protocol), paging within bounds that of [`list_all`], and naming the server
//! in errors that of the [`catalog`](crate::catalog). An implementation needs only
//! [`Client::info`] and [`Client::list`]; what it does not offer answers
//! [`ClientError::Unsupported`].

mod capture;
#[cfg(feature = "rmcp")]
mod carried;
#[cfg(feature = "rmcp")]
mod change;
mod config;
#[cfg(feature = "rmcp")]
mod connection;
mod file;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "rmcp")]
mod link;
mod memory;
mod paging;
#[cfg(feature = "rmcp")]
mod peer;
#[cfg(feature = "rmcp")]
mod process;
#[cfg(feature = "rmcp")]
mod push;
#[cfg(feature = "rmcp")]
mod request;
#[cfg(feature = "rmcp")]
mod secret;
#[cfg(feature = "rmcp")]
mod stdio;
#[cfg(feature = "rmcp")]
mod stream;
#[cfg(feature = "rmcp")]
mod tap;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    future::Future,
    pin::Pin,
    time::Duration,
};

use serde_json::{Map, Value, value::RawValue};
use tokio::sync::broadcast;

use crate::{
    error::ClientError,
    protocol::{
        CacheScope, CallToolResult, Completion, CompletionRequest, GetPromptResult, InputResponses, ReadResourceResult,
        ServerInfo, ttl,
    },
};

pub(crate) use self::file::read_text;
#[cfg(feature = "http")]
pub use self::http::HttpClient;
pub use self::{
    capture::{CaptureClient, Captures},
    config::{Config, HttpConfig, ServerConfig, StdioConfig},
    memory::MemoryClient,
    paging::{Cut, Limits, ListedPage, Listing, list_all},
};
#[cfg(feature = "rmcp")]
pub use self::{change::ChangeHandler, peer::PeerClient, stdio::StdioClient, stream::StreamClient};

#[cfg(all(test, feature = "demo"))]
mod tests;

/// A boxed future, so that `dyn Client` works.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The answer of a client.
pub type ClientResult<'a, T> = BoxFuture<'a, std::result::Result<T, ClientError>>;

/// One MCP server, seen from the host.
///
/// Every method must end: an implementation puts its own timeout on each request
/// (see [`Limits::default`] for what the shipped ones use).
pub trait Client: fmt::Debug + Send + Sync {
    /// What the server says of itself. Connects first, where that is still to be done.
    fn info(&self) -> ClientResult<'_, ServerInfo>;

    /// One page of a list; `cursor` is `None` for the first. `""` is a cursor like any other.
    fn list<'a>(&'a self, kind: ListKind, cursor: Option<&'a str>) -> ClientResult<'a, Page>;

    /// Reads a resource.
    fn read_resource<'a>(&'a self, uri: &'a str) -> ClientResult<'a, ReadResourceResult> {
        let _ = uri;
        Box::pin(async { Err(ClientError::Unsupported) })
    }

    /// Reads a resource again whose server [asked for input](ClientError::InputRequired) first.
    fn read_resource_with<'a>(
        &'a self,
        uri: &'a str,
        input: &'a InputResponses,
    ) -> ClientResult<'a, ReadResourceResult> {
        let _ = (uri, input);
        Box::pin(async { Err(ClientError::Unsupported) })
    }

    /// Gets a prompt, with all arguments as strings.
    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
    ) -> ClientResult<'a, GetPromptResult> {
        let _ = (name, arguments);
        Box::pin(async { Err(ClientError::Unsupported) })
    }

    /// Gets a prompt again whose server [asked for input](ClientError::InputRequired) first.
    fn get_prompt_with<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
        input: &'a InputResponses,
    ) -> ClientResult<'a, GetPromptResult> {
        let _ = (name, arguments, input);
        Box::pin(async { Err(ClientError::Unsupported) })
    }

    /// Suggests values for an argument of a prompt or a resource template.
    fn complete<'a>(&'a self, request: &'a CompletionRequest) -> ClientResult<'a, Completion> {
        let _ = request;
        Box::pin(async { Err(ClientError::Unsupported) })
    }

    /// Calls a tool. Never sent twice: a write that timed out may have happened.
    fn call_tool<'a>(&'a self, name: &'a str, arguments: Map<String, Value>) -> ClientResult<'a, CallToolResult> {
        let _ = (name, arguments);
        Box::pin(async { Err(ClientError::Unsupported) })
    }

    /// Asks to hear of updates to exactly these resources, as [`Change::Resource`]: the last call counts,
    /// also after a reconnect. What a server does with it is its own affair; many say nothing.
    fn watch<'a>(&'a self, uris: &'a BTreeSet<String>) -> ClientResult<'a, ()> {
        let _ = uris;
        Box::pin(async { Err(ClientError::Unsupported) })
    }

    /// What changes from now on; `None` if this client never hears of changes.
    fn changes(&self) -> Option<broadcast::Receiver<Change>> {
        None
    }
}

/// The four lists of the protocol.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum ListKind {
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    ResourceTemplates,
    /// `prompts/list`
    Prompts,
}

impl ListKind {
    /// All four, in the order in which they are asked for.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Resources, Self::ResourceTemplates, Self::Prompts];

    /// The protocol method.
    pub fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The field of the answer that holds the items.
    pub fn field(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    /// The server capability that the list belongs to.
    pub fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources | Self::ResourceTemplates => "resources",
            Self::Prompts => "prompts",
        }
    }
}

/// One page of a list, its items unread: one that cannot be read costs itself only.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Page {
    /// The items as sent.
    pub items: Vec<Box<RawValue>>,
    /// The cursor of the next page; `None` ends the list.
    pub next_cursor: Option<String>,
    /// How long the page may be reused. `None` (legacy, or not said) counts as zero.
    pub ttl: Option<Duration>,
    /// Who may be given it again.
    pub scope: CacheScope,
}

impl Page {
    /// A last page without ttl.
    pub fn new(items: Vec<Box<RawValue>>) -> Self {
        Self { items, ..Self::default() }
    }

    /// Reads the result object of a list answer without reading its items: `ttlMs` below zero or
    /// missing is zero, a missing `cacheScope` is private.
    ///
    /// # Errors
    /// [`ClientError::Malformed`] if it is no object, its items are no array, or it has a `resultType`
    /// other than `complete`.
    pub fn read(kind: ListKind, result: &RawValue) -> Result<Self, ClientError> {
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(result.get())
            .map_err(|_| ClientError::malformed(format!("the result of {} is no object", kind.method())))?;
        let items = fields.get(kind.field()).and_then(|raw| serde_json::from_str(raw.get()).ok()).ok_or_else(|| {
            ClientError::malformed(format!(
                "`{}` is missing or no array in the result of {}",
                kind.field(),
                kind.method()
            ))
        })?;
        let field = |name: &str| fields.get(name).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        if field("resultType").is_some_and(|kind| kind != "complete") {
            return Err(ClientError::malformed(format!("the result of {} has an unknown `resultType`", kind.method())));
        }
        Ok(Self {
            items,
            next_cursor: field("nextCursor").and_then(|v| v.as_str().map(str::to_owned)),
            ttl: field("ttlMs").and_then(|ms| ttl(ms.as_f64()?)),
            scope: CacheScope::parse(field("cacheScope").as_ref().and_then(Value::as_str)),
        })
    }
}

/// Something changed on a server.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// A list must be read again.
    List(ListKind),
    /// A resource must be read again.
    Resource(String),
    /// The server was started or reached again: everything must be read again.
    Reconnected,
}
