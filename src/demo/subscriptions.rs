use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rmcp::{RoleServer, model::ResourceUpdatedNotificationParam, service::Peer};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    task::AbortHandle,
};

use super::changes::News;

/// The resources that the client of one connection of the `initialize` era subscribed to, each with
/// the task that tells it of changes.
#[derive(Debug, Default)]
pub(super) struct Subscriptions(Mutex<BTreeMap<String, AbortHandle>>);

impl Subscriptions {
    /// Tells `peer` of every change of a resource from now on.
    pub(super) fn subscribe(&self, uri: String, mut news: broadcast::Receiver<News>, peer: Peer<RoleServer>) {
        let updated = uri.clone();
        let telling = tokio::spawn(async move {
            loop {
                match news.recv().await {
                    Ok(News::Resource(uri)) if uri == updated => {
                        if peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err() {
                            return;
                        }
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        });
        if let Some(before) = self.tasks().insert(uri, telling.abort_handle()) {
            before.abort();
        }
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        if let Some(telling) = self.tasks().remove(uri) {
            telling.abort();
        }
    }

    fn tasks(&self) -> MutexGuard<'_, BTreeMap<String, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A clone of a server serves another connection.
impl Clone for Subscriptions {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.tasks().values().for_each(AbortHandle::abort);
    }
}
