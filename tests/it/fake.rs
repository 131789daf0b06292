//! A server that answers by a script: pages, errors, delays, silence, news.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

use std::{
    collections::BTreeMap,
    fmt,
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use proem::{
    client::{Change, Client, ClientResult, ListKind, Page},
    error::ClientError,
    id::ServerId,
    protocol::{CacheScope, GetPromptResult, ReadResourceResult, ServerInfo},
};
use serde_json::{Value, json, value::RawValue};
use tokio::{sync::broadcast, time::sleep};

pub(crate) fn id(name: &str) -> ServerId {
    ServerId::new(name).unwrap()
}

/// A tool as a server would send it.
pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}"), "inputSchema": {"type": "object"}})
}

pub(crate) fn tools<'a>(names: impl IntoIterator<Item = &'a str>) -> Step {
    Step::items(names.into_iter().map(tool))
}

/// One answer to one request for a list.
#[derive(Clone)]
pub(crate) struct Step {
    pages: Vec<Vec<Box<RawValue>>>,
    delay: Duration,
    ttl: Option<Duration>,
    scope: CacheScope,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Pages,
    Error(i64),
    Silence,
    /// Every page gives the same cursor.
    Loop,
}

impl Step {
    pub(crate) fn items(items: impl IntoIterator<Item = Value>) -> Self {
        Self::raw(items.into_iter().map(|item| item.to_string()))
    }

    /// Items as text, so that they can hold what no `Value` can.
    pub(crate) fn raw(items: impl IntoIterator<Item = String>) -> Self {
        let items = items.into_iter().map(|text| RawValue::from_string(text).unwrap()).collect();
        Self {
            pages: vec![items],
            delay: Duration::ZERO,
            ttl: None,
            scope: CacheScope::Private,
            outcome: Outcome::Pages,
        }
    }

    pub(crate) fn error(code: i64) -> Self {
        Self { outcome: Outcome::Error(code), ..Self::items([]) }
    }

    pub(crate) fn silence() -> Self {
        Self { outcome: Outcome::Silence, ..Self::items([]) }
    }

    pub(crate) fn endless(self) -> Self {
        Self { outcome: Outcome::Loop, ..self }
    }

    pub(crate) fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub(crate) fn ttl(self, ttl: Duration) -> Self {
        Self { ttl: Some(ttl), ..self }
    }

    pub(crate) fn public(self) -> Self {
        Self { scope: CacheScope::Public, ..self }
    }

    /// In pages of `size` items.
    pub(crate) fn paged(self, size: usize) -> Self {
        let items: Vec<_> = self.pages.into_iter().flatten().collect();
        let mut pages: Vec<Vec<_>> = items.chunks(size.max(1)).map(<[_]>::to_vec).collect();
        if pages.is_empty() {
            pages.push(Vec::new());
        }
        Self { pages, ..self }
    }
}

/// Clones are the same server.
#[derive(Clone)]
pub(crate) struct Fake {
    inner: Arc<Inner>,
}

struct Inner {
    info: Mutex<ServerInfo>,
    // Each request takes the next step; the last one stays.
    steps: Mutex<BTreeMap<ListKind, Vec<Step>>>,
    asked: Mutex<BTreeMap<ListKind, usize>>,
    texts: Mutex<BTreeMap<String, (Duration, Option<Value>)>>,
    changes: broadcast::Sender<Change>,
}

impl Fake {
    /// A server that offers nothing until it is given steps.
    pub(crate) fn new() -> Self {
        let inner = Inner {
            info: Mutex::default(),
            steps: Mutex::default(),
            asked: Mutex::default(),
            texts: Mutex::default(),
            changes: broadcast::channel(256).0,
        };
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn with(self, kind: ListKind, steps: impl IntoIterator<Item = Step>) -> Self {
        self.then(kind, steps);
        self
    }

    pub(crate) fn with_tools<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.with(ListKind::Tools, [tools(names)])
    }

    /// Only these capabilities are offered.
    pub(crate) fn offering(self, capabilities: &[&str]) -> Self {
        let map = capabilities.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        self.inner.info.lock().unwrap().capabilities = Some(map);
        self
    }

    /// Answers a read after a delay: with this result, or never.
    pub(crate) fn with_read(self, uri: &str, delay: Duration, result: Option<Value>) -> Self {
        self.inner.texts.lock().unwrap().insert(uri.to_owned(), (delay, result));
        self
    }

    /// Adds steps to those that are left.
    pub(crate) fn then(&self, kind: ListKind, steps: impl IntoIterator<Item = Step>) {
        self.inner.steps.lock().unwrap().entry(kind).or_default().extend(steps);
    }

    pub(crate) fn set_info(&self, change: impl FnOnce(&mut ServerInfo)) {
        change(&mut self.inner.info.lock().unwrap());
    }

    pub(crate) fn say(&self, change: Change) {
        self.inner.changes.send(change).unwrap();
    }

    /// How often a list was asked for from its beginning.
    pub(crate) fn asked(&self, kind: ListKind) -> usize {
        self.inner.asked.lock().unwrap().get(&kind).copied().unwrap_or_default()
    }

    pub(crate) fn boxed(&self) -> Arc<dyn Client> {
        Arc::new(self.clone())
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fake")
    }
}

impl Client for Fake {
    fn info(&self) -> ClientResult<'_, ServerInfo> {
        let info = self.inner.info.lock().unwrap().clone();
        Box::pin(async { Ok(info) })
    }

    fn list<'a>(&'a self, kind: ListKind, cursor: Option<&'a str>) -> ClientResult<'a, Page> {
        // A cursor says which step and which page of it.
        let (number, page) = match cursor.and_then(|text| text.split_once('-')) {
            Some((number, page)) => (number.parse().unwrap(), page.parse().unwrap()),
            None => {
                let mut asked = self.inner.asked.lock().unwrap();
                let asked = asked.entry(kind).or_default();
                *asked += 1;
                (*asked - 1, 0_usize)
            }
        };
        let step = self
            .inner
            .steps
            .lock()
            .unwrap()
            .get(&kind)
            .and_then(|steps| steps.get(number.min(steps.len().saturating_sub(1))).cloned());
        Box::pin(async move {
            let step = step.ok_or(ClientError::Unsupported)?;
            sleep(step.delay).await;
            match step.outcome {
                Outcome::Silence => pending().await,
                Outcome::Error(code) => Err(ClientError::Rpc { code, message: "by script".into() }),
                Outcome::Pages | Outcome::Loop => {
                    let mut answer = Page::new(step.pages.get(page).cloned().unwrap_or_default());
                    answer.ttl = step.ttl;
                    answer.scope = step.scope;
                    if step.outcome == Outcome::Loop {
                        answer.next_cursor = Some(format!("{number}-0"));
                    } else if page + 1 < step.pages.len() {
                        answer.next_cursor = Some(format!("{number}-{}", page + 1));
                    }
                    Ok(answer)
                }
            }
        })
    }

    fn read_resource<'a>(&'a self, uri: &'a str) -> ClientResult<'a, ReadResourceResult> {
        let read = self.inner.texts.lock().unwrap().get(uri).cloned();
        Box::pin(async move {
            let not_found = || ClientError::Rpc { code: -32_602, message: "not found".into() };
            let (delay, result) = read.ok_or_else(not_found)?;
            sleep(delay).await;
            match result {
                Some(result) => ReadResourceResult::read(result).map(|read| read.item).map_err(|_| not_found()),
                None => pending().await,
            }
        })
    }

    fn get_prompt<'a>(&'a self, _: &'a str, _: &'a BTreeMap<String, String>) -> ClientResult<'a, GetPromptResult> {
        Box::pin(pending())
    }

    fn changes(&self) -> Option<broadcast::Receiver<Change>> {
        Some(self.inner.changes.subscribe())
    }
}
