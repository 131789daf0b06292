use std::{sync::Arc, time::Duration};

use super::{names::ExposedName, trust::TrustTier};
use crate::{
    Error,
    id::{PromptId, ResourceId, ServerId, TemplateId, ToolId},
    json::Digest,
    protocol::{CacheScope, Prompt, Resource, ResourceTemplate, ServerInfo, Tool},
};

/// One tool of the catalog.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolEntry {
    /// Whose it is and what its server calls it.
    pub id: ToolId,
    /// What the model calls it.
    pub exposed: ExposedName,
    /// Its definition.
    pub tool: Arc<Tool>,
    /// The digest of its definition as sent, unknown fields included.
    pub digest: Digest,
}

/// One resource of the catalog.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceEntry {
    /// Whose it is and its URI.
    pub id: ResourceId,
    /// Its description.
    pub resource: Resource,
    /// The digest of its description as sent.
    pub digest: Digest,
}

/// One resource template of the catalog.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TemplateEntry {
    /// Whose it is and its template.
    pub id: TemplateId,
    /// Its description.
    pub template: ResourceTemplate,
    /// The digest of its description as sent.
    pub digest: Digest,
}

/// One prompt of the catalog.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptEntry {
    /// Whose it is and its name.
    pub id: PromptId,
    /// Its description.
    pub prompt: Prompt,
    /// The digest of its description as sent.
    pub digest: Digest,
}

/// One server of the catalog.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerEntry {
    /// The name that the host gave it.
    pub id: ServerId,
    /// What it says of itself; empty if it never answered.
    pub info: ServerInfo,
    /// Over its instructions, its `serverInfo` and the digests of all its items.
    pub digest: Digest,
    /// Private if any of its lists is.
    pub scope: CacheScope,
    /// How far the host trusts it.
    pub trust: TrustTier,
    /// Why its last refresh failed, or failed in part; what could not be read is then as it was
    /// read last.
    pub failure: Option<Arc<Error>>,
    /// How old the oldest of the lists that could not be read again was when this snapshot was
    /// made; zero if none failed, or none was ever read.
    pub age: Duration,
}
