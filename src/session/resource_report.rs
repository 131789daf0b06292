use serde::Serialize;

use super::instructions::Instructions;
use crate::{
    json::Digest,
    resources::{Attached, AttachedResource},
    tokens::TokenBudget,
};

/// The resources that are attached, and those that are not. Its JSON paths are stable.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResourcesReport {
    /// The resources that are attached.
    pub selected: Vec<ResourceReport>,
    /// The resources that are not, and why.
    pub excluded: Vec<ExcludedResourceReport>,
    /// What the attached ones cost together as rendered.
    pub tokens: usize,
    /// What they might have cost.
    pub budget: usize,
}

/// A resource that is attached.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResourceReport {
    /// Its server.
    pub server: String,
    /// Its URI.
    pub uri: String,
    /// What it costs as rendered.
    pub tokens: usize,
    /// What it is worth, 0 to 1, to four places.
    pub value: f64,
    /// Why it is attached.
    pub reason: String,
    /// What of its text was kept, if it was trimmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// Whose it is, by the host's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The classes of its data, by the host's rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// Which revision it is.
    pub digest: Digest,
}

/// A resource that is not attached.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExcludedResourceReport {
    /// Its server.
    pub server: String,
    /// Its URI.
    pub uri: String,
    /// Why not.
    pub reason: String,
}

/// What a server says of itself, as far as there is room for it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InstructionsReport {
    /// The server.
    pub server: String,
    /// What its instructions cost as rendered, or would cost.
    pub tokens: usize,
    /// Whether the model is given them.
    pub given: bool,
    /// What of the text was kept, if it was trimmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
}

impl ResourcesReport {
    /// Of what was attached within `budget`.
    pub fn new(attached: &Attached, budget: TokenBudget) -> Self {
        let excluded = attached.excluded.iter().map(|excluded| ExcludedResourceReport {
            server: excluded.id.server.to_string(),
            uri: excluded.id.uri.to_string(),
            reason: excluded.reason.to_string(),
        });
        Self {
            selected: attached.resources.iter().map(ResourceReport::new).collect(),
            excluded: excluded.collect(),
            tokens: attached.tokens,
            budget: budget.tokens(),
        }
    }
}

impl ResourceReport {
    fn new(resource: &AttachedResource) -> Self {
        Self {
            server: resource.id.server.to_string(),
            uri: resource.id.uri.to_string(),
            tokens: resource.tokens,
            value: super::report::rounded(resource.value.total()),
            reason: resource.reason.clone(),
            cut: resource.cut.as_ref().map(ToString::to_string),
            owner: resource.decision.owner.as_ref().map(ToString::to_string),
            classes: resource.decision.classes.iter().map(|class| class.name().to_owned()).collect(),
            digest: resource.digest,
        }
    }
}

impl InstructionsReport {
    pub(super) fn of(instructions: &Instructions) -> Vec<Self> {
        let given = instructions.texts.iter().map(|said| Self {
            server: said.server.to_string(),
            tokens: said.tokens,
            given: true,
            cut: said.cut.as_ref().map(ToString::to_string),
        });
        let left_out = instructions.excluded.iter().map(|(server, tokens)| Self {
            server: server.to_string(),
            tokens: *tokens,
            given: false,
            cut: None,
        });
        let mut all: Vec<_> = given.chain(left_out).collect();
        all.sort_by(|a, b| a.server.cmp(&b.server));
        all
    }
}
