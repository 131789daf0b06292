use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout};

use super::select::{ExcludedResource, ResourceExclusion, ResourceSelection, SelectedResource};
use crate::{
    catalog::Aggregator,
    error::{ClientError, excerpt},
    id::ResourceId,
    json::Digest,
    protocol::ReadResourceResult,
    tokens::{CountCache, TokenBudget},
};

/// What reading may cost.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ReadLimits {
    /// Time for one resource. Default: 10 seconds.
    pub time: Duration,
    /// Time for all resources together. Default: 20 seconds: a turn waits for it. Those that were
    /// read by then are attached.
    pub total: Duration,
    /// Bytes of text of one resource. Default: 4 MiB, a million tokens.
    pub bytes: usize,
    /// How many are read at once. Default: 8.
    pub concurrency: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), total: Duration::from_secs(20), bytes: 4 << 20, concurrency: 8 }
    }
}

/// What was read, and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Attached {
    /// The texts, in the order of the selection.
    pub texts: Vec<AttachedText>,
    /// What is not attached after all, or never was to be; by server and URI.
    pub excluded: Vec<ExcludedResource>,
    /// What the texts cost together; never above the budget.
    pub tokens: usize,
}

/// The text of one resource.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AttachedText {
    /// The resource.
    pub id: ResourceId,
    /// What a person should read.
    pub label: String,
    /// The MIME type that its first text was read with.
    pub mime_type: Option<String>,
    /// The text; several contents are parted by an empty line.
    pub text: String,
    /// What it costs.
    pub tokens: usize,
    /// Which revision it is.
    pub digest: Digest,
    /// Why it is attached.
    pub reason: String,
}

/// Reads what was selected, all at once, and keeps what fits into `budget` in the selection's order.
///
/// One that fails, has no text or turns out too large is left out with its reason, and the others stand.
pub async fn attach(
    servers: &Aggregator,
    selection: ResourceSelection,
    budget: TokenBudget,
    limits: &ReadLimits,
    counts: &CountCache,
) -> Attached {
    let ids: Vec<_> = selection.resources.iter().map(|resource| resource.id.clone()).collect();
    let started = Instant::now();
    // Made before the first is awaited: a closure that is kept would make the future of a turn one
    // that cannot be spawned.
    let reads: Vec<_> = ids.iter().map(|id| read(servers, id, limits, started)).collect();
    // In the order given, whichever comes first: what is attached must not depend on timing. Each
    // text is settled when its turn comes, so that no more of them wait than are read at once.
    let mut reads = stream::iter(reads).buffered(limits.concurrency.max(1));
    let mut attached = Attached { excluded: selection.excluded, ..Attached::default() };
    let in_order = attached.excluded.len();
    for resource in selection.resources {
        let Some(result) = reads.next().await else { break };
        let id = resource.id.clone();
        if let Err(reason) = result.and_then(|text| attached.take(resource, text, budget, counts)) {
            attached.excluded.push(ExcludedResource { id, reason });
        }
    }
    // A selection gives its own in order.
    if attached.excluded.len() > in_order {
        attached.excluded.sort_by(|a, b| a.id.cmp(&b.id));
    }
    attached
}

struct Text {
    mime_type: Option<String>,
    text: String,
}

async fn read(
    servers: &Aggregator,
    id: &ResourceId,
    limits: &ReadLimits,
    started: Instant,
) -> Result<Text, ResourceExclusion> {
    let failed =
        |error: ClientError| ResourceExclusion::Failed(excerpt(&error.at(&id.server, "resources/read").to_string()));
    let client = servers.client(&id.server).map_err(|error| ResourceExclusion::Failed(error.to_string()))?;
    let time = limits.time.min(limits.total.saturating_sub(started.elapsed()));
    if time.is_zero() {
        return Err(ResourceExclusion::Failed("the others took all the time".into()));
    }
    match timeout(time, client.read_resource(&id.uri)).await {
        Ok(Ok(result)) => text_of(result, limits.bytes),
        Ok(Err(error)) => Err(failed(error)),
        Err(_) => Err(failed(ClientError::Timeout { after: time })),
    }
}

fn text_of(result: ReadResourceResult, max_bytes: usize) -> Result<Text, ResourceExclusion> {
    let bytes: usize = result.contents.iter().filter_map(|content| Some(content.text.as_ref()?.len())).sum();
    if bytes > max_bytes {
        return Err(ResourceExclusion::Failed(format!("it has {bytes} bytes of text, more than {max_bytes}")));
    }
    let mut mime_type = None;
    let mut parts = Vec::new();
    for content in result.contents {
        if let Some(text) = content.text.filter(|text| !text.is_empty()) {
            mime_type = mime_type.or(content.mime_type);
            parts.push(text);
        }
    }
    if parts.is_empty() {
        return Err(ResourceExclusion::NoText);
    }
    Ok(Text { mime_type, text: parts.join("\n\n") })
}

impl Attached {
    fn take(
        &mut self,
        resource: SelectedResource,
        Text { mime_type, text }: Text,
        budget: TokenBudget,
        counts: &CountCache,
    ) -> Result<(), ResourceExclusion> {
        let digest = Digest::of_bytes(&text);
        let tokens = counts.count(&text);
        let left = budget.tokens() - self.tokens;
        if tokens > left {
            return Err(ResourceExclusion::does_not_fit(resource.value.required, tokens, left));
        }
        self.tokens += tokens;
        let reason = resource.reason();
        let SelectedResource { id, label, .. } = resource;
        self.texts.push(AttachedText { id, label, mime_type, text, tokens, digest, reason });
        Ok(())
    }
}
