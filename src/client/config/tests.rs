use std::path::PathBuf;

use super::*;

const SECRET: &str = "hunter2-hunter2";

fn env(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some(SECRET.into()),
        "EMPTY" => Some(String::new()),
        "HOME" => Some("/home/ada".into()),
        _ => None,
    }
}

fn parse(servers: &str) -> Config {
    Config::parse(&format!("{{\"mcpServers\": {servers}}}"), env).unwrap()
}

fn failure(server: &str) -> String {
    let config = parse(&format!("{{\"s\": {server}}}"));
    assert!(config.servers.is_empty());
    config.failures[0].to_string()
}

fn stdio(server: &str) -> StdioConfig {
    match parse(&format!("{{\"s\": {server}}}")).servers.remove(0).1 {
        ServerConfig::Stdio(config) => config,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_forms_of_all_hosts_are_read() {
    let one = r#"{"git": {"command": "uvx", "args": ["mcp-server-git"], "autoApprove": ["x"]}}"#;
    for file in [
        format!(r#"{{"mcpServers": {one}, "theme": "dark"}}"#),
        format!(r#"{{"servers": {one}, "inputs": []}}"#),
        format!(r#"{{"mcp": {{"servers": {one}}}}}"#),
        format!("\u{feff}{{\"mcpServers\": {one}}}"),
    ] {
        let config = Config::parse(&file, env).unwrap();
        assert_eq!(config.servers[0].0, "git");
        assert!(config.failures.is_empty());
    }
    for kind in ["", r#""type": "http","#, r#""type": "streamable-http","#, r#""type": "streamableHttp","#] {
        let config = parse(&format!(r#"{{"web": {{{kind} "url": "https://h/mcp"}}}}"#));
        assert!(matches!(&config.servers[0].1, ServerConfig::Http(http) if http.url == "https://h/mcp"));
    }
}

#[test]
fn variables_are_expanded_everywhere() {
    let config = stdio(
        r#"{"type": "stdio", "command": "${HOME}/bin/x", "cwd": "${env:HOME}", "args": ["-t=${TOKEN}", "${NO:-a:b}${EMPTY:-c}", "$x ${1+y}"],
            "env": {"A": "${TOKEN}", "PORT": 80, "DEBUG": true, "UNSET": null, "E": "${EMPTY}"}}"#,
    );
    assert_eq!(config.command, "/home/ada/bin/x");
    assert_eq!(config.cwd, Some(PathBuf::from("/home/ada")));
    assert_eq!(config.args, [&format!("-t={SECRET}"), "a:bc", "$x ${1+y}"]);
    let env: Vec<_> = config.env.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(env, [("A", SECRET), ("DEBUG", "true"), ("E", ""), ("PORT", "80")]);
    let web = parse(r#"{"s": {"url": "https://h/${TOKEN}", "headers": {"X": "Bearer ${TOKEN}"}}}"#);
    let ServerConfig::Http(web) = &web.servers[0].1 else { panic!() };
    assert_eq!((web.url.as_str(), web.headers["X"].as_str()), ("https://h/hunter2-hunter2", "Bearer hunter2-hunter2"));
}

#[test]
fn a_bad_entry_costs_itself_only_and_says_where() {
    let config = parse(
        r#"{"b": {"command": "x"}, "bad": {"command": "x", "env": {"KEY": "${NO_KEY}"}}, "a": {"url": "http://h"},
            "off": {"command": "${NO}", "disabled": true}, "": {"command": "x"}, "out": {"enabled": false}}"#,
    );
    let names: Vec<_> = config.servers.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(config.disabled, [ServerId::new("off").unwrap(), ServerId::new("out").unwrap()]);
    let failures: Vec<_> = config.failures.iter().map(ToString::to_string).collect();
    assert_eq!(
        failures,
        [
            "invalid server id ``: it is empty",
            "invalid field `env.KEY` of server `bad`: the environment variable `NO_KEY` is not set",
        ]
    );
}

#[test]
fn what_is_wrong_is_said() {
    for (server, expected) in [
        ("7", "invalid server `s`: it is no object"),
        ("{}", "invalid server `s`: it has neither `command` nor `url`"),
        (
            r#"{"command":"x","url":"y"}"#,
            "invalid server `s`: it has both `command` and `url`: `type` must say which is meant",
        ),
        (r#"{"command":7}"#, "invalid field `command` of server `s`: it is no string, or empty"),
        (r#"{"type":"http","command":"x"}"#, "invalid field `url` of server `s`: it is missing"),
        (r#"{"command":"x","args":"y"}"#, "invalid field `args` of server `s`: it is no array of strings"),
        (r#"{"command":"x","args":["y",[]]}"#, "invalid field `args[1]` of server `s`: it is no string"),
        (r#"{"command":"x","env":{"K":{}}}"#, "invalid field `env.K` of server `s`: it is no string"),
        (r#"{"command":"x","args":["${A"]}"#, "invalid field `args[0]` of server `s`: it has a `${` without a `}`"),
        (
            r#"{"type":"pigeon","url":"y"}"#,
            "invalid field `type` of server `s`: `pigeon` is not known: it is `stdio` or `http`",
        ),
        (
            r#"{"url":"y","headers":{"K":"${input:key}"}}"#,
            "invalid field `headers.K` of server `s`: `${input:key}` asks the user of an editor: name an environment variable instead",
        ),
    ] {
        assert_eq!(failure(server), expected);
    }
    let sse = failure(r#"{"type":"sse","url":"https://h/sse"}"#);
    assert!(
        sse.contains("`type`") && sse.contains("is not supported: use the server's streamable HTTP address"),
        "{sse}"
    );
    for (text, expected) in [
        ("{", "invalid configuration: it is no JSON: EOF while parsing an object at line 1 column 1"),
        ("{}", "invalid configuration: it has neither `mcpServers` nor `servers`"),
        (
            r#"{"mcpServers":[]}"#,
            "invalid configuration: `mcpServers` is no object: it holds one entry for each server, by name",
        ),
    ] {
        assert_eq!(Config::parse(text, env).unwrap_err().to_string(), expected);
    }
}

#[test]
fn secrets_are_not_shown() {
    let config = parse(
        r#"{"a": {"command": "x", "args": ["${TOKEN}"], "env": {"K": "${TOKEN}"}},
            "b": {"url": "https://h/${TOKEN}", "headers": {"K": "${TOKEN}"}}}"#,
    );
    assert!(!format!("{config:?}").contains(SECRET), "{config:?}");
    for (_, server) in &config.servers {
        if let Ok(client) = server.client(&crate::client::Limits::default()) {
            assert!(!format!("{client:?}").contains(SECRET), "{client:?}");
        }
    }
}

#[cfg(all(feature = "rmcp", unix))]
#[tokio::test]
async fn a_secret_among_the_arguments_stays_out_of_errors() {
    let config = parse(r#"{"s": {"command": "sh", "args": ["-c", "echo bad key $0 >&2; exit 1", "${TOKEN}"]}}"#);
    let client = config.servers[0].1.client(&crate::client::Limits::default()).unwrap();
    let error = client.info().await.unwrap_err().to_string();
    assert!(error.ends_with("last on stderr: bad key [secret]"), "{error}");
}

#[test]
fn a_file_is_opened_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    assert!(matches!(Config::open(&path), Err(Error::File { .. })));
    std::fs::write(&path, r#"{"mcpServers": {"a": {"command": "x"}}}"#).unwrap();
    assert_eq!(Config::open(&path).unwrap().servers.len(), 1);
    std::fs::write(&path, "[]").unwrap();
    assert!(
        Config::open(&path).unwrap_err().to_string().ends_with("mcp.json: it has neither `mcpServers` nor `servers`")
    );
}
