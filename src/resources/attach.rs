use std::{cell::RefCell, fmt, sync::Arc};

use futures_util::{StreamExt, stream};
use tokio::time::Instant;

use super::{
    content::ImageContent,
    exclusion::{ExcludedResource, ResourceExclusion},
    given::Given,
    governance::{Decision, Governance},
    known::KnownTexts,
    limits::ReadLimits,
    options::ResourceOptions,
    plan::LEAST_TRIMMED,
    select::{ResourceSelection, SelectedResource},
    text_kind::TextKind,
    trim::{Cut, fitted, trim},
    value::ResourceValue,
};
use crate::{
    Error,
    catalog::{Aggregator, ReadRequest},
    error::{ClientError, excerpt},
    id::ResourceId,
    json::Digest,
    protocol::{ReadResourceResult, Role},
    tokens::CountCache,
};

/// What was read, and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Attached {
    /// What a request is given, in the order of the selection.
    pub resources: Vec<AttachedResource>,
    /// What is not attached after all, or never was to be; by server and URI.
    pub excluded: Vec<ExcludedResource>,
    /// What they cost together as rendered; never above the budget.
    pub tokens: usize,
    /// What did not work as it should, and what was done instead.
    pub notes: Vec<String>,
}

/// One resource as a request is given it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AttachedResource {
    /// The resource.
    pub id: ResourceId,
    /// What a person should read.
    pub label: String,
    /// The MIME type that its first content has.
    pub mime_type: Option<String>,
    /// Its text, trimmed if it was too long. Several contents are parted by a line that names each.
    pub text: String,
    /// Its pictures.
    pub images: Vec<ImageContent>,
    /// What it costs, delimiters and pictures included.
    pub tokens: usize,
    /// Which revision it is: over what was read, before anything was trimmed.
    pub digest: Digest,
    /// What of the text was kept, if it was trimmed.
    pub cut: Option<Cut>,
    /// What it is worth.
    pub value: ResourceValue,
    /// A person or the host picked it.
    pub pinned: bool,
    /// What the host's rules say: whose it is, and where it may go.
    pub decision: Decision,
    /// Why it is attached.
    pub reason: String,
}

/// What attaching needs besides the selection.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Attaching<'a> {
    /// Who is asked.
    pub servers: &'a Aggregator,
    /// What counts.
    pub counts: &'a CountCache,
    /// How a resource stands in a request, pictures apart: what is counted.
    pub rendered: &'a (dyn Fn(&AttachedResource) -> String + Sync),
    /// The host's rules, asked again once the type of a content is known. Default: none.
    pub governance: Option<&'a Governance>,
    /// What is to remember the texts for the next search. Default: nothing.
    pub known: Option<&'a KnownTexts>,
    /// What a text that is too long is trimmed towards. Default: nothing.
    pub request: &'a str,
}

impl<'a> Attaching<'a> {
    /// Reads from `servers`, and counts what `rendered` makes of a resource.
    pub fn new(
        servers: &'a Aggregator,
        counts: &'a CountCache,
        rendered: &'a (dyn Fn(&AttachedResource) -> String + Sync),
    ) -> Self {
        Self { servers, counts, rendered, governance: None, known: None, request: "" }
    }

    /// Sets the host's rules.
    #[must_use]
    pub fn with_governance(mut self, governance: &'a Governance) -> Self {
        self.governance = Some(governance);
        self
    }

    /// Sets what remembers the texts.
    #[must_use]
    pub fn with_known(mut self, known: &'a KnownTexts) -> Self {
        self.known = Some(known);
        self
    }

    /// Sets what texts are trimmed towards.
    #[must_use]
    pub fn with_request(mut self, request: &'a str) -> Self {
        self.request = request;
        self
    }
}

impl fmt::Debug for Attaching<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attaching").field("servers", &self.servers).finish_non_exhaustive()
    }
}

/// Reads what was selected, all at once, and keeps what fits into the budgets in the selection's
/// order; a text that is too long is trimmed to what the later ones leave of the budget.
///
/// One that fails, has nothing for a model or turns out too large is left out with its reason, and
/// the others stand.
pub async fn attach(selection: ResourceSelection, options: &ResourceOptions, with: &Attaching<'_>) -> Attached {
    let started = Instant::now();
    let ResourceSelection { resources, excluded, mut reserve, .. } = selection;
    let mut settling = Settling {
        attached: Attached { excluded, ..Attached::default() },
        options,
        with,
        reserved: Reserved::default(),
        bytes_left: options.max_bytes,
    };
    let mut left_out = settling.all(resources, started).await;
    // Where less was used than estimated, there is room for more. Each round reads what should fit.
    loop {
        let (next, later) = settling.affordable(reserve);
        if next.is_empty() {
            break;
        }
        reserve = later;
        settling.attached.excluded.retain(|excluded| next.iter().all(|resource| resource.id != excluded.id));
        left_out.append(&mut settling.all(next, started).await);
    }
    let mut attached = settling.attached;
    // A selection gives its own in order.
    if !left_out.is_empty() {
        attached.excluded.append(&mut left_out);
        attached.excluded.sort_by(|a, b| a.id.cmp(&b.id));
    }
    attached
}

async fn read(
    servers: &Aggregator,
    id: ResourceId,
    request: ReadRequest,
    limits: ReadLimits,
    started: Instant,
) -> Result<Arc<ReadResourceResult>, ResourceExclusion> {
    let time = limits.time.min(limits.total.saturating_sub(started.elapsed()));
    if time.is_zero() {
        return Err(ResourceExclusion::Failed("the others took all the time".into()));
    }
    servers.read(&id, &request.with_time(time)).await.map_err(|error| match error {
        Error::NotFound { .. } => ResourceExclusion::NotFound,
        Error::Server { source: ClientError::InputRequired(asked), .. } => ResourceExclusion::InputRequired(asked),
        error => ResourceExclusion::Failed(excerpt(&error.to_string())),
    })
}

/// Settles the budgets, resource by resource.
struct Settling<'a> {
    attached: Attached,
    options: &'a ResourceOptions,
    with: &'a Attaching<'a>,
    reserved: Reserved,
    bytes_left: u64,
}

/// What those that come later are estimated to cost.
#[derive(Default)]
struct Reserved {
    /// Picks, and what is required: what they cost more than estimated is taken from the rest.
    first: usize,
    rest: usize,
}

impl Reserved {
    fn of(&mut self, resource: &SelectedResource) -> &mut usize {
        if resource.pinned || resource.value.required { &mut self.first } else { &mut self.rest }
    }
}

impl Settling<'_> {
    /// Reads some, at once, and takes what fits in their order, whichever comes first: what is attached
    /// must not depend on timing. Gives those that are not attached after all.
    async fn all(&mut self, resources: Vec<SelectedResource>, started: Instant) -> Vec<ExcludedResource> {
        // Made before the first is awaited: a closure that is kept would make the future of a turn one
        // that cannot be spawned.
        let limits = self.options.reading;
        let reads: Vec<_> = resources
            .iter()
            .map(|resource| {
                let bytes = resource.decision.max_bytes.map_or(limits.bytes, |max| limits.bytes.min(max));
                let mut request = ReadRequest::new().with_cache(resource.decision.cache).with_max_bytes(bytes);
                request.input = self.options.inputs.get(&resource.id).cloned();
                read(self.with.servers, resource.id.clone(), request, limits, started)
            })
            .collect();
        self.reserved = Reserved::default();
        for resource in &resources {
            *self.reserved.of(resource) += resource.estimated_tokens;
        }
        // Each is settled when its turn comes, so that no more of them wait than are read at once.
        let mut reads = stream::iter(reads).buffered(limits.concurrency.max(1));
        let mut left_out = Vec::new();
        for resource in resources {
            let Some(result) = reads.next().await else { break };
            let id = resource.id.clone();
            *self.reserved.of(&resource) -= resource.estimated_tokens;
            if let Err(reason) = result.and_then(|result| self.take(resource, &result)) {
                left_out.push(ExcludedResource { id, reason });
            }
        }
        left_out
    }

    /// Parts those in reserve that should fit from the others. Where a server gives no size, one is
    /// taken to cost what the others did on average.
    fn affordable(&self, reserve: Vec<SelectedResource>) -> (Vec<SelectedResource>, Vec<SelectedResource>) {
        let mut left = self.options.budget.tokens() - self.attached.tokens;
        let chosen = self.attached.resources.iter().filter(|resource| !resource.pinned && !resource.value.required);
        let mut open = self.options.top.saturating_sub(chosen.count());
        let mean = self.attached.tokens.checked_div(self.attached.resources.len()).unwrap_or_default();
        reserve.into_iter().partition(|resource| {
            let cost = if resource.sized { resource.estimated_tokens } else { mean.max(LEAST_TRIMMED) };
            let fits = open > 0 && cost <= left;
            if fits {
                open -= 1;
                left -= cost;
            }
            fits
        })
    }

    fn take(&mut self, selected: SelectedResource, result: &ReadResourceResult) -> Result<(), ResourceExclusion> {
        let read = Given::new(result).map_err(|what| ResourceExclusion::NoText { what })?;
        let decision = self.decide(&selected, &read)?;
        if let Some(known) = self.with.known.filter(|_| !read.text.is_empty()) {
            known.read(&selected.id, &read.text);
        }
        let reason = selected.reason();
        let mut resource = AttachedResource {
            id: selected.id,
            label: selected.label,
            mime_type: read.mime_types.into_iter().next().or(selected.mime_type),
            text: read.text,
            images: read.images,
            tokens: 0,
            digest: read.digest,
            cut: None,
            value: selected.value,
            pinned: selected.pinned,
            decision,
            reason,
        };
        let left = self.options.budget.tokens() - self.attached.tokens;
        let most = resource.decision.max_tokens.unwrap_or(usize::MAX);
        // What was estimated for the others is theirs, unless those before them need it.
        let others = left.saturating_sub(self.reserved.first);
        let limit = match selected.pinned || selected.value.required {
            true => others,
            false => others.saturating_sub(self.reserved.rest).max(selected.estimated_tokens.min(others)),
        };
        let limit = most.min(limit);
        self.fit(&mut resource, read.kind, limit, selected.value.required)?;
        let bytes = bytes(&resource);
        if bytes > self.bytes_left {
            return Err(ResourceExclusion::Bytes { bytes, left: self.bytes_left });
        }
        self.bytes_left -= bytes;
        self.attached.tokens += resource.tokens;
        self.attached.resources.push(resource);
        Ok(())
    }

    /// What the rules say of what it turned out to be, beside what they said of what was listed.
    fn decide(&self, selected: &SelectedResource, read: &Given) -> Result<Decision, ResourceExclusion> {
        let mut all = selected.decision.clone();
        let Some(governance) = self.with.governance else { return Ok(all) };
        for mime_type in read.mime_types.iter().filter(|found| selected.mime_type.as_ref() != Some(found)) {
            let decision = governance.decide(&selected.id, Some(mime_type));
            decision.permits(&self.options.destination).map_err(ResourceExclusion::Refused)?;
            if decision.audience.as_ref().is_some_and(|roles| !roles.contains(&Role::Assistant)) {
                return Err(ResourceExclusion::Audience);
            }
            all = all.beside(&decision);
        }
        Ok(all)
    }

    /// Counts the resource, and trims its text if it is too long for `limit`.
    fn fit(
        &self,
        resource: &mut AttachedResource,
        kind: TextKind,
        limit: usize,
        required: bool,
    ) -> Result<(), ResourceExclusion> {
        let text = std::mem::take(&mut resource.text);
        let (request, counts) = (self.with.request, self.with.counts);
        let rest = format!("resource {} of server {}", resource.id.uri, resource.id.server);
        // Short texts too: what looks like a notice of ours is made harmless there.
        let trimmed = |room| {
            let trimmed = trim(&text, kind, room, request, counts, &rest)?;
            let may_cut = self.options.trim && room >= LEAST_TRIMMED;
            (trimmed.cut.is_none() || may_cut).then_some(trimmed)
        };
        let measured = RefCell::new(&mut *resource);
        let tokens = |text: &str| {
            let mut resource = measured.borrow_mut();
            text.clone_into(&mut resource.text);
            self.tokens(&resource)
        };
        let Some((trimmed, cost)) = fitted(limit, tokens, trimmed) else {
            let tokens = tokens("") + counts.count(&text);
            return Err(match required {
                true => ResourceExclusion::RequiredDoesNotFit { tokens, left: limit },
                false => ResourceExclusion::Budget { tokens, left: limit },
            });
        };
        (resource.text, resource.cut, resource.tokens) = (trimmed.text, trimmed.cut, cost);
        Ok(())
    }

    fn tokens(&self, resource: &AttachedResource) -> usize {
        let pictures: usize = resource.images.iter().map(|image| image.tokens).sum();
        self.with.counts.count(&(self.with.rendered)(resource)) + pictures
    }
}

fn bytes(resource: &AttachedResource) -> u64 {
    let pictures: usize = resource.images.iter().map(|image| image.data.len()).sum();
    (resource.text.len() + pictures) as u64
}
