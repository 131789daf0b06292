use std::{
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use lru::LruCache;

use crate::{
    client::{ListKind, Listing},
    id::ServerId,
    protocol::CacheScope,
};

/// On whose behalf servers are asked: a user, a tenant, a session of either. Chosen by the host.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Authorization(Arc<str>);

impl Authorization {
    /// Names a context. Equal names share private entries.
    pub fn new(context: impl AsRef<str>) -> Self {
        Self(context.as_ref().into())
    }
}

/// Lists that may be reused: for as long as their server said (`ttlMs`), and by whom it said
/// (`cacheScope`, MCP 2026-07-28, caching).
///
/// A host has one of its own. Hosts for several users of the same servers may share one: a public
/// list then serves all of them, and a private one never leaves its [`Authorization`]. Sharing
/// hosts must mean the same server by the same [`ServerId`].
pub struct ListCache {
    lists: Mutex<LruCache<Key, Arc<Listing>>>,
}

/// A public list has no authorization in its key; a private one is never found without.
type Key = (ServerId, ListKind, Option<Authorization>);

impl ListCache {
    /// How many lists are kept: 4,096, the four lists of a thousand servers.
    pub const CAPACITY: usize = 4_096;

    /// An empty cache.
    pub fn new() -> Self {
        Self { lists: Mutex::new(LruCache::new(NonZeroUsize::new(Self::CAPACITY).unwrap_or(NonZeroUsize::MIN))) }
    }

    /// A list that is still fresh and may be given to `authorization`.
    pub(super) fn fresh(
        &self,
        server: &ServerId,
        kind: ListKind,
        authorization: &Authorization,
        now: Instant,
    ) -> Option<Arc<Listing>> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        for key in [(server.clone(), kind, Some(authorization.clone())), (server.clone(), kind, None)] {
            if let Some(listing) = lists.get(&key) {
                if listing.fresh_until().is_some_and(|until| now < until) {
                    return Some(Arc::clone(listing));
                }
                lists.pop(&key);
            }
        }
        None
    }

    /// Keeps a list, unless it may not be reused at all.
    pub(super) fn keep(
        &self,
        server: &ServerId,
        kind: ListKind,
        authorization: &Authorization,
        listing: &Arc<Listing>,
        now: Instant,
    ) {
        if listing.cut.is_some() || listing.fresh_until().is_none_or(|until| until <= now) {
            return;
        }
        let authorization = (listing.scope() == CacheScope::Private).then(|| authorization.clone());
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.put((server.clone(), kind, authorization), Arc::clone(listing));
    }

    /// Forgets a list that its server said has changed, whoever may see it.
    pub(super) fn forget(&self, server: &ServerId, kind: ListKind, authorization: &Authorization) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.pop(&(server.clone(), kind, Some(authorization.clone())));
        lists.pop(&(server.clone(), kind, None));
    }
}

impl Default for ListCache {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ListCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListCache").finish_non_exhaustive()
    }
}
