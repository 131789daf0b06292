use std::fmt;

use super::{highlight::Highlights, item::Item, status::ServerState};
use crate::id::ServerId;

/// A group of rows.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Section {
    /// What is pinned, then what was used before: while nothing is searched for.
    Favourites,
    /// The resources of one server.
    Server(ServerId),
    /// The resources of all servers, where they are not grouped.
    Resources,
    /// The templates of all servers.
    Templates,
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Favourites => f.write_str("Pinned and recent"),
            Self::Server(server) => server.fmt(f),
            Self::Resources => f.write_str("Resources"),
            Self::Templates => f.write_str("Templates"),
        }
    }
}

/// One line of a picker.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Row {
    /// Above the items of a section.
    Group {
        /// The section.
        section: Section,
        /// How many of its items the query meets.
        items: usize,
        /// How its server stands, where it is of one.
        state: Option<ServerState>,
    },
    /// An item.
    Item(Box<ItemRow>),
    /// Below the items of a section that has more than are shown; choosing it shows them.
    More {
        /// The section.
        section: Section,
        /// How many more; 0 if there are none any more.
        hidden: usize,
    },
}

/// An item on its line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ItemRow {
    /// The item.
    pub item: Item,
    /// What the query met in it.
    pub highlights: Highlights,
    /// Its place in the order of choice, from 0; `None` if it is not chosen.
    pub chosen: Option<usize>,
    /// It is pinned.
    pub pinned: bool,
    /// It was used before.
    pub recent: bool,
    /// Its server does not offer it any more: it keeps its place until the rows are ordered again.
    pub gone: bool,
}
