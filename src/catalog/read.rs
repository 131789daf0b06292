use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout};

use super::{aggregator::Aggregator, cache_policy::CachePolicy, reads::map_weight};
use crate::{
    Error, Result,
    client::Limits,
    error::{ClientError, excerpt},
    id::ResourceId,
    protocol::{InputResponses, ReadResourceResult},
};

/// How a resource is read.
///
/// ```
/// use std::time::Duration;
/// use proem::catalog::{CachePolicy, ReadRequest};
///
/// let request = ReadRequest::new().with_cache(CachePolicy::Never).with_time(Duration::from_secs(5));
/// assert_eq!(request.max_bytes, 4 << 20);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadRequest {
    /// Whether what was read before may be given. Default: as the server says.
    pub cache: CachePolicy,
    /// The most bytes of all texts and blobs together, blobs in base64 as sent. Default: 4 MiB, a
    /// million tokens of text.
    pub max_bytes: usize,
    /// How long to wait. Default: [`Limits::request`]; those of the host hold in any case.
    pub time: Duration,
    /// What the server asked for first, if this is read again with it. Default: nothing. Such an
    /// answer is neither taken from what was read before nor kept (MCP 2026-07-28, caching).
    pub input: Option<InputResponses>,
}

impl ReadRequest {
    /// The most contents of one answer: 256. One read may give a folder, not a disk.
    pub const MAX_CONTENTS: usize = 256;

    /// A request with all defaults.
    pub fn new() -> Self {
        let time = Limits::default().request;
        Self { cache: CachePolicy::default(), max_bytes: 4 << 20, time, input: None }
    }

    /// Sets whether what was read before may be given.
    #[must_use]
    pub fn with_cache(mut self, cache: CachePolicy) -> Self {
        self.cache = cache;
        self
    }

    /// Sets the most bytes of all texts and blobs together.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Sets how long to wait.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Answers what the server [asked for](ClientError::InputRequired) first.
    #[must_use]
    pub fn with_input(mut self, input: InputResponses) -> Self {
        self.input = Some(input);
        self
    }

    /// # Errors
    /// [`ClientError::Malformed`] if an answer is larger than asked for. What stands beside its
    /// contents may take as much as an item of a list.
    fn check(&self, answer: &ReadResourceResult, beside: usize) -> Result<(), ClientError> {
        let larger = |what: &str, size: usize, most: usize| {
            if size <= most {
                return Ok(());
            }
            Err(ClientError::malformed(format!("it is too large: {size} {what}, more than {most}")))
        };
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let contents = || answer.contents.iter();
        larger("contents", answer.contents.len(), Self::MAX_CONTENTS)?;
        larger("bytes of contents", contents().map(|c| length(&c.text) + length(&c.blob)).sum(), self.max_bytes)?;
        let names: usize = contents().map(|c| c.uri.len() + length(&c.mime_type)).sum();
        larger("bytes beside its contents", names + map_weight(&answer.extra), beside)
    }
}

impl Default for ReadRequest {
    fn default() -> Self {
        Self::new()
    }
}

impl Aggregator {
    /// Reads a resource, or gives what was read of it before and may be reused.
    ///
    /// The URI need not stand in the catalog: templates and links give others. What comes may have
    /// several contents or none, with URIs of their own. It ends within the time and the bytes of
    /// `request`, and may be dropped at any time: nothing is kept of half an answer.
    ///
    /// Reads of the same resource at the same time are requests of their own: one who has heard of a
    /// change since must not be given the answer to an earlier request.
    ///
    /// # Errors
    /// [`Error::UnknownServer`]; [`Error::NotFound`] if the server has no such resource (-32602, or
    /// -32002 from older ones); [`Error::Server`] for all else: with [`ClientError::InputRequired`] a
    /// server that asks for something first, to be [answered](ReadRequest::with_input), and with
    /// [`ClientError::Malformed`] an answer that cannot be read or is too large.
    pub async fn read(&self, id: &ResourceId, request: &ReadRequest) -> Result<Arc<ReadResourceResult>> {
        let server = self.server(&id.server)?;
        let (reads, authorization, limits) = (&self.options.reads, &self.options.authorization, &self.options.limits);
        let failed = |error: ClientError| error.at(&id.server, "resources/read");
        // Or what is kept might be out of date without anybody hearing of it.
        self.listen(&id.server, server);
        // The time of tokio's clock, so that a host's tests can move it.
        let now = || Instant::now().into_std();
        if request.input.is_none()
            && let Some(kept) = reads.fresh(id, authorization, request.cache, now())
        {
            request.check(&kept, limits.item_bytes).map_err(failed)?;
            return Ok(kept);
        }
        let asked = reads.asking();
        let time = request.time.min(limits.request);
        let reading = match &request.input {
            None => server.client.read_resource(&id.uri),
            Some(input) => server.client.read_resource_with(&id.uri, input),
        };
        let answer = match timeout(time, reading).await {
            Ok(Ok(answer)) => answer,
            // A server that asked for input has the resource: there it means the answers.
            Ok(Err(error)) if error.is_not_found() && request.input.is_none() => {
                tracing::debug!(server = %id.server, uri = %excerpt(&id.uri), %error, "resource not found");
                let (server, item) = (id.server.clone(), excerpt(&id.uri));
                return Err(Error::NotFound { server, kind: "resource", item });
            }
            Ok(Err(error)) => return Err(failed(error)),
            Err(_) => return Err(failed(ClientError::Timeout { after: time })),
        };
        request.check(&answer, limits.item_bytes).map_err(failed)?;
        let answer = Arc::new(answer);
        if request.input.is_none() {
            reads.keep(id, authorization, request.cache, &answer, asked, now());
        }
        Ok(answer)
    }
}
