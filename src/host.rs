//! The door: a [`Host`] wires servers, retrieval and token counting together.
//!
//! ```
//! use proem::{Host, TokenBudget, client::MemoryClient, render::Anthropic};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> proem::Result<()> {
//! let host = Host::builder()
//!     .server("git", MemoryClient::new().with_tool("merge", "Merge a branch into another"))
//!     .server("mail", MemoryClient::new().with_tool("send", "Send a message to a person"))
//!     .build()?;
//! host.refresh().await;
//!
//! let mut session = host.session();
//! let context = session.turn("merge the release branch").tools(TokenBudget::new(2_000)).build().await?;
//! let request = context.render(&Anthropic::new());
//! assert_eq!(request.to_value()["tools"][0]["name"], "merge");
//! assert_eq!(context.route("merge")?.to_string(), "git/merge");
//! # Ok(())
//! # }
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;

use crate::{
    Error, Result,
    catalog::{
        Aggregator, AggregatorOptions, Authorization, Catalog, Changes, ListCache, Naming, Progress, ReadCache,
        ReadRequest, TrustTier,
    },
    client::{Client, Limits},
    id::{ResourceId, ServerId},
    prompts::{self, Commands, Invocation, PromptOptions},
    protocol::ReadResourceResult,
    resources::{Attached, Governance, ResourceOptions},
    retrieval::{Query, Reranker, Retriever, Rewriter},
    session::{Composer, Hooks, RenderedPrompt, Session, SessionOptions},
    templates::Completer,
    tokens::{CountCache, TokenCounter},
};

/// Several servers, and everything that is needed to compose a turn from them. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    servers: Arc<Aggregator>,
    composer: Arc<Composer>,
}

impl Host {
    /// Starts a host.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Asks all servers at once for what is not fresh any more. Never fails as a whole: see
    /// [`Catalog::failures`].
    pub async fn refresh(&self) -> Catalog {
        self.servers.refresh().await
    }

    /// As [`refresh`](Self::refresh), telling `progress` of each server as it goes.
    pub async fn refresh_with(&self, progress: &(dyn Fn(Progress<'_>) + Sync)) -> Catalog {
        self.servers.refresh_with(progress).await
    }

    /// Waits until a server says that something changed and the burst is over, and reads that again.
    /// Dropping the future loses no change.
    pub async fn changed(&self) -> (Catalog, Changes) {
        self.servers.changed().await
    }

    /// The catalog as the last refresh left it; empty before the first one.
    pub fn catalog(&self) -> Catalog {
        self.servers.catalog()
    }

    /// Starts a conversation now.
    pub fn session(&self) -> Session {
        self.session_at(Timestamp::now())
    }

    /// Starts a conversation with another `now`: what recency is measured against.
    pub fn session_at(&self, now: Timestamp) -> Session {
        Session::new(Arc::clone(&self.composer), now)
    }

    /// Starts a conversation now that is carried on as `options` say.
    pub fn session_with(&self, options: SessionOptions) -> Session {
        Session::with_options(Arc::clone(&self.composer), Timestamp::now(), options)
    }

    /// Goes on with a conversation that [`Session::to_json`] wrote, after a restart.
    ///
    /// # Errors
    /// See [`Session::restore`].
    pub fn restore_session(&self, options: SessionOptions, json: &str) -> Result<Session> {
        Session::restore(Arc::clone(&self.composer), options, json)
    }

    /// Selects resources for a request, reads them and keeps what fits: what a turn attaches, for
    /// hosts that lay out their requests themselves. An empty request selects by priority and age.
    ///
    /// Never fails as a whole: what is not attached is in [`Attached::excluded`] with its reason.
    pub async fn attach(&self, request: impl Into<Query>, options: &ResourceOptions) -> Attached {
        self.composer.attach(&self.catalog(), &request.into(), options).await
    }

    /// Reads a resource, listed or not, from what is kept of it where that is still fresh.
    ///
    /// # Errors
    /// See [`Aggregator::read`].
    pub async fn read(&self, id: &ResourceId, request: &ReadRequest) -> Result<Arc<ReadResourceResult>> {
        self.servers.read(id, request).await
    }

    /// Asks to hear when these resources change, in [`Self::changed`]: the last call counts. What
    /// was kept of a resource is forgotten as soon as its server says that it changed.
    ///
    /// Gives the servers that do not tell of changes, and why.
    pub async fn watch(&self, resources: &BTreeSet<ResourceId>) -> BTreeMap<ServerId, Error> {
        self.servers.watch(resources).await
    }

    /// Suggests values for arguments of prompts and templates while a person types; one serves a whole
    /// user interface.
    pub fn completer(&self) -> Completer {
        Completer::new(Arc::clone(&self.servers))
    }

    /// All prompts as commands that a person may type.
    pub fn commands(&self) -> Commands {
        Commands::new(&self.catalog())
    }

    /// Gets a prompt that a person invoked, as messages for [`Turn::prompt`](crate::session::Turn::prompt).
    /// Its arguments are checked before the server is asked. Bounds and budget are those of
    /// [`PromptOptions::default`].
    ///
    /// # Errors
    /// See [`prompts::get`].
    pub async fn prompt(&self, invocation: &Invocation) -> Result<RenderedPrompt> {
        self.prompt_with(invocation, &PromptOptions::default()).await
    }

    /// As [`prompt`](Self::prompt), with other bounds, another budget, or where the messages go. The
    /// host's rules hold unless there are rules among the options.
    ///
    /// # Errors
    /// See [`prompts::get`].
    pub async fn prompt_with(&self, invocation: &Invocation, options: &PromptOptions) -> Result<RenderedPrompt> {
        let mut options = options.clone();
        if options.governance.is_empty() {
            options.governance = Arc::clone(self.composer.governance());
        }
        let answer = prompts::get(&self.servers, &self.catalog(), invocation, &options).await?;
        Ok(RenderedPrompt::new(answer, options.budget, self.counts()))
    }

    /// The client of a server, for calls.
    ///
    /// # Errors
    /// [`Error::UnknownServer`].
    pub fn client(&self, server: &ServerId) -> Result<&Arc<dyn Client>> {
        self.servers.client(server)
    }

    /// What counts tokens, with what it remembers.
    pub fn counts(&self) -> &CountCache {
        self.composer.counts()
    }

    /// What the turns share, for hosts that search by themselves.
    pub fn composer(&self) -> &Arc<Composer> {
        &self.composer
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("servers", &self.servers).finish_non_exhaustive()
    }
}

/// Sets up a [`Host`]. Every default is stated.
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct HostBuilder {
    servers: Vec<(String, Arc<dyn Client>)>,
    trust: Vec<(String, TrustTier)>,
    retriever: Option<Arc<dyn Retriever>>,
    resource_retriever: Option<Arc<dyn Retriever>>,
    hooks: Hooks,
    governance: Governance,
    counter: Option<Arc<dyn TokenCounter>>,
    aggregator: AggregatorOptions,
}

impl HostBuilder {
    /// Adds a server under a name of the host's choice. The order of servers does not matter.
    pub fn server(self, name: impl Into<String>, client: impl Client + 'static) -> Self {
        self.shared_server(name, Arc::new(client))
    }

    /// Adds a server whose client others hold too.
    pub fn shared_server(mut self, name: impl Into<String>, client: Arc<dyn Client>) -> Self {
        self.servers.push((name.into(), client));
        self
    }

    /// Adds several servers, such as those of a configuration file.
    pub fn servers(mut self, servers: impl IntoIterator<Item = (ServerId, Arc<dyn Client>)>) -> Self {
        self.servers.extend(servers.into_iter().map(|(id, client)| (id.to_string(), client)));
        self
    }

    /// Sets what retrieves tools. Default: words and the vectors of the embedding that ships
    /// together (features `tantivy` and `bundled`), which finds more than either on every measured
    /// set; see `docs/retrieval.md`.
    pub fn retriever(self, retriever: impl Retriever + 'static) -> Self {
        self.shared_retriever(Arc::new(retriever))
    }

    /// Sets a retriever that others hold too.
    pub fn shared_retriever(mut self, retriever: Arc<dyn Retriever>) -> Self {
        self.retriever = Some(retriever);
        self
    }

    /// Sets what finds resources, given to it as tools by [`searchable`](crate::resources::searchable).
    /// Default: what retrieves tools.
    pub fn resource_retriever(mut self, retriever: impl Retriever + 'static) -> Self {
        self.resource_retriever = Some(Arc::new(retriever));
        self
    }

    /// Sets what takes requests apart before they are searched. Default: nothing.
    pub fn rewriter(mut self, rewriter: impl Rewriter + 'static) -> Self {
        self.hooks.rewriter = Some(Arc::new(rewriter));
        self
    }

    /// Sets what orders the best hits again. Default: nothing.
    pub fn reranker(mut self, reranker: impl Reranker + 'static) -> Self {
        self.hooks.reranker = Some(Arc::new(reranker));
        self
    }

    /// Sets what a rewriter or a reranker may take before the turn goes on without it. Default: 5 seconds.
    pub fn hook_timeout(mut self, timeout: Duration) -> Self {
        self.hooks.timeout = timeout;
        self
    }

    /// Sets what counts tokens. Default: tiktoken's `o200k_base` (feature `tiktoken`).
    pub fn counter(self, counter: impl TokenCounter + 'static) -> Self {
        self.shared_counter(Arc::new(counter))
    }

    /// Sets a counter that others hold too.
    pub fn shared_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = Some(counter);
        self
    }

    /// Sets the host's rules for resources: owners, classes of data, audiences, sizes, reuse.
    /// Default: none.
    pub fn governance(mut self, rules: Governance) -> Self {
        self.governance = rules;
        self
    }

    /// Sets when exposed names carry their server's name. Default: on a collision.
    pub fn naming(mut self, naming: Naming) -> Self {
        self.aggregator.naming = naming;
        self
    }

    /// Sets what one server may cost. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.aggregator.limits = limits;
        self
    }

    /// Sets on whose behalf servers are asked; private lists never leave that context. Default:
    /// one unnamed context.
    pub fn authorization(mut self, authorization: Authorization) -> Self {
        self.aggregator.authorization = authorization;
        self
    }

    /// Sets how far a server is trusted: what its tools may gain by what they say of themselves.
    /// Default: [`TrustTier::Standard`].
    pub fn trust(mut self, name: impl Into<String>, tier: TrustTier) -> Self {
        self.trust.push((name.into(), tier));
        self
    }

    /// Shares lists with other hosts, as far as their servers allow. Default: a cache of its own.
    pub fn lists(mut self, lists: Arc<ListCache>) -> Self {
        self.aggregator.lists = lists;
        self
    }

    /// Shares what was read of resources with other hosts, as far as their servers allow. Default: a
    /// cache of its own.
    pub fn reads(mut self, reads: Arc<ReadCache>) -> Self {
        self.aggregator.reads = reads;
        self
    }

    /// Checks and wires. No server is asked yet.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a server name that is not valid or given twice, and for a retriever
    /// with data of [another context](Retriever::authorization); [`Error::UnknownServer`] for a tier
    /// of a server that was not added; [`Error::Missing`] for a retriever or counter whose default
    /// is switched off and that was not given.
    pub fn build(mut self) -> Result<Host> {
        let mut servers = BTreeMap::new();
        for (name, client) in self.servers {
            let id = ServerId::new(&name)?;
            if servers.insert(id, client).is_some() {
                return Err(Error::invalid(format!("server id `{name}`"), "two servers have this name"));
            }
        }
        for (name, tier) in self.trust {
            let id = ServerId::new(&name)?;
            if !servers.contains_key(&id) {
                return Err(Error::UnknownServer { server: id });
            }
            self.aggregator.trust.insert(id, tier);
        }
        let retriever = self.retriever.or_else(default_retriever).ok_or(Error::Missing {
            missing: "a retriever",
            remedy: "give one to `HostBuilder::retriever`, or switch on the features `tantivy` and `bundled`",
        })?;
        for retriever in [Some(&retriever), self.resource_retriever.as_ref()].into_iter().flatten() {
            if retriever.authorization().is_some_and(|of| *of != self.aggregator.authorization) {
                return Err(Error::invalid(
                    format!("retriever `{}`", retriever.name()),
                    "it holds data of another authorization context",
                ));
            }
        }
        let counter = self.counter.or_else(default_counter).ok_or(Error::Missing {
            missing: "a token counter",
            remedy: "give one to `HostBuilder::counter`, or switch on the feature `tiktoken`",
        })?;
        let servers = Arc::new(Aggregator::new(servers, self.aggregator));
        let composer = Composer::new(Arc::clone(&servers), retriever, Arc::new(CountCache::new(counter)));
        let mut composer = composer.with_hooks(self.hooks).with_governance(self.governance);
        if let Some(retriever) = self.resource_retriever {
            composer = composer.with_resource_retriever(retriever);
        }
        Ok(Host { servers, composer: Arc::new(composer) })
    }
}

#[cfg(all(feature = "tantivy", feature = "bundled"))]
fn default_retriever() -> Option<Arc<dyn Retriever>> {
    Some(Arc::new(crate::retrieval::Hybrid::new(crate::index::StaticEmbedder::bundled())))
}

// Not words alone instead: a feature that another crate of the same program switches on would then
// change what is retrieved.
#[cfg(not(all(feature = "tantivy", feature = "bundled")))]
fn default_retriever() -> Option<Arc<dyn Retriever>> {
    None
}

#[cfg(feature = "tiktoken")]
fn default_counter() -> Option<Arc<dyn TokenCounter>> {
    Some(Arc::new(crate::tokens::Tiktoken::default()))
}

#[cfg(not(feature = "tiktoken"))]
fn default_counter() -> Option<Arc<dyn TokenCounter>> {
    None
}
