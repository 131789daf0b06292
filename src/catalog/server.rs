use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::future::join_all;
use tokio::{
    sync::{Notify, broadcast},
    task::{JoinHandle, spawn_blocking},
    time::{Instant, timeout},
};

use super::{
    aggregator::{AggregatorOptions, Progress},
    asked::Asked,
    heard::Heard,
    parts::ServerParts,
};
use crate::{
    Error, Result,
    client::{Change, Client, ListKind, Listing, list_all},
    error::ClientError,
    id::{ResourceId, ServerId},
    protocol::ServerInfo,
};

/// One server of an aggregator: its client, what it last answered, and what it said has changed.
pub(super) struct Server {
    pub(super) client: Arc<dyn Client>,
    state: Arc<Mutex<State>>,
    listener: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    parts: ServerParts,
    info: Stand,
    lists: BTreeMap<ListKind, Stand>,
    heard: Heard,
}

/// What every request of a refresh is made with.
pub(super) struct Asking<'a> {
    pub(super) options: &'a AggregatorOptions,
    pub(super) news: &'a Arc<Notify>,
    pub(super) progress: &'a (dyn Fn(Progress<'_>) + Sync),
}

/// How one part of a server's answers stands. What was asked for earlier than what stands is
/// dropped, however late its answer comes, and an older failure says nothing any more.
#[derive(Default)]
struct Stand {
    read: Option<Asked>,
    read_at: Option<Instant>,
    tried: Option<Asked>,
    failure: Option<Arc<Error>>,
}

/// What a server answered: its lists are worth nothing without its info, and each stands alone.
struct Answer {
    asked: Asked,
    info: Result<ServerInfo>,
    lists: Vec<(ListKind, Result<ListAnswer>)>,
}

/// One list, which may have been asked for before this time.
struct ListAnswer {
    asked: Asked,
    /// `None` if it is the one that stands.
    read: Option<ServerParts>,
}

impl Server {
    pub(super) fn new(client: Arc<dyn Client>) -> Self {
        Self { client, state: Arc::default(), listener: Mutex::new(None) }
    }

    /// What was heard and not dealt with yet.
    pub(super) fn heard(&self) -> Heard {
        self.state().heard.clone()
    }

    pub(super) fn has_heard(&self) -> bool {
        !self.state().heard.is_empty()
    }

    pub(super) fn settle_lists(&self, done: &Heard) {
        self.state().heard.settle_lists(done);
    }

    pub(super) fn settle_resources(&self, done: &Heard) {
        self.state().heard.settle_resources(done);
    }

    /// What stands of all answers so far.
    pub(super) fn parts(&self) -> ServerParts {
        let state = self.state();
        let mut parts = state.parts.clone();
        let all = ListKind::ALL.iter().filter_map(|kind| state.lists.get(kind));
        let failed = all.clone().filter(|stand| stand.failure.is_some());
        parts.failure = std::iter::once(&state.info).chain(failed.clone()).find_map(|stand| stand.failure.clone());
        // Without its info nothing of a server could be read again.
        let oldest = |stand: &Stand| stand.read_at;
        let oldest =
            if state.info.failure.is_some() { all.filter_map(oldest).min() } else { failed.filter_map(oldest).min() };
        parts.age = oldest.map(|at| at.elapsed()).unwrap_or_default();
        parts
    }

    /// Asks for those of `kinds` that are not fresh any more, or are said to have changed.
    pub(super) async fn refresh(&self, id: &ServerId, kinds: &[ListKind], asking: &Asking<'_>) {
        let Asking { options, news, progress } = asking;
        progress(Progress::Asking(id));
        // Before the first request, so that no change is missed between the list and the listening.
        self.listen(id, options, news);
        for kind in self.heard().lists.into_keys() {
            options.lists.forget(id, kind, &options.authorization);
        }
        let answer = self.ask(id, kinds, options).await;
        let taken = self.state().take(answer);
        match taken {
            Ok(tools) => progress(Progress::Answered(id, tools)),
            Err(error) => progress(Progress::Failed(id, &error)),
        }
    }

    async fn ask(&self, id: &ServerId, kinds: &[ListKind], options: &AggregatorOptions) -> Answer {
        let asked = options.lists.asking();
        let limit = options.limits.request;
        let info = match timeout(limit, self.client.info()).await {
            Ok(info) => info,
            Err(_) => Err(ClientError::Timeout { after: limit }),
        };
        let info = match info {
            Ok(info) => info,
            Err(error) => {
                tracing::warn!(server = %id, %error, "not connected");
                return Answer { asked, info: Err(error.at(id, "connect")), lists: Vec::new() };
            }
        };
        let lists = kinds.iter().map(|&kind| {
            let offered = info.offers(kind.capability());
            async move {
                let answer = if offered {
                    self.ask_list(id, kind, options).await
                } else {
                    Ok(ListAnswer { asked, read: Some(ServerParts::default()) })
                };
                let answer = answer.map_err(|error| {
                    tracing::warn!(server = %id, list = kind.method(), %error, "list not read");
                    error.at(id, kind.method())
                });
                (kind, answer)
            }
        });
        let lists = join_all(lists).await;
        Answer { asked, info: Ok(info), lists }
    }

    async fn ask_list(
        &self,
        id: &ServerId,
        kind: ListKind,
        options: &AggregatorOptions,
    ) -> Result<ListAnswer, ClientError> {
        let AggregatorOptions { lists, authorization, limits, .. } = options;
        // The time of tokio's clock, so that a host's tests can move it.
        let now = || Instant::now().into_std();
        let (asked, listing) = match lists.fresh(id, kind, authorization, now()) {
            Some(fresh) => fresh,
            None => {
                let asked = lists.asking();
                match list_all(&*self.client, kind, limits).await {
                    Ok(listing) => {
                        let listing = Arc::new(listing);
                        lists.keep(id, kind, authorization, &listing, asked, now());
                        (asked, listing)
                    }
                    // A server may name a capability without each of its lists (templates, mostly).
                    Err(error) if error.is_unsupported() => (asked, Arc::default()),
                    Err(error) => return Err(error),
                }
            }
        };
        if self.state().lists.get(&kind).is_some_and(|stand| stand.read == Some(asked)) {
            return Ok(ListAnswer { asked, read: None });
        }
        let read = read_list(id, kind, listing, limits.item_bytes).await?;
        Ok(ListAnswer { asked, read: Some(read) })
    }

    /// Hears of changes from now on, if the client does. Once is enough, while it lasts.
    ///
    /// What was read is forgotten as soon as a change is heard; lists are read again when the burst is over.
    pub(super) fn listen(&self, id: &ServerId, options: &AggregatorOptions, news: &Arc<Notify>) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if listener.as_ref().is_some_and(|listener| !listener.is_finished()) {
            return;
        }
        let Some(mut changes) = self.client.changes() else { return };
        let (state, news) = (Arc::clone(&self.state), Arc::clone(news));
        let (id, reads, authorization) = (id.clone(), Arc::clone(&options.reads), options.authorization.clone());
        *listener = Some(tokio::spawn(async move {
            loop {
                let change = match changes.recv().await {
                    Ok(change) => change,
                    Err(broadcast::error::RecvError::Lagged(missed)) => {
                        tracing::warn!(missed, "changes came faster than they were heard: all lists are read again");
                        Change::Reconnected
                    }
                    Err(broadcast::error::RecvError::Closed) => return,
                };
                match &change {
                    Change::List(_) => {}
                    Change::Resource(uri) => reads.forget(&ResourceId::new(id.clone(), uri.as_str()), &authorization),
                    Change::Reconnected => reads.forget_server(&id),
                }
                state.lock().unwrap_or_else(PoisonError::into_inner).heard.hear(change);
                news.notify_one();
            }
        }));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change of the state is whole before the lock is given back.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take() {
            listener.abort();
        }
    }
}

/// Reads the items of a list; a long one beside the other tasks of the host.
async fn read_list(
    id: &ServerId,
    kind: ListKind,
    listing: Arc<Listing>,
    item_bytes: usize,
) -> Result<ServerParts, ClientError> {
    const LONG_BYTES: usize = 1 << 20;
    let read = move |id: &ServerId, listing: &Listing| {
        let mut parts = ServerParts::default();
        parts.read_list(id, kind, listing, item_bytes);
        parts
    };
    let bytes: usize = listing.items().map(|item| item.get().len()).sum();
    if bytes < LONG_BYTES {
        return Ok(read(id, &listing));
    }
    let id = id.clone();
    let reading = spawn_blocking(move || read(&id, &listing)).await;
    reading.map_err(|error| ClientError::malformed(format!("reading was ended ({error})")))
}

impl State {
    /// Takes what is newer than what stands: the number of tools, or what failed first.
    fn take(&mut self, answer: Answer) -> Result<usize, Arc<Error>> {
        let mut failed = None;
        match answer.info {
            Ok(info) if self.info.read(answer.asked, answer.asked) => self.parts.info = info,
            Ok(_) => {}
            Err(error) => failed = Some(self.info.fail(answer.asked, error)),
        }
        for (kind, list) in answer.lists {
            let stand = self.lists.entry(kind).or_default();
            match list {
                Ok(list) => {
                    if stand.read(answer.asked, list.asked)
                        && let Some(read) = list.read
                    {
                        self.parts.replace(kind, read);
                    }
                }
                Err(error) => _ = failed.get_or_insert(stand.fail(answer.asked, error)),
            }
        }
        failed.map_or(Ok(self.parts.tools.len()), Err)
    }
}

impl Stand {
    /// Whether what was asked for at `asked` is newer than what stands, which it then replaces.
    /// `tried` is when it was tried, which may be later if it was still fresh.
    fn read(&mut self, tried: Asked, asked: Asked) -> bool {
        self.tries(tried);
        let newer = Some(asked) > self.read;
        if newer {
            self.read = Some(asked);
            self.read_at = Some(Instant::now());
        }
        newer
    }

    fn fail(&mut self, tried: Asked, error: Error) -> Arc<Error> {
        let error = Arc::new(error);
        if self.tries(tried) {
            self.failure = Some(Arc::clone(&error));
        }
        error
    }

    /// Whether nothing was tried later; then an older failure is forgotten.
    fn tries(&mut self, tried: Asked) -> bool {
        let last = Some(tried) > self.tried;
        if last {
            self.tried = Some(tried);
            self.failure = None;
        }
        last
    }
}
