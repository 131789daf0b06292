use std::{
    collections::HashSet,
    fmt,
    time::{Duration, Instant},
};

use serde_json::value::RawValue;
use tokio::time::Instant as Clock;

use super::{Client, ListKind};
use crate::{error::ClientError, protocol::CacheScope};

/// What one server may cost. The defaults are far above any real server (the largest of 22 measured
/// lists 235 tools in 581 kB) and far below what would hurt a host.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Pages of one list: 1,000.
    pub pages: usize,
    /// Items of one list: 100,000.
    pub items: usize,
    /// Bytes of one list: 256 MiB.
    pub bytes: usize,
    /// Bytes of one item: 1 MiB. A definition above it would not fit a prompt anyway.
    pub item_bytes: usize,
    /// Time for one request that is no tool call: 30 seconds.
    pub request: Duration,
    /// Time for one tool call: 5 minutes. A build, a crawl or a query may well take that long, and a
    /// write that timed out leaves the host in doubt.
    pub call: Duration,
    /// Time for one list with all its pages: 2 minutes.
    pub list: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pages: 1_000,
            items: 100_000,
            bytes: 256 << 20,
            item_bytes: 1 << 20,
            request: Duration::from_secs(30),
            call: Duration::from_secs(300),
            list: Duration::from_secs(120),
        }
    }
}

impl Limits {
    /// Sets the time for one request that is no tool call.
    #[must_use]
    pub fn with_request(mut self, request: Duration) -> Self {
        self.request = request;
        self
    }

    /// Sets the time for one tool call.
    #[must_use]
    pub fn with_call(mut self, call: Duration) -> Self {
        self.call = call;
        self
    }

    /// Sets the most pages of one list.
    #[must_use]
    pub fn with_pages(mut self, pages: usize) -> Self {
        self.pages = pages;
        self
    }

    /// Sets the most items of one list.
    #[must_use]
    pub fn with_items(mut self, items: usize) -> Self {
        self.items = items;
        self
    }

    /// Sets the most bytes of one list.
    #[must_use]
    pub fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets the most bytes of one item.
    #[must_use]
    pub fn with_item_bytes(mut self, item_bytes: usize) -> Self {
        self.item_bytes = item_bytes;
        self
    }

    /// Sets the time for one list.
    #[must_use]
    pub fn with_list(mut self, list: Duration) -> Self {
        self.list = list;
        self
    }
}

/// A whole list as far as it was read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Listing {
    /// The pages in the server's order.
    pub pages: Vec<ListedPage>,
    /// Why the list ended before the server said so.
    pub cut: Option<Cut>,
}

impl Listing {
    /// The items of all pages in the server's order.
    pub fn items(&self) -> impl Iterator<Item = &RawValue> {
        self.pages.iter().flat_map(|page| page.items.iter().map(|item| &**item))
    }

    /// When the first of its pages must be asked for again.
    pub fn fresh_until(&self) -> Option<Instant> {
        self.pages.iter().map(|page| page.fresh_until).min()
    }

    /// Private if any page is.
    pub fn scope(&self) -> CacheScope {
        if !self.pages.is_empty() && self.pages.iter().all(|page| page.scope == CacheScope::Public) {
            CacheScope::Public
        } else {
            CacheScope::Private
        }
    }
}

/// One page with its own clock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListedPage {
    /// The items as sent.
    pub items: Vec<Box<RawValue>>,
    /// Until when it may be reused.
    pub fresh_until: Instant,
    /// Who may be given it again.
    pub scope: CacheScope,
}

/// Why a list ended before the server said so. What was read until then is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Cut {
    /// The server gave a cursor that it had given before.
    RepeatedCursor,
    /// More pages than [`Limits::pages`].
    Pages(usize),
    /// More items than [`Limits::items`].
    Items(usize),
    /// More bytes than [`Limits::bytes`].
    Bytes(usize),
    /// More time than [`Limits::list`].
    Time(Duration),
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the list was ended: ")?;
        match self {
            Self::RepeatedCursor => f.write_str("the server repeats a cursor"),
            Self::Pages(n) => write!(f, "more than {n} pages"),
            Self::Items(n) => write!(f, "more than {n} items"),
            Self::Bytes(n) => write!(f, "more than {n} bytes"),
            Self::Time(after) => write!(f, "not complete after {after:?}"),
        }
    }
}

/// Reads a whole list within `limits`: until `nextCursor` is absent, a cursor repeats, or a limit is met.
///
/// The specification gives no cap on pages and no rule against a cursor that never advances
/// (MCP 2026-07-28, pagination), so both are bounded here.
///
/// # Errors
/// What the first page failed with; a later page that fails does too, since half a list that looks
/// whole would hide tools. [`ClientError::is_unsupported`] tells a server that has no such list.
pub async fn list_all(client: &dyn Client, kind: ListKind, limits: &Limits) -> Result<Listing, ClientError> {
    // The time of tokio's clock, so that a host's tests can move it.
    let started = Clock::now();
    let mut listing = Listing::default();
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    let (mut items, mut bytes) = (0, 0);
    loop {
        let left = limits.list.saturating_sub(started.elapsed());
        let allowed = limits.request.min(left);
        let page = match tokio::time::timeout(allowed, client.list(kind, cursor.as_deref())).await {
            Ok(page) => page?,
            Err(_) if listing.pages.is_empty() || left > limits.request => {
                return Err(ClientError::Timeout { after: allowed });
            }
            Err(_) => {
                listing.cut = Some(Cut::Time(limits.list));
                return Ok(listing);
            }
        };
        let fresh_until = Clock::now().into_std() + page.ttl.unwrap_or_default();
        let mut kept = Vec::with_capacity(page.items.len());
        for item in page.items {
            items += 1;
            bytes += item.get().len();
            if items > limits.items {
                listing.cut = Some(Cut::Items(limits.items));
                break;
            }
            if bytes > limits.bytes {
                listing.cut = Some(Cut::Bytes(limits.bytes));
                break;
            }
            kept.push(item);
        }
        listing.pages.push(ListedPage { items: kept, fresh_until, scope: page.scope });
        if listing.cut.is_some() {
            return Ok(listing);
        }
        let Some(next) = page.next_cursor else { return Ok(listing) };
        if listing.pages.len() >= limits.pages {
            listing.cut = Some(Cut::Pages(limits.pages));
            return Ok(listing);
        }
        if !seen.insert(next.clone()) {
            listing.cut = Some(Cut::RepeatedCursor);
            return Ok(listing);
        }
        cursor = Some(next);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{
        client::{ClientResult, Page},
        protocol::ServerInfo,
    };

    /// Answers each request for a page by a rule.
    struct Rule<F>(F, AtomicUsize);

    impl<F> fmt::Debug for Rule<F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Rule")
        }
    }

    impl<F: Fn(usize, Option<&str>) -> Page + Send + Sync> Client for Rule<F> {
        fn info(&self) -> ClientResult<'_, ServerInfo> {
            Box::pin(async { Ok(ServerInfo::default()) })
        }

        fn list<'a>(&'a self, _: ListKind, cursor: Option<&'a str>) -> ClientResult<'a, Page> {
            let n = self.1.fetch_add(1, Ordering::Relaxed);
            let page = self.0(n, cursor);
            Box::pin(async { Ok(page) })
        }
    }

    fn page(next: Option<&str>) -> Page {
        Page { next_cursor: next.map(str::to_owned), ..Page::new(vec![RawValue::from_string("{}".into()).unwrap()]) }
    }

    async fn read(limits: Limits, rule: impl Fn(usize, Option<&str>) -> Page + Send + Sync) -> Listing {
        list_all(&Rule(rule, AtomicUsize::new(0)), ListKind::Tools, &limits).await.unwrap()
    }

    #[tokio::test]
    async fn an_empty_cursor_is_a_cursor() {
        let listing = read(Limits::default(), |_, cursor| match cursor {
            None => page(Some("")),
            Some("") => page(Some("b")),
            _ => page(None),
        })
        .await;
        assert_eq!((listing.pages.len(), listing.cut), (3, None));
    }

    #[tokio::test]
    async fn a_repeated_cursor_ends_the_list_with_what_was_read() {
        let listing = read(Limits::default(), |_, _| page(Some("again"))).await;
        assert_eq!((listing.pages.len(), listing.cut), (2, Some(Cut::RepeatedCursor)));
    }

    #[tokio::test]
    async fn cursors_without_end_are_bounded() {
        let endless = |n: usize, _: Option<&str>| page(Some(&n.to_string()));
        let listing = read(Limits::default().with_pages(7), endless).await;
        assert_eq!((listing.pages.len(), listing.cut), (7, Some(Cut::Pages(7))));
        let listing = read(Limits::default().with_items(3), endless).await;
        assert_eq!((listing.items().count(), listing.cut), (3, Some(Cut::Items(3))));
        let listing = read(Limits::default().with_bytes(5), endless).await;
        assert_eq!((listing.items().count(), listing.cut), (2, Some(Cut::Bytes(5))));
    }
}
