use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::Serialize;

use super::{Kind, OTHER, Taxonomy};
use crate::{
    id::{ServerId, ToolId},
    retrieval::Ranking,
};

/// Where a tool stands. Shown as `server / topic / kind`.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// Its server.
    pub server: ServerId,
    /// The label of its topic, or `other`.
    pub topic: Arc<str>,
    /// Its kind.
    pub kind: Kind,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {} / {}", self.server, self.topic, self.kind)
    }
}

/// How many tools stand at a place.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Facet {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// How many; at least one.
    pub tools: usize,
}

impl Taxonomy {
    /// Where a tool of the catalog stands: why it was found when a filter asked for a topic or a kind.
    pub fn place(&self, tool: &ToolId) -> Option<Place> {
        self.position(tool).map(|at| self.place_at(at))
    }

    /// All places with tools, in order: by server, topic, kind.
    pub fn facets(&self) -> Vec<Facet> {
        counted((0..self.catalog().tools().len()).map(|at| self.place_at(at)))
    }

    /// The places of the tools that were found. Tools that the catalog does not hold are left out.
    pub fn facets_of(&self, ranking: &Ranking) -> Vec<Facet> {
        counted(ranking.hits.iter().filter_map(|hit| self.place(&hit.tool)))
    }

    fn place_at(&self, at: usize) -> Place {
        let server = self.catalog().tools()[at].id.server.clone();
        let topic = self.topic_at(at).map_or_else(|| OTHER.into(), |topic| Arc::clone(&self.topics()[topic].label));
        Place { server, topic, kind: self.kind_at(at) }
    }
}

fn counted(places: impl Iterator<Item = Place>) -> Vec<Facet> {
    let mut counts = BTreeMap::new();
    places.for_each(|place| *counts.entry(place).or_insert(0) += 1);
    counts.into_iter().map(|(place, tools)| Facet { place, tools }).collect()
}
