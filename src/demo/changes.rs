use std::{
    collections::VecDeque,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rmcp::{
    RoleServer,
    model::ProtocolVersion,
    service::{RequestContext, SubscriptionContext},
};
use tokio::sync::broadcast;

use super::asset::Effect;

/// Whether a server lists its later tools, and who wants to hear of it.
#[derive(Debug)]
pub(super) struct Changes {
    later_tools_shown: AtomicBool,
    announcements: broadcast::Sender<()>,
    /// Receivers of subscriptions that are not acknowledged yet: made before the client can know of
    /// its subscription, so that no announcement falls between the two.
    waiting: Mutex<VecDeque<broadcast::Receiver<()>>>,
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            later_tools_shown: AtomicBool::new(false),
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

    /// Does what a call's case says, and announces it `count` times in the way that the client's
    /// protocol version has for it.
    pub(super) async fn apply(&self, effect: Effect, count: Option<u64>, context: &RequestContext<RoleServer>) {
        self.later_tools_shown.store(effect.show_later_tools, Ordering::SeqCst);
        let count = count.unwrap_or(effect.announcements).clamp(1, Self::MAX_BURST);
        let modern = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        for _ in 0..count {
            if modern {
                // Nobody may have subscribed.
                _ = self.announcements.send(());
            } else if let Err(error) = context.peer.notify_tool_list_changed().await {
                tracing::debug!(%error, "a client did not hear of a changed list");
            }
        }
    }

    /// Prepares for a subscription that is about to be acknowledged.
    pub(super) fn expect_listener(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(self.announcements.subscribe());
    }

    /// Passes announcements on until the subscription ends.
    pub(super) async fn forward(&self, subscription: SubscriptionContext) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let mut announcements = waiting.unwrap_or_else(|| self.announcements.subscribe());
        loop {
            let heard = tokio::select! {
                () = subscription.cancelled() => return,
                heard = announcements.recv() => heard,
            };
            if heard == Err(broadcast::error::RecvError::Closed)
                || subscription.sink().notify_tool_list_changed().await.is_err()
            {
                return;
            }
        }
    }
}
