use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use super::pick::Pick;
use crate::id::ServerId;

/// What a person's picker remembers from one time to the next. Plain data: the host keeps it and
/// hands it to the next picker.
///
/// ```
/// use proem::{id::{ResourceId, ServerId}, picker::{Pick, Preferences}};
///
/// let notes: Pick = ResourceId::new(ServerId::new("wiki")?, "wiki://notes").into();
/// let mut preferences = Preferences::new();
/// preferences.used(&notes);
/// let kept = serde_json::to_string(&preferences).expect("plain data");
/// assert_eq!(serde_json::from_str::<Preferences>(&kept).expect("the same").recent(), [notes]);
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, from = "Kept")]
#[non_exhaustive]
pub struct Preferences {
    recent: Vec<Pick>,
    pinned: Vec<Pick>,
    pinned_servers: BTreeSet<ServerId>,
    off: BTreeSet<ServerId>,
}

impl Preferences {
    /// The most picks that are remembered: more than anybody looks through.
    pub const MAX_RECENT: usize = 50;
    /// The most pinned items.
    pub const MAX_PINNED: usize = 200;

    /// Nothing is remembered yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was picked, the last one first.
    pub fn recent(&self) -> &[Pick] {
        &self.recent
    }

    /// What is pinned, in the order of pinning.
    pub fn pinned(&self) -> &[Pick] {
        &self.pinned
    }

    /// The servers whose groups come first.
    pub fn pinned_servers(&self) -> &BTreeSet<ServerId> {
        &self.pinned_servers
    }

    /// The servers whose items are not shown.
    pub fn switched_off(&self) -> &BTreeSet<ServerId> {
        &self.off
    }

    /// Moves an item to the front of the recent ones; the oldest one too many is forgotten.
    pub fn used(&mut self, pick: &Pick) {
        self.recent.retain(|other| other != pick);
        self.recent.insert(0, pick.clone());
        self.recent.truncate(Self::MAX_RECENT);
    }

    /// Pins an item, or takes the pin off. Nothing happens where [`Self::MAX_PINNED`] are pinned.
    pub fn pin(&mut self, pick: &Pick, pinned: bool) {
        if !pinned {
            self.pinned.retain(|other| other != pick);
        } else if !self.pinned.contains(pick) && self.pinned.len() < Self::MAX_PINNED {
            self.pinned.push(pick.clone());
        }
    }

    /// Pins a server, or takes the pin off.
    pub fn pin_server(&mut self, server: &ServerId, pinned: bool) {
        set(&mut self.pinned_servers, server, pinned);
    }

    /// Switches a server's items on or off.
    pub fn switch(&mut self, server: &ServerId, on: bool) {
        set(&mut self.off, server, !on);
    }

    /// Pinned before recent ones, each by its place.
    #[cfg(feature = "picker")]
    pub(super) fn favourites(&self) -> impl Iterator<Item = &Pick> {
        self.pinned.iter().chain(self.recent.iter().filter(|pick| !self.pinned.contains(pick)))
    }
}

fn set(servers: &mut BTreeSet<ServerId>, server: &ServerId, member: bool) {
    if member {
        servers.insert(server.clone());
    } else {
        servers.remove(server);
    }
}

/// As it may come back from a file that anybody has edited: without bounds, with repetitions.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Kept {
    recent: Vec<Pick>,
    pinned: Vec<Pick>,
    pinned_servers: BTreeSet<ServerId>,
    off: BTreeSet<ServerId>,
}

impl From<Kept> for Preferences {
    fn from(kept: Kept) -> Self {
        let once = |picks: Vec<Pick>, most: usize| {
            let mut seen = HashSet::new();
            picks.into_iter().filter(|pick| seen.insert(pick.clone())).take(most).collect()
        };
        Self {
            recent: once(kept.recent, Self::MAX_RECENT),
            pinned: once(kept.pinned, Self::MAX_PINNED),
            pinned_servers: kept.pinned_servers,
            off: kept.off,
        }
    }
}
