use std::{
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use lru::LruCache;

use super::asked::{Asked, Counter};
#[cfg(feature = "tantivy")]
use crate::json::Digest;
use crate::{
    client::{ListKind, Listing},
    id::ServerId,
    protocol::CacheScope,
};

/// On whose behalf servers are asked: a user, a tenant, a session of either. Chosen by the host.
#[derive(Clone, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Authorization(Arc<str>);

impl Authorization {
    /// Names a context. Equal names share private entries.
    pub fn new(context: impl AsRef<str>) -> Self {
        Self(context.as_ref().into())
    }

    /// What tells it from others where its name must not stand.
    #[cfg(feature = "tantivy")]
    pub(crate) fn digest(&self) -> Digest {
        Digest::of_parts(["authorization", &*self.0])
    }
}

/// Without the name: a host may have made it of something that belongs in no log.
impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorization").finish_non_exhaustive()
    }
}

/// Lists that may be reused: for as long as their server said (`ttlMs`), and by whom it said
/// (`cacheScope`, MCP 2026-07-28, caching).
///
/// A host has one of its own. Hosts for several users of the same servers may share one: a public
/// list then serves all of them, and a private one never leaves its [`Authorization`]. Sharing
/// hosts must mean the same server by the same [`ServerId`].
pub struct ListCache {
    lists: Mutex<LruCache<Key, Kept>>,
    counter: Counter,
}

/// A public list has no authorization in its key; a private one is never found without.
type Key = (ServerId, ListKind, Option<Authorization>);

/// What is known of a list. Without a listing, it is known only that nothing asked for before
/// `asked` may stand: the answer to a request may come after the news that it is out of date.
struct Kept {
    asked: Asked,
    listing: Option<Arc<Listing>>,
}

impl ListCache {
    /// How many lists are kept: 4,096, the four lists of a thousand servers.
    pub const CAPACITY: usize = 4_096;

    /// An empty cache.
    pub fn new() -> Self {
        let capacity = NonZeroUsize::new(Self::CAPACITY).unwrap_or(NonZeroUsize::MIN);
        Self { lists: Mutex::new(LruCache::new(capacity)), counter: Counter::default() }
    }

    /// To be taken before a server is asked, and given to [`keep`](Self::keep) with its answer.
    pub(super) fn asking(&self) -> Asked {
        self.counter.next()
    }

    /// A list that is still fresh and may be given to `authorization`, with when it was asked for.
    pub(super) fn fresh(
        &self,
        server: &ServerId,
        kind: ListKind,
        authorization: &Authorization,
        now: Instant,
    ) -> Option<(Asked, Arc<Listing>)> {
        let mut lists = self.lists();
        for key in [(server.clone(), kind, Some(authorization.clone())), (server.clone(), kind, None)] {
            let Some(kept) = lists.get_mut(&key) else { continue };
            kept.listing.take_if(|listing| listing.fresh_until().is_none_or(|until| until <= now));
            if let Some(listing) = &kept.listing {
                return Some((kept.asked, Arc::clone(listing)));
            }
        }
        None
    }

    /// Keeps a list, unless it may not be reused at all, or was asked for before the one that is
    /// kept or before its server said that it has changed.
    pub(super) fn keep(
        &self,
        server: &ServerId,
        kind: ListKind,
        authorization: &Authorization,
        listing: &Arc<Listing>,
        asked: Asked,
        now: Instant,
    ) {
        if listing.cut.is_some() || listing.fresh_until().is_none_or(|until| until <= now) {
            return;
        }
        let private = (server.clone(), kind, Some(authorization.clone()));
        let public = (server.clone(), kind, None);
        let mut lists = self.lists();
        if [&private, &public].into_iter().any(|key| lists.peek(key).is_some_and(|kept| kept.asked > asked)) {
            return;
        }
        let kept = Kept { asked, listing: Some(Arc::clone(listing)) };
        if listing.scope() == CacheScope::Private {
            lists.put(private, kept);
        } else {
            lists.pop(&private);
            lists.put(public, kept);
        }
    }

    /// Forgets a list that its server said has changed, whoever may see it.
    pub(super) fn forget(&self, server: &ServerId, kind: ListKind, authorization: &Authorization) {
        let asked = self.asking();
        let mut lists = self.lists();
        for authorization in [Some(authorization.clone()), None] {
            lists.put((server.clone(), kind, authorization), Kept { asked, listing: None });
        }
    }

    fn lists(&self) -> MutexGuard<'_, LruCache<Key, Kept>> {
        // Every change is whole before the lock is given back.
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
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
