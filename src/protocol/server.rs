use std::time::Duration;

use serde_json::{Map, Value};

/// What a server says of itself when a client connects (`server/discover` or `initialize`).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The protocol version in use, such as `2026-07-28`; `None` where no server was asked.
    pub protocol_version: Option<String>,
    /// `serverInfo`: self-reported, decides nothing.
    pub implementation: Option<Value>,
    /// What it offers, as sent. `None` where no server was asked: then every list is tried.
    pub capabilities: Option<Map<String, Value>>,
    /// Text for the model. Untrusted: bounded and attributed where it is rendered.
    pub instructions: Option<String>,
}

impl ServerInfo {
    /// Whether the server offers `tools`, `resources` or `prompts`; true where it did not say.
    pub fn offers(&self, capability: &str) -> bool {
        self.capabilities.as_ref().is_none_or(|map| map.contains_key(capability))
    }
}

/// Who may be given a cached answer (`cacheScope`, MCP 2026-07-28).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum CacheScope {
    /// Anybody.
    Public,
    /// Only the same authorization context. The default: a server that does not say may mean either.
    #[default]
    Private,
}

impl CacheScope {
    /// Private unless the server says `public`.
    pub(crate) fn parse(sent: Option<&str>) -> Self {
        if sent == Some("public") { Self::Public } else { Self::Private }
    }
}

/// How long an answer may be reused (`ttlMs`): `None` where it is not above zero, and a day at most
/// (rmcp's bound too).
pub(crate) fn ttl(ms: f64) -> Option<Duration> {
    (ms > 0.0).then(|| Duration::from_millis(ms.min(86_400_000.0) as u64))
}
