use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use crate::{
    catalog::Catalog,
    error::excerpt,
    id::{ServerId, ToolId},
};

/// Finds the tools of a catalog by the names that logs have for them.
pub(super) struct Names<'a> {
    catalog: &'a Catalog,
    /// The tools by their own names, where only one server has it.
    own: HashMap<&'a str, Option<&'a ToolId>>,
    /// How often a name that is no tool's was asked for.
    unknown: BTreeMap<String, usize>,
}

impl<'a> Names<'a> {
    /// The most unknown names that the note names.
    const NAMED: usize = 5;

    pub(super) fn new(catalog: &'a Catalog) -> Self {
        let mut own: HashMap<&str, Option<&ToolId>> = HashMap::new();
        for entry in catalog.tools() {
            own.entry(&entry.id.name).and_modify(|known| *known = None).or_insert(Some(&entry.id));
        }
        Self { catalog, own, unknown: BTreeMap::new() }
    }

    /// The tool of a server.
    pub(super) fn of_server(&mut self, server: &str, name: &str) -> Option<ToolId> {
        let id = ServerId::new(server).ok().map(|server| ToolId::new(server, name));
        let known = id.filter(|id| self.catalog.tool(id).is_some());
        if known.is_none() {
            self.miss(&format!("{server}/{name}"));
        }
        known
    }

    /// The tool that a model called so: by the name that this catalog gives it; or as other hosts
    /// name it, `mcp__server__tool`, `server__tool`, or its own name where one server alone has it.
    pub(super) fn of_model(&mut self, name: &str) -> Option<ToolId> {
        if let Some(entry) = self.catalog.exposed(name) {
            return Some(entry.id.clone());
        }
        let qualified = name.strip_prefix("mcp__").unwrap_or(name);
        let mut parts = qualified.match_indices("__").filter_map(|(at, separator)| {
            let (server, tool) = (qualified.get(..at)?, qualified.get(at + separator.len()..)?);
            let id = ToolId::new(ServerId::new(server).ok()?, tool);
            self.catalog.tool(&id).map(|entry| entry.id.clone())
        });
        let known = parts.next().or_else(|| self.own.get(name).copied().flatten().cloned());
        if known.is_none() {
            self.miss(name);
        }
        known
    }

    /// What was asked for in vain.
    pub(super) fn unknown(self) -> Option<String> {
        if self.unknown.is_empty() {
            return None;
        }
        let mut often: Vec<_> = self.unknown.iter().collect();
        often.sort_by_key(|(name, calls)| (Reverse(**calls), name.as_str()));
        let named: Vec<_> = often.iter().take(Self::NAMED).map(|(name, _)| name.as_str()).collect();
        let more = match often.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let calls: usize = self.unknown.values().sum();
        Some(format!("calls left out, the catalog has no such tool: {calls}, of {}{more}", named.join(", ")))
    }

    fn miss(&mut self, name: &str) {
        *self.unknown.entry(excerpt(name)).or_insert(0) += 1;
    }
}
