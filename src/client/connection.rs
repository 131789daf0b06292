use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{broadcast, watch},
    time::Instant,
};

use super::{
    Change, Limits,
    change::channel,
    link::{Connect, Link, Start},
    peer::Task,
    push::{Watched, can_watch, follow},
    request::Requests,
    secret::Secrets,
};
use crate::{error::ClientError, protocol::ServerInfo};

/// The wait before the second restart in a row: 0.5 s. The first has none, each later one twice the last.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait before a restart: 30 s.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A server that lived this long has shown that it works: the count starts anew.
const HEALTHY_AFTER: Duration = Duration::from_secs(60);

/// A server that is connected on first use, and again when the connection was lost.
pub(super) struct Connection {
    inner: Arc<Inner>,
    /// Dropped, it ends a start that is under way.
    _open: watch::Sender<()>,
}

struct Inner {
    connector: Box<dyn Connect>,
    timeout: Duration,
    call_timeout: Duration,
    probe: Duration,
    secrets: Secrets,
    changes: broadcast::Sender<Change>,
    watched: watch::Sender<Watched>,
    live: Mutex<Option<Arc<Link>>>,
    attempts: tokio::sync::Mutex<Attempts>,
    closed: watch::Receiver<()>,
}

#[derive(Debug, Default)]
struct Attempts {
    made: u64,
    /// Failed starts and early deaths in a row.
    failures: u32,
    last: Option<(Instant, Failure)>,
    legacy: bool,
}

/// An error that can be told to everybody who waited for the same start.
#[derive(Clone, Debug)]
enum Failure {
    Timeout(Duration),
    Other(String),
}

impl Connection {
    pub(super) fn new(
        connector: impl Connect,
        limits: &Limits,
        probe: Duration,
        secrets: Secrets,
        changes: broadcast::Sender<Change>,
    ) -> Self {
        let (open, closed) = watch::channel(());
        let inner = Inner {
            connector: Box::new(connector),
            timeout: limits.request,
            call_timeout: limits.call,
            // A server that is silent on the probe must have time left for the handshake.
            probe: probe.min(limits.request / 3),
            secrets,
            changes,
            watched: watch::channel(Watched::new()).0,
            live: Mutex::default(),
            attempts: tokio::sync::Mutex::default(),
            closed,
        };
        Self { inner: Arc::new(inner), _open: open }
    }

    pub(super) fn changes() -> broadcast::Sender<Change> {
        channel()
    }

    pub(super) async fn info(&self) -> Result<ServerInfo, ClientError> {
        let link = self.link().await?;
        link.info().ok_or_else(|| ClientError::unreachable("the handshake is not finished"))
    }

    /// Makes one request on the connection that stands, or a new one.
    pub(super) async fn ask<T, F>(&self, request: impl FnOnce(Requests) -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let link = self.link().await?;
        self.finish(&link, request(self.inner.requests(&link)).await).await
    }

    pub(super) async fn watch(&self, uris: &Watched) -> Result<(), ClientError> {
        if !can_watch(self.info().await?.capabilities.as_ref()) {
            return Err(ClientError::Unsupported);
        }
        self.inner.watched.send_if_modified(|watched| {
            let differs = watched != uris;
            watched.clone_from(uris);
            differs
        });
        Ok(())
    }

    /// Says why a connection was lost, where a request only knows that it was.
    async fn finish<T>(&self, link: &Link, result: Result<T, ClientError>) -> Result<T, ClientError> {
        let error = match result {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let error = match &error {
            ClientError::Unreachable { .. } => match link.loss().await {
                Some(reason) => ClientError::unreachable(reason),
                None => error,
            },
            _ => error,
        };
        Err(self.inner.secrets.redact_error(error))
    }

    /// The connection that stands, or a new one.
    async fn link(&self) -> Result<Arc<Link>, ClientError> {
        if let Some(link) = self.inner.standing() {
            return Ok(link);
        }
        let inner = Arc::clone(&self.inner);
        // On a task of its own, so that a caller who gives up does not throw a slow start away.
        let start = tokio::spawn(async move {
            let mut closed = inner.closed.clone();
            tokio::select! {
                started = inner.start() => started,
                _ = closed.changed() => Err(ClientError::unreachable("the client was dropped")),
            }
        });
        match tokio::time::timeout(self.inner.timeout, start).await {
            Ok(Ok(started)) => started.map_err(|error| self.inner.secrets.redact_error(error)),
            Ok(Err(_)) => Err(ClientError::unreachable("the runtime is shutting down")),
            Err(_) => Err(ClientError::Timeout { after: self.inner.timeout }),
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("connector", &self.inner.connector)
            .field("stands", &self.inner.standing().is_some())
            .finish_non_exhaustive()
    }
}

impl Inner {
    fn requests(&self, link: &Link) -> Requests {
        link.requests(self.timeout, self.call_timeout)
    }

    fn standing(&self) -> Option<Arc<Link>> {
        self.live().as_ref().filter(|link| !link.is_lost()).cloned()
    }

    fn live(&self) -> std::sync::MutexGuard<'_, Option<Arc<Link>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn start(&self) -> Result<Arc<Link>, ClientError> {
        // Everybody who came while a start was under way shares its outcome.
        let (made, mut attempts) = match self.attempts.try_lock() {
            Ok(attempts) => (attempts.made, attempts),
            Err(_) => {
                let attempts = self.attempts.lock().await;
                (attempts.made.saturating_sub(1), attempts)
            }
        };
        if let Some(link) = self.standing() {
            return Ok(link);
        }
        let dead = self.live().take();
        if let Some(link) = dead {
            let early = link.born.elapsed() < HEALTHY_AFTER;
            attempts.failures = if early { attempts.failures.saturating_add(1) } else { 1 };
            let reason = link.loss().await.unwrap_or_else(|| "the connection was lost".into());
            attempts.last = Some((Instant::now(), Failure::Other(reason)));
        } else if attempts.made != made
            && let Some((_, failure)) = &attempts.last
        {
            return Err(failure.error());
        }
        attempts.check()?;
        let restart = attempts.made > 0;
        attempts.made += 1;
        let start = Start { probe: self.probe, legacy: attempts.legacy, changes: self.changes.clone() };
        // Twice a request: a first start may install the server, and callers wait for less anyway.
        let most = self.timeout * 2;
        let failure = match tokio::time::timeout(most, self.connector.connect(&start)).await {
            Ok(Ok(link)) => {
                attempts.legacy = link.is_legacy();
                return Ok(self.stands(link, restart));
            }
            Ok(Err(ClientError::Timeout { after })) => Failure::Timeout(after),
            Ok(Err(ClientError::Unreachable { reason, .. })) => Failure::Other(reason),
            Ok(Err(other)) => Failure::Other(other.to_string()),
            Err(_) => Failure::Timeout(most),
        };
        attempts.failures = attempts.failures.saturating_add(1);
        // Perhaps it is another version of the server by now.
        attempts.legacy = false;
        attempts.last = Some((Instant::now(), failure.clone()));
        Err(failure.error())
    }

    fn stands(&self, mut link: Link, restart: bool) -> Arc<Link> {
        let following = follow(
            self.requests(&link),
            link.info().unwrap_or_default(),
            self.changes.clone(),
            self.watched.subscribe(),
        );
        link.follower = Some(Task(tokio::spawn(following)));
        let link = Arc::new(link);
        *self.live() = Some(Arc::clone(&link));
        if restart {
            let _ = self.changes.send(Change::Reconnected);
        }
        link
    }
}

impl Attempts {
    /// Refuses a start that comes too soon after the last failure.
    ///
    /// It fails at once rather than waiting: a host would rather go on with the list that it has.
    fn check(&self) -> Result<(), ClientError> {
        let Some((at, failure)) = &self.last else { return Ok(()) };
        let wait = wait_after(self.failures).saturating_sub(at.elapsed());
        if wait.is_zero() {
            return Ok(());
        }
        let reason = match failure {
            Failure::Timeout(after) => format!("no answer within {after:?}"),
            Failure::Other(reason) => reason.clone(),
        };
        Err(ClientError::unreachable(format!("{reason} (it is tried again in {:.1} s)", wait.as_secs_f32())))
    }
}

fn wait_after(failures: u32) -> Duration {
    match failures.checked_sub(2) {
        None => Duration::ZERO,
        Some(doublings) => FIRST_WAIT.saturating_mul(1 << doublings.min(16)).min(LONGEST_WAIT),
    }
}

impl Failure {
    fn error(&self) -> ClientError {
        match self {
            Self::Timeout(after) => ClientError::Timeout { after: *after },
            Self::Other(reason) => ClientError::unreachable(reason.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_restart_is_at_once_and_later_ones_wait_longer() {
        let waits: Vec<f32> = [0, 1, 2, 3, 4, 7, 8, 9, 1_000].map(|n| wait_after(n).as_secs_f32()).to_vec();
        assert_eq!(waits, [0.0, 0.0, 0.5, 1.0, 2.0, 16.0, 30.0, 30.0, 30.0]);
    }
}
