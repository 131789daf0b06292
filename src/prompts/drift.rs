use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::Serialize;

use crate::{
    catalog::{Catalog, PromptEntry, changed_fields},
    id::PromptId,
    json::Digest,
};

/// A prompt that a conversation took up: what [`drift`] compares.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Invoked {
    /// The prompt as it was listed then, with the digest of its definition.
    pub entry: Arc<PromptEntry>,
    /// The digest of the messages that the conversation holds.
    pub result: Digest,
}

impl Invoked {
    /// A prompt as it was listed, and the digest of what it said.
    pub fn new(entry: Arc<PromptEntry>, result: Digest) -> Self {
        Self { entry, result }
    }
}

/// A prompt whose server lists it otherwise than when it was invoked, while a conversation holds
/// what it said then.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Drift {
    /// Which prompt.
    pub prompt: PromptId,
    /// The digest of the messages that the conversation holds.
    pub result: Digest,
    /// What became of it.
    pub kind: DriftKind,
}

/// What became of a prompt.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DriftKind {
    /// Its definition changed, in these top-level fields.
    Changed {
        /// By name.
        fields: Vec<String>,
    },
    /// It is not listed any more.
    Removed,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            DriftKind::Changed { fields } => {
                write!(f, "prompt {} changed since it was invoked ({})", self.prompt, fields.join(", "))?;
            }
            DriftKind::Removed => write!(f, "prompt {} is not listed any more", self.prompt)?,
        }
        f.write_str("; the conversation holds what it said before")
    }
}

/// Which of the prompts that a conversation took up are listed otherwise now, by server and name;
/// one that was invoked under several definitions is told for each that is not the present one.
///
/// Messages stay as they are: the model has read them, and rewriting them would change the prefix.
/// That a text differs can only be seen where its definition does: servers give no version of it.
///
/// ```
/// use std::sync::Arc;
/// use proem::{catalog::Catalog, id::{PromptId, ServerId}, json::Digest, prompts::{Invoked, drift}, protocol::Prompt};
///
/// let desk = ServerId::new("desk")?;
/// let old = Catalog::builder().prompt(desk.clone(), Prompt::new("reply", "Draft a reply")).build();
/// let entry = old.prompt(&PromptId::new(desk.clone(), "reply")).unwrap();
/// let invoked = [Invoked::new(Arc::clone(entry), Digest::of_bytes("what it said"))];
/// assert!(drift(&old, &invoked).is_empty());
///
/// let new = Catalog::builder().prompt(desk, Prompt::new("reply", "Send a reply")).build();
/// assert_eq!(
///     drift(&new, &invoked)[0].to_string(),
///     "prompt desk/reply changed since it was invoked (description); the conversation holds what it said before"
/// );
/// # Ok::<(), proem::Error>(())
/// ```
pub fn drift(catalog: &Catalog, invoked: &[Invoked]) -> Vec<Drift> {
    let mut drifted = BTreeMap::new();
    for Invoked { entry, result } in invoked {
        let kind = match catalog.prompt(&entry.id) {
            Some(now) if now.digest == entry.digest => continue,
            Some(now) => {
                DriftKind::Changed { fields: changed_fields(&entry.prompt.to_value(), &now.prompt.to_value()) }
            }
            None => DriftKind::Removed,
        };
        // The newest result of one definition stands.
        drifted.insert((&entry.id, entry.digest), Drift { prompt: entry.id.clone(), result: *result, kind });
    }
    drifted.into_values().collect()
}
