//! Turns of a host: routing, order, failures.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use proem::{
    Error, Host, Result, TokenBudget,
    catalog::{Catalog, TrustTier},
    client::{Change, ListKind, MemoryClient},
    host::HostBuilder,
    protocol::{Resource, Tool},
    render::Anthropic,
    retrieval::{Filter, Hit, Ranking, Retriever, ToolIndex},
    tokens::BytesPerToken,
};
use proptest::prelude::*;

use crate::{
    fake::{Fake, Step, id, tools},
    render::providers,
};

/// Ranks all tools by how many letters of the query their names hold: simple, and made outside.
#[derive(Debug)]
pub(crate) struct Letters;

#[derive(Debug)]
struct LettersIndex(Catalog);

impl Retriever for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn index(&self, catalog: &Catalog, _: Option<&Arc<dyn ToolIndex>>) -> Result<Arc<dyn ToolIndex>> {
        Ok(Arc::new(LettersIndex(catalog.clone())))
    }
}

impl ToolIndex for LettersIndex {
    fn catalog(&self) -> &Catalog {
        &self.0
    }

    fn search_text(&self, text: &str, filter: &Filter, limit: usize) -> Result<Ranking> {
        let mut hits: Vec<_> = self.0.tools().iter().filter(|entry| filter.passes(entry)).collect();
        let score = |name: &str| name.chars().filter(|c| text.contains(*c)).count();
        hits.sort_by_key(|entry| (std::cmp::Reverse(score(&entry.id.name)), entry.id.clone()));
        hits.truncate(limit);
        let mut ranking = Ranking::default();
        ranking.coverage = 1.0;
        for (i, entry) in hits.into_iter().enumerate() {
            ranking.hits.push(Hit::new(entry.id.clone(), score(&entry.id.name) as f32, i + 1));
        }
        Ok(ranking)
    }
}

fn builder() -> HostBuilder {
    Host::builder().retriever(Letters).counter(BytesPerToken::default())
}

fn now() -> jiff::Timestamp {
    "2026-10-01T00:00:00Z".parse().unwrap()
}

#[tokio::test]
async fn names_are_routed_by_what_was_offered_and_by_nothing_else() {
    let host = builder()
        .server("git", MemoryClient::new().with_tool("merge", "Merge").with_tool("log", "Show"))
        .server("svn", MemoryClient::new().with_tool("log", "Show"))
        .build()
        .unwrap();
    host.refresh().await;
    let mut session = host.session_at(now());
    assert!(session.route("merge").is_err());
    let filter = Filter::new().deny("svn".parse().unwrap());
    let context = session.turn("merge").filter(filter).build().await.unwrap();
    assert_eq!(context.route("merge").unwrap().to_string(), "git/merge");
    assert_eq!(context.route("git_log").unwrap().to_string(), "git/log");
    for name in ["svn_log", "log", "", "git/merge", "MERGE", "merge "] {
        let error = context.route(name).unwrap_err();
        assert!(matches!(error, Error::UnknownTool { .. }) && error.is_not_found(), "{name}");
    }
    for provider in providers() {
        let request = context.render(&*provider);
        let names: Vec<_> = request.tools().map(|(name, id)| (name.to_owned(), id.to_string())).collect();
        assert_eq!(names.len(), context.selection().tools.len());
        for (name, id) in names {
            assert_eq!(context.route(&name).unwrap().to_string(), id);
        }
    }
    // A later turn offers less, and a call from the earlier one still finds its tool.
    let filter = Filter::new().deny("git".parse().unwrap());
    let later = session.turn("log").filter(filter).build().await.unwrap();
    assert!(later.route("merge").is_err());
    assert_eq!(session.route("merge").unwrap().to_string(), "git/merge");
    assert_eq!(session.route("svn_log").unwrap().to_string(), "svn/log");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_does_not_matter_to_the_others() {
    let turn = |broken: Option<Fake>| async move {
        let good = MemoryClient::new().with_tool("merge", "Merge").with_resource("a:1", "Some text.");
        let mut builder = builder().server("git", good);
        if let Some(broken) = broken {
            builder = builder.shared_server("broken", broken.boxed());
        }
        let host = builder.build().unwrap();
        host.refresh().await;
        let mut session = host.session_at(now());
        let context = session.turn("merge").resources(TokenBudget::new(1_000)).build().await.unwrap();
        let report = context.report(&Anthropic::new());
        (context.render(&Anthropic::new()).as_str().to_owned(), report.catalog.failures.len())
    };
    let (alone, _) = turn(None).await;
    for step in [Step::error(-32_603), Step::silence()] {
        let broken = Fake::new().with(ListKind::Tools, [step.clone()]).with(ListKind::Resources, [step]);
        assert_eq!(turn(Some(broken)).await, (alone.clone(), 1));
    }
}

#[tokio::test]
async fn a_turn_sees_the_catalog_of_the_last_refresh() {
    let git = MemoryClient::new().with_tool("merge", "Merge");
    let host = builder().server("git", git.clone()).build().unwrap();
    host.refresh().await;
    let mut session = host.session_at(now());
    let first = session.turn("merge").build().await.unwrap();
    git.set_tools([Tool::new("rebase", "Rebase")]);
    let same = session.turn("merge").build().await.unwrap();
    assert_eq!(same.render(&Anthropic::new()).as_str(), first.render(&Anthropic::new()).as_str());
    host.changed().await;
    let new = session.turn("merge").build().await.unwrap();
    assert_eq!((new.route("rebase").is_ok(), new.route("merge").is_ok()), (true, false));
}

#[derive(Debug)]
struct Counted(Arc<std::sync::atomic::AtomicUsize>);

impl Retriever for Counted {
    fn name(&self) -> &str {
        "counted"
    }

    fn index(&self, catalog: &Catalog, previous: Option<&Arc<dyn ToolIndex>>) -> Result<Arc<dyn ToolIndex>> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(20));
        Letters.index(catalog, previous)
    }
}

#[tokio::test]
async fn turns_that_begin_at_once_index_once() {
    let indexed = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let builder = Host::builder().retriever(Counted(Arc::clone(&indexed))).counter(BytesPerToken::default());
    let host = builder.server("git", MemoryClient::new().with_tool("merge", "Merge")).build().unwrap();
    host.refresh().await;
    let turns = (0..8).map(|_| {
        let host = host.clone();
        tokio::spawn(async move { host.session_at(now()).turn("merge").build().await.unwrap().selection().tools.len() })
    });
    for turn in turns.collect::<Vec<_>>() {
        assert_eq!(turn.await.unwrap(), 1);
    }
    assert_eq!(indexed.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
fn a_host_says_what_it_lacks() {
    let twice = builder().server("git", MemoryClient::new()).server("git", MemoryClient::new()).build();
    assert_eq!(twice.unwrap_err().to_string(), "invalid server id `git`: two servers have this name");
    assert!(builder().server("", MemoryClient::new()).build().is_err());
    let unknown = builder().trust("git", TrustTier::Trusted).build();
    assert_eq!(unknown.unwrap_err().to_string(), "no server `git` in this host");
    let default = Host::builder().build();
    if cfg!(all(feature = "tantivy", feature = "bundled", feature = "tiktoken")) {
        assert!(default.is_ok());
    } else {
        let error = default.unwrap_err();
        assert!(matches!(error, Error::Missing { .. }), "{error}");
        assert!(error.to_string().contains("switch on the feature"), "{error}");
    }
}

#[tokio::test]
async fn a_host_says_whom_it_trusts() {
    let host = |tier| {
        let servers = ["a", "b"].into_iter().fold(builder(), |builder, server| {
            builder.server(server, MemoryClient::new().with_tool("pay", "Pay a bill of the month"))
        });
        servers.trust("a", tier).build().unwrap()
    };
    let standard = host(TrustTier::Standard).refresh().await;
    for (tier, expected) in [(TrustTier::Standard, "a/pay b/pay"), (TrustTier::Untrusted, "b/pay a/pay")] {
        let host = host(tier);
        let catalog = host.refresh().await;
        assert_eq!((catalog.trust(&id("a")), catalog.trust(&id("b"))), (tier, TrustTier::Standard));
        // What is remembered of a catalog must not be taken for one of other tiers.
        assert_eq!(catalog.digest() == standard.digest(), tier == TrustTier::Standard);
        let context = host.session_at(now()).turn("a bill to pay").build().await.unwrap();
        let offered: Vec<_> = context.selection().tools.iter().map(|tool| tool.id.to_string()).collect();
        assert_eq!(offered.join(" "), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn many_sessions_at_once_see_whole_catalogs() {
    let fake = Fake::new().with(ListKind::Tools, [tools(["a1", "a2"]), tools(["b1", "b2"]), tools(["c1", "c2"])]);
    let host = builder().shared_server("git", fake.boxed()).build().unwrap();
    host.refresh().await;
    let turns = (0..20).map(|i| {
        let (host, fake) = (host.clone(), fake.clone());
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(37 * i)).await;
            if i % 7 == 3 {
                fake.say(Change::List(ListKind::Tools));
                host.changed().await;
            }
            let mut session = host.session_at(now());
            let context = session.turn("abc").build().await.unwrap();
            let names: Vec<_> = context.selection().tools.iter().map(|tool| tool.id.name.to_string()).collect();
            assert!(names.len() == 2 && names[0][..1] == names[1][..1], "{names:?}");
        })
    });
    for turn in turns.collect::<Vec<_>>() {
        turn.await.unwrap();
    }
}

type Items = BTreeMap<String, (Vec<String>, Vec<String>)>;

/// All three requests of one turn.
async fn requests(servers: &Items, order: &[usize], pages: usize, query: &str) -> Vec<String> {
    let names: Vec<_> = servers.keys().collect();
    let mut builder = builder();
    for i in order {
        let (tools, resources) = &servers[names[*i]];
        let client =
            tools.iter().fold(MemoryClient::new(), |client, name| client.with_tool(name, format!("Does {name}")));
        let client = resources.iter().fold(client, |client, uri| {
            let mut resource = Resource::new(uri, uri);
            resource.size = Some(10);
            client.with_described_resource(resource, format!("Text of {uri}"))
        });
        builder = builder.server(names[*i], client.with_instructions("Be brief.").with_page_size(pages));
    }
    let host = builder.build().unwrap();
    host.refresh().await;
    let mut session = host.session_at(now());
    let turn = session.turn(query).system("Be kind.").model("some-model");
    let context = turn.tools(TokenBudget::new(200)).resources(TokenBudget::new(40)).build().await.unwrap();
    providers().iter().map(|provider| context.render(&**provider).as_str().to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_same_servers_give_the_same_bytes_in_any_order(
        (servers, order) in prop::collection::btree_map(
            "[a-d]{1,2}",
            (prop::collection::btree_set("[a-f_.]{1,4}", 0..6), prop::collection::btree_set("[a-c]:[a-f]{1,3}", 0..4)),
            1..5,
        ).prop_flat_map(|servers| {
            let servers: Items = servers
                .into_iter()
                .map(|(name, (tools, uris))| (name, (tools.into_iter().collect(), uris.into_iter().collect())))
                .collect();
            let order: Vec<usize> = (0..servers.len()).collect();
            (Just(servers), Just(order).prop_shuffle())
        }),
        query in "[a-f ]{0,8}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let straight: Vec<usize> = (0..servers.len()).collect();
        let (one, again, mixed) = runtime.block_on(async {
            (
                requests(&servers, &straight, 100, &query).await,
                requests(&servers, &straight, 100, &query).await,
                requests(&servers, &order, 1, &query).await,
            )
        });
        prop_assert_eq!(&one, &again);
        prop_assert_eq!(&one, &mixed);
    }
}
