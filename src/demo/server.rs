use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientNotification, ClientRequest, DiscoverRequestMethod, ProtocolVersion, ServerConfig, ServerResult},
    service::{NotificationContext, RequestContext, Service, serve_server},
};
use tokio::{
    io::{DuplexStream, duplex},
    runtime::Handle,
};

use super::{
    asset::{ASSETS, Asset, Era},
    changes::Changes,
    subscriptions::Subscriptions,
};
use crate::id::ServerId;

/// Every demo server, ordered by id, none of them started.
///
/// ```
/// let servers = proem::demo::servers();
/// assert!(servers.iter().map(|server| server.id()).is_sorted());
/// ```
pub fn servers() -> Vec<DemoServer> {
    ASSETS.iter().filter_map(|(id, text)| DemoServer::read(id, text)).collect()
}

/// One server of the made-up workplace. Clones share what changes while it runs.
///
/// It is an rmcp `ServerHandler`, for whoever wants it on another transport than
/// [`serve`](Self::serve)'s.
#[derive(Clone, Debug)]
pub struct DemoServer {
    id: ServerId,
    pub(super) asset: Arc<Asset>,
    pub(super) changes: Arc<Changes>,
    pub(super) subscriptions: Subscriptions,
}

impl DemoServer {
    /// Bytes that either side may be ahead of the other.
    const BUFFER: usize = 64 * 1024;

    /// The name under which a host should know it.
    pub fn id(&self) -> ServerId {
        self.id.clone()
    }

    /// Starts it as a task of the current tokio runtime and gives the client's end of the connection.
    ///
    /// The task ends when that end is dropped. What goes wrong on the server's side is traced;
    /// outside a runtime nothing is started and the connection is closed.
    pub fn serve(self) -> DuplexStream {
        let (near, far) = duplex(Self::BUFFER);
        match Handle::try_current() {
            Ok(runtime) => _ = runtime.spawn(self.run(far)),
            Err(error) => tracing::warn!(server = %self.id, %error, "demo server not started"),
        }
        near
    }

    async fn run(self, stream: DuplexStream) {
        let id = self.id();
        let ended = match self.asset.era {
            Era::Legacy => wait(Legacy(self), stream).await,
            Era::Modern | Era::Dual => wait(self, stream).await,
        };
        if let Err(reason) = ended {
            tracing::debug!(server = %id, %reason, "demo server ended");
        }
    }

    fn read(id: &str, text: &str) -> Option<Self> {
        // The files are part of the crate and tested: a bad one is a mistake in the crate that must
        // not take the others down.
        let asset = serde_json::from_str::<Asset>(text)
            .inspect_err(|error| tracing::error!(server = id, %error, "demo server is unreadable"))
            .ok()?;
        Some(Self {
            id: ServerId::new(&asset.id).ok()?,
            asset: Arc::new(asset),
            changes: Arc::default(),
            subscriptions: Subscriptions::default(),
        })
    }
}

async fn wait<S: Service<RoleServer>>(service: S, stream: DuplexStream) -> Result<(), String> {
    let running = serve_server(service, stream).await.map_err(|error| error.to_string())?;
    running.waiting().await.map_err(|error| error.to_string()).map(drop)
}

/// A server from before `server/discover`: the SDK alone would answer it with the versions it knows,
/// which an old server could not.
struct Legacy(DemoServer);

impl Service<RoleServer> for Legacy {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        if matches!(request, ClientRequest::DiscoverRequest(_)) {
            return Err(ErrorData::method_not_found::<DiscoverRequestMethod>());
        }
        self.0.handle_request(request, context).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}
