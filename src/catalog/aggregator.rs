use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use tokio::{
    sync::{Notify, watch},
    time::{Instant, timeout},
};

use super::{
    heard::Heard,
    lists::{Authorization, ListCache},
    names::Naming,
    reads::ReadCache,
    server::{Asking, Server},
    snapshot::Catalog,
    trust::TrustTier,
};
use crate::{
    Error, Result,
    client::{Client, Limits, ListKind},
    id::ServerId,
};

/// Keeps one [`Catalog`] of several servers up to date.
///
/// [`refresh`](Self::refresh) asks all servers at once and swaps in a new snapshot; readers hold
/// the one that they took and are never blocked. [`changed`](Self::changed) waits until a server
/// says that something changed, lets a burst of changes pass, and reads that again. Nothing is polled.
pub struct Aggregator {
    pub(super) servers: BTreeMap<ServerId, Server>,
    pub(super) options: AggregatorOptions,
    /// The servers that were told of resources to watch; one call at a time tells them.
    pub(super) told: tokio::sync::Mutex<BTreeSet<ServerId>>,
    // One at a time makes a snapshot, so that the last one made holds the newest of every server.
    publishing: Mutex<()>,
    snapshot: watch::Sender<Catalog>,
    news: Arc<Notify>,
}

/// How an [`Aggregator`] works.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AggregatorOptions {
    /// When exposed names carry their server's name. Default: on a collision.
    pub naming: Naming,
    /// What one server may cost.
    pub limits: Limits,
    /// On whose behalf. Default: one unnamed context.
    pub authorization: Authorization,
    /// The lists that may be reused. Default: a cache of its own.
    pub lists: Arc<ListCache>,
    /// What was read and may be reused. Default: a cache of its own.
    pub reads: Arc<ReadCache>,
    /// How far servers are trusted; all others are [`TrustTier::Standard`]. Default: none is named.
    pub trust: BTreeMap<ServerId, TrustTier>,
    /// How long no change must be heard before a burst counts as over. Default: 100 ms; servers
    /// have been seen to send seven notifications in a row when they start.
    pub quiet: Duration,
    /// How long a burst may last before it is acted on all the same. Default: 1 s.
    pub longest_burst: Duration,
}

impl Default for AggregatorOptions {
    fn default() -> Self {
        Self {
            naming: Naming::default(),
            limits: Limits::default(),
            authorization: Authorization::default(),
            lists: Arc::default(),
            reads: Arc::default(),
            trust: BTreeMap::new(),
            quiet: Duration::from_millis(100),
            longest_burst: Duration::from_secs(1),
        }
    }
}

/// How far a refresh is, for hosts that show it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A server is asked.
    Asking(&'a ServerId),
    /// A server answered, with so many tools.
    Answered(&'a ServerId, usize),
    /// A server failed; what it offered before still stands.
    Failed(&'a ServerId, &'a Error),
}

/// What servers said has changed since the last time it was asked for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Changes {
    /// Lists that were read again.
    pub lists: BTreeSet<(ServerId, ListKind)>,
    /// Resources whose content changed.
    pub resources: BTreeSet<(ServerId, String)>,
}

impl Aggregator {
    /// Keeps a catalog of `servers`; of two with one id the last stands. Asks none of them yet:
    /// until the first refresh the catalog is empty.
    pub fn new(servers: impl IntoIterator<Item = (ServerId, Arc<dyn Client>)>, options: AggregatorOptions) -> Self {
        Self {
            servers: servers.into_iter().map(|(id, client)| (id, Server::new(client))).collect(),
            options,
            told: tokio::sync::Mutex::default(),
            publishing: Mutex::new(()),
            snapshot: watch::Sender::new(Catalog::default()),
            news: Arc::default(),
        }
    }

    /// The current snapshot.
    pub fn catalog(&self) -> Catalog {
        self.snapshot.borrow().clone()
    }

    /// The client of a server.
    ///
    /// # Errors
    /// [`Error::UnknownServer`].
    pub fn client(&self, server: &ServerId) -> Result<&Arc<dyn Client>> {
        self.server(server).map(|server| &server.client)
    }

    /// Asks all servers at once for what is not fresh any more, and swaps in the new snapshot.
    ///
    /// Never fails as a whole: a server that fails is in [`Catalog::failures`]. Ends within the
    /// [`Limits`], whatever a server does.
    pub async fn refresh(&self) -> Catalog {
        self.refresh_with(&|_| {}).await
    }

    /// As [`refresh`](Self::refresh), telling `progress` of each server as it goes.
    pub async fn refresh_with(&self, progress: &(dyn Fn(Progress<'_>) + Sync)) -> Catalog {
        let heard = self.heard();
        let all = ListKind::ALL;
        let asking = Asking { options: &self.options, news: &self.news, progress };
        join_all(self.servers.iter().map(|(id, server)| server.refresh(id, &all, &asking))).await;
        let catalog = self.publish();
        self.each_heard(&heard, Server::settle_lists);
        catalog
    }

    /// Waits until a server says that something changed and the burst is over, and reads again what
    /// it says has changed.
    ///
    /// Servers are heard from the first refresh on. Dropping the future loses no change: what was
    /// heard stays until a refresh that began after it is through.
    pub async fn changed(&self) -> (Catalog, Changes) {
        loop {
            // What was heard before may be what an earlier call was dropped with.
            if !self.servers.values().any(Server::has_heard) {
                self.news.notified().await;
                continue;
            }
            self.burst().await;
            let heard = self.heard();
            if heard.is_empty() {
                continue;
            }
            let asking = Asking { options: &self.options, news: &self.news, progress: &|_| {} };
            join_all(heard.iter().filter_map(|(id, heard)| {
                let (server, asking) = (self.servers.get(id)?, &asking);
                let kinds: Vec<_> = heard.lists.keys().copied().collect();
                (!kinds.is_empty()).then_some(async move { server.refresh(id, &kinds, asking).await })
            }))
            .await;
            let catalog = self.publish();
            self.each_heard(&heard, Server::settle_lists);
            self.each_heard(&heard, Server::settle_resources);
            return (catalog, Changes::new(&heard));
        }
    }

    pub(super) fn server(&self, id: &ServerId) -> Result<&Server> {
        self.servers.get(id).ok_or_else(|| Error::UnknownServer { server: id.clone() })
    }

    /// Hears of a server's changes from now on, for those who ask it something before the first refresh.
    pub(super) fn listen(&self, id: &ServerId, server: &Server) {
        server.listen(id, &self.options, &self.news);
    }

    /// Waits until nothing was heard for a while, or the burst lasts too long.
    async fn burst(&self) {
        let began = Instant::now();
        loop {
            let quiet = self.options.quiet.min(self.options.longest_burst.saturating_sub(began.elapsed()));
            if quiet.is_zero() || timeout(quiet, self.news.notified()).await.is_err() {
                return;
            }
        }
    }

    fn heard(&self) -> BTreeMap<ServerId, Heard> {
        let heard = self.servers.iter().map(|(id, server)| (id.clone(), server.heard()));
        heard.filter(|(_, heard)| !heard.is_empty()).collect()
    }

    fn each_heard(&self, heard: &BTreeMap<ServerId, Heard>, act: fn(&Server, &Heard)) {
        for (id, heard) in heard {
            if let Some(server) = self.servers.get(id) {
                act(server, heard);
            }
        }
    }

    /// A number that rises whenever a server says that a resource of its changed.
    pub(crate) fn news_of(&self, server: &ServerId) -> u64 {
        self.options.reads.heard(server)
    }

    /// The bounds of every request to a server.
    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    fn publish(&self) -> Catalog {
        let _one = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut builder = Catalog::builder().naming(self.options.naming);
        for (server, tier) in &self.options.trust {
            builder = builder.trust(server.clone(), *tier);
        }
        for (id, server) in &self.servers {
            builder = builder.server_parts(id.clone(), server.parts());
        }
        let catalog = builder.build();
        self.snapshot.send_replace(catalog.clone());
        catalog
    }
}

impl fmt::Debug for Aggregator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aggregator")
            .field("servers", &self.servers.keys())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Changes {
    fn new(heard: &BTreeMap<ServerId, Heard>) -> Self {
        let lists = heard.iter().flat_map(|(id, heard)| heard.lists.keys().map(|kind| (id.clone(), *kind)));
        let resources =
            heard.iter().flat_map(|(id, heard)| heard.resources.keys().map(|uri| (id.clone(), uri.clone())));
        Self { lists: lists.collect(), resources: resources.collect() }
    }
}
