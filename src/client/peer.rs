use std::{collections::BTreeSet, fmt, sync::OnceLock};

use rmcp::{RoleClient, service::Peer};
use tokio::{
    runtime::Handle,
    sync::{broadcast, watch},
    task::JoinHandle,
};

use super::{
    Change, ChangeHandler, Client, ClientResult, Limits,
    change::channel,
    forward::forward_requests,
    push::{Watched, can_watch, follow},
    request::{Requests, server_info},
};
use crate::{error::ClientError, protocol::ServerInfo};

/// A server behind an rmcp peer that a framework already holds.
///
/// The connection stays the framework's: it is never closed, restarted or reconfigured here. What
/// rmcp cannot decode is read item by item, so one bad tool does not lose a page; fields that rmcp
/// does not know are lost only on pages that it could decode (a connection that Proem makes, such as
/// [`StdioClient`](super::StdioClient), keeps them always).
///
/// On a server of MCP 2026-07-28 it opens its own `subscriptions/listen` when
/// [`changes`](Client::changes) is first asked for. On an earlier one, changes reach only the
/// handler that the framework serves: make that a [`ChangeHandler`].
pub struct PeerClient {
    requests: Requests,
    changes: broadcast::Sender<Change>,
    heard: bool,
    watched: watch::Sender<Watched>,
    follower: OnceLock<Task>,
}

impl PeerClient {
    /// A client over `peer`, with [`Limits::default`].
    pub fn new(peer: Peer<RoleClient>) -> Self {
        let Limits { request: timeout, call: call_timeout, .. } = Limits::default();
        let requests = Requests { peer, timeout, call_timeout, tapped: false };
        let watched = watch::channel(Watched::new()).0;
        Self { requests, changes: channel(), heard: false, watched, follower: OnceLock::new() }
    }

    /// Sets the limits; [`Limits::request`] and [`Limits::call`] are what counts here.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Self {
        self.requests.timeout = limits.request;
        self.requests.call_timeout = limits.call;
        self
    }

    /// Takes the changes that `handler` hears, which the framework serves on this peer's connection.
    #[must_use]
    pub fn with_changes<S>(mut self, handler: &ChangeHandler<S>) -> Self {
        self.changes = handler.sender().clone();
        self.heard = true;
        self
    }

    fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Opens the subscriptions. Outside a runtime nothing can listen, and nothing is lost but the push.
    fn follow(&self) {
        let (Ok(runtime), Some(info)) = (Handle::try_current(), server_info(&self.requests.peer)) else { return };
        self.follower.get_or_init(|| {
            let (changes, watched) = (self.changes.clone(), self.watched.subscribe());
            Task(runtime.spawn(follow(self.requests.clone(), info, changes, watched)))
        });
    }
}

impl fmt::Debug for PeerClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerClient").field("timeout", &self.requests.timeout).finish_non_exhaustive()
    }
}

impl Client for PeerClient {
    forward_requests!(requests);

    fn info(&self) -> ClientResult<'_, ServerInfo> {
        Box::pin(async {
            server_info(&self.requests.peer)
                .ok_or_else(|| ClientError::unreachable("the peer has not finished its handshake"))
        })
    }

    fn watch<'a>(&'a self, uris: &'a BTreeSet<String>) -> ClientResult<'a, ()> {
        Box::pin(async move {
            // On a bare peer of the `initialize` era the updates would reach nobody.
            let heard = self.heard || self.requests.is_modern();
            if !heard || !can_watch(self.info().await?.capabilities.as_ref()) {
                return Err(ClientError::Unsupported);
            }
            self.follow();
            self.watched.send_if_modified(|watched| {
                let differs = watched != uris;
                watched.clone_from(uris);
                differs
            });
            Ok(())
        })
    }

    fn changes(&self) -> Option<broadcast::Receiver<Change>> {
        let receiver = self.changes.subscribe();
        if self.requests.is_modern() {
            self.follow();
        } else if !self.heard {
            return None;
        }
        Some(receiver)
    }
}

/// A task that ends with its owner.
#[derive(Debug)]
pub(super) struct Task(pub(super) JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
