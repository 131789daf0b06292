use std::collections::{BTreeMap, BTreeSet};

use super::{deliver::is_current, delivery::Delivery};
use crate::{
    catalog::Catalog,
    id::ToolId,
    render::{ToolKind, ToolSpec},
    retrieval::Filter,
};

/// Which tools the model has in a turn, and how they came to be there.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Delivered {
    /// The policy; what [`Delivery::Auto`] chose.
    pub policy: Delivery,
    /// Which turn of the conversation this is, from 1.
    pub turn: u32,
    /// The tools that the model can call, by the names that it uses.
    pub offered: BTreeMap<String, ToolId>,
    /// Those of them that are new in this turn.
    pub joined: Vec<ToolId>,
    /// Tools that the turn needs and the policy leaves out.
    pub withheld: Vec<ToolId>,
    /// Tools that the model was told of and that are listed otherwise now. They are called as they
    /// are listed; the prefix keeps what it said.
    pub changed: Vec<ToolId>,
    /// Tools that the model was told of and must not call: not listed any more, or kept back by the
    /// turn's filter.
    pub gone: Vec<ToolId>,
}

impl Delivered {
    pub(super) fn new(
        policy: Delivery,
        turn: u32,
        told: &[&ToolSpec],
        catalog: &Catalog,
        filter: &Filter,
        joined: Vec<ToolId>,
        withheld: Vec<ToolId>,
    ) -> Self {
        let (mut offered, mut changed, mut gone) = (BTreeMap::new(), Vec::new(), Vec::new());
        for tool in told {
            let Some(entry) = catalog.tool(&tool.tool).filter(|entry| filter.passes(entry)) else {
                gone.push(tool.tool.clone());
                continue;
            };
            if !is_current(tool, entry) {
                changed.push(tool.tool.clone());
            }
            offered.insert(tool.exposed.clone(), tool.tool.clone());
        }
        Self { policy, turn, offered, joined, withheld, changed, gone }
    }

    /// The names that may be called, if there are others before the model: of the array, and of what
    /// joined in the provider's own form. The host's own tools are among them.
    pub(super) fn mask(&self, array: &[ToolSpec]) -> Option<BTreeSet<String>> {
        if self.gone.is_empty() {
            return None;
        }
        let may = |tool: &&ToolSpec| tool.kind != ToolKind::Server || self.offered.contains_key(&tool.exposed);
        let mut names: BTreeSet<_> = array.iter().filter(may).map(|tool| tool.exposed.clone()).collect();
        if self.policy == Delivery::Deferred {
            names.extend(self.offered.keys().cloned());
        }
        Some(names)
    }

    /// What it did to the prefix, if it changed what stood there.
    pub(super) fn decision(&self) -> Option<String> {
        match self.policy {
            Delivery::PerTurn if self.turn > 1 => Some("delivery per_turn selects the array anew in each turn".into()),
            Delivery::Append if self.turn > 1 && !self.joined.is_empty() => {
                Some(format!("delivery append added to the array: {}", list(&self.joined)))
            }
            _ => None,
        }
    }

    /// What a host should know.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.withheld.is_empty() {
            notes.push(format!("delivery {} leaves out what this turn needs: {}", self.policy, list(&self.withheld)));
        }
        if !self.changed.is_empty() {
            notes.push(format!("the prefix shows an earlier definition of {}", list(&self.changed)));
        }
        if !self.gone.is_empty() {
            notes.push(format!("the prefix shows tools that cannot be called any more: {}", list(&self.gone)));
        }
        notes
    }
}

/// The most tools that a sentence names.
const NAMED: usize = 5;

fn list(tools: &[ToolId]) -> String {
    let names: Vec<_> = tools.iter().take(NAMED).map(ToString::to_string).collect();
    let more = tools.len().saturating_sub(NAMED);
    if more == 0 { names.join(", ") } else { format!("{} and {more} more", names.join(", ")) }
}
