use std::ops::Range;

use super::document::server_texts;
use crate::{
    catalog::{Catalog, ServerEntry, ToolEntry},
    json::Digest,
};

/// A catalog snapshot, and side by side what is looked at for every tool.
///
/// The entries themselves lie scattered in memory, and after a refresh none of them is in a cache:
/// going through 10,000 of them takes milliseconds, through what is here a hundredth of that.
#[derive(Clone)]
pub(crate) struct Roster {
    catalog: Catalog,
    /// By position of the server: where its tools end.
    ends: Vec<usize>,
    /// By position of the tool, as all that follows.
    digests: Vec<Digest>,
    read_only: Vec<bool>,
    name_ends: Vec<usize>,
    /// One after the other.
    names: String,
}

/// What became of the tools of an older snapshot.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// By position in the older one: the position of the same tool in the newer one, or [`Self::GONE`].
    pub(crate) to: Vec<u32>,
    /// Tools of both whose definition, or whose server's text, is another now: the position in
    /// the older one, then in the newer one.
    pub(crate) changed: Vec<(u32, u32)>,
    /// Positions in the newer one of tools that the older one has not.
    pub(crate) added: Vec<u32>,
    removed: usize,
}

impl Roster {
    /// Reads all of a catalog.
    pub(crate) fn new(catalog: &Catalog) -> Self {
        let mut roster = Self::empty(catalog);
        for server in catalog.servers() {
            roster.read(server);
        }
        roster
    }

    /// Reads those servers of a catalog that are not as they were in `older`. A server's digest is
    /// over all that its tools' text is made of, so with an equal one nothing need be looked at.
    pub(crate) fn after(older: &Self, catalog: &Catalog) -> (Self, Carried) {
        let mut roster = Self::empty(catalog);
        let mut carried = Carried { to: Vec::with_capacity(older.len()), ..Carried::default() };
        let mut olders = older.servers().peekable();
        for server in catalog.servers() {
            // Both are ordered by id. Equal ids mostly are one allocation, and then not read.
            let is_gone = |before: &ServerEntry| before.id != server.id && before.id < server.id;
            while let Some((_, tools)) = olders.next_if(|(before, _)| is_gone(before)) {
                carried.remove(tools.len());
            }
            match olders.next_if(|(before, _)| before.id == server.id) {
                Some((before, tools)) if before.digest == server.digest => {
                    carried.keep(roster.len()..roster.len() + tools.len());
                    roster.copy(older, tools);
                }
                Some((before, old)) => {
                    let new = roster.read(server);
                    let same_text = server_texts(before).eq(server_texts(server));
                    carried.compare((older, old), (&roster, new), same_text);
                }
                None => carried.added.extend(roster.read(server).map(|position| position as u32)),
            }
        }
        olders.for_each(|(_, tools)| carried.remove(tools.len()));
        (roster, carried)
    }

    /// The snapshot.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// How many tools there are.
    pub(crate) fn len(&self) -> usize {
        self.digests.len()
    }

    /// The servers, each with the positions of its tools.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (&ServerEntry, Range<usize>)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, end)| start..*end);
        self.catalog.servers().iter().zip(ranges)
    }

    /// The name of the tool at a position, as its server gives it.
    pub(crate) fn name(&self, position: usize) -> &str {
        let start = position.checked_sub(1).map_or(0, |before| self.name_ends[before]);
        &self.names[start..self.name_ends[position]]
    }

    /// Whether the tool's server says that it changes nothing.
    pub(crate) fn read_only(&self, position: usize) -> bool {
        self.read_only[position]
    }

    fn empty(catalog: &Catalog) -> Self {
        let count = catalog.tools().len();
        Self {
            catalog: catalog.clone(),
            ends: Vec::with_capacity(catalog.servers().len()),
            digests: Vec::with_capacity(count),
            read_only: Vec::with_capacity(count),
            name_ends: Vec::with_capacity(count),
            names: String::new(),
        }
    }

    /// Adds the next server's tools from the catalog; gives their positions.
    fn read(&mut self, server: &ServerEntry) -> Range<usize> {
        let start = self.len();
        let catalog = self.catalog.clone();
        for entry in catalog.tools()[start..].iter().take_while(|entry| entry.id.server == server.id) {
            let ToolEntry { id, tool, digest, .. } = &**entry;
            self.digests.push(*digest);
            self.read_only.push(tool.annotations.read_only());
            self.names.push_str(&id.name);
            self.name_ends.push(self.names.len());
        }
        self.ends.push(self.len());
        start..self.len()
    }

    /// Adds the next server's tools as they were.
    fn copy(&mut self, older: &Self, tools: Range<usize>) {
        let start = tools.start.checked_sub(1).map_or(0, |before| older.name_ends[before]);
        let (end, held) = (tools.end.checked_sub(1).map_or(0, |last| older.name_ends[last]), self.names.len());
        self.names.push_str(&older.names[start..end.max(start)]);
        self.name_ends.extend(older.name_ends[tools.clone()].iter().map(|end| end - start + held));
        self.digests.extend_from_slice(&older.digests[tools.clone()]);
        self.read_only.extend_from_slice(&older.read_only[tools]);
        self.ends.push(self.len());
    }
}

impl Carried {
    /// No position.
    pub(crate) const GONE: u32 = u32::MAX;

    /// Whether both snapshots have the same tools, whatever these say: all positions are then the same.
    pub(crate) fn same_ids(&self) -> bool {
        self.added.is_empty() && self.removed == 0
    }

    fn keep(&mut self, positions: Range<usize>) {
        self.to.extend(positions.map(|position| position as u32));
    }

    fn remove(&mut self, count: usize) {
        self.to.extend(std::iter::repeat_n(Self::GONE, count));
        self.removed += count;
    }

    /// Compares a server's tools, which are ordered by name.
    fn compare(
        &mut self,
        (older, old): (&Roster, Range<usize>),
        (newer, new): (&Roster, Range<usize>),
        same_text: bool,
    ) {
        let mut old = old.peekable();
        for position in new {
            let name = newer.name(position);
            while old.next_if(|before| older.name(*before) < name).is_some() {
                self.remove(1);
            }
            match old.next_if(|before| older.name(*before) == name) {
                Some(before) => {
                    self.to.push(position as u32);
                    if !same_text || older.digests[before] != newer.digests[position] {
                        self.changed.push((before as u32, position as u32));
                    }
                }
                None => self.added.push(position as u32),
            }
        }
        self.remove(old.count());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        id::ServerId,
        protocol::{Tool, ToolAnnotations},
    };

    /// Descriptions by server and name; server 0 may have no tools.
    fn catalogs() -> impl Strategy<Value = (Catalog, BTreeMap<(usize, usize), usize>)> {
        let tools = prop::collection::btree_map((1..4_usize, 0..5_usize), 0..2_usize, 0..10);
        (tools, any::<[bool; 4]>()).prop_map(|(tools, present)| {
            let id = |server: usize| ServerId::new(format!("s{server}")).unwrap();
            let mut builder = Catalog::builder();
            for (server, _) in present.iter().enumerate().filter(|(_, present)| **present) {
                builder = builder.server(id(server), Default::default());
            }
            for ((server, name), text) in &tools {
                let tool = Tool::new(format!("{}t", "n".repeat(*name)), format!("{text}"));
                builder = builder.tool(id(*server), tool);
            }
            (builder.build(), tools)
        })
    }

    proptest! {
        #[test]
        fn what_is_carried_is_what_a_comparison_of_all_tools_finds((a, old) in catalogs(), (b, new) in catalogs()) {
            let (older, fresh) = (Roster::new(&a), Roster::new(&b));
            let (newer, carried) = Roster::after(&older, &b);
            prop_assert_eq!(&newer.ends, &fresh.ends);
            prop_assert_eq!(&newer.digests, &fresh.digests);
            prop_assert_eq!(&newer.read_only, &fresh.read_only);
            prop_assert_eq!(&newer.name_ends, &fresh.name_ends);
            prop_assert_eq!(&newer.names, &fresh.names);
            let at = |key| new.keys().position(|k| k == key).map_or(Carried::GONE, |at| at as u32);
            prop_assert_eq!(&carried.to, &old.keys().map(at).collect::<Vec<_>>());
            let changed = old.iter().zip(0..).filter(|((k, v), _)| new.get(k).is_some_and(|now| now != *v));
            prop_assert_eq!(&carried.changed, &changed.map(|((k, _), i)| (i, at(k))).collect::<Vec<_>>());
            let added: Vec<u32> = new.keys().filter(|k| !old.contains_key(k)).map(at).collect();
            prop_assert_eq!(&carried.added, &added);
            prop_assert_eq!(carried.same_ids(), old.keys().eq(new.keys()));
        }
    }

    #[test]
    fn names_and_hints_stand_by_position() {
        let server = ServerId::new("s").unwrap();
        let mut safe = Tool::new("é", "");
        safe.annotations = ToolAnnotations { read_only_hint: Some(true), ..ToolAnnotations::default() };
        let catalog = Catalog::builder()
            .server(ServerId::new("r").unwrap(), Default::default())
            .tool(server.clone(), Tool::new("a", ""))
            .tool(server, safe)
            .build();
        let roster = Roster::new(&catalog);
        let ranges: Vec<_> = roster.servers().map(|(server, tools)| (server.id.to_string(), tools)).collect();
        assert_eq!(ranges, [("r".to_owned(), 0..0), ("s".to_owned(), 0..2)]);
        assert_eq!((roster.name(0), roster.name(1)), ("a", "é"));
        assert_eq!((roster.read_only(0), roster.read_only(1)), (false, true));
    }
}
