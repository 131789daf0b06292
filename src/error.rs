//! The one [`Error`], and the [`ClientError`] that a server's client answers with.

use std::{error::Error as StdError, fmt, path::PathBuf, time::Duration};

use serde_json::{Map, Value};

use crate::id::ServerId;

/// The result of every fallible call in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A boxed source of an error.
pub type BoxError = Box<dyn StdError + Send + Sync + 'static>;

/// What went wrong, with the server and the item that it went wrong for.
///
/// One bad server, page or item is never an error of the whole: see
/// [`Catalog::failures`](crate::catalog::Catalog::failures) and
/// [`Finding`](crate::evidence::Finding). Messages hold no secret: text from a server or a
/// configuration is bounded, and header and environment values never enter one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A request to one server failed.
    #[error("server `{server}`: {operation}: {source}")]
    Server {
        /// The server that was asked.
        server: ServerId,
        /// The protocol method, such as `tools/list`.
        operation: &'static str,
        /// Why it failed.
        source: ClientError,
    },
    /// The catalog, or the server that was asked, holds no such item.
    #[error("no {kind} `{item}` on server `{server}`")]
    NotFound {
        /// The server that was looked at.
        server: ServerId,
        /// `tool`, `resource`, `resource template` or `prompt`.
        kind: &'static str,
        /// The name or URI that was asked for.
        item: String,
    },
    /// The host knows no server of that name.
    #[error("no server `{server}` in this host")]
    UnknownServer {
        /// The name that was asked for.
        server: ServerId,
    },
    /// A name that this turn did not offer to the model.
    #[error("no tool named `{exposed}` was offered in this turn")]
    UnknownTool {
        /// The name that the model used.
        exposed: String,
    },
    /// No prompt is called so.
    #[error("no prompt is called `{command}`{}", instead(near))]
    UnknownCommand {
        /// What was typed, with its slash.
        command: String,
        /// The commands that may have been meant, the likeliest first; a few at most.
        near: Vec<String>,
    },
    /// A value given by the host does not hold what it must.
    #[error("invalid {what}: {reason}")]
    Invalid {
        /// What was given, such as `server id` or `argument of prompt support/draft`.
        what: String,
        /// What it must be.
        reason: String,
    },
    /// A file could not be read, or does not hold what it must.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// The error underneath, where there is one.
        source: Option<BoxError>,
    },
    /// An index could not be built or searched.
    #[error("index: {reason}")]
    Index {
        /// What failed.
        reason: String,
        /// The error underneath, where there is one.
        source: Option<BoxError>,
    },
    /// An embedder gave no vectors, or none that can be used.
    #[error("embedder `{embedder}`: {reason}")]
    Embedder {
        /// Its [identity](crate::index::Embedder::identity).
        embedder: String,
        /// What failed.
        reason: String,
        /// The error underneath, where there is one.
        source: Option<BoxError>,
    },
    /// Something that the host must hand to a builder is missing.
    #[error("{missing} is missing: {remedy}")]
    Missing {
        /// What is missing.
        missing: &'static str,
        /// What to do.
        remedy: &'static str,
    },
}

impl Error {
    /// Whether a server did not answer in time.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Server { source, .. } if source.is_timeout())
    }

    /// Whether an item, a server, a tool name or a command is not known.
    pub fn is_not_found(&self) -> bool {
        match self {
            Self::NotFound { .. }
            | Self::UnknownServer { .. }
            | Self::UnknownTool { .. }
            | Self::UnknownCommand { .. } => true,
            Self::Server { source, .. } => source.is_not_found(),
            _ => false,
        }
    }

    /// Whether a server does not have the part of the protocol that was asked for.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Server { source, .. } if source.is_unsupported())
    }

    /// The server that the error is about, where it is about one.
    pub fn server(&self) -> Option<&ServerId> {
        match self {
            Self::Server { server, .. } | Self::NotFound { server, .. } | Self::UnknownServer { server } => {
                Some(server)
            }
            _ => None,
        }
    }

    pub(crate) fn invalid(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), reason: reason.into() }
    }
}

fn instead(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; there is {}", near.join(", ")) }
}

/// Why a request to a server failed; the client does not know its server's name, the host adds it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No answer in time. A write that timed out may have happened: it is not sent again.
    #[error("no answer within {after:?}")]
    Timeout {
        /// How long was waited.
        after: Duration,
    },
    /// The server cannot be reached: not started, gone, or refusing.
    #[error("not reachable: {reason}")]
    Unreachable {
        /// What happened, and what to do where that is known.
        reason: String,
        /// The error underneath, where there is one.
        source: Option<BoxError>,
    },
    /// The server answered with a JSON-RPC error.
    #[error("the server answered error {code}: {message}")]
    Rpc {
        /// The JSON-RPC code.
        code: i64,
        /// The server's message, bounded.
        message: String,
    },
    /// The server's answer is not what the protocol asks for.
    #[error("unreadable answer: {reason}")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
    /// The server does not offer this part of the protocol.
    #[error("not offered by this server")]
    Unsupported,
    /// The server wants input from the user first (`input_required`, MCP 2026-07-28): the host
    /// asks, and sends the request again with the answers.
    #[error("the server asks for input before it answers ({0})")]
    InputRequired(Box<InputRequired>),
}

impl ClientError {
    /// JSON-RPC: the method does not exist.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// JSON-RPC: invalid params; since MCP 2026-07-28 also "resource not found".
    pub const INVALID_PARAMS: i64 = -32602;
    /// Resource not found until MCP 2025-11-25; still to be accepted.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;

    /// A server that cannot be reached, without a cause underneath.
    pub fn unreachable(reason: impl Into<String>) -> Self {
        Self::Unreachable { reason: reason.into(), source: None }
    }

    /// An answer that is not what the protocol asks for.
    pub fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed { reason: reason.into() }
    }

    /// A JSON-RPC error; the message is bounded and cleaned of control characters.
    pub fn rpc(code: i64, message: &str) -> Self {
        Self::Rpc { code, message: excerpt(message) }
    }

    /// Names the server and the operation.
    pub fn at(self, server: &ServerId, operation: &'static str) -> Error {
        Error::Server { server: server.clone(), operation, source: self }
    }

    /// Whether it is [`Self::Timeout`].
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }

    /// Whether the server says that it does not have the resource or the name asked for
    /// (-32602 or -32002: servers of both eras are met).
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Rpc { code: Self::INVALID_PARAMS | Self::RESOURCE_NOT_FOUND, .. })
    }

    /// Whether the server does not have this part of the protocol.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Unsupported | Self::Rpc { code: Self::METHOD_NOT_FOUND, .. })
    }
}

/// What a server asks for before it answers. Shown and logged by its methods alone: what it asks is
/// untrusted, and its state may be a secret.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct InputRequired {
    /// Its requests (`inputRequests`) by key: elicitations, sampling, roots. Untrusted.
    pub requests: Map<String, Value>,
    /// Its `requestState`, to be echoed in [`InputResponses`](crate::protocol::InputResponses).
    pub state: Option<String>,
}

impl InputRequired {
    /// A request for input.
    pub fn new(requests: Map<String, Value>, state: Option<String>) -> Self {
        Self { requests, state }
    }
}

impl fmt::Display for InputRequired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let methods = self.requests.values().filter_map(|request| request.get("method")?.as_str());
        let methods: Vec<String> = methods.take(4).map(excerpt).collect();
        match methods.len() {
            0 => f.write_str("it does not say what"),
            shown => write!(f, "{}{}", methods.join(", "), if self.requests.len() > shown { ", …" } else { "" }),
        }
    }
}

impl fmt::Debug for InputRequired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InputRequired({self})")
    }
}

/// The most characters of a server's own text in a message of ours.
pub const MAX_EXCERPT: usize = 200;

/// The beginning of a text, of so many bytes at most, without half a character at its end.
pub(crate) fn beginning(text: &str, max_bytes: usize) -> &str {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The beginning of untrusted text, on one line, without control characters.
pub fn excerpt(text: &str) -> String {
    let mut chars = text.chars();
    let mut out: String = chars.by_ref().take(MAX_EXCERPT).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}
