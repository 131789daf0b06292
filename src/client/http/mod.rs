mod whole;

use std::{collections::BTreeMap, fmt, sync::OnceLock};

use rmcp::transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig};
use tokio::sync::broadcast;

use self::whole::Whole;
use super::{
    BoxFuture, Change, Limits,
    connection::Connection,
    forward::client_over_connection,
    link::{Connect, Link, NoBearer, Start},
    request::cause,
    secret::Secrets,
    stream::PROBE,
};
use crate::error::ClientError;

/// A server over streamable HTTP, of either era.
///
/// It is connected on first use. A request that cannot be sent fails alone; a connection that was
/// lost is made again by the next request, with the same waits as for a
/// [`StdioClient`](super::StdioClient). A session that expired is renewed.
///
/// Header values, and what follows the host in the URL, are treated as secrets: neither appears in
/// `Debug`, an error or a log. Tools whose `x-mcp-header` is invalid are left out, as the protocol
/// demands; the headers that the others ask for are sent with their calls.
///
/// ```
/// use proem::client::HttpClient;
///
/// let client = HttpClient::new("https://mcp.example.com/v1?key=1234").with_header("Authorization", "Bearer abcd");
/// assert_eq!(format!("{client:?}"), r#"HttpClient { origin: "https://mcp.example.com", headers: ["Authorization"], .. }"#);
/// ```
pub struct HttpClient {
    endpoint: Endpoint,
    limits: Limits,
    changes: broadcast::Sender<Change>,
    /// Made on first use, so that it sees every setting.
    connection: OnceLock<Connection>,
}

#[derive(Clone)]
struct Endpoint {
    url: String,
    headers: BTreeMap<String, String>,
    secrets: Secrets,
}

/// The largest answer, and the largest event of a stream, that is read: 64 MiB, as over stdio.
const MAX_ANSWER: usize = super::tap::MAX_LINE;

const RESERVED: [&str; 4] = ["accept", "content-type", "last-event-id", "mcp-session-id"];

impl HttpClient {
    /// A server at this URL.
    pub fn new(url: impl Into<String>) -> Self {
        let mut endpoint = Endpoint { url: url.into(), headers: BTreeMap::new(), secrets: Secrets::default() };
        let (user, rest) = endpoint.secret_parts();
        let (user, rest) = (user.to_owned(), rest.to_owned());
        endpoint.secrets.add(&user);
        endpoint.secrets.add(&rest);
        for value in rest.split(['?', '&']).filter_map(|pair| pair.split_once('=')).map(|(_, value)| value) {
            endpoint.secrets.add(value);
        }
        Self { endpoint, limits: Limits::default(), changes: Connection::changes(), connection: OnceLock::new() }
    }

    /// Sets a header of every request, such as `Authorization`. Its value is treated as a secret.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let value = value.into();
        self.endpoint.secrets.add(&value);
        // Also without its scheme (`Bearer …`), as a server would print it.
        if let Some((_, token)) = value.split_once(' ') {
            self.endpoint.secrets.add(token);
        }
        self.endpoint.headers.insert(name.into(), value);
        self.connection = OnceLock::new();
        self
    }

    /// Names a value that must not appear in errors and logs.
    #[must_use]
    pub fn with_secret(mut self, value: &str) -> Self {
        self.endpoint.secrets.add(value);
        self.connection = OnceLock::new();
        self
    }

    /// Sets the limits; [`Limits::request`] and [`Limits::call`] are what counts here.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Self {
        self.limits = *limits;
        self.connection = OnceLock::new();
        self
    }

    fn connection(&self) -> &Connection {
        self.connection.get_or_init(|| {
            let secrets = self.endpoint.secrets.clone();
            Connection::new(self.endpoint.clone(), &self.limits, PROBE, secrets, self.changes.clone())
        })
    }
}

client_over_connection!(HttpClient);

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.endpoint.fmt_as("HttpClient", f)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as("Endpoint", f)
    }
}

impl Endpoint {
    fn fmt_as(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("origin", &self.origin())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }

    /// Scheme and host: what may be shown.
    fn origin(&self) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") }
    }

    /// User information, and everything after the host.
    fn secret_parts(&self) -> (&str, &str) {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        (authority.rsplit_once('@').map_or("", |(user, _)| user), path)
    }

    fn config(&self) -> Result<StreamableHttpClientTransportConfig, ClientError> {
        if !["http://", "https://"].iter().any(|scheme| self.url.starts_with(scheme)) {
            return Err(ClientError::unreachable("its URL does not begin with http:// or https://"));
        }
        let mut headers = std::collections::HashMap::new();
        for (name, value) in &self.headers {
            if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
                return Err(ClientError::unreachable(format!("header `{name}` is set by the protocol itself")));
            }
            let wrong =
                |what: &str| ClientError::unreachable(format!("header `{name}` has a {what} that HTTP forbids"));
            headers.insert(name.parse().map_err(|_| wrong("name"))?, value.parse().map_err(|_| wrong("value"))?);
        }
        Ok(StreamableHttpClientTransportConfig::with_uri(self.url.as_str())
            .custom_headers(headers)
            .max_json_response_size(MAX_ANSWER)
            .max_sse_event_size(MAX_ANSWER))
    }
}

impl Connect for Endpoint {
    fn connect<'a>(&'a self, start: &'a Start) -> BoxFuture<'a, Result<Link, ClientError>> {
        Box::pin(async move {
            let http = Whole::new()
                .map_err(|error| ClientError::unreachable(format!("HTTP cannot be used: {}", cause(&error))))?;
            let transport = StreamableHttpClientTransport::with_client(http, self.config()?);
            start.handshake(transport, None, Box::new(NoBearer)).await.map_err(|error| match error {
                ClientError::Unreachable { reason, .. } => {
                    ClientError::unreachable(format!("{}: {reason}", self.origin()))
                }
                other => other,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_up_to_its_host() {
        let endpoint = |url: &str| HttpClient::new(url).endpoint;
        for url in ["https://me:pass@host:1/a/token?key=value#x", "https://host:1?key=value", "https://host:1"] {
            assert_eq!(endpoint(url).origin(), "https://host:1");
        }
        assert_eq!(endpoint("https://me:pass@host/a/token").secret_parts(), ("me:pass", "/a/token"));
        let secrets = endpoint("https://me:pass@host/a/token?key=12345").secrets;
        assert_eq!(secrets.redact("12345 me:pass /a/token?key=12345"), "[secret] [secret] [secret]");
    }
}
