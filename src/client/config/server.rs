use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use serde_json::{Map, Value};

use super::expand::Expander;
use crate::{
    Error, Result,
    client::{Client, Limits},
    error::excerpt,
    id::ServerId,
};

/// How one server is reached. `Debug` shows no value that may be a secret.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ServerConfig {
    /// A child process.
    Stdio(StdioConfig),
    /// A streamable HTTP server.
    Http(HttpConfig),
}

/// A server that is started as a child process.
#[derive(Clone, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct StdioConfig {
    /// The command, looked up in `PATH` unless it is a path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables beside the basic ones.
    pub env: BTreeMap<String, String>,
    /// The working directory; `None` for that of this process.
    pub cwd: Option<PathBuf>,
    /// Whether the server is given the whole environment of this process, and not only what
    /// programs need to find their way. No file says so: it is for the host to set. Default: false.
    pub inherit_env: bool,
    /// Values of the environment that were expanded into the other fields: never to be shown.
    pub secrets: Vec<String>,
}

/// A server that is reached over streamable HTTP.
#[derive(Clone, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct HttpConfig {
    /// Where it is.
    pub url: String,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// Values of the environment that were expanded into the other fields: never to be shown.
    pub secrets: Vec<String>,
}

impl ServerConfig {
    /// A client for the server. Nothing is started or sent before its first use.
    ///
    /// # Errors
    /// [`Error::Missing`] if the crate was built without the feature that the server needs.
    pub fn client(&self, limits: &Limits) -> Result<Arc<dyn Client>> {
        match self {
            Self::Stdio(config) => config.client(limits),
            Self::Http(config) => config.client(limits),
        }
    }

    /// Reads an entry.
    ///
    /// # Errors
    /// [`Error::Invalid`], which names the server and the field, and no value.
    pub(super) fn read(id: &ServerId, entry: &Value, env: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let whole = |reason: &str| Error::invalid(format!("server `{id}`"), reason);
        let map = entry.as_object().ok_or_else(|| whole("it is no object"))?;
        let mut fields = Fields { id, map, expander: Expander::new(env) };
        let url = ["url", "httpUrl", "serverUrl"].into_iter().find(|name| map.contains_key(*name));
        let is_http = match map.get("type").or_else(|| map.get("transport")).and_then(Value::as_str) {
            Some("stdio") => false,
            Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") => true,
            Some("sse") => return Err(Error::invalid(format!("field `type` of server `{id}`"), SSE)),
            Some(other) => {
                let reason = format!("`{}` is not known: it is `stdio` or `http`", excerpt(other));
                return Err(Error::invalid(format!("field `type` of server `{id}`"), reason));
            }
            None => match (map.contains_key("command"), url) {
                (true, None) => false,
                (false, Some(_)) => true,
                (true, Some(_)) => {
                    return Err(whole("it has both `command` and `url`: `type` must say which is meant"));
                }
                (false, None) => return Err(whole("it has neither `command` nor `url`")),
            },
        };
        if is_http {
            let url = fields.string(url.unwrap_or("url"))?;
            let headers = fields.strings_by_name("headers")?;
            return Ok(Self::Http(HttpConfig { url, headers, secrets: fields.expander.into_secrets() }));
        }
        let command = fields.string("command")?;
        let args = fields.strings("args")?;
        let env = fields.strings_by_name("env")?;
        let cwd = match map.get("cwd") {
            None | Some(Value::Null) => None,
            Some(_) => Some(PathBuf::from(fields.string("cwd")?)),
        };
        Ok(Self::Stdio(StdioConfig {
            command,
            args,
            env,
            cwd,
            inherit_env: false,
            secrets: fields.expander.into_secrets(),
        }))
    }
}

const SSE: &str = "`sse`, the HTTP+SSE transport of 2024-11-05, is not supported: use the server's streamable HTTP \
                   address with type `http` (often it ends in /mcp instead of /sse), or start a bridge to it with \
                   `command`";

impl StdioConfig {
    #[cfg(feature = "rmcp")]
    fn client(&self, limits: &Limits) -> Result<Arc<dyn Client>> {
        let mut client = crate::client::StdioClient::new(&self.command).with_args(&self.args).with_limits(limits);
        for (name, value) in &self.env {
            client = client.with_env(name, value);
        }
        for secret in &self.secrets {
            client = client.with_secret(secret);
        }
        if let Some(cwd) = &self.cwd {
            client = client.with_cwd(cwd);
        }
        if self.inherit_env {
            client = client.with_inherited_env();
        }
        Ok(Arc::new(client))
    }

    #[cfg(not(feature = "rmcp"))]
    fn client(&self, _: &Limits) -> Result<Arc<dyn Client>> {
        let remedy = "build this crate with it to start servers by `command`";
        Err(Error::Missing { missing: "the feature `rmcp`", remedy })
    }
}

impl HttpConfig {
    #[cfg(feature = "http")]
    fn client(&self, limits: &Limits) -> Result<Arc<dyn Client>> {
        let mut client = crate::client::HttpClient::new(&self.url).with_limits(limits);
        for (name, value) in &self.headers {
            client = client.with_header(name, value);
        }
        for secret in &self.secrets {
            client = client.with_secret(secret);
        }
        Ok(Arc::new(client))
    }

    #[cfg(not(feature = "http"))]
    fn client(&self, _: &Limits) -> Result<Arc<dyn Client>> {
        let remedy = "build this crate with it to reach servers by `url`";
        Err(Error::Missing { missing: "the feature `http`", remedy })
    }
}

impl fmt::Debug for StdioConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioConfig")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfig").field("headers", &self.headers.keys().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}

/// The fields of one entry, with its variables expanded.
struct Fields<'a> {
    id: &'a ServerId,
    map: &'a Map<String, Value>,
    expander: Expander<'a>,
}

impl Fields<'_> {
    fn string(&mut self, name: &str) -> Result<String> {
        match self.map.get(name) {
            Some(Value::String(text)) if !text.is_empty() => self.expand(name, text),
            Some(_) => Err(self.wrong(name, "it is no string, or empty")),
            None => Err(self.wrong(name, "it is missing")),
        }
    }

    fn strings(&mut self, name: &str) -> Result<Vec<String>> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .enumerate()
                .map(|(i, item)| {
                    let name = format!("{name}[{i}]");
                    let text = scalar(item).ok_or_else(|| self.wrong(&name, "it is no string"))?;
                    self.expand(&name, &text)
                })
                .collect(),
            Some(_) => Err(self.wrong(name, "it is no array of strings")),
        }
    }

    fn strings_by_name(&mut self, name: &str) -> Result<BTreeMap<String, String>> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Object(map)) => map
                .iter()
                // VS Code writes `null` for a variable that is not to be set.
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| {
                    let name = format!("{name}.{}", excerpt(key));
                    let text = scalar(value).ok_or_else(|| self.wrong(&name, "it is no string"))?;
                    Ok((key.clone(), self.expand(&name, &text)?))
                })
                .collect(),
            Some(_) => Err(self.wrong(name, "it is no object of strings")),
        }
    }

    fn expand(&mut self, name: &str, text: &str) -> Result<String> {
        self.expander.expand(text).map_err(|reason| self.wrong(name, &reason))
    }

    fn wrong(&self, name: &str, reason: &str) -> Error {
        Error::invalid(format!("field `{name}` of server `{}`", self.id), reason)
    }
}

/// Text, or what stands for it without doubt: people write ports as numbers.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}
