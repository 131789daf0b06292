//! Real servers, started from their packages: both eras, ways to fail, and a death in the middle.
//!
//! `scripts/real-servers` installs them; without it these tests are skipped.

#![allow(clippy::unwrap_used, reason = "what the script writes is as it should be")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use proem::{
    Host,
    catalog::{Aggregator, AggregatorOptions, Catalog, ReadRequest},
    client::{CaptureClient, Change, Client, Config, Limits, ServerConfig, StdioClient, StdioConfig},
    id::{ResourceId, ServerId},
    protocol::{CompletionRequest, CompletionTarget},
};
use serde_json::{Map, json};
use tokio::sync::Mutex;

use crate::{command_line::proem, outside};

/// Servers that start while others do are slow enough to be taken for dead.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// With more time than a host would give them: on a busy machine a modern server that starts slower
/// than the default probe waits counts as one of the older era.
fn host(config: &Path) -> Host {
    let patience = Duration::from_secs(60);
    let limits = Limits::default().with_request(patience * 3);
    commands(config)
        .into_iter()
        .fold(Host::builder().limits(limits), |host, (server, command)| {
            let client = StdioClient::new(command.command).with_args(command.args).with_limits(&limits);
            let client = command.env.into_iter().fold(client, |client, (name, value)| client.with_env(name, value));
            host.server(server, client.with_probe(patience))
        })
        .build()
        .unwrap()
}

fn commands(config: &Path) -> BTreeMap<String, StdioConfig> {
    let config = Config::open(config).unwrap();
    assert!(config.failures.is_empty(), "{:?}", config.failures);
    let servers = config.servers.into_iter();
    servers
        .map(|(id, server)| match server {
            ServerConfig::Stdio(command) => (id.to_string(), command),
            other => panic!("{id} is no child process: {other:?}"),
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_connect_in_their_era_and_list_what_they_are_known_to_list() {
    let Some(config) = outside::servers("mcp.json") else { return };
    let _alone = ONE_AT_A_TIME.lock().await;
    let host = host(&config);
    let catalog = host.refresh().await;
    let failures: Vec<_> = catalog.failures().map(|(_, error)| error.to_string()).collect();
    assert!(failures.is_empty(), "{failures:#?}");

    let eras: BTreeMap<_, _> = catalog
        .servers()
        .iter()
        .map(|server| (server.id.as_str(), server.info.protocol_version.as_deref().unwrap_or_default()))
        .collect();
    let expected = [
        ("context7", MODERN),
        ("everything", LEGACY),
        ("fetch", MODERN),
        ("filesystem", LEGACY),
        ("git", MODERN),
        ("memory", LEGACY),
        ("mongodb", MODERN),
        ("sequential-thinking", LEGACY),
        ("time", MODERN),
    ];
    assert_eq!(eras, BTreeMap::from(expected));

    for (query, server, name, at_most) in [
        ("what time is it in Tokyo", "time", "get_current_time", 3),
        ("what is the current time in Tokyo", "time", "get_current_time", 1),
        ("show the commit history of this repository", "git", "git_log", 5),
        ("show the commit log", "git", "git_log", 1),
        ("convert 3 pm in London to Tokyo time", "time", "convert_time", 1),
        ("insert documents into a mongodb collection", "mongodb", "insert-many", 1),
        ("read the file notes.md", "filesystem", "read_file", 2),
    ] {
        let context = host.session().turn(query).build().await.unwrap();
        let tools = &context.selection().tools;
        let rank = tools.iter().find(|tool| tool.id.server.as_str() == server && *tool.id.name == *name);
        let rank = rank.and_then(|tool| tool.rank);
        assert!(rank.is_some_and(|rank| rank <= at_most), "{query}: {server}/{name} has rank {rank:?}");
    }

    let Some(folder) = outside::shared("real-servers") else { return };
    for (server, _) in expected {
        let captures = CaptureClient::open(folder.join(format!("{server}.json"))).unwrap();
        let captured =
            Host::builder().servers(captures.servers.into_iter().map(|(id, client)| (id, Arc::new(client) as _)));
        let captured = captured.build().unwrap().refresh().await;
        assert_eq!(names(&catalog, server), names(&captured, server), "{server}");
    }
}

/// The identifiers of everything that a server lists, each with its kind.
fn names(catalog: &Catalog, server: &str) -> BTreeSet<(&'static str, String)> {
    let tools = catalog.tools().iter().map(|entry| (&entry.id.server, "tool", entry.id.name.to_string()));
    let resources = catalog.resources().iter().map(|entry| (&entry.id.server, "resource", entry.id.uri.to_string()));
    let templates =
        catalog.templates().iter().map(|entry| (&entry.id.server, "template", entry.template.uri_template.clone()));
    let prompts = catalog.prompts().iter().map(|entry| (&entry.id.server, "prompt", entry.id.name.to_string()));
    let all = tools.chain(resources).chain(templates).chain(prompts);
    all.filter(|(id, ..)| id.as_str() == server).map(|(_, kind, name)| (kind, name)).collect()
}

#[test]
fn the_program_plans_with_them() {
    let Some(config) = outside::servers("mcp.json") else { return };
    let _alone = ONE_AT_A_TIME.blocking_lock();
    let run =
        proem(&["plan", "show the commit log", "--config", config.to_str().unwrap(), "--timeout", "120", "--json"]);
    let plan = run.json();
    assert_eq!(plan["catalog"]["servers"], 9);
    assert_eq!(plan["selection"]["tools"][0]["server"], "git");
    assert_eq!(plan["selection"]["tools"][0]["name"], "git_log");
}

/// What a person does with resources and prompts, from the list to the text.
#[test]
fn the_program_lists_reads_and_invokes_with_them() {
    let Some(config) = outside::servers("mcp.json") else { return };
    let _alone = ONE_AT_A_TIME.blocking_lock();
    let run = |args: &[&str]| {
        let sources = ["--config", config.to_str().unwrap(), "--timeout", "120", "--json"];
        proem(&[args, &sources].concat()).json()
    };
    let report = run(&["resources", "", "--budget", "20000"]);
    let selected = report["selected"].as_array().unwrap();
    assert!(selected.len() >= 5, "{report:#}");
    assert!(report["tokens"].as_u64().unwrap() <= 20_000);
    // Listed by one server, read where it is, whatever the others are called.
    let (server, uri) = (selected[0]["server"].as_str().unwrap(), selected[0]["uri"].as_str().unwrap());
    let read = run(&["read", &format!("{server}:{uri}")]);
    assert_eq!(read[0]["server"], server);
    assert!(read[0]["contents"][0]["uri"].is_string(), "{read:#}");

    let prompts = run(&["prompts"]);
    let simple = prompts.as_array().unwrap().iter().find(|prompt| prompt["definition"]["arguments"].is_null());
    let prompt = run(&["prompt", simple.unwrap()["command"].as_str().unwrap()]);
    assert!(!prompt["messages"].as_array().unwrap().is_empty(), "{prompt:#}");
}

#[test]
fn three_broken_servers_hide_no_good_one() {
    let Some(config) = outside::servers("mcp-broken.json") else { return };
    let _alone = ONE_AT_A_TIME.blocking_lock();
    let timeout = Duration::from_secs(20);
    let started = Instant::now();
    let seconds = timeout.as_secs().to_string();
    let args = ["plan", "convert a time", "--config", config.to_str().unwrap(), "--timeout", &seconds, "--json"];
    let run = proem(&args);
    // One request that is not answered, and what starting and ending processes takes.
    assert!(started.elapsed() < timeout * 2, "{:?}", started.elapsed());

    let plan = run.json();
    assert_eq!(plan["selection"]["tools"][0]["server"], "time");
    assert_eq!((&plan["catalog"]["servers"], &plan["catalog"]["tools"]), (&5.into(), &11.into()));
    let failures = plan["catalog"]["failures"].as_array().unwrap();
    let failures: Vec<_> = failures.iter().map(|failure| failure["error"].as_str().unwrap()).collect();
    let expected = [
        ["server `dies`: tools/list: not reachable: its process ended (exit status: 1)", "out of memory, goodbye"],
        ["server `missing`: connect: not reachable: cannot start `no-such-mcp-server`", "no such command"],
        ["server `silent`: connect: ", "no answer within 20s"],
    ];
    assert_eq!(failures.len(), expected.len(), "{failures:#?}");
    for (failure, parts) in failures.iter().zip(expected) {
        assert!(parts.iter().all(|part| failure.contains(part)), "{failure}");
        assert!(run.stderr.contains(failure), "{}", run.stderr);
    }
}

/// A server that dies is started again, and what it listed stands all the while.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_keeps_its_list_and_comes_back() {
    let Some(config) = outside::servers("mcp.json") else { return };
    let _alone = ONE_AT_A_TIME.lock().await;
    for server in ["memory", "time"] {
        let folder = tempfile::tempdir().unwrap();
        let starts = folder.path().join("starts");
        let host = Host::builder().server(server, noting_its_pid(&config, server, &starts)).build().unwrap();
        let first = host.refresh().await;
        assert_eq!(first.failures().count(), 0, "{server}");
        assert!(!first.tools().is_empty(), "{server}");

        for deaths in 1..=2 {
            let pids = fs::read_to_string(&starts).unwrap();
            assert_eq!(pids.lines().count(), deaths, "{server}: one start for each life");
            let killed = Command::new("kill").args(["-KILL", pids.lines().last().unwrap()]).status().unwrap();
            assert!(killed.success());
            let deadline = Instant::now() + Duration::from_secs(20);
            loop {
                let catalog = host.refresh().await;
                assert_eq!(catalog.tools(), first.tools(), "{server}: what it listed before stands");
                let is_back = fs::read_to_string(&starts).unwrap().lines().count() > deaths;
                match catalog.failures().next() {
                    None if is_back => break,
                    None => {}
                    Some((id, error)) => {
                        assert_eq!(id.as_str(), server);
                        assert!(error.to_string().contains("not reachable"), "{error}");
                    }
                }
                assert!(Instant::now() < deadline, "{server} did not come back");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

/// A server of the configuration, started by a shell that notes its process id at each start.
#[cfg(unix)]
fn noting_its_pid(config: &Path, server: &str, starts: &Path) -> StdioClient {
    let found = commands(config).remove(server).unwrap();
    let client = StdioClient::new("sh")
        .with_args(["-c", r#"echo $$ >> "$0"; exec "$@""#, starts.to_str().unwrap(), &found.command])
        .with_args(found.args);
    found.env.into_iter().fold(client, |client, (name, value)| client.with_env(name, value))
}

/// One server of the configuration alone, of the era that it is to be taken for.
fn alone(config: &Path, server: &str, era: &str) -> (ServerId, Aggregator) {
    let found = commands(config).remove(server).unwrap();
    alone_by(server, era, StdioClient::new(found.command).with_args(found.args), found.env)
}

fn alone_by(server: &str, era: &str, client: StdioClient, env: BTreeMap<String, String>) -> (ServerId, Aggregator) {
    let patience = Duration::from_secs(60);
    let mut options = AggregatorOptions::default();
    options.limits = Limits::default().with_request(patience * 3);
    // Who is not waited for is taken for one of the older era.
    let probe = if era == MODERN { patience } else { Duration::ZERO };
    let client = client.with_limits(&options.limits).with_probe(probe);
    let client = env.into_iter().fold(client, |client, (name, value)| client.with_env(name, value));
    let id = ServerId::new(server).unwrap();
    (id.clone(), Aggregator::new([(id, Arc::new(client) as Arc<dyn Client>)], options))
}

/// Waits until a server says that a resource changed, calling a tool again until then: subscribing
/// goes on beside the calls, and one that comes before it is not told of.
async fn hears_of(
    aggregator: &Aggregator,
    id: &ResourceId,
    tool: &str,
    mut arguments: impl FnMut(u32) -> Map<String, serde_json::Value>,
) {
    let client = aggregator.client(&id.server).unwrap();
    let mut changes = client.changes().unwrap();
    let told = async { while changes.recv().await != Ok(Change::Resource(id.uri.to_string())) {} };
    tokio::pin!(told);
    for round in 0..40 {
        client.call_tool(tool, arguments(round)).await.unwrap();
        if tokio::time::timeout(Duration::from_millis(500), &mut told).await.is_ok() {
            return;
        }
    }
    panic!("{id}: no news");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_resources_are_read_in_both_eras_and_others_are_not_found() {
    let Some(config) = outside::servers("mcp.json") else { return };
    let _alone = ONE_AT_A_TIME.lock().await;
    for (server, era, resources) in
        [("everything", LEGACY, 7), ("memory", LEGACY, 1), ("mongodb", LEGACY, 2), ("mongodb", MODERN, 2)]
    {
        let (id, aggregator) = alone(&config, server, era);
        let catalog = aggregator.refresh().await;
        assert_eq!(catalog.failures().count(), 0, "{server} {era}");
        assert_eq!(catalog.servers()[0].info.protocol_version.as_deref(), Some(era), "{server}");
        assert_eq!(catalog.resources().len(), resources, "{server} {era}");
        for entry in catalog.resources() {
            let result = aggregator.read(&entry.id, &ReadRequest::new()).await.unwrap();
            assert!(!result.contents.is_empty(), "{}", entry.id);
            for contents in &result.contents {
                assert_eq!(contents.uri, *entry.id.uri);
                assert!(contents.text.as_ref().is_some_and(|text| !text.is_empty()), "{}", entry.id);
                let listed = entry.resource.mime_type.as_ref();
                assert!(listed.is_none() || contents.mime_type.as_ref() == listed, "{}", entry.id);
            }
        }
        let nothing = ResourceId::new(id, "nothing://here");
        let error = aggregator.read(&nothing, &ReadRequest::new()).await.unwrap_err();
        assert_eq!(error.to_string(), format!("no resource `nothing://here` on server `{server}`"), "{era}");
        let refused = aggregator.watch(&catalog.resources().iter().map(|entry| entry.id.clone()).collect()).await;
        assert!(refused.is_empty(), "{server} {era}: {refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_are_read_and_arguments_completed() {
    let Some(config) = outside::servers("mcp.json") else { return };
    let _alone = ONE_AT_A_TIME.lock().await;
    let (id, aggregator) = alone(&config, "everything", LEGACY);
    let catalog = aggregator.refresh().await;
    assert_eq!(catalog.templates().len(), 2);
    for entry in catalog.templates() {
        let template = entry.template.uri_template.as_str();
        let instance = ResourceId::new(id.clone(), template.replace("{resourceId}", "12"));
        let contents = aggregator.read(&instance, &ReadRequest::new()).await.unwrap().contents.clone();
        assert_eq!((contents.len(), contents[0].uri.as_str()), (1, &*instance.uri));
        assert_ne!(contents[0].text.is_some(), contents[0].blob.is_some());
        assert_eq!(contents[0].blob.is_some(), template.contains("blob"), "{template}");

        let request = CompletionRequest::new(CompletionTarget::template(template), "resourceId").with_value("12");
        let completion = aggregator.complete(&id, &request).await.unwrap();
        assert_eq!((completion.values.as_slice(), completion.has_more), (&["12".to_owned()][..], false));
    }
    let prompt = |argument: &str| CompletionRequest::new(CompletionTarget::prompt("completable-prompt"), argument);
    let departments = aggregator.complete(&id, &prompt("department")).await.unwrap().values;
    assert!(departments.len() > 1 && departments.iter().collect::<BTreeSet<_>>().len() == departments.len());
    // One argument decides what the other may be.
    let mut names = BTreeSet::new();
    for department in &departments {
        let request = prompt("name").with_known("department", department);
        let values = aggregator.complete(&id, &request).await.unwrap().values;
        assert!(!values.is_empty(), "{department}");
        let first: String = values[0].chars().take(1).collect();
        let typed = aggregator.complete(&id, &request.with_value(&first)).await.unwrap().values;
        assert!(typed.iter().all(|value| value.starts_with(&first) && values.contains(value)), "{typed:?}");
        names.insert(values);
    }
    assert_eq!(names.len(), departments.len());

    let unknown = CompletionRequest::new(CompletionTarget::prompt("nothing"), "here");
    assert!(aggregator.complete(&id, &unknown).await.unwrap_err().is_not_found());
    let (memory, aggregator) = alone(&config, "memory", LEGACY);
    assert!(aggregator.complete(&memory, &prompt("name")).await.unwrap_err().is_unsupported());
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_of_watched_resources_are_heard_and_what_was_read_is_forgotten() {
    let Some(config) = outside::servers("mcp.json") else { return };
    let _alone = ONE_AT_A_TIME.lock().await;
    let kept = ReadRequest::new().with_cache(proem::catalog::CachePolicy::For(Duration::from_secs(3_600)));

    let folder = tempfile::tempdir().unwrap();
    let found = commands(&config).remove("memory").unwrap();
    let file = folder.path().join("graph.jsonl").to_str().unwrap().to_owned();
    let client = StdioClient::new(found.command).with_args(found.args);
    let (memory, aggregator) = alone_by("memory", LEGACY, client, [("MEMORY_FILE_PATH".to_owned(), file)].into());
    let graph = ResourceId::new(memory, "memory://knowledge-graph");
    let before = aggregator.read(&graph, &kept).await.unwrap();
    assert!(Arc::ptr_eq(&before, &aggregator.read(&graph, &kept).await.unwrap()));
    assert!(aggregator.watch(&[graph.clone()].into()).await.is_empty());
    hears_of(&aggregator, &graph, "create_entities", |round| {
        let entity = json!({"name": format!("ship {round}"), "entityType": "ship", "observations": ["It sails."]});
        json!({"entities": [entity]}).as_object().cloned().unwrap()
    })
    .await;
    let (_, news) = aggregator.changed().await;
    assert_eq!(news.resources, [(graph.server.clone(), graph.uri.to_string())].into());
    let after = aggregator.read(&graph, &kept).await.unwrap();
    assert!(after.contents[0].text.as_ref().is_some_and(|text| text.contains("It sails.")));
    assert_ne!(before.contents, after.contents);

    let (everything, aggregator) = alone(&config, "everything", LEGACY);
    let catalog = aggregator.refresh().await;
    let watched = catalog.resources()[0].id.clone();
    let before = aggregator.read(&watched, &kept).await.unwrap();
    assert!(aggregator.watch(&[watched.clone()].into()).await.is_empty());
    assert_eq!(everything, watched.server);
    hears_of(&aggregator, &watched, "toggle-subscriber-updates", |_| Map::new()).await;
    aggregator.changed().await;
    let after = aggregator.read(&watched, &kept).await.unwrap();
    assert!(before.contents == after.contents && !Arc::ptr_eq(&before, &after), "read again");
}
