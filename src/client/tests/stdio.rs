use std::time::Duration;

use crate::{
    client::{Change, Client, Limits, ListKind, StdioClient},
    error::ClientError,
};

/// A server of the `initialize` era in Python: `die` ends it, with a word on stderr.
const SERVER: &str = r#"
import json, os, sys
print("Server ready")
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "py", "version": "1"}}
    elif method == "tools/list":
        answer["result"] = {"tools": [{"name": "pid", "pid": os.getpid(), "cwd": os.getcwd()}]}
    elif method == "prompts/list":
        sys.stderr.write("fatal: key " + os.environ["API_KEY"] + " refused\n")
        sys.stderr.flush()
        sys.exit(3)
    elif method == "resources/read":
        answer["error"] = {"code": -32000, "message": "bad key " + os.environ["API_KEY"]}
    elif method == "resources/list":
        continue
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
"#;

const SECRET: &str = "hunter2-hunter2";

fn python() -> StdioClient {
    StdioClient::new("python3").with_args(["-u", "-c", SERVER]).with_env("API_KEY", SECRET)
}

#[tokio::test]
async fn a_server_that_dies_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let client = python().with_cwd(folder.path());
    let mut changes = client.changes().unwrap();
    assert_eq!(client.info().await.unwrap().implementation.unwrap()["name"], "py");
    let first = client.list(ListKind::Tools, None).await.unwrap();
    assert!(first.items[0].get().contains(&*folder.path().file_name().unwrap().to_string_lossy()));

    let died = client.list(ListKind::Prompts, None).await.unwrap_err();
    let expected = "not reachable: its process ended (exit status: 3); last on stderr: fatal: key [secret] refused";
    assert_eq!(died.to_string(), expected);

    let second = client.list(ListKind::Tools, None).await.unwrap();
    assert_ne!(first.items[0].get(), second.items[0].get());
    assert_eq!(changes.try_recv().unwrap(), Change::Reconnected);

    // Dying again and again is answered at once, with the reason and the wait.
    client.list(ListKind::Prompts, None).await.unwrap_err();
    let waiting = client.list(ListKind::Tools, None).await.unwrap_err().to_string();
    assert!(waiting.starts_with(expected) && waiting.contains("(it is tried again in 0."), "{waiting}");
}

#[tokio::test]
async fn requests_under_way_fail_when_the_server_dies() {
    let client = python();
    client.info().await.unwrap();
    let (silent, died) = tokio::join!(client.list(ListKind::Resources, None), client.list(ListKind::Prompts, None));
    for error in [silent.unwrap_err(), died.unwrap_err()] {
        assert!(error.to_string().contains("exit status: 3"), "{error}");
    }
}

#[tokio::test]
async fn secrets_are_seen_nowhere() {
    let client = python().with_args(["--token=abcdef"]);
    let said = client.read_resource("a:b").await.unwrap_err();
    assert_eq!(said.to_string(), "the server answered error -32000: bad key [secret]");
    let debug = format!("{client:?} {client:#?} {said:?}");
    assert!(debug.contains("API_KEY"), "{debug}");
    assert!(!debug.contains(SECRET) && !debug.contains("abcdef"), "{debug}");
}

#[tokio::test]
async fn a_server_sees_only_what_it_needs_unless_told_otherwise() {
    // Set by cargo for every test, and in no list of basic variables.
    let script = "echo path=${PATH:+yes} cargo=${CARGO_MANIFEST_DIR:+yes} >&2; exit 1";
    let client = || StdioClient::new("sh").with_args(["-c", script]);
    let error = client().info().await.unwrap_err().to_string();
    assert!(error.ends_with("path=yes cargo="), "{error}");
    let error = client().with_inherited_env().info().await.unwrap_err().to_string();
    assert!(error.ends_with("path=yes cargo=yes"), "{error}");
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_named() {
    let client = StdioClient::new("proem-no-such-command");
    let error = client.info().await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }));
    assert!(error.to_string().contains("cannot start `proem-no-such-command`: there is no such command"), "{error}");
    let error = StdioClient::new("sh").with_cwd("/no/such/folder").info().await.unwrap_err().to_string();
    assert!(error.contains("its working directory `/no/such/folder` does not exist"), "{error}");
}

#[tokio::test]
async fn a_process_that_never_answers_times_out() {
    let limits = Limits::default().with_request(Duration::from_millis(200));
    let client = StdioClient::new("sh").with_args(["-c", "read line; sleep 600"]).with_limits(&limits);
    assert!(client.info().await.unwrap_err().is_timeout());
}

#[tokio::test]
async fn a_process_that_ends_at_once_says_why() {
    let client = StdioClient::new("sh").with_args(["-c", "echo 'no config' >&2; exit 2"]);
    let error = client.info().await.unwrap_err().to_string();
    assert_eq!(error, "not reachable: its process ended (exit status: 2); last on stderr: no config");
    let error = StdioClient::new("sh").with_args(["-c", "exit 0"]).info().await.unwrap_err().to_string();
    assert_eq!(error, "not reachable: its process ended (exit status: 0) and said nothing on stderr");
}

#[tokio::test]
async fn requests_at_once_share_one_start_and_its_failure() {
    let folder = tempfile::tempdir().unwrap();
    let client = StdioClient::new("sh").with_args(["-c", "echo x >> starts; exit 1"]).with_cwd(folder.path());
    let [a, b, c, d] = ListKind::ALL.map(|kind| client.list(kind, None));
    let (a, b, c, d) = tokio::join!(a, b, c, d);
    for failed in [a, b, c, d] {
        assert!(failed.unwrap_err().to_string().contains("exit status: 1"));
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("starts")).unwrap(), "x\n");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_dropped_client_leaves_no_process() {
    let client = python();
    let page = client.list(ListKind::Tools, None).await.unwrap();
    let tool: serde_json::Value = serde_json::from_str(page.items[0].get()).unwrap();
    let process = std::path::PathBuf::from(format!("/proc/{}", tool["pid"]));
    assert!(process.exists());
    drop(client);
    for _ in 0..400 {
        if !process.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the process outlives its client");
}
