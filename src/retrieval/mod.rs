//! Which tools a request needs: a [`Query`] in, a [`Ranking`] out.
//!
//! A [`Retriever`] indexes a [`Catalog`]; the [`ToolIndex`] that it gives answers queries. What a
//! [`Filter`] excludes is excluded before ranking, statistics included, so that a ranking says
//! nothing about tools that the caller may not use.
//!
//! `Lexical` searches by words and needs nothing else. `Hybrid` adds vectors of an
//! [`Embedder`](crate::index::Embedder), fuses both scores, and goes on by
//! words where the embedder fails; [`Dense`] is vectors alone. To the fused score `Hybrid` adds
//! evidence, each kind by a weight: how well a tool's server fits, which tools are used together
//! (`CoUse`), and which were called after requests like this one (`Usage`).
//!
#![cfg_attr(feature = "tantivy", doc = "```")]
#![cfg_attr(not(feature = "tantivy"), doc = "```ignore")]
//! use proem::{
//!     catalog::Catalog,
//!     id::ServerId,
//!     protocol::Tool,
//!     retrieval::{Filter, Lexical, Retriever, Tier},
//! };
//!
//! let git = ServerId::new("git")?;
//! let catalog = Catalog::builder()
//!     .tool(git.clone(), Tool::new("merge", "Merge a branch into the current one"))
//!     .tool(git.clone(), Tool::new("delete_branch", "Delete a branch"))
//!     .tool(git, Tool::new("log", "Show the history of a branch"))
//!     .tool(ServerId::new("mail")?, Tool::new("send", "Send an e-mail"))
//!     .build();
//! let index = Lexical::new().index(&catalog, None)?;
//!
//! let filter = Filter::new().deny("*/delete_*".parse()?);
//! let ranking = index.search(&"merge the release branch".into(), &filter, 5)?;
//! let found: Vec<String> = ranking.hits.iter().map(|hit| hit.tool.to_string()).collect();
//! assert_eq!(found, ["git/merge", "git/log"]);
//!
//! // Why the first one is there: what each field of its text gave, and how much of the request it holds.
//! let best = &ranking.hits[0];
//! assert_eq!(best.tier, Tier::Scored);
//! assert!(best.fields["name"] > best.fields["description"]);
//! assert!((best.fields.values().sum::<f32>() - best.score).abs() < 1e-5);
//! assert!((0.3..1.0).contains(&ranking.coverage));
//!
//! // A tool that the request names comes before all scores.
//! let named = index.search(&"show me what `git/log` says of the merge".into(), &filter, 5)?;
//! assert_eq!((named.hits[0].tool.to_string().as_str(), named.hits[0].tier), ("git/log", Tier::Named));
//! # Ok::<(), proem::Error>(())
//! ```

#[cfg(feature = "tantivy")]
mod co_use;
#[cfg_attr(not(feature = "tantivy"), allow(dead_code, reason = "signals of words come from the lexical index"))]
mod confidence;
mod dense;
#[cfg(feature = "tantivy")]
mod evidence;
#[cfg(feature = "tantivy")]
mod exact;
#[cfg(feature = "fastembed")]
mod fast_reranker;
mod filter;
mod follow_up;
#[cfg(feature = "tantivy")]
mod fusion;
#[cfg(feature = "tantivy")]
mod hybrid;
#[cfg(feature = "tantivy")]
mod lexical;
mod merge;
#[cfg(feature = "tantivy")]
mod narrowing;
#[cfg(feature = "tantivy")]
mod places;
mod query;
mod ranking;
mod reranker;
mod rewriter;
#[cfg(feature = "tantivy")]
mod servers;
#[cfg(feature = "tantivy")]
mod taxonomy;
mod top;
mod trust;
#[cfg(feature = "tantivy")]
mod usage;
#[cfg(feature = "tantivy")]
mod usage_log;

use std::{fmt, sync::Arc};

#[cfg(feature = "fastembed")]
pub use self::fast_reranker::FastReranker;
pub(crate) use self::reranker::{candidates, reorder};
#[cfg(feature = "tantivy")]
pub use self::{
    co_use::CoUse,
    fusion::Fusion,
    hybrid::Hybrid,
    lexical::Lexical,
    narrowing::{Gate, Narrowing, Starved},
    taxonomy::{Facet, Kind, Place, Taxonomy, Topic, TopicFile},
    usage::Usage,
    usage_log::UsageLog,
};
pub use self::{
    dense::Dense,
    filter::{Filter, ToolPattern},
    query::Query,
    ranking::{Channel, Hit, Origin, Ranking, Tier},
    reranker::{Candidate, Reranker},
    rewriter::Rewriter,
};
use crate::{
    Result,
    catalog::{Authorization, Catalog},
};

/// Makes an index of a catalog. Lexical search is the one that ships by default.
///
/// Retrievers are synchronous, and indexing takes its time: an async host indexes on a thread that
/// may block, and searches there if [`ToolIndex::may_block`] says so.
pub trait Retriever: fmt::Debug + Send + Sync {
    /// A short name for reports, such as `lexical`.
    fn name(&self) -> &str;

    /// The [identity](crate::index::Embedder::identity) of the embedder whose vectors it compares,
    /// for reports. Default none.
    fn embedder(&self) -> Option<&str> {
        None
    }

    /// Indexes `catalog`. `previous` is the index of an earlier snapshot of the same host: only
    /// what changed since then need be indexed again, and the answers must be the same as those
    /// of an index made from nothing.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) if the index cannot be built.
    fn index(&self, catalog: &Catalog, previous: Option<&Arc<dyn ToolIndex>>) -> Result<Arc<dyn ToolIndex>>;

    /// On whose behalf its data was gathered, such as a log of requests: a host that acts for
    /// another one refuses it. Default: it holds no such data.
    fn authorization(&self) -> Option<&Authorization> {
        None
    }
}

/// An index of one catalog snapshot.
///
/// To implement it takes an answer to one text. [`search`](Self::search) makes the answer to a
/// query of several texts of it, in the same way for all indexes.
pub trait ToolIndex: fmt::Debug + Send + Sync + std::any::Any {
    /// The snapshot.
    fn catalog(&self) -> &Catalog;

    /// The best `limit` tools for one text that `filter` allows, best first. Equal scores are
    /// ordered by tool id, so the ranking depends on the catalog and the text alone. The text has
    /// at most [`Query::MAX_CHARS`] characters if it comes from [`search`](Self::search).
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) if the index cannot be read.
    fn search_text(&self, text: &str, filter: &Filter, limit: usize) -> Result<Ranking>;

    /// The best `limit` tools for a query that `filter` allows, best first.
    ///
    /// Sub-queries, and the turns that a [follow-up](Query::is_follow_up) leans on, are each
    /// searched for and their hits merged round robin: the best of each, then the second of each,
    /// a tool that was met before left out. Tools that any of the texts names come before all
    /// others. A follow-up comes first itself, then the tools used before, then the turns, newest
    /// first, back to the first that says enough on its own.
    ///
    /// A filter's narrowing is tried first, and widened where it would leave too little.
    ///
    /// # Errors
    /// As [`search_text`](Self::search_text).
    fn search(&self, query: &Query, filter: &Filter, limit: usize) -> Result<Ranking> {
        merge::search(self, query, filter, limit)
    }

    /// Whether a search may take longer than an executor should be held up for, such as with an
    /// embedder that asks a service. Default false.
    fn may_block(&self) -> bool {
        false
    }

    /// Whether indexing the same snapshot again may give a better index, since something failed
    /// that may work now. Default false. Asked before every turn: the answer must cost nothing.
    fn wants_reindex(&self) -> bool {
        false
    }
}
