use std::{future::Future, time::Duration};

use rmcp::{
    ErrorData, RoleClient, Service,
    model::{ClientConfig, ServerNotification, SubscriptionFilter},
    service::{NotificationContext, Peer, RequestContext, ServiceRole, SubscriptionEnd},
};
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use super::{Change, ListKind};

/// Changes that a slow listener may lag behind before it hears of a gap.
const CHANNEL: usize = 256;
/// How often a subscription that ended is opened again before the server counts as one that does not push.
const REOPENINGS: u32 = 5;
/// The first wait before it is opened again; it doubles each time.
const REOPEN_AFTER: Duration = Duration::from_secs(1);

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

/// Opens `subscriptions/listen` on a server of the modern era and hands on what it says, until the
/// server or the connection ends it for good.
///
/// Many servers refuse (-32601, a limit reached, or an empty filter in the acknowledgement): such a
/// server does not push, which is no failure.
pub(super) async fn listen(
    peer: Peer<RoleClient>,
    capabilities: Option<Map<String, Value>>,
    changes: broadcast::Sender<Change>,
    timeout: Duration,
) {
    let Some(filter) = filter(capabilities.as_ref()) else { return };
    let mut wait = REOPEN_AFTER;
    for attempt in 0..=REOPENINGS {
        if attempt > 0 {
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
        if peer.is_transport_closed() {
            return;
        }
        let mut subscription = match tokio::time::timeout(timeout, peer.listen(filter.clone())).await {
            Ok(Ok(subscription)) => subscription,
            Ok(Err(error)) => {
                tracing::debug!(%error, "the server does not push changes");
                return;
            }
            Err(_) => {
                tracing::debug!("the server does not push changes: no acknowledgement");
                return;
            }
        };
        let accepted = subscription.acknowledged().clone();
        if accepted == SubscriptionFilter::default() {
            tracing::debug!("the server does not push changes: it accepts none of them");
            return;
        }
        if attempt > 0 {
            // Nothing is replayed, so what was missed meanwhile is anybody's guess.
            publish_accepted(&changes, &accepted);
        }
        loop {
            match subscription.next().await {
                Ok(Some(notification)) => publish(&changes, &notification),
                Ok(None) => break,
                Err(error) => {
                    tracing::debug!(%error, "the subscription to changes broke");
                    break;
                }
            }
        }
        if matches!(subscription.end(), Some(SubscriptionEnd::Lagged { .. })) {
            publish_accepted(&changes, &accepted);
        }
    }
}

/// What the server says it can push; `None` if it is nothing.
fn filter(capabilities: Option<&Map<String, Value>>) -> Option<SubscriptionFilter> {
    let pushes = |name: &str| capabilities?.get(name)?.get("listChanged")?.as_bool().filter(|yes| *yes);
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = pushes("tools");
    filter.resources_list_changed = pushes("resources");
    filter.prompts_list_changed = pushes("prompts");
    (filter != SubscriptionFilter::default()).then_some(filter)
}

fn publish_accepted(changes: &broadcast::Sender<Change>, accepted: &SubscriptionFilter) {
    for (yes, kinds) in [
        (accepted.tools_list_changed, &[ListKind::Tools][..]),
        (accepted.resources_list_changed, RESOURCE_LISTS),
        (accepted.prompts_list_changed, &[ListKind::Prompts]),
    ] {
        if yes == Some(true) {
            send(changes, kinds);
        }
    }
}

/// One notification stands for both lists of resources.
const RESOURCE_LISTS: &[ListKind] = &[ListKind::Resources, ListKind::ResourceTemplates];

fn publish(changes: &broadcast::Sender<Change>, notification: &ServerNotification) {
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
