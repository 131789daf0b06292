use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value, value::RawValue};

use super::{
    Client, ClientResult, ListKind, Page,
    file::{file_error, read_text},
};
use crate::{Error, Result, error::excerpt, id::ServerId, protocol::ServerInfo};

/// A server as a file keeps it: what it once listed, and nothing to read or call.
///
/// Two forms are read. A **capture** is one JSON object for a server with `server`, and any of
/// `protocolVersion`, `capabilities`, `serverInfo`, `instructions`, `tools`, `resources`,
/// `resourceTemplates`, `prompts`; other fields are ignored. A **`tools.jsonl`** holds one tool a
/// line, with a field `server` beside the tool's own: one client for each server in it.
#[derive(Clone)]
pub struct CaptureClient {
    info: ServerInfo,
    lists: BTreeMap<ListKind, Vec<Box<RawValue>>>,
}

/// What [`CaptureClient::open`] found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Captures {
    /// The servers, by id.
    pub servers: Vec<(ServerId, CaptureClient)>,
    /// The files of a folder that could not be read.
    pub failures: Vec<Error>,
}

impl CaptureClient {
    /// The largest file that is read: 512 MiB.
    pub const MAX_BYTES: u64 = 512 << 20;

    /// Opens a capture, a `.jsonl` file, or a folder of captures (its `*.json`, not deeper).
    ///
    /// A file of a folder that cannot be read is an error of its own, and the others stand.
    ///
    /// # Errors
    /// [`Error::File`] if the path does not exist, or is a file that cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Captures> {
        let path = path.as_ref();
        let mut failures = Vec::new();
        let mut servers = Vec::new();
        if path.is_dir() {
            for file in captures_in(path)? {
                match Self::open_file(&file) {
                    Ok(more) => servers.extend(more),
                    Err(error) => failures.push(error),
                }
            }
        } else {
            servers = Self::open_file(path)?;
        }
        servers.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Captures { servers, failures })
    }

    /// Reads the text of one capture.
    ///
    /// # Errors
    /// A sentence that says what is wrong. A tool that cannot be read is not: it costs itself only.
    pub fn parse(text: &str) -> Result<(ServerId, Self), String> {
        let fields: BTreeMap<String, &RawValue> =
            serde_json::from_str(text).map_err(|error| format!("it is no JSON object: {error}"))?;
        let field = |name: &str| fields.get(name).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        let server = match field("server") {
            Some(Value::String(name)) => ServerId::new(name).map_err(|error| error.to_string())?,
            _ => return Err("`server` is missing or no string: it holds the server's name".into()),
        };
        let mut lists = BTreeMap::new();
        for kind in ListKind::ALL {
            let Some(raw) = fields.get(kind.field()).filter(|raw| raw.get() != "null") else { continue };
            let items: Vec<Box<RawValue>> =
                serde_json::from_str(raw.get()).map_err(|_| format!("`{}` is no array", kind.field()))?;
            lists.insert(kind, items);
        }
        let info = ServerInfo {
            protocol_version: field("protocolVersion").and_then(|v| v.as_str().map(str::to_owned)),
            implementation: field("serverInfo").filter(Value::is_object),
            // What was listed counts: a capture may be made by hand.
            capabilities: None,
            instructions: field("instructions").and_then(|v| v.as_str().map(str::to_owned)),
        };
        Ok((server, Self { info, lists }))
    }

    fn open_file(path: &Path) -> Result<Vec<(ServerId, Self)>> {
        let text = read_text(path, Self::MAX_BYTES)?;
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            Self::parse_lines(&text)
        } else {
            Self::parse(&text).map(|server| vec![server])
        }
        .map_err(|reason| file_error(path, reason, None))
    }

    fn parse_lines(text: &str) -> Result<Vec<(ServerId, Self)>, String> {
        let mut servers: BTreeMap<ServerId, Vec<Box<RawValue>>> = BTreeMap::new();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |reason: &str| format!("line {}: {reason}", i + 1);
            let mut tool: Map<String, Value> =
                serde_json::from_str(line).map_err(|error| wrong(&format!("no JSON object: {error}")))?;
            let Some(Value::String(server)) = tool.remove("server") else {
                return Err(wrong("`server` is missing or no string"));
            };
            let server = ServerId::new(server).map_err(|error| wrong(&excerpt(&error.to_string())))?;
            let raw = serde_json::value::to_raw_value(&tool).map_err(|error| wrong(&error.to_string()))?;
            servers.entry(server).or_default().push(raw);
        }
        Ok(servers
            .into_iter()
            .map(|(server, tools)| {
                (server, Self { info: ServerInfo::default(), lists: [(ListKind::Tools, tools)].into() })
            })
            .collect())
    }
}

impl fmt::Debug for CaptureClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: BTreeMap<_, _> = self.lists.iter().map(|(kind, items)| (kind.field(), items.len())).collect();
        f.debug_struct("CaptureClient").field("lists", &counts).finish_non_exhaustive()
    }
}

fn captures_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |error: std::io::Error| file_error(folder, error.to_string(), Some(error.into()));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_some_and(|extension| extension == "json") && path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(file_error(folder, "no capture (*.json) in this folder".into(), None));
    }
    files.sort();
    Ok(files)
}

impl Client for CaptureClient {
    fn info(&self) -> ClientResult<'_, ServerInfo> {
        Box::pin(async { Ok(self.info.clone()) })
    }

    fn list<'a>(&'a self, kind: ListKind, _cursor: Option<&'a str>) -> ClientResult<'a, Page> {
        let items = self.lists.get(&kind).cloned().unwrap_or_default();
        Box::pin(async { Ok(Page::new(items)) })
    }
}
