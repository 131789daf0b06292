use std::{ops::Range, sync::Arc};

use crate::{json::Digest, render::SectionKind};

/// What of a request a prompt cache reads, in its order.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Prefix {
    /// From the front: tools, system text, messages. Tools whose loading is deferred are not among
    /// them: they are no part of the cached prefix.
    pub segments: Vec<Segment>,
}

/// One unit of a prompt that a cached prefix can end after: a tool, a block of system text, a block
/// of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Segment {
    /// The part of the request.
    pub section: SectionKind,
    /// Where in the body, such as `tools[3]` or `messages[2].content[0]`.
    pub path: String,
    /// The name of a tool.
    pub name: Option<String>,
    /// Its bytes in the body, its cache mark included.
    pub range: Range<usize>,
    /// Its bytes without its cache mark: what decides whether a cache hits.
    pub text: Arc<str>,
    /// The digest of [`text`](Self::text).
    pub digest: Digest,
    /// The cache mark that it carries, if it does.
    pub mark: Option<Mark>,
}

/// A cache mark: the provider is asked to keep the prefix up to here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Mark {
    /// For how long, in seconds, where the mark says so.
    pub ttl_seconds: Option<u32>,
}
