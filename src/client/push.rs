use std::{collections::BTreeSet, time::Duration};

use rmcp::{
    model::SubscriptionFilter,
    service::{ServiceError, Subscription, SubscriptionEnd},
};
use serde_json::{Map, Value};
use tokio::sync::{broadcast, watch};

use super::{
    Change,
    change::{publish, publish_accepted},
    request::Requests,
};
use crate::protocol::ServerInfo;

/// How often in a row a subscription is opened again that ended by itself.
const REOPENINGS: u32 = 5;
/// The first wait before it is opened again; it doubles each time.
const REOPEN_AFTER: Duration = Duration::from_secs(1);
/// The longest wait while a server cannot be reached.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// A subscription that lasted this long shows that the server means it: the count starts anew.
const STEADY_AFTER: Duration = Duration::from_secs(60);

/// The resources whose updates are to be heard of.
pub(super) type Watched = BTreeSet<String>;

/// Keeps a connection's subscriptions as they should be, until it ends.
///
/// Both eras end in the same [`Change`]s: one of 2026-07-28 is asked by `subscriptions/listen`,
/// an earlier one pushes list changes unasked (to the handler), and is asked for each resource.
pub(super) async fn follow(
    requests: Requests,
    info: ServerInfo,
    changes: broadcast::Sender<Change>,
    watched: watch::Receiver<Watched>,
) {
    if requests.is_modern() {
        listen(requests, info.capabilities, changes, watched).await;
    } else if can_watch(info.capabilities.as_ref()) {
        subscribe(requests, watched).await;
    }
}

/// Whether the server says that it tells of updates to single resources.
pub(super) fn can_watch(capabilities: Option<&Map<String, Value>>) -> bool {
    says(capabilities, "resources", "subscribe")
}

fn says(capabilities: Option<&Map<String, Value>>, name: &str, what: &str) -> bool {
    capabilities.and_then(|map| map.get(name)?.get(what)) == Some(&Value::Bool(true))
}

/// Many servers refuse (-32601, a limit reached, or an empty filter in the acknowledgement): such a
/// server does not push, which is no failure.
async fn listen(
    requests: Requests,
    capabilities: Option<Map<String, Value>>,
    changes: broadcast::Sender<Change>,
    mut watched: watch::Receiver<Watched>,
) {
    let (mut failures, mut wait) = (0, REOPEN_AFTER);
    // The old subscription is kept until the new one stands, so that nothing falls between.
    let mut old: Option<Subscription> = None;
    loop {
        let filter = filter(capabilities.as_ref(), &watched.borrow_and_update());
        if filter == SubscriptionFilter::default() {
            old = None;
            if watched.changed().await.is_err() {
                return;
            }
            continue;
        }
        let mut subscription = match open(&requests, filter).await {
            Ok(subscription) => subscription,
            Err(Refusal::Final) => return,
            Err(Refusal::Unreachable) => {
                old = None;
                failures = failures.max(1);
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
                continue;
            }
        };
        drop(old.take());
        let accepted = subscription.acknowledged().clone();
        if failures > 0 {
            // Nothing is replayed, so what was missed meanwhile is anybody's guess.
            publish_accepted(&changes, &accepted);
        }
        let opened = tokio::time::Instant::now();
        let reopen = loop {
            tokio::select! {
                notification = subscription.next() => match notification {
                    Ok(Some(notification)) => publish(&changes, &notification),
                    Ok(None) => break false,
                    Err(error) => {
                        tracing::debug!(%error, "the subscription to changes broke");
                        break false;
                    }
                },
                changed = watched.changed() => match changed {
                    Ok(()) => break true,
                    Err(_) => return,
                },
            }
        };
        if reopen {
            old = Some(subscription);
            continue;
        }
        if matches!(subscription.end(), Some(SubscriptionEnd::Lagged { .. })) {
            publish_accepted(&changes, &accepted);
        }
        if opened.elapsed() >= STEADY_AFTER {
            (failures, wait) = (0, REOPEN_AFTER);
        }
        failures += 1;
        if failures > REOPENINGS || requests.peer.is_transport_closed() {
            return;
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
}

/// Why there is no subscription.
enum Refusal {
    /// The server does not push, or is gone for good.
    Final,
    /// An HTTP server that may come back.
    Unreachable,
}

async fn open(requests: &Requests, filter: SubscriptionFilter) -> Result<Subscription, Refusal> {
    let reason = match tokio::time::timeout(requests.timeout, requests.peer.listen(filter)).await {
        Ok(Ok(subscription)) if *subscription.acknowledged() != SubscriptionFilter::default() => {
            return Ok(subscription);
        }
        Ok(Ok(_)) => "it accepts none of them".to_owned(),
        Ok(Err(ServiceError::TransportSend(_))) if !requests.peer.is_transport_closed() => {
            return Err(Refusal::Unreachable);
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no acknowledgement".to_owned(),
    };
    tracing::debug!(reason, "the server does not push changes");
    Err(Refusal::Final)
}

/// What the server says it can push.
fn filter(capabilities: Option<&Map<String, Value>>, watched: &Watched) -> SubscriptionFilter {
    let pushes = |name: &str| says(capabilities, name, "listChanged").then_some(true);
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = pushes("tools");
    filter.resources_list_changed = pushes("resources");
    filter.prompts_list_changed = pushes("prompts");
    if can_watch(capabilities) && !watched.is_empty() {
        filter.resource_subscriptions = Some(watched.iter().cloned().collect());
    }
    filter
}

async fn subscribe(requests: Requests, mut watched: watch::Receiver<Watched>) {
    let mut subscribed = Watched::new();
    loop {
        let wanted = watched.borrow_and_update().clone();
        for uri in subscribed.difference(&wanted) {
            told(uri, requests.unsubscribe(uri).await);
        }
        for uri in wanted.difference(&subscribed) {
            told(uri, requests.subscribe(uri).await);
        }
        subscribed = wanted;
        if watched.changed().await.is_err() {
            return;
        }
    }
}

fn told(uri: &str, outcome: Result<(), crate::error::ClientError>) {
    if let Err(error) = outcome {
        tracing::debug!(uri, %error, "a subscription to a resource could not be changed");
    }
}
