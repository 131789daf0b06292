use std::fmt;

use serde_json::{Map, Value};

/// What a host answers to a server that asked for input before it answers (`input_required`,
/// MCP 2026-07-28, multi round-trip requests): the same request is sent again with it.
///
/// Made for the [`InputRequired`](crate::error::InputRequired) that it answers. Not shown by `Debug`.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InputResponses {
    /// One response for each request of the server, by the key that the server gave it.
    pub responses: Map<String, Value>,
    /// The server's `requestState`, to be echoed exactly and never looked into; `None` if it gave none.
    pub state: Option<String>,
}

impl InputResponses {
    /// No responses yet, with the state that the server gave.
    pub fn new(state: Option<String>) -> Self {
        Self { responses: Map::new(), state }
    }

    /// Answers one request of the server.
    #[must_use]
    pub fn with_response(mut self, key: impl Into<String>, response: Value) -> Self {
        self.responses.insert(key.into(), response);
        self
    }
}

/// Without the answers: they are the user's, and the state may be a secret.
impl fmt::Debug for InputResponses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputResponses").field("responses", &self.responses.len()).finish_non_exhaustive()
    }
}
