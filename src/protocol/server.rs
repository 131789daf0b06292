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

    /// Whether the server completes arguments; true where it did not say, or could not: the
    /// capability `completions` has a name since MCP 2025-03-26.
    pub fn offers_completion(&self) -> bool {
        let nameless = self.protocol_version.as_deref().is_some_and(|version| version < "2025-03-26");
        nameless || self.offers("completions")
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_that_had_no_word_for_completion_may_offer_it() {
        let info = |version: &str, capabilities: Value| ServerInfo {
            protocol_version: Some(version.into()),
            capabilities: capabilities.as_object().cloned(),
            ..ServerInfo::default()
        };
        assert!(info("2024-11-05", json!({})).offers_completion());
        assert!(!info("2025-03-26", json!({})).offers_completion());
        assert!(info("2026-07-28", json!({"completions": {}})).offers_completion());
        assert!(ServerInfo::default().offers_completion());
    }
}
