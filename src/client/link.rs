use std::{fmt, time::Duration};

use rmcp::{
    ClientServiceExt, RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion},
    service::{ClientInitializeError, ClientLifecycleMode, RunningService},
    transport::IntoTransport,
};
use serde_json::Value;
use tokio::{sync::broadcast, time::Instant};

use super::{
    BoxFuture, Change, ChangeHandler,
    peer::Task,
    request::{Requests, cause, server_info},
    tap::TapNotes,
};
use crate::{
    error::{ClientError, excerpt},
    protocol::ServerInfo,
};

/// What makes a connection, each time that one is needed.
pub(super) trait Connect: fmt::Debug + Send + Sync + 'static {
    fn connect<'a>(&'a self, start: &'a Start) -> BoxFuture<'a, Result<Link, ClientError>>;
}

/// What every connection starts with.
#[derive(Debug)]
pub(super) struct Start {
    /// How long a server may take to say which era it is of.
    pub(super) probe: Duration,
    /// The server turned out to be of the `initialize` era before, so it is not probed again.
    pub(super) legacy: bool,
    pub(super) changes: broadcast::Sender<Change>,
}

/// A connection that stands.
pub(super) struct Link {
    service: RunningService<RoleClient, ChangeHandler>,
    notes: Option<TapNotes>,
    /// What lives and ends with the connection, such as a process.
    bearer: Box<dyn Bearer>,
    pub(super) born: Instant,
    pub(super) follower: Option<Task>,
}

/// What a connection runs over.
pub(super) trait Bearer: Send + Sync {
    /// Why the connection ended, where that can be known.
    fn obituary(&self) -> BoxFuture<'_, Option<String>>;
}

/// Nothing to be known.
pub(super) struct NoBearer;

impl Bearer for NoBearer {
    fn obituary(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async { None })
    }
}

impl Start {
    /// Runs the handshake, of whichever era the server is.
    ///
    /// # Errors
    /// Why there is no connection; the reason is the server's as far as it gave one.
    pub(super) async fn handshake<T, E, A>(
        &self,
        transport: T,
        notes: Option<TapNotes>,
        bearer: Box<dyn Bearer>,
    ) -> Result<Link, ClientError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let identity = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(ClientCapabilities::default(), identity);
        config.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let handler = ChangeHandler::with_sender(config, self.changes.clone());
        let mode = if self.legacy {
            ClientLifecycleMode::Initialize
        } else {
            ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            }
        };
        match handler.serve_with_lifecycle(transport, mode).await {
            Ok(service) => Ok(Link { service, notes, bearer, born: Instant::now(), follower: None }),
            Err(error) => {
                // A lost connection's end says more than rmcp's error.
                let ended = if is_loss(&error) { bearer.obituary().await.or_else(|| notes?.ended()) } else { None };
                Err(ClientError::unreachable(ended.unwrap_or_else(|| refusal(&error))))
            }
        }
    }
}

/// Whether the connection itself was lost.
fn is_loss(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => true,
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => is_loss(fallback),
        _ => false,
    }
}

fn refusal(error: &ClientInitializeError) -> String {
    match error {
        _ if error.is_authorization_required() => {
            "the server asks for authorization: check the headers or the token".into()
        }
        ClientInitializeError::JsonRpcError(data) => {
            format!("the server refused the handshake with error {}: {}", data.code.0, excerpt(&data.message))
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => refusal(fallback),
        ClientInitializeError::ConnectionClosed(_) => "the connection was closed during the handshake".into(),
        ClientInitializeError::TransportError { error, .. } => format!("the handshake failed: {}", cause(error)),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "the server speaks no version of the protocol that this client does".into()
        }
        other => format!("the handshake failed: {}", excerpt(&other.to_string())),
    }
}

impl Link {
    pub(super) fn is_lost(&self) -> bool {
        self.service.is_transport_closed() || self.service.is_closed()
    }

    pub(super) fn requests(&self, timeout: Duration, call_timeout: Duration) -> Requests {
        Requests { peer: self.service.peer().clone(), timeout, call_timeout, tapped: true }
    }

    /// What the server said of itself, with the fields that rmcp does not know where they are at hand.
    pub(super) fn info(&self) -> Option<ServerInfo> {
        let mut info = server_info(self.service.peer())?;
        if let Some(Value::Object(mut greeting)) = self.notes.as_ref().and_then(TapNotes::greeting)
            && let Some(Value::Object(capabilities)) = greeting.remove("capabilities")
        {
            info.capabilities = Some(capabilities);
        }
        Some(info)
    }

    pub(super) fn is_legacy(&self) -> bool {
        self.service.peer_info().is_some_and(|info| info.protocol_version.has_initialize())
    }

    /// Why requests fail on this connection from now on; `None` while it stands.
    pub(super) async fn loss(&self) -> Option<String> {
        let obituary = self.bearer.obituary().await;
        obituary
            .or_else(|| self.notes.as_ref()?.ended())
            .or_else(|| self.is_lost().then(|| "the server closed the connection".to_owned()))
    }
}
