//! What a catalog holds, as a tree: server, topic, kind of operation.

mod clusters;
mod evidence;
mod facets;
mod kind;
mod labels;
mod outline;
mod terms;
mod topic_file;
mod tree;
mod units;
mod verbs;

pub use self::{
    facets::{Facet, Place},
    kind::Kind,
    topic_file::TopicFile,
    tree::{Taxonomy, Topic},
};

/// The topic of tools that belong to none.
const OTHER: &str = "other";
