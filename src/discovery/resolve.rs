use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use crate::{
    catalog::{Catalog, ExposedName, ToolEntry},
    id::ToolId,
    prompts::{near, shown},
    render::neutral,
    retrieval::Filter,
};

/// Why a name stands for no tool that may be called, in words for the model that used it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unresolved {
    /// No tool is called so, as far as the caller may know.
    Unknown {
        /// The name that was used.
        name: String,
        /// Names that may have been meant, the likeliest first; [`Self::MAX_NEAR`] at most.
        near: Vec<String>,
    },
    /// One of the host's [own tools](ExposedName::RESERVED), which are called by themselves.
    Own {
        /// The name that was used.
        name: String,
    },
    /// It was offered in this conversation, and its server lists it no more.
    Gone {
        /// The name that was used.
        name: String,
    },
    /// It was offered in this conversation, and the filter lets it pass no more.
    Excluded {
        /// The name that was used.
        name: String,
        /// See [`Filter::exclusion`].
        reason: &'static str,
    },
}

impl Unresolved {
    /// The most names that are suggested: more is guessing.
    pub const MAX_NEAR: usize = 3;
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, near } => {
                write!(f, "no tool is named `{name}`")?;
                match near.as_slice() {
                    [] => write!(f, "; search for one that does what is needed"),
                    near => write!(f, "; did you mean `{}`?", near.join("` or `")),
                }
            }
            Self::Own { name } => write!(f, "`{name}` is called by itself, not through another tool"),
            Self::Gone { name } => write!(f, "the tool `{name}` is no longer available"),
            Self::Excluded { name, reason } => write!(f, "the tool `{name}` may not be called now ({reason})"),
        }
    }
}

impl std::error::Error for Unresolved {}

/// The tool that a name stands for: one that the conversation was `offered`, by exposed name, or else one
/// of the catalog's that the filter lets pass. Only by its exact exposed name: nothing is guessed, and
/// nothing is told of tools that the filter excludes.
///
/// # Errors
/// [`Unresolved`].
pub fn resolve(
    name: &str,
    offered: &BTreeMap<String, ToolId>,
    catalog: &Catalog,
    filter: &Filter,
) -> Result<Arc<ToolEntry>, Unresolved> {
    let told = || neutral(&shown(name, ExposedName::MAX_CHARS));
    if ExposedName::RESERVED.contains(&name) {
        return Err(Unresolved::Own { name: told() });
    }
    if let Some(id) = offered.get(name) {
        let entry = catalog.tool(id).ok_or_else(|| Unresolved::Gone { name: told() })?;
        return match filter.exclusion(entry) {
            None => Ok(Arc::clone(entry)),
            Some(reason) => Err(Unresolved::Excluded { name: told(), reason }),
        };
    }
    let listed = catalog.exposed(name).filter(|entry| filter.passes(entry));
    listed.cloned().ok_or_else(|| Unresolved::Unknown { name: told(), near: suggested(name, offered, catalog, filter) })
}

/// The exposed names that may have been meant: of tools that are called so on their servers, then those
/// that are spelled much like it.
fn suggested(name: &str, offered: &BTreeMap<String, ToolId>, catalog: &Catalog, filter: &Filter) -> Vec<String> {
    /// How many names are compared by their spelling, those that were offered first.
    const MAX_COMPARED: usize = 4_096;
    let may = |id: &ToolId| catalog.tool(id).is_some_and(|entry| filter.passes(entry));
    let own = name.rsplit(['/', '.', ':']).next().unwrap_or(name);
    let same = catalog.tools().iter().filter(|entry| [name, own].contains(&&*entry.id.name) && filter.passes(entry));
    let mut names: Vec<&str> = same.map(|entry| entry.exposed.as_str()).take(Unresolved::MAX_NEAR).collect();

    let typed = name.to_lowercase();
    // Twice as long or half as long is no slip.
    let alike = |known: &str| known.len() <= 2 * typed.len() && typed.len() <= 2 * known.len();
    let offered = offered.iter().filter(|(known, id)| alike(known) && may(id)).map(|(known, _)| known.as_str());
    let listed = catalog.tools().iter().filter(|entry| alike(entry.exposed.as_str()) && filter.passes(entry));
    let compared: Vec<&str> = offered.chain(listed.map(|entry| entry.exposed.as_str())).take(MAX_COMPARED).collect();
    let folded: Vec<String> = compared.iter().map(|known| known.to_lowercase()).collect();
    let likely = near(folded.iter().map(String::as_str), &typed, 2 * Unresolved::MAX_NEAR);
    names.extend(likely.into_iter().filter_map(|i| compared.get(i)));
    let mut told = BTreeSet::new();
    names.retain(|name| told.insert(*name));
    names.into_iter().take(Unresolved::MAX_NEAR).map(str::to_owned).collect()
}
