use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    process::Child,
    sync::{oneshot, watch},
};

use super::{BoxFuture, link::Bearer, secret::Secrets};
use crate::error::excerpt;

/// A running child. Dropped, it ends: by the end of its input if it listens to that, else killed.
pub(super) struct Process {
    exit: watch::Receiver<Option<String>>,
    stderr: Arc<Mutex<Tail>>,
    /// Dropped with the process's owner.
    _stop: oneshot::Sender<()>,
}

impl Process {
    /// How long a child may take to end after the end of its input: 1 s.
    const GRACE: Duration = Duration::from_secs(1);
    /// How long an end that a broken pipe announces is waited for, to tell its status: 2 s.
    const OBITUARY: Duration = Duration::from_secs(2);

    pub(super) fn watch(mut child: Child, stderr: impl AsyncRead + Send + Unpin + 'static, secrets: Secrets) -> Self {
        let tail = Arc::new(Mutex::new(Tail::default()));
        let reading = tokio::spawn(Tail::read(Arc::clone(&tail), stderr, secrets));
        let (ended, exit) = watch::channel(None);
        let (stop, mut stopped) = oneshot::channel();
        tokio::spawn(async move {
            let status = tokio::select! {
                status = child.wait() => status,
                _ = &mut stopped => {
                    if tokio::time::timeout(Self::GRACE, child.wait()).await.is_err() {
                        let _ = child.kill().await;
                    }
                    return;
                }
            };
            // What it said last is read to its end, unless a child of its own keeps the pipe open.
            let _ = tokio::time::timeout(Self::OBITUARY / 2, reading).await;
            let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
            let _ = ended.send(Some(status));
        });
        Self { exit, stderr: tail, _stop: stop }
    }
}

impl Bearer for Process {
    fn obituary(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async {
            let mut exit = self.exit.clone();
            let status =
                tokio::time::timeout(Self::OBITUARY, exit.wait_for(Option::is_some)).await.ok()?.ok()?.clone()?;
            let last = self.stderr.lock().unwrap_or_else(PoisonError::into_inner).text();
            Some(if last.is_empty() {
                format!("its process ended ({status}) and said nothing on stderr")
            } else {
                format!("its process ended ({status}); last on stderr: {last}")
            })
        })
    }
}

/// The last lines of a child's stderr.
#[derive(Debug, Default)]
struct Tail(VecDeque<String>);

impl Tail {
    /// Lines that are kept: 10, of at most 200 characters each.
    const LINES: usize = 10;

    async fn read(tail: Arc<Mutex<Self>>, stderr: impl AsyncRead + Unpin, secrets: Secrets) {
        let mut stderr = BufReader::new(stderr);
        let mut line = Vec::new();
        loop {
            // At most a buffer's worth at a time, so a line without end costs no memory.
            let Ok(available) = stderr.fill_buf().await else { return };
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let room = Self::MAX_LINE.saturating_sub(line.len());
            line.extend_from_slice(piece.get(..room).unwrap_or(piece));
            let (consumed, over) = (piece.len() + usize::from(end.is_some()), available.is_empty());
            stderr.consume(consumed);
            if end.is_some() || over {
                let text = secrets.redact(String::from_utf8_lossy(&line).trim_end());
                line.clear();
                if !text.is_empty() {
                    tracing::debug!(line = %text, "stderr of a server");
                    tail.lock().unwrap_or_else(PoisonError::into_inner).push(excerpt(&text));
                }
            }
            if over {
                return;
            }
        }
    }

    /// Bytes of one line that are looked at: 64 KiB.
    const MAX_LINE: usize = 64 << 10;

    fn push(&mut self, line: String) {
        if self.0.len() == Self::LINES {
            self.0.pop_front();
        }
        self.0.push_back(line);
    }

    fn text(&self) -> String {
        self.0.iter().map(String::as_str).collect::<Vec<_>>().join(" | ")
    }
}
