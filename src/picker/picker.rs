use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use nucleo_matcher::{Config, Matcher};

use super::{
    ground::Ground,
    item::{Item, Of},
    layout::{Layout, What},
    options::PickerOptions,
    pattern::Pattern,
    pick::Pick,
    preferences::Preferences,
    row::{ItemRow, Row, Section},
    search::Search,
    source::{Source, position},
    status::{ServerState, ServerStatus, state},
};
use crate::{
    catalog::Catalog,
    id::{ResourceId, ServerId},
    protocol::Resource,
};

/// A resource picker without a user interface: what is shown, in which order, what is chosen.
///
/// Rows keep their places until the query changes, [`refresh_order`](Self::refresh_order) is called
/// or something else that the person does asks for another order; see [`update`](Self::update).
/// The cursor stands on an item or a "N more", never on a heading.
#[derive(Debug)]
pub struct Picker {
    pub(super) options: PickerOptions,
    pub(super) preferences: Preferences,
    catalog: Catalog,
    loading: BTreeSet<ServerId>,
    links: BTreeMap<ServerId, Vec<Arc<(ResourceId, Resource)>>>,
    /// By server.
    sources: Vec<Arc<Source>>,
    favourites: BTreeMap<(u32, u32), usize>,
    query: String,
    search: Search,
    pub(super) layout: Layout,
    /// A row that can be chosen.
    pub(super) cursor: Option<usize>,
    /// In the order of choice.
    pub(super) chosen: Vec<Item>,
    /// Items in rows that are in no list any more.
    gone: BTreeMap<Pick, Item>,
}

impl Picker {
    /// The most links of all servers that are kept; more are ignored.
    pub const MAX_LINKS: usize = 1_000;

    /// Shows a catalog, which may be empty while servers are loading.
    pub fn new(catalog: &Catalog, options: PickerOptions, preferences: Preferences) -> Self {
        let mut picker = Self {
            options,
            preferences,
            catalog: Catalog::default(),
            loading: BTreeSet::new(),
            links: BTreeMap::new(),
            sources: Vec::new(),
            favourites: BTreeMap::new(),
            query: String::new(),
            search: Search::new(),
            layout: Layout::default(),
            cursor: None,
            chosen: Vec::new(),
            gone: BTreeMap::new(),
        };
        picker.catalog = catalog.clone();
        picker.sources = picker.read();
        picker.find_favourites();
        picker.search();
        picker.build();
        picker.move_to_first();
        picker
    }

    /// Adds resources that a tool's answer linked and no list has.
    #[must_use]
    pub fn with_links(mut self, server: &ServerId, links: impl IntoIterator<Item = Resource>) -> Self {
        self.add_links(server, links);
        self.refresh_order();
        self.move_to_first();
        self
    }

    /// As [`with_links`](Self::with_links), while the picker is open: the rows stay as in
    /// [`update`](Self::update). The first link of a URI stands, and lists before links.
    pub fn add_links(&mut self, server: &ServerId, links: impl IntoIterator<Item = Resource>) {
        let kept: usize = self.links.values().map(Vec::len).sum();
        let of = self.links.entry(server.clone()).or_default();
        let links = links.into_iter().take(Self::MAX_LINKS.saturating_sub(kept));
        of.extend(links.map(|link| Arc::new((ResourceId::new(server.clone(), link.uri.as_str()), link))));
        let catalog = self.catalog.clone();
        self.update(&catalog);
    }

    /// Takes another snapshot while the picker is open, such as one with a server that has answered
    /// by now.
    ///
    /// Every row stays where it is, and the cursor with it. Items that a server does not offer any
    /// more keep their rows and are [marked](ItemRow::gone); items that are new, and that the query
    /// meets, come behind all rows, as many of each section as the cap leaves room for. What is said
    /// of an item, of a section and of servers is up to date at once.
    pub fn update(&mut self, catalog: &Catalog) {
        self.catalog = catalog.clone();
        let new = self.read();
        for (_, pick) in self.layout.picks() {
            if position(&new, pick).is_some() {
                self.gone.remove(pick);
            } else if let Some(item) = item(&self.sources, pick) {
                self.gone.insert(pick.clone(), item);
            }
        }
        let old = std::mem::replace(&mut self.sources, new);
        self.search.update(&old, &self.sources, self.preferences.switched_off());
        self.find_favourites();
        self.arrange(Layout::append);
        if self.cursor.is_none() {
            self.move_to_first();
        }
    }

    /// Sets whether a server is being asked. Its state is [`ServerState::Loading`] until the host
    /// says that it is over, whether or not it is in the catalog.
    pub fn set_loading(&mut self, server: &ServerId, loading: bool) {
        if loading {
            self.loading.insert(server.clone());
        } else {
            self.loading.remove(server);
        }
    }

    /// Every server that is in the catalog, loading, or has links, by id.
    pub fn servers(&self) -> Vec<ServerStatus> {
        let with_source = self.sources.iter().map(|source| &source.server);
        let all: BTreeSet<&ServerId> = with_source.chain(&self.loading).collect();
        all.into_iter().map(|server| self.status(server)).collect()
    }

    /// How a server stands.
    pub fn status(&self, server: &ServerId) -> ServerStatus {
        let source = self.source(server);
        let (resources, all) = source.map_or((0, 0), |source| (source.resources, source.entries.len()));
        let hidden = source.map_or(0, |source| source.hidden);
        let entry = self.catalog.server(server);
        let state = match entry {
            _ if self.loading.contains(server) => ServerState::Loading,
            Some(entry) => state(entry, all + hidden),
            None if all + hidden > 0 => ServerState::Ready,
            None => ServerState::Empty,
        };
        ServerStatus {
            server: server.clone(),
            state,
            resources,
            templates: all - resources,
            hidden,
            age: entry.map(|entry| entry.age).unwrap_or_default(),
            on: !self.preferences.switched_off().contains(server),
            pinned: self.preferences.pinned_servers().contains(server),
        }
    }

    /// The query as it was given.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Searches for something else; the cursor goes to the best item.
    ///
    /// All words must be met, in any order and each in any of label, name, URI, server and
    /// description, which count for less in this order. Where less than 100 items hold them whole,
    /// letters may be left out of words of three or more, in labels, names and URIs. Case counts for
    /// words that hold a capital, accents for words that hold one. `server:` or `@server:` in front
    /// looks only there, `@part:` in all servers whose names hold it. Of a query longer than 200
    /// characters or 8 words the beginning counts.
    pub fn set_query(&mut self, query: &str) {
        if query == self.query {
            return;
        }
        query.clone_into(&mut self.query);
        self.search();
        self.build();
        self.move_to_first();
    }

    /// Puts all rows in order again; the cursor stays on its item if that is still shown.
    pub fn refresh_order(&mut self) {
        self.rebuild();
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.layout.rows.len()
    }

    /// Whether there is no row: nothing is there, or the query meets nothing.
    pub fn is_empty(&self) -> bool {
        self.layout.rows.is_empty()
    }

    /// The rows of a part of the list, such as those that fit on a screen. What is outside the list
    /// is left out.
    pub fn rows(&self, range: Range<usize>) -> Vec<Row> {
        let end = range.end.min(self.len());
        // It takes memory of its own, once for all rows.
        let mut matcher = Matcher::new(Config::DEFAULT);
        (range.start.min(end)..end).map(|at| self.row(at, &mut matcher)).collect()
    }

    /// The item under the cursor.
    pub fn current(&self) -> Option<Item> {
        self.item(self.pick_at(self.cursor?)?)
    }

    /// An item by what it is: listed, or gone and still in a row.
    pub(super) fn item(&self, pick: &Pick) -> Option<Item> {
        item(&self.sources, pick).or_else(|| self.gone.get(pick).cloned())
    }

    pub(super) fn pick_at(&self, row: usize) -> Option<&Pick> {
        match &self.layout.rows.get(row)?.what {
            What::Item(pick) => Some(pick),
            What::Group | What::More => None,
        }
    }

    fn row(&self, at: usize, matcher: &mut Matcher) -> Row {
        let place = &self.layout.rows[at];
        let section = place.section.clone();
        match &place.what {
            What::Group => {
                let state = match &section {
                    Section::Server(server) => Some(self.status(server).state),
                    _ => None,
                };
                Row::Group { items: self.layout.items(&section), section, state }
            }
            What::More => Row::More { hidden: self.layout.hidden(&section), section },
            What::Item(pick) => Row::Item(Box::new(self.item_row(pick, matcher))),
        }
    }

    fn item_row(&self, pick: &Pick, matcher: &mut Matcher) -> ItemRow {
        let place = position(&self.sources, pick);
        let found = place.map(|(source, entry)| {
            let source = &self.sources[source as usize];
            (source, &source.entries[entry as usize])
        });
        let item = found.map(|(_, entry)| entry.of.item()).or_else(|| self.gone.get(pick).cloned());
        let item = item.unwrap_or_else(|| Item::unknown(pick));
        let highlights = found
            .zip(self.search.pattern())
            .map(|((source, entry), pattern)| pattern.highlights(source, entry, &item, matcher));
        ItemRow {
            highlights: highlights.unwrap_or_default(),
            chosen: self.chosen.iter().position(|chosen| chosen.pick == *pick),
            pinned: self.preferences.pinned().contains(pick),
            recent: self.preferences.recent().contains(pick),
            gone: found.is_none(),
            item,
        }
    }

    /// Looks again, and orders everything from nothing with the cursor where it was: on its item, or
    /// at the same height.
    pub(super) fn rebuild(&mut self) {
        let place = self.cursor.and_then(|at| self.layout.rows.get(at)).cloned();
        self.search();
        self.find_favourites();
        self.build();
        let same = |place| self.layout.rows.iter().position(|row| row == place);
        let item = place.as_ref().and_then(|place| {
            same(place).or_else(|| {
                self.layout.rows.iter().position(|row| row.what == place.what && matches!(row.what, What::Item(_)))
            })
        });
        self.cursor = item.or(self.cursor);
        self.settle();
    }

    /// What is off is looked for again once it is on.
    pub(super) fn forget_matches(&mut self) {
        self.search.clear();
    }

    pub(super) fn arrange(&mut self, how: impl FnOnce(&mut Layout, &Ground<'_>)) {
        let ground = Ground {
            sources: &self.sources,
            matches: self.search.matches(),
            options: &self.options,
            preferences: &self.preferences,
            favourites: &self.favourites,
            searching: self.search.pattern().is_some_and(Pattern::has_words),
        };
        how(&mut self.layout, &ground);
    }

    fn build(&mut self) {
        self.arrange(Layout::build);
        self.gone.clear();
    }

    fn search(&mut self) {
        let servers = self.sources.iter().map(|source| &source.server).chain(&self.loading);
        let pattern = Pattern::parse(&self.query, servers);
        self.search.run(pattern, &self.sources, self.preferences.switched_off());
    }

    fn find_favourites(&mut self) {
        let all = self.preferences.favourites().enumerate();
        self.favourites = all.filter_map(|(rank, pick)| Some((position(&self.sources, pick)?, rank))).collect();
    }

    fn source(&self, server: &ServerId) -> Option<&Arc<Source>> {
        let at = self.sources.binary_search_by(|source| source.server.cmp(server)).ok()?;
        Some(&self.sources[at])
    }

    /// A source for each server; those whose items are what they were stay.
    fn read(&self) -> Vec<Arc<Source>> {
        let in_catalog = self.catalog.servers().iter().map(|entry| &entry.id);
        let all: BTreeSet<&ServerId> = in_catalog.chain(self.links.keys()).collect();
        all.into_iter().map(|server| self.read_source(server)).collect()
    }

    fn read_source(&self, server: &ServerId) -> Arc<Source> {
        let digest = self.catalog.server(server).map(|entry| entry.digest);
        let links = self.links.get(server).map(Vec::as_slice).unwrap_or_default();
        let same = self.source(server).filter(|source| source.digest == digest && source.links == links.len());
        if let Some(source) = same {
            return Arc::clone(source);
        }
        let (resources, templates) = (self.catalog.resources(), self.catalog.templates());
        let start = resources.partition_point(|entry| entry.id.server < *server);
        let of = resources[start..].iter().take_while(|entry| entry.id.server == *server).cloned().map(Of::Listed);
        let start = templates.partition_point(|entry| entry.id.server < *server);
        let others = templates[start..].iter().take_while(|entry| entry.id.server == *server);
        let of = of.chain(links.iter().cloned().map(Of::Linked)).chain(others.cloned().map(Of::Template));
        Arc::new(Source::new(server.clone(), digest, links.len(), of, &self.options))
    }
}

fn item(sources: &[Arc<Source>], pick: &Pick) -> Option<Item> {
    let (source, entry) = position(sources, pick)?;
    Some(sources[source as usize].entries[entry as usize].of.item())
}
