//! Between a server's bytes and rmcp: what rmcp would choke on is caught here, line by line.
//!
//! rmcp decodes each line as a whole, through an untagged enum: one malformed tool loses its page,
//! fields that it does not know are gone, a schema nested 128 deep loses the answer, and a page of
//! 50,000 tools is parsed many times over. So an answer that Proem reads itself passes as its text
//! (a JSON string in place of the result object), and only the handshake is decoded.
//!
//! No line ends a connection, whatever stands in it, unless it hides the answer that is waited for.

mod pending;
mod top_id;

#[cfg(test)]
mod tests;

use std::{
    io,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    RoleClient,
    model::{
        ClientJsonRpcMessage, CustomResult, DiscoverResult, ErrorCode, ErrorData, InitializeResult, JsonRpcMessage,
        RequestId, ServerJsonRpcMessage, ServerResult,
    },
    transport::Transport,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use self::{
    pending::{Pending, Reader},
    top_id::TopId,
};
use super::secret::Secrets;
use crate::error::excerpt;

/// A longer line is never held in memory: 64 MiB.
pub(super) const MAX_LINE: usize = 64 << 20;
/// What is kept of the line buffer between lines: 1 MiB.
const KEPT_BUFFER: usize = 1 << 20;
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A transport of JSON lines, such as a child process or an in-process stream.
pub(super) struct Tap<R, W> {
    read: BufReader<R>,
    write: Arc<tokio::sync::Mutex<Option<W>>>,
    line: Vec<u8>,
    /// A line that is too long, until its end.
    skipping: Option<Skipped>,
    max_line: usize,
    probe: Duration,
    pending: Pending,
    notes: TapNotes,
}

/// A line that is passed over.
#[derive(Debug, Default)]
struct Skipped {
    finder: TopId,
    /// Its request has failed, so nothing is looked for any more.
    told: bool,
}

/// What a tap saw, for the connection above it.
#[derive(Clone, Debug, Default)]
pub(super) struct TapNotes {
    notes: Arc<Mutex<Notes>>,
    secrets: Secrets,
}

#[derive(Debug, Default)]
struct Notes {
    greeting: Option<Value>,
    dropped: u64,
    ended: Option<String>,
}

impl TapNotes {
    pub(super) fn new(secrets: Secrets) -> Self {
        Self { notes: Arc::default(), secrets }
    }

    /// The result of `server/discover` or `initialize` as sent.
    pub(super) fn greeting(&self) -> Option<Value> {
        self.with(|notes| notes.greeting.clone())
    }

    /// Lines that were no message.
    #[cfg(test)]
    fn dropped(&self) -> u64 {
        self.with(|notes| notes.dropped)
    }

    /// Why the tap ended the connection, if it did.
    pub(super) fn ended(&self) -> Option<String> {
        self.with(|notes| notes.ended.clone())
    }

    fn with<T>(&self, use_it: impl FnOnce(&mut Notes) -> T) -> T {
        use_it(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The outermost fields of a message, unread.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RpcError<'a> {
    code: f64,
    #[serde(default)]
    message: Option<Value>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

impl Skipped {
    fn feed(&mut self, piece: &[u8]) {
        if !self.told {
            self.finder.feed(piece);
        }
    }

    /// Once, as soon as it is known whose answer the line is, or at its end at the latest.
    fn tell(&mut self, ended: bool) -> Option<Option<RequestId>> {
        let id = self.finder.id();
        if self.told || (id.is_none() && !ended) {
            return None;
        }
        self.told = true;
        Some(id)
    }
}

impl<R: AsyncRead + Unpin, W> Tap<R, W> {
    pub(super) fn new(read: R, write: W, probe: Duration, notes: TapNotes) -> Self {
        Self {
            read: BufReader::with_capacity(64 << 10, read),
            write: Arc::new(tokio::sync::Mutex::new(Some(write))),
            line: Vec::new(),
            skipping: None,
            max_line: MAX_LINE,
            probe,
            pending: Pending::default(),
            notes,
        }
    }

    #[cfg(test)]
    fn with_max_line(mut self, max_line: usize) -> Self {
        self.max_line = max_line;
        self
    }

    /// The next message, or `None` at the end of the stream.
    ///
    /// rmcp drops the future whenever it has something to send: everything half done is in `self`.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let deadline = self.pending.probe_deadline();
            let available = tokio::select! {
                biased;
                available = self.read.fill_buf() => match available {
                    Ok(available) => available,
                    Err(error) => {
                        self.notes.with(|notes| notes.ended = Some(excerpt(&error.to_string())));
                        return None;
                    }
                },
                () = at(deadline) => {
                    let (id, _) = self.pending.take_probe()?;
                    let data = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no answer to server/discover in time", None);
                    return Some(JsonRpcMessage::error(data, Some(id)));
                }
            };
            if available.is_empty() {
                return None;
            }
            // Most of a long line holds no end, which is seen faster than where one is.
            let end = available.contains(&b'\n').then(|| available.iter().position(|byte| *byte == b'\n')).flatten();
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let consumed = piece.len() + usize::from(end.is_some());
            if let Some(skipped) = &mut self.skipping {
                skipped.feed(piece);
            } else if self.line.len() + piece.len() > self.max_line {
                let mut skipped = Skipped::default();
                skipped.feed(&self.line);
                skipped.feed(piece);
                self.line = Vec::new();
                self.skipping = Some(skipped);
            } else {
                self.line.extend_from_slice(piece);
            }
            self.read.consume(consumed);
            if let Some(skipped) = &mut self.skipping {
                let told = skipped.tell(end.is_some());
                if end.is_some() {
                    self.skipping = None;
                }
                if let Some(id) = told
                    && let ControlFlow::Break(message) = self.too_long(id)
                {
                    return message;
                }
                continue;
            }
            if end.is_none() {
                continue;
            }
            let message = self.message();
            self.line.clear();
            self.line.shrink_to(KEPT_BUFFER);
            if message.is_some() {
                return message;
            }
        }
    }

    /// Fails the request whose answer is too long. If nobody knows which that is, the connection ends.
    fn too_long(&self, id: Option<RequestId>) -> ControlFlow<Option<ServerJsonRpcMessage>> {
        tracing::warn!(max = self.max_line, "skipped a line of a server that is too long");
        let waiting = match &id {
            Some(id) => self.pending.take(id),
            None => self.pending.take_only(),
        };
        match waiting {
            Some((id, reader)) => {
                let reason = format!("it is longer than {} bytes", self.max_line);
                ControlFlow::Break(Some(failed(id, reader, reason)))
            }
            // A late answer to a request that was given up is nobody's.
            None if id.is_some() => ControlFlow::Continue(()),
            None => {
                self.notes.with(|notes| {
                    notes.ended = Some(format!("the server sent a line of more than {} bytes", self.max_line));
                });
                ControlFlow::Break(None)
            }
        }
    }

    /// Reads the line; `None` if there is nothing in it for rmcp.
    fn message(&self) -> Option<ServerJsonRpcMessage> {
        let Ok(text) = std::str::from_utf8(&self.line) else {
            return self.garbage("it is not UTF-8");
        };
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim();
        if text.is_empty() {
            return None;
        }
        let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
            return self.garbage("it is no JSON object");
        };
        if envelope.method.is_some() {
            // A request or a notification of the server: small, and rmcp knows how to answer.
            return serde_json::from_str(text).ok().or_else(|| self.garbage("it is no message of the protocol"));
        }
        let Some(id) = envelope.id.and_then(|raw| serde_json::from_str::<RequestId>(raw.get()).ok()) else {
            return self.garbage("it has neither a method nor an id");
        };
        // A late answer to a request that was given up is nobody's.
        let (id, reader) = self.pending.take(&id)?;
        Some(match (envelope.error, envelope.result) {
            (Some(error), _) => error_answer(id, reader, error),
            (None, Some(result)) => self.answer(id, reader, result),
            (None, None) => failed(id, reader, "it has neither a result nor an error".into()),
        })
    }

    fn answer(&self, id: RequestId, reader: Reader, result: &RawValue) -> ServerJsonRpcMessage {
        let decoded = match reader {
            Reader::Proem => {
                let text = Value::String(result.get().to_owned());
                return JsonRpcMessage::response(ServerResult::CustomResult(CustomResult(text)), id);
            }
            Reader::Initialize => {
                serde_json::from_str::<InitializeResult>(result.get()).map(ServerResult::InitializeResult)
            }
            Reader::Discover => serde_json::from_str::<DiscoverResult>(result.get()).map(ServerResult::DiscoverResult),
            Reader::Rmcp => serde_json::from_str(result.get()),
        };
        match decoded {
            Ok(decoded) => {
                if matches!(reader, Reader::Initialize | Reader::Discover) {
                    self.notes.with(|notes| notes.greeting = serde_json::from_str(result.get()).ok());
                }
                JsonRpcMessage::response(decoded, id)
            }
            Err(error) => failed(id, reader, excerpt(&error.to_string())),
        }
    }

    /// Drops a line; if it was an answer after all, its request fails at once.
    fn garbage(&self, reason: &str) -> Option<ServerJsonRpcMessage> {
        let dropped = self.notes.with(|notes| {
            notes.dropped += 1;
            notes.dropped
        });
        let start = String::from_utf8_lossy(self.line.get(..1 << 10).unwrap_or(&self.line));
        let shown = excerpt(&self.notes.secrets.redact(&start));
        if dropped == 1 {
            tracing::warn!(reason, line = %shown, "dropped a line of a server; more are told at level debug");
        } else {
            tracing::debug!(reason, line = %shown, dropped, "dropped a line of a server");
        }
        let (id, reader) = self.pending.take(&TopId::of(&self.line)?)?;
        Some(failed(id, reader, reason.to_owned()))
    }
}

async fn at(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// A JSON-RPC error of the server, as far as it can be read.
fn error_answer(id: RequestId, reader: Reader, error: &RawValue) -> ServerJsonRpcMessage {
    let Ok(error) = serde_json::from_str::<RpcError<'_>>(error.get()) else {
        return failed(id, reader, "its error has no code".into());
    };
    let message = match error.message {
        Some(Value::String(message)) => message,
        _ => "(no message)".to_owned(),
    };
    let data = error.data.and_then(|data| serde_json::from_str(data.get()).ok());
    // `as` saturates, so no code wraps around into another one.
    JsonRpcMessage::error(ErrorData::new(ErrorCode(error.code as i32), message, data), Some(id))
}

/// Ends a request whose answer is of no use, with the reason.
fn failed(id: RequestId, reader: Reader, reason: String) -> ServerJsonRpcMessage {
    if reader == Reader::Proem {
        // An array is no result of the protocol, so it cannot be mistaken for one of the server's.
        let reason = Value::Array(vec![Value::String(reason)]);
        return JsonRpcMessage::response(ServerResult::CustomResult(CustomResult(reason)), id);
    }
    JsonRpcMessage::error(ErrorData::internal_error(format!("unreadable answer: {reason}"), None), Some(id))
}

impl<R, W> Transport<RoleClient> for Tap<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.pending.sent(&message, self.probe);
        let write = Arc::clone(&self.write);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let write = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    fn receive(&mut self) -> impl Future<Output = Option<ServerJsonRpcMessage>> + Send {
        self.next()
    }

    async fn close(&mut self) -> io::Result<()> {
        // Dropped, the server reads the end of its input.
        self.write.lock().await.take();
        Ok(())
    }
}
