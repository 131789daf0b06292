//! Real servers, started from their packages: both eras, ways to fail, and a death in the middle.
//!
//! `scripts/real-servers` installs them; without it these tests are skipped.

#![allow(clippy::unwrap_used, reason = "what the script writes is as it should be")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use proem::{
    Host,
    catalog::Catalog,
    client::{CaptureClient, Config, Limits, ServerConfig, StdioClient, StdioConfig},
};

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
        let captured = Host::builder()
            .servers(captures.servers.into_iter().map(|(id, client)| (id, std::sync::Arc::new(client) as _)));
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
