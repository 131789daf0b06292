use std::{collections::BTreeMap, fmt};

use serde::Serialize;
use serde_json::Value;

use super::snapshot::Catalog;
use crate::{
    id::{PromptId, ResourceId, TemplateId, ToolId},
    json::Digest,
    protocol::{Prompt, Resource, ResourceTemplate, Tool},
};

/// An item of any list.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemId {
    /// A tool.
    Tool(ToolId),
    /// A resource.
    Resource(ResourceId),
    /// A resource template.
    Template(TemplateId),
    /// A prompt.
    Prompt(PromptId),
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(id) => write!(f, "tool {id}"),
            Self::Resource(id) => write!(f, "resource {id}"),
            Self::Template(id) => write!(f, "resource template {id}"),
            Self::Prompt(id) => write!(f, "prompt {id}"),
        }
    }
}

/// What differs between the items of two snapshots, each list in the order of [`ItemId`].
///
/// What servers say of themselves and the exposed names are no items: a snapshot may have another
/// [`digest`](Catalog::digest) and no difference here.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CatalogDiff {
    /// Items of the newer one only.
    pub added: Vec<ItemId>,
    /// Items of the older one only.
    pub removed: Vec<ItemId>,
    /// Items whose definition changed, with the top-level fields that did.
    pub changed: Vec<(ItemId, Vec<String>)>,
}

impl CatalogDiff {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl Catalog {
    /// What changed since `older`, by the digests of the definitions.
    ///
    /// ```
    /// use proem::{catalog::Catalog, id::ServerId, protocol::Tool};
    ///
    /// let git = ServerId::new("git")?;
    /// let old = Catalog::builder().tool(git.clone(), Tool::new("merge", "Merge a branch")).build();
    /// let new = Catalog::builder().tool(git, Tool::new("merge", "Merge, or else")).build();
    /// let diff = new.diff(&old);
    /// assert_eq!(diff.changed[0].0.to_string(), "tool git/merge");
    /// assert_eq!(diff.changed[0].1, ["description"]);
    /// # Ok::<(), proem::Error>(())
    /// ```
    pub fn diff(&self, older: &Self) -> CatalogDiff {
        let (old, new) = (older.definitions(), self.definitions());
        let mut diff = CatalogDiff::default();
        for (id, (digest, definition)) in &new {
            match old.get(id) {
                None => diff.added.push(id.clone()),
                Some((before, _)) if before == digest => {}
                Some((_, before)) => {
                    diff.changed.push((id.clone(), changed_fields(&before.to_value(), &definition.to_value())))
                }
            }
        }
        diff.removed = old.into_keys().filter(|id| !new.contains_key(id)).collect();
        diff
    }

    fn definitions(&self) -> BTreeMap<ItemId, (Digest, Definition<'_>)> {
        let mut all = BTreeMap::new();
        for entry in self.tools() {
            all.insert(ItemId::Tool(entry.id.clone()), (entry.digest, Definition::Tool(&entry.tool)));
        }
        for entry in self.resources() {
            all.insert(ItemId::Resource(entry.id.clone()), (entry.digest, Definition::Resource(&entry.resource)));
        }
        for entry in self.templates() {
            all.insert(ItemId::Template(entry.id.clone()), (entry.digest, Definition::Template(&entry.template)));
        }
        for entry in self.prompts() {
            all.insert(ItemId::Prompt(entry.id.clone()), (entry.digest, Definition::Prompt(&entry.prompt)));
        }
        all
    }
}

/// Written out only where a digest differs.
enum Definition<'a> {
    Tool(&'a Tool),
    Resource(&'a Resource),
    Template(&'a ResourceTemplate),
    Prompt(&'a Prompt),
}

impl Definition<'_> {
    fn to_value(&self) -> Value {
        match self {
            Self::Tool(item) => item.to_value(),
            Self::Resource(item) => item.to_value(),
            Self::Template(item) => item.to_value(),
            Self::Prompt(item) => item.to_value(),
        }
    }
}

/// The top-level fields in which two definitions differ.
pub(crate) fn changed_fields(before: &Value, after: &Value) -> Vec<String> {
    let empty = serde_json::Map::new();
    let (before, after) = (before.as_object().unwrap_or(&empty), after.as_object().unwrap_or(&empty));
    let mut fields: Vec<String> = before.keys().chain(after.keys()).cloned().collect();
    fields.sort_unstable();
    fields.dedup();
    fields.retain(|field| before.get(field) != after.get(field));
    fields
}
