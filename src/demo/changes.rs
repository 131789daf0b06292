use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rmcp::{
    RoleServer,
    model::ProtocolVersion,
    service::{RequestContext, SubscriptionContext},
};
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use super::{asset::Effect, template::fill};

/// What changed on a server since it was started, and who wants to hear of it.
#[derive(Debug)]
pub(super) struct Changes {
    later_tools_shown: AtomicBool,
    /// Resources whose contents are no longer those of the file.
    contents: Mutex<BTreeMap<String, Vec<Value>>>,
    announcements: broadcast::Sender<News>,
    /// Receivers of subscriptions that are not acknowledged yet: made before the client can know of
    /// its subscription, so that no announcement falls between the two.
    waiting: Mutex<VecDeque<broadcast::Receiver<News>>>,
}

/// What is announced.
#[derive(Clone, Debug)]
pub(super) enum News {
    /// Other tools are listed.
    Tools,
    /// A resource has other contents.
    Resource(String),
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            later_tools_shown: AtomicBool::new(false),
            contents: Mutex::default(),
            announcements: broadcast::channel(64).0,
            waiting: Mutex::default(),
        }
    }
}

impl Changes {
    /// The most announcements that one call may ask for.
    const MAX_BURST: u64 = 20;

    pub(super) fn later_tools_shown(&self) -> bool {
        self.later_tools_shown.load(Ordering::SeqCst)
    }

    /// What a resource holds by now; `None` if that is what the file says.
    pub(super) fn contents(&self, uri: &str) -> Option<Vec<Value>> {
        lock(&self.contents).get(uri).cloned()
    }

    /// What is announced from now on.
    pub(super) fn announcements(&self) -> broadcast::Receiver<News> {
        self.announcements.subscribe()
    }

    /// Does what a call's case says, and announces it as often as the call or the case says, in the
    /// way that the client's protocol version has for it.
    pub(super) async fn apply(
        &self,
        effect: &Effect,
        arguments: &Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) {
        let count = arguments.get("announcements").and_then(Value::as_u64);
        let count = count.unwrap_or(effect.announcements).clamp(1, Self::MAX_BURST);
        if let Some(update) = &effect.update {
            let contents = update.contents.iter().map(|contents| fill(contents, arguments)).collect();
            lock(&self.contents).insert(update.uri.clone(), contents);
            for _ in 0..count {
                // Nobody may have subscribed.
                _ = self.announcements.send(News::Resource(update.uri.clone()));
            }
        }
        let Some(show) = effect.show_later_tools else { return };
        self.later_tools_shown.store(show, Ordering::SeqCst);
        let modern = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        for _ in 0..count {
            if modern {
                _ = self.announcements.send(News::Tools);
            } else if let Err(error) = context.peer.notify_tool_list_changed().await {
                tracing::debug!(%error, "a client did not hear of a changed list");
            }
        }
    }

    /// Prepares for a subscription that is about to be acknowledged.
    pub(super) fn expect_listener(&self) {
        lock(&self.waiting).push_back(self.announcements());
    }

    /// Passes on what was asked for until the subscription ends.
    pub(super) async fn forward(&self, subscription: SubscriptionContext) {
        let waiting = lock(&self.waiting).pop_front();
        let mut announcements = waiting.unwrap_or_else(|| self.announcements());
        let (sink, accepted) = (subscription.sink(), subscription.accepted());
        loop {
            let heard = tokio::select! {
                () = subscription.cancelled() => return,
                heard = announcements.recv() => heard,
            };
            let told = match heard {
                Ok(News::Tools) if accepted.tools_list_changed == Some(true) => sink.notify_tool_list_changed().await,
                Ok(News::Resource(uri)) if accepted.resource_subscriptions.iter().flatten().any(|one| *one == uri) => {
                    sink.notify_resource_updated(uri).await
                }
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => Ok(()),
                Err(broadcast::error::RecvError::Closed) => return,
            };
            if told.is_err() {
                return;
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
