//! The demo workplace through the whole host: real protocol, both eras, in process.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use proem::{
    Host, TokenBudget,
    catalog::{Aggregator, AggregatorOptions, CachePolicy, ReadRequest},
    client::{Change, Client, StreamClient},
    demo,
    error::ClientError,
    id::{ResourceId, ServerId},
    protocol::{CompletionRequest, CompletionTarget},
    retrieval::{Filter, Query},
};
use serde_json::{Map, json};

use crate::render::providers;

/// A host over all demo servers, added in the order that `order` gives them.
fn host(order: impl Fn(&mut Vec<demo::DemoServer>)) -> Host {
    let mut servers = demo::servers();
    order(&mut servers);
    let mut builder = Host::builder();
    for server in servers {
        let name = server.id().to_string();
        let (read, write) = tokio::io::split(server.serve());
        builder = builder.server(name, StreamClient::new(read, write));
    }
    builder.build().unwrap()
}

#[tokio::test]
async fn every_server_of_either_era_lists_all_its_pages() {
    let catalog = host(|_| {}).refresh().await;
    let failures: Vec<_> = catalog.failures().map(|(_, error)| error.to_string()).collect();
    assert_eq!(failures, Vec::<String>::new());
    assert_eq!(
        (catalog.servers().len(), catalog.tools().len(), catalog.resources().len(), catalog.prompts().len()),
        (32, 146, 34, 11),
    );
    assert_eq!(catalog.templates().len(), 4);
    let versions: BTreeSet<_> = catalog.servers().iter().filter_map(|s| s.info.protocol_version.as_deref()).collect();
    assert_eq!(versions, BTreeSet::from(["2025-11-25", "2026-07-28"]));
    // Three servers have a tool of the same name: each is known by its server too.
    for name in ["chat_search", "code-host_search", "files_search"] {
        assert!(catalog.exposed(name).is_some(), "{name}");
    }
}

#[tokio::test]
async fn requests_do_not_depend_on_the_order_of_servers() {
    let providers = providers();
    let mut requests = BTreeSet::new();
    for rotation in [0, 7, 20] {
        let host = host(|servers| servers.rotate_left(rotation));
        host.refresh().await;
        let mut session = host.session_at("2026-11-30T00:00:00Z".parse().unwrap());
        let turn = session.turn("give the customer of ticket T-4812 the money back").resources(TokenBudget::new(2_000));
        let context = turn.build().await.unwrap();
        requests.insert(providers.iter().map(|provider| context.render(&**provider).into_string()).collect::<Vec<_>>());
    }
    assert_eq!(requests.len(), 1);
}

#[tokio::test]
async fn annotations_decide_what_is_attached() {
    let host = host(|_| {});
    host.refresh().await;
    let mut session = host.session_at("2026-11-30T00:00:00Z".parse().unwrap());
    let turn = session.turn("a customer wants a refund for a duplicate charge").resources(TokenBudget::new(600));
    let context = turn.build().await.unwrap();
    let attached = context.attached();
    assert!(attached.tokens <= 600);
    let uris: Vec<_> = attached.resources.iter().map(|resource| &*resource.id.uri).collect();
    let required = ["deploy://freeze", "config://team-settings"];
    let related = ["support://policies/refunds/2026-09", "flags://one-click-refund", "support://guides/tone"];
    assert_eq!(uris, [required.as_slice(), &related].concat());
    let excluded = |uri: &str| {
        let found = attached.excluded.iter().find(|excluded| &*excluded.id.uri == uri);
        found.map(|excluded| excluded.reason.to_string()).unwrap()
    };
    // Priority 1, but for people.
    assert_eq!(excluded("people://onboarding/first-day"), "audience: not for the assistant");
    assert_eq!(excluded("support://policies/refunds/2024-05"), "outdated: support://policies/refunds/2026-09 is newer");
    assert!(excluded("wiki://kitchen-rules").starts_with("relevance: 0.0"));
}

#[tokio::test]
async fn a_burst_of_changes_is_one_refresh() {
    let host = host(|_| {});
    let before = host.refresh().await;
    let flags = ServerId::new("feature-flags").unwrap();
    host.client(&flags).unwrap().call_tool("enable_beta_tools", Map::new()).await.unwrap();
    let (after, changes) = tokio::time::timeout(Duration::from_secs(20), host.changed()).await.unwrap();
    assert!(changes.lists.iter().all(|(server, _)| *server == flags));
    let added: Vec<_> = after.diff(&before).added.iter().map(ToString::to_string).collect();
    assert_eq!(added, ["tool feature-flags/beta.rollout_plan", "tool feature-flags/beta.stale_report"]);
}

fn aggregator() -> Aggregator {
    let servers = demo::servers().into_iter().map(|server| {
        let id = server.id();
        let (read, write) = tokio::io::split(server.serve());
        (id, Arc::new(StreamClient::new(read, write)) as Arc<dyn Client>)
    });
    Aggregator::new(servers, AggregatorOptions::default())
}

#[tokio::test(start_paused = true)]
async fn a_watched_resource_that_a_call_changes_is_read_again() {
    let aggregator = aggregator();
    aggregator.refresh().await;
    // One of each era: they are asked for updates in different ways.
    for (server, uri, tool, arguments) in [
        (
            "feature-flags",
            "flags://one-click-refund",
            "flags.set",
            json!({"name": "one-click-refund", "environment": "production", "state": "on", "comment": "It works."}),
        ),
        ("ci-pipelines", "ci://runners/status.csv", "pipeline_run", json!({"repository": "shop/api"})),
    ] {
        let id = ResourceId::new(ServerId::new(server).unwrap(), uri);
        let kept = ReadRequest::new().with_cache(CachePolicy::For(Duration::from_secs(3_600)));
        let before = aggregator.read(&id, &kept).await.unwrap();
        assert!(Arc::ptr_eq(&before, &aggregator.read(&id, &kept).await.unwrap()), "{server}");

        let mut changes = aggregator.client(&id.server).unwrap().changes().unwrap();
        assert_eq!(aggregator.watch(&[id.clone()].into()).await.len(), 0, "{server}");
        let call = || aggregator.client(&id.server).unwrap().call_tool(tool, arguments.as_object().unwrap().clone());
        // Subscribing goes on beside the calls: one that comes before it is not told of.
        let told = async { while changes.recv().await != Ok(Change::Resource(uri.to_owned())) {} };
        tokio::pin!(told);
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            call().await.unwrap();
            if tokio::time::timeout(Duration::from_millis(50), &mut told).await.is_ok() {
                break;
            }
            assert!(tokio::time::Instant::now() < deadline, "{server} does not tell");
        }
        let (_, news) = tokio::time::timeout(Duration::from_secs(20), aggregator.changed()).await.unwrap();
        assert!(news.resources.contains(&(id.server.clone(), uri.to_owned())), "{news:?}");
        let after = aggregator.read(&id, &kept).await.unwrap();
        assert_ne!(before.contents, after.contents, "{server}");
    }
    let nothing = aggregator.watch(&BTreeSet::new()).await;
    assert!(nothing.is_empty(), "{nothing:?}");
}

#[tokio::test]
async fn arguments_are_completed_by_their_servers() {
    let aggregator = aggregator();
    aggregator.refresh().await;
    let deploy = ServerId::new("deploy").unwrap();
    let template = CompletionTarget::template("deploy://{environment}/{service}/env");
    let request = CompletionRequest::new(template, "service").with_value("p");
    let values = async |request| aggregator.complete(&deploy, &request).await.unwrap().values;
    assert_eq!(values(request.clone().with_known("environment", "staging")).await, ["preview"]);
    assert_eq!(values(request.clone().with_known("environment", "production")).await, [""; 0]);

    let mail = aggregator.complete(&ServerId::new("mail").unwrap(), &request).await.unwrap_err();
    assert_eq!(mail.to_string(), "server `mail`: completion/complete: not offered by this server");
    // Nor do the clients ask, where nobody looked at the catalog: one server of each era.
    for server in ["mail", "weather"] {
        let client = aggregator.client(&ServerId::new(server).unwrap()).unwrap();
        assert!(matches!(client.complete(&request).await, Err(ClientError::Unsupported)), "{server}");
    }
}

#[tokio::test]
async fn questions_find_their_tools() {
    let host = host(|_| {});
    let catalog = host.refresh().await;
    let index = host.composer().index(&catalog).await.unwrap();
    let mut within = [0; 3];
    for question in demo::QUESTIONS {
        let ranking = index.search(&Query::new(question.text), &Filter::new(), 10).unwrap();
        let expected =
            |hit: &proem::retrieval::Hit| hit.tool.server == question.server && &*hit.tool.name == question.tool;
        if let Some(place) = ranking.hits.iter().position(expected) {
            for (count, depth) in within.iter_mut().zip([1, 5, 10]) {
                *count += usize::from(place < depth);
            }
        }
    }
    // Asked in other words than the tools are described in: words alone find 12, 22 and 23.
    assert_eq!((within, demo::QUESTIONS.len()), ([13, 22, 27], 34), "first, in 5, in 10");
}
