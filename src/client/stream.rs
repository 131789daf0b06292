use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::broadcast,
};

use super::{
    BoxFuture, Change, Limits,
    connection::Connection,
    forward::client_over_connection,
    link::{Connect, Link, NoBearer, Start},
    secret::Secrets,
    tap::{Tap, TapNotes},
};
use crate::error::ClientError;

/// A server at the other end of a pair of byte streams: in the same process, or over a socket.
///
/// Messages are lines of JSON, as over stdio. The handshake happens on first use, in whichever era
/// the server is of. When the stream ends, it ends for good: there is nothing to start again.
///
/// ```
/// # #[cfg(feature = "demo")] {
/// use proem::client::{Client, StreamClient};
/// use rmcp::{ServerHandler, ServiceExt};
///
/// struct Empty;
/// impl ServerHandler for Empty {}
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let (near, far) = tokio::io::duplex(4096);
/// tokio::spawn(async { Empty.serve(far).await.expect("a handshake").waiting().await });
/// let (read, write) = tokio::io::split(near);
/// let client = StreamClient::new(read, write);
/// assert_eq!(client.info().await.unwrap().protocol_version.unwrap(), "2026-07-28");
/// # });
/// # }
/// ```
pub struct StreamClient {
    connection: Connection,
    changes: broadcast::Sender<Change>,
}

impl StreamClient {
    /// A client over the server's output and its input, with [`Limits::default`].
    pub fn new<R, W>(read: R, write: W) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self::with_limits(read, write, &Limits::default())
    }

    /// A client with limits of its own; [`Limits::request`] and [`Limits::call`] are what counts here.
    pub fn with_limits<R, W>(read: R, write: W, limits: &Limits) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let changes = Connection::changes();
        let stream = Stream(Mutex::new(Some((Box::new(read), Box::new(write)))));
        let connection = Connection::new(stream, limits, PROBE, Secrets::default(), changes.clone());
        Self { connection, changes }
    }

    fn connection(&self) -> &Connection {
        &self.connection
    }
}

/// How long a server may take to answer the probe for its era: rmcp's own bound.
pub(super) const PROBE: Duration = Duration::from_secs(10);

client_over_connection!(StreamClient);

impl fmt::Debug for StreamClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamClient").field("connection", &self.connection).finish_non_exhaustive()
    }
}

type Pair = (Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>);

struct Stream(Mutex<Option<Pair>>);

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream")
    }
}

impl Connect for Stream {
    fn connect<'a>(&'a self, start: &'a Start) -> BoxFuture<'a, Result<Link, ClientError>> {
        let pair = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            let (read, write) = pair.ok_or_else(|| ClientError::unreachable("the stream has ended"))?;
            let notes = TapNotes::default();
            let tap = Tap::new(read, write, start.probe, notes.clone());
            start.handshake(tap, Some(notes), Box::new(NoBearer)).await
        })
    }
}
