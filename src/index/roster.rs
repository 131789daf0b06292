use std::{ops::Range, sync::Arc};

use super::document::server_texts;
use crate::{
    catalog::{Catalog, ServerEntry},
    json::Digest,
};

/// A catalog snapshot, and by server what is looked at for every tool.
///
/// The entries themselves lie scattered in memory, and after a refresh none of them is in a cache:
/// going through 10,000 of them takes milliseconds. What is here of a server lies side by side, and
/// all snapshots share it for as long as the server says the same.
#[derive(Clone)]
pub(crate) struct Roster {
    catalog: Catalog,
    /// By position of the server in the catalog.
    servers: Vec<Place>,
    len: usize,
}

#[derive(Clone)]
struct Place {
    /// The position of its first tool.
    start: usize,
    tools: Arc<ServerTools>,
}

/// What is known of one server's tools, in the order of their names.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ServerTools {
    rows: Vec<Row>,
    /// All names, one after the other.
    names: String,
}

#[derive(Debug, PartialEq)]
struct Row {
    digest: Digest,
    name_end: usize,
    read_only: bool,
}

/// What is known of one tool.
pub(crate) struct Brief<'a> {
    /// As its server gives it.
    pub(crate) name: &'a str,
    digest: Digest,
    /// Whether its server says that it changes nothing.
    pub(crate) read_only: bool,
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
        let mut carried = Carried { to: Vec::with_capacity(older.len), ..Carried::default() };
        let mut olders = older.catalog.servers().iter().zip(&older.servers).peekable();
        for server in catalog.servers() {
            // Both are ordered by id. Equal ids mostly are one allocation, and then not read.
            let is_gone = |before: &ServerEntry| before.id != server.id && before.id < server.id;
            while let Some((_, place)) = olders.next_if(|(before, _)| is_gone(before)) {
                carried.remove(place.tools.len());
            }
            let start = roster.len;
            match olders.next_if(|(before, _)| before.id == server.id) {
                Some((before, place)) if before.digest == server.digest => {
                    roster.push(Arc::clone(&place.tools));
                    carried.keep(start..roster.len);
                }
                Some((before, place)) => {
                    let same_text = server_texts(before).eq(server_texts(server));
                    carried.compare(place, roster.read(server), same_text);
                }
                None => {
                    roster.read(server);
                    carried.added.extend(start as u32..roster.len as u32);
                }
            }
        }
        olders.for_each(|(_, place)| carried.remove(place.tools.len()));
        (roster, carried)
    }

    /// The snapshot.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// How many tools there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The servers, each with its tools and the position of the first of them.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (&ServerEntry, usize, &ServerTools)> {
        let places = self.servers.iter().map(|place| (place.start, &*place.tools));
        self.catalog.servers().iter().zip(places).map(|(server, (start, tools))| (server, start, tools))
    }

    fn empty(catalog: &Catalog) -> Self {
        Self { catalog: catalog.clone(), servers: Vec::with_capacity(catalog.servers().len()), len: 0 }
    }

    /// Adds the next server, read from the catalog.
    fn read(&mut self, server: &ServerEntry) -> &Place {
        let mut read = ServerTools::default();
        let rest = self.catalog.tools().get(self.len..).unwrap_or_default();
        for entry in rest.iter().take_while(|entry| entry.id.server == server.id) {
            read.names.push_str(&entry.id.name);
            read.rows.push(Row {
                digest: entry.digest,
                name_end: read.names.len(),
                read_only: entry.tool.annotations.read_only(),
            });
        }
        self.push(Arc::new(read))
    }

    fn push(&mut self, tools: Arc<ServerTools>) -> &Place {
        let at = self.servers.len();
        let start = self.len;
        self.len += tools.len();
        self.servers.push(Place { start, tools });
        &self.servers[at]
    }
}

impl ServerTools {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The tools by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Brief<'_>> {
        self.rows.iter().scan(0, |start, row| {
            let name = &self.names[*start..row.name_end];
            *start = row.name_end;
            Some(Brief { name, digest: row.digest, read_only: row.read_only })
        })
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
    fn compare(&mut self, older: &Place, newer: &Place, same_text: bool) {
        let mut old = (older.start as u32..).zip(older.tools.iter()).peekable();
        for (position, tool) in (newer.start as u32..).zip(newer.tools.iter()) {
            while old.next_if(|(_, before)| before.name < tool.name).is_some() {
                self.remove(1);
            }
            match old.next_if(|(_, before)| before.name == tool.name) {
                Some((at, before)) => {
                    self.to.push(position);
                    if !same_text || before.digest != tool.digest {
                        self.changed.push((at, position));
                    }
                }
                None => self.added.push(position),
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
                let tool = Tool::new("n".repeat(name + 1), format!("{text}"));
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
            prop_assert!(newer.servers().map(|(_, start, tools)| (start, tools)).eq(
                fresh.servers().map(|(_, start, tools)| (start, tools))
            ));
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
        let places: Vec<_> = roster
            .servers()
            .map(|(server, start, tools)| {
                (server.id.as_str(), start, tools.iter().map(|tool| (tool.name, tool.read_only)).collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(places, [("r", 0, vec![]), ("s", 0, vec![("a", false), ("é", true)])]);
    }
}
