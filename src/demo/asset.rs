use std::collections::BTreeMap;

use rmcp::model::{CacheScope, Prompt, Resource, ResourceTemplate, Tool};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::choices::Choices;

macro_rules! assets {
    ($($id:literal)*) => {
        /// Every server's file, ordered by id.
        pub(super) const ASSETS: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../../assets/demo/", $id, ".json")))),*];
    };
}

assets! {
    "calendar" "chat" "ci-pipelines" "cloud-costs" "code-host" "contracts" "crm" "data-warehouse"
    "database" "deploy" "design-assets" "expenses" "feature-flags" "files" "incidents" "inventory"
    "invoices" "logs" "mail" "maps" "merge-reviews" "metrics" "people" "recruiting" "sprint-board"
    "support" "translation" "travel" "vault" "weather" "web" "wiki"
}

/// What one file says about its server. Items are in the protocol's own form, with what the server
/// answers beside them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Asset {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) version: String,
    pub(super) description: String,
    pub(super) instructions: Option<String>,
    pub(super) era: Era,
    pub(super) cache: Option<Cache>,
    /// Items per page of a list (`tools`, `resources`); a list that is not named is one page.
    #[serde(default)]
    pub(super) pages: BTreeMap<String, usize>,
    /// The second page's cursor is the empty string, which the protocol allows.
    #[serde(default)]
    pub(super) empty_cursor: bool,
    pub(super) tools: Vec<ToolAsset>,
    /// Tools that are listed only after a call whose case has such an effect.
    #[serde(default)]
    pub(super) later_tools: Vec<ToolAsset>,
    #[serde(default)]
    pub(super) resources: Vec<ResourceAsset>,
    #[serde(default)]
    pub(super) resource_templates: Vec<TemplateAsset>,
    #[serde(default)]
    pub(super) prompts: Vec<PromptAsset>,
}

/// Which protocol versions a server knows.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Era {
    /// Up to 2025-11-25, begun by `initialize`; `server/discover` is an unknown method.
    Legacy,
    /// From 2026-07-28, without `initialize`.
    Modern,
    /// Both.
    Dual,
}

/// How long a list or a resource stays fresh, and for whom.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Cache {
    pub(super) ttl_ms: u64,
    pub(super) scope: CacheScope,
}

#[derive(Debug, Deserialize)]
pub(super) struct ToolAsset {
    #[serde(flatten)]
    pub(super) definition: Tool,
    /// The first case that fits the arguments answers.
    pub(super) answer: Vec<Case>,
}

/// One answer of a tool. Strings in it may hold `{argument}` or `{argument=default}`, and `{#}`:
/// four digits that depend on the arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// Arguments and their values; null stands for an absent one. Empty: always.
    #[serde(default)]
    pub(super) when: Map<String, Value>,
    /// The call fails with the text.
    #[serde(default)]
    pub(super) error: bool,
    pub(super) text: Option<String>,
    pub(super) data: Option<Value>,
    pub(super) effect: Option<Effect>,
}

/// What a call changes on the server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Effect {
    /// Whether the later tools are listed from then on.
    pub(super) show_later_tools: Option<bool>,
    /// What a resource holds from then on.
    pub(super) update: Option<Update>,
    /// How often the change is announced, unless the argument `announcements` says otherwise.
    #[serde(default = "once")]
    pub(super) announcements: u64,
}

fn once() -> u64 {
    1
}

/// A resource with other contents. Strings in them may hold placeholders as an answer may.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Update {
    pub(super) uri: String,
    pub(super) contents: Vec<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ResourceAsset {
    #[serde(flatten)]
    pub(super) definition: Resource,
    /// The protocol's contents; a text may be continued by `repeat` (`text` with `{n}`, `times`),
    /// so that a large resource needs no large file.
    pub(super) contents: Vec<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TemplateAsset {
    #[serde(flatten)]
    pub(super) definition: ResourceTemplate,
    /// The values that each variable may have.
    #[serde(flatten)]
    pub(super) choices: Choices,
    pub(super) contents: Vec<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PromptAsset {
    #[serde(flatten)]
    pub(super) definition: Prompt,
    /// Values to complete an argument with; others are taken too.
    #[serde(flatten)]
    pub(super) choices: Choices,
    pub(super) messages: Vec<Value>,
}
