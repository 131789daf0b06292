use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use tokio::time::timeout;

use super::aggregator::Aggregator;
use crate::{
    Error, Result,
    error::ClientError,
    id::{ResourceId, ServerId},
};

impl Aggregator {
    /// Asks to hear of updates to exactly these resources, each server of its own; the last call
    /// counts. What they say then comes out of [`changed`](Self::changed), and what was read before
    /// is forgotten at once.
    ///
    /// A server that was never told of a resource and is not now is not asked, nor started. Gives
    /// the servers that refuse, with the reason: most tell of no updates
    /// ([`ClientError::Unsupported`]), and what they offer is as good as before. Each is waited for
    /// within [`Limits::request`](crate::client::Limits::request). Dropping the future leaves some
    /// servers told and some not, until the next call.
    pub async fn watch(&self, resources: &BTreeSet<ResourceId>) -> BTreeMap<ServerId, Error> {
        let mut uris: BTreeMap<ServerId, BTreeSet<String>> = BTreeMap::new();
        for ResourceId { server, uri, .. } in resources {
            uris.entry(server.clone()).or_default().insert(uri.to_string());
        }
        let mut told = self.told.lock().await;
        for server in &*told {
            uris.entry(server.clone()).or_default();
        }
        // Before they are asked: one that was may have been told, whatever becomes of this call.
        told.extend(uris.keys().cloned());
        let asked = uris.iter().map(|(id, uris)| async move { (id, self.watch_one(id, uris).await) });
        let mut refused = BTreeMap::new();
        for (id, outcome) in join_all(asked).await {
            match outcome {
                Ok(()) if uris.get(id).is_some_and(|uris| !uris.is_empty()) => {}
                Ok(()) => _ = told.remove(id),
                Err(error) => {
                    // It knows of none, so there is nothing to take back.
                    if error.is_not_found() || error.is_unsupported() {
                        told.remove(id);
                    }
                    refused.insert(id.clone(), error);
                }
            }
        }
        refused
    }

    async fn watch_one(&self, id: &ServerId, uris: &BTreeSet<String>) -> Result<()> {
        let server = self.server(id)?;
        self.listen(id, server);
        let limit = self.limits().request;
        let outcome = match timeout(limit, server.client.watch(uris)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ClientError::Timeout { after: limit }),
        };
        outcome.map_err(|error| error.at(id, "resources/subscribe"))
    }
}
