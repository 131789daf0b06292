use std::future::Future;

use rmcp::{
    ErrorData, RoleClient, Service,
    model::{ClientConfig, ServerNotification, SubscriptionFilter},
    service::{NotificationContext, RequestContext, ServiceRole},
};
use tokio::sync::broadcast;

use super::{Change, ListKind};

/// Changes that a slow listener may lag behind before it hears of a gap.
const CHANNEL: usize = 256;

/// An rmcp client service that hands every change on to Proem, and everything to the service that it wraps.
///
/// A framework that makes its own connections serves this around its own handler, and gives it to
/// [`PeerClient::with_changes`](super::PeerClient::with_changes). It is the only way to hear of
/// changes on a server of 2025-11-25 or earlier, which sends them unasked to the handler.
///
/// ```
/// use proem::client::ChangeHandler;
///
/// let handler = ChangeHandler::new(()); // any rmcp `ClientHandler` in place of `()`
/// let changes = handler.subscribe();
/// # let _ = (handler, changes);
/// ```
#[derive(Clone, Debug)]
pub struct ChangeHandler<S = ClientConfig> {
    inner: S,
    changes: broadcast::Sender<Change>,
}

impl<S> ChangeHandler<S> {
    /// Wraps a service.
    pub fn new(inner: S) -> Self {
        Self { inner, changes: channel() }
    }

    /// The changes from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    pub(super) fn with_sender(inner: S, changes: broadcast::Sender<Change>) -> Self {
        Self { inner, changes }
    }

    pub(super) fn sender(&self) -> &broadcast::Sender<Change> {
        &self.changes
    }
}

impl<S: Service<RoleClient>> Service<RoleClient> for ChangeHandler<S> {
    fn handle_request(
        &self,
        request: <RoleClient as ServiceRole>::PeerReq,
        context: RequestContext<RoleClient>,
    ) -> impl Future<Output = Result<<RoleClient as ServiceRole>::Resp, ErrorData>> + Send + '_ {
        self.inner.handle_request(request, context)
    }

    fn handle_notification(
        &self,
        notification: ServerNotification,
        context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send + '_ {
        publish(&self.changes, &notification);
        self.inner.handle_notification(notification, context)
    }

    fn get_info(&self) -> ClientConfig {
        self.inner.get_info()
    }
}

pub(super) fn channel() -> broadcast::Sender<Change> {
    broadcast::channel(CHANNEL).0
}

/// Everything that was subscribed to must be read again.
pub(super) fn publish_accepted(changes: &broadcast::Sender<Change>, accepted: &SubscriptionFilter) {
    for (yes, kinds) in [
        (accepted.tools_list_changed, &[ListKind::Tools][..]),
        (accepted.resources_list_changed, RESOURCE_LISTS),
        (accepted.prompts_list_changed, &[ListKind::Prompts]),
    ] {
        if yes == Some(true) {
            send(changes, kinds);
        }
    }
    for uri in accepted.resource_subscriptions.iter().flatten() {
        let _ = changes.send(Change::Resource(uri.clone()));
    }
}

/// One notification stands for both lists of resources.
const RESOURCE_LISTS: &[ListKind] = &[ListKind::Resources, ListKind::ResourceTemplates];

pub(super) fn publish(changes: &broadcast::Sender<Change>, notification: &ServerNotification) {
    match notification {
        ServerNotification::ToolListChangedNotification(_) => send(changes, &[ListKind::Tools]),
        ServerNotification::PromptListChangedNotification(_) => send(changes, &[ListKind::Prompts]),
        ServerNotification::ResourceListChangedNotification(_) => send(changes, RESOURCE_LISTS),
        ServerNotification::ResourceUpdatedNotification(updated) => {
            // Nobody listening is no failure.
            let _ = changes.send(Change::Resource(updated.params.uri.clone()));
        }
        _ => {}
    }
}

fn send(changes: &broadcast::Sender<Change>, kinds: &[ListKind]) {
    for kind in kinds {
        let _ = changes.send(Change::List(*kind));
    }
}
