use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use tokio::{
    sync::{Notify, broadcast, watch},
    task::JoinHandle,
    time::timeout,
};

use super::{
    lists::{Authorization, ListCache},
    names::Naming,
    parts::ServerParts,
    snapshot::Catalog,
};
use crate::{
    Error, Result,
    client::{Change, Client, Limits, ListKind, Listing, list_all},
    error::ClientError,
    id::ServerId,
    protocol::ServerInfo,
};

/// Keeps one [`Catalog`] of several servers up to date.
///
/// [`refresh`](Self::refresh) asks all servers at once and swaps in a new snapshot; readers hold
/// the one that they took and are never blocked. [`changed`](Self::changed) waits until a server
/// says that something changed, lets a burst of changes pass, and refreshes. Nothing is polled.
pub struct Aggregator {
    servers: BTreeMap<ServerId, Server>,
    options: AggregatorOptions,
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
            quiet: Duration::from_millis(100),
            longest_burst: Duration::from_secs(1),
        }
    }
}

struct Server {
    client: Arc<dyn Client>,
    state: Arc<Mutex<ServerState>>,
    asked: AtomicU64,
    listener: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct ServerState {
    parts: ServerParts,
    /// The number of the request whose answer stands: an older answer that comes later is dropped.
    answered: u64,
    read_at: Option<Instant>,
    /// Heard of since the last refresh began.
    changes: BTreeSet<ListKind>,
    resources: BTreeSet<String>,
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
    /// Keeps a catalog of `servers`. Asks none of them yet: until the first refresh the catalog is empty.
    pub fn new(servers: impl IntoIterator<Item = (ServerId, Arc<dyn Client>)>, options: AggregatorOptions) -> Self {
        let servers = servers.into_iter().map(|(id, client)| {
            let server = Server { client, state: Arc::default(), asked: AtomicU64::new(0), listener: Mutex::new(None) };
            (id, server)
        });
        Self {
            servers: servers.collect(),
            options,
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
        let known = self.servers.get(server).map(|server| &server.client);
        known.ok_or_else(|| Error::UnknownServer { server: server.clone() })
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
        join_all(self.servers.iter().map(|(id, server)| self.refresh_server(id, server, progress))).await;
        self.publish()
    }

    /// Waits until a server says that something changed and the burst is over, and refreshes.
    ///
    /// Servers are heard from the first refresh on. Dropping the future loses no change.
    pub async fn changed(&self) -> (Catalog, Changes) {
        loop {
            self.news.notified().await;
            let began = Instant::now();
            while began.elapsed() < self.options.longest_burst
                && timeout(self.options.quiet, self.news.notified()).await.is_ok()
            {}
            let changes = self.pending();
            if changes != Changes::default() {
                let told = |server: &ServerId| changes.lists.iter().any(|(id, _)| id == server);
                join_all(
                    self.servers
                        .iter()
                        .filter(|(id, _)| told(id))
                        .map(|(id, server)| self.refresh_server(id, server, &|_| {})),
                )
                .await;
                return (self.publish(), changes);
            }
        }
    }

    fn pending(&self) -> Changes {
        let mut changes = Changes::default();
        for (id, server) in &self.servers {
            let mut state = server.state();
            changes.lists.extend(state.changes.iter().map(|kind| (id.clone(), *kind)));
            changes.resources.extend(std::mem::take(&mut state.resources).into_iter().map(|uri| (id.clone(), uri)));
        }
        changes
    }

    async fn refresh_server(&self, id: &ServerId, server: &Server, progress: &(dyn Fn(Progress<'_>) + Sync)) {
        progress(Progress::Asking(id));
        // Before the first request, so that no change is missed between the list and the listening.
        server.listen(&self.news);
        let number = server.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let changed = std::mem::take(&mut server.state().changes);
        for kind in &changed {
            self.options.lists.forget(id, *kind, &self.options.authorization);
        }
        let answer = self.ask(id, &*server.client).await;
        let mut state = server.state();
        if number < state.answered {
            tracing::debug!(server = %id, "an answer came after a newer one: dropped");
            return;
        }
        state.answered = number;
        state.take(id, answer, self.options.limits.item_bytes);
        match &state.parts.failure {
            Some(error) => {
                tracing::warn!(server = %id, %error, "refresh failed");
                progress(Progress::Failed(id, error));
            }
            None => progress(Progress::Answered(id, state.parts.len(ListKind::Tools))),
        }
    }

    async fn ask(&self, id: &ServerId, client: &dyn Client) -> Answer {
        let limits = &self.options.limits;
        let info = match timeout(limits.request, client.info()).await {
            Ok(info) => info,
            Err(_) => Err(ClientError::Timeout { after: limits.request }),
        };
        let info = match info {
            Ok(info) => info,
            Err(error) => return Answer { info: Err(error.at(id, "connect")), lists: Vec::new() },
        };
        let offered = ListKind::ALL.into_iter().filter(|kind| info.offers(kind.capability()));
        let lists = join_all(offered.map(|kind| async move { (kind, self.ask_list(id, client, kind).await) })).await;
        Answer { info: Ok(info), lists }
    }

    async fn ask_list(&self, id: &ServerId, client: &dyn Client, kind: ListKind) -> Result<Arc<Listing>> {
        let AggregatorOptions { lists, authorization, limits, .. } = &self.options;
        if let Some(listing) = lists.fresh(id, kind, authorization, Instant::now()) {
            return Ok(listing);
        }
        match list_all(client, kind, limits).await {
            Ok(listing) => {
                let listing = Arc::new(listing);
                lists.keep(id, kind, authorization, &listing, Instant::now());
                Ok(listing)
            }
            // A server may name a capability without each of its lists (templates, mostly).
            Err(error) if error.is_unsupported() => Ok(Arc::default()),
            Err(error) => Err(error.at(id, kind.method())),
        }
    }

    fn publish(&self) -> Catalog {
        let _one = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut builder = Catalog::builder().naming(self.options.naming);
        for (id, server) in &self.servers {
            let state = server.state();
            let mut parts = state.parts.clone();
            if parts.failure.is_some() {
                parts.age = state.read_at.map(|at| at.elapsed()).unwrap_or_default();
            }
            builder = builder.server_parts(id.clone(), parts);
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

impl Drop for Aggregator {
    fn drop(&mut self) {
        for server in self.servers.values() {
            if let Some(listener) = server.listener.lock().unwrap_or_else(PoisonError::into_inner).take() {
                listener.abort();
            }
        }
    }
}

/// What a server answered: its lists are worth nothing without its info, and each stands alone.
struct Answer {
    info: Result<ServerInfo>,
    lists: Vec<(ListKind, Result<Arc<Listing>>)>,
}

impl ServerState {
    fn take(&mut self, id: &ServerId, answer: Answer, max_bytes: usize) {
        let parts = &mut self.parts;
        parts.failure = None;
        match answer.info {
            Ok(info) => parts.info = info,
            Err(error) => parts.failure = Some(Arc::new(error)),
        }
        if parts.failure.is_none() {
            for kind in ListKind::ALL {
                if !parts.info.offers(kind.capability()) {
                    parts.read_list(id, kind, &Listing::default(), max_bytes);
                }
            }
            self.read_at = Some(Instant::now());
        }
        for (kind, listing) in answer.lists {
            match listing {
                Ok(listing) => {
                    parts.read_list(id, kind, &listing, max_bytes);
                    parts.scopes.insert(kind, listing.scope());
                }
                Err(error) => _ = parts.failure.get_or_insert(Arc::new(error)),
            }
        }
    }
}

impl Server {
    fn state(&self) -> MutexGuard<'_, ServerState> {
        // Every change of the state is whole before the lock is given back.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears of changes from now on, if the client does. Once is enough.
    fn listen(&self, news: &Arc<Notify>) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if listener.is_some() {
            return;
        }
        let Some(mut changes) = self.client.changes() else { return };
        let state = Arc::clone(&self.state);
        let news = Arc::clone(news);
        *listener = Some(tokio::spawn(async move {
            loop {
                let change = match changes.recv().await {
                    Ok(change) => change,
                    // Some were missed: any list may have changed.
                    Err(broadcast::error::RecvError::Lagged(_)) => Change::Reconnected,
                    Err(broadcast::error::RecvError::Closed) => return,
                };
                {
                    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                    match change {
                        Change::List(kind) => _ = state.changes.insert(kind),
                        Change::Resource(uri) => _ = state.resources.insert(uri),
                        Change::Reconnected => state.changes.extend(ListKind::ALL),
                    }
                }
                news.notify_one();
            }
        }));
    }
}
