//! `mcpServers` files as hosts write them.

mod expand;
mod server;

#[cfg(test)]
mod tests;

use std::path::Path;

use serde_json::{Map, Value};

pub use self::server::{HttpConfig, ServerConfig, StdioConfig};
use super::file::{file_error, read_text};
use crate::{Error, Result, id::ServerId};

/// The servers of a configuration file, in the form that hosts share.
///
/// Read are `mcpServers` (Claude Desktop, Claude Code, Cursor and many others) and `servers`
/// (VS Code, also within `mcp`). A server has `command`, `args`, `env` and `cwd`, or `url` and
/// `headers`; `type` says which where both could be meant. Other fields are ignored.
///
/// `${VAR}`, `${env:VAR}` and `${VAR:-default}` are expanded in all of these. One bad entry is a
/// failure of its own, and the others stand.
///
/// ```
/// use proem::client::Config;
///
/// let text = r#"{"mcpServers": {
///     "git": {"command": "uvx", "args": ["mcp-server-git"]},
///     "issues": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
///     "broken": {"command": "${NOT_SET}"}
/// }}"#;
/// let config = Config::parse(text, |name| (name == "TOKEN").then(|| "abcd".to_owned()))?;
/// assert_eq!(config.servers.len(), 2);
/// assert_eq!(
///     config.failures[0].to_string(),
///     "invalid field `command` of server `broken`: the environment variable `NOT_SET` is not set",
/// );
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Config {
    /// The servers that can be started, by id.
    pub servers: Vec<(ServerId, ServerConfig)>,
    /// The servers with `"disabled": true` or `"enabled": false`, by id. They are not looked at further.
    pub disabled: Vec<ServerId>,
    /// The entries that cannot be used, by name.
    pub failures: Vec<Error>,
}

impl Config {
    /// The largest file that is read: 4 MiB.
    pub const MAX_BYTES: u64 = 4 << 20;

    /// Reads a file, with the environment of this process.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read, or is no configuration as a whole.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = read_text(path, Self::MAX_BYTES)?;
        Self::read(&text, &|name| std::env::var(name).ok()).map_err(|reason| file_error(path, reason, None))
    }

    /// Reads the text of a file; `env` answers for environment variables.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is no configuration as a whole.
    pub fn parse(text: &str, env: impl Fn(&str) -> Option<String>) -> Result<Self> {
        Self::read(text, &env).map_err(|reason| Error::invalid("configuration", reason))
    }

    fn read(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
        let mut config = Self::default();
        for (name, entry) in entries(&file)? {
            let id = match ServerId::new(name) {
                Ok(id) => id,
                Err(error) => {
                    config.failures.push(error);
                    continue;
                }
            };
            if entry.get("disabled") == Some(&Value::Bool(true)) || entry.get("enabled") == Some(&Value::Bool(false)) {
                config.disabled.push(id);
                continue;
            }
            match ServerConfig::read(&id, entry, env) {
                Ok(server) => config.servers.push((id, server)),
                Err(error) => config.failures.push(error),
            }
        }
        Ok(config)
    }
}

/// The entries by name: the order of a file is not to decide anything.
fn entries(file: &Value) -> Result<Vec<(&String, &Value)>, String> {
    let found = ["/mcpServers", "/servers", "/mcp/servers"].iter().find_map(|place| file.pointer(place));
    let map: &Map<String, Value> = found
        .ok_or("it has neither `mcpServers` nor `servers`")?
        .as_object()
        .ok_or("`mcpServers` is no object: it holds one entry for each server, by name")?;
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(name, _)| *name);
    Ok(entries)
}
