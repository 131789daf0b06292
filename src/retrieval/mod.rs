//! Which tools a request needs: a [`Query`] in, a [`Ranking`] out.
//!
//! A [`Retriever`] indexes a [`Catalog`]; the [`ToolIndex`] that it gives answers queries. What a
//! [`Filter`] excludes is excluded before ranking, statistics included, so that a ranking says
//! nothing about tools that the caller may not use.
//!
//! `Lexical` searches by words and needs nothing else. `Hybrid` adds vectors of an
//! [`Embedder`](crate::index::Embedder), fuses both scores, and goes on by
//! words where the embedder fails; [`Dense`] is vectors alone.

mod dense;
#[cfg(feature = "tantivy")]
mod exact;
mod filter;
#[cfg(feature = "tantivy")]
mod fusion;
#[cfg(feature = "tantivy")]
mod hybrid;
#[cfg(feature = "tantivy")]
mod lexical;
mod query;
mod ranking;
mod top;

use std::{fmt, sync::Arc};

use crate::{Result, catalog::Catalog};

pub use self::{
    dense::Dense,
    filter::{Filter, ToolPattern},
    query::Query,
    ranking::{Channel, Hit, Ranking, Tier},
};
#[cfg(feature = "tantivy")]
pub use self::{fusion::Fusion, hybrid::Hybrid, lexical::Lexical};

/// Makes an index of a catalog. Lexical search is the one that ships by default.
///
/// Retrievers are synchronous, and indexing takes its time: an async host indexes on a thread that
/// may block, and searches there if [`ToolIndex::may_block`] says so.
pub trait Retriever: fmt::Debug + Send + Sync {
    /// A short name for reports, such as `lexical`.
    fn name(&self) -> &str;

    /// Indexes `catalog`. `previous` is the index of an earlier snapshot of the same host: only
    /// what changed since then need be indexed again, and the answers must be the same as those
    /// of an index made from nothing.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) if the index cannot be built.
    fn index(&self, catalog: &Catalog, previous: Option<&Arc<dyn ToolIndex>>) -> Result<Arc<dyn ToolIndex>>;
}

/// An index of one catalog snapshot.
pub trait ToolIndex: fmt::Debug + Send + Sync + std::any::Any {
    /// The best `limit` tools that `filter` allows, best first. Equal scores are ordered by tool
    /// id, so the ranking depends on the catalog and the query alone.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) if the index cannot be read.
    fn search(&self, query: &Query, filter: &Filter, limit: usize) -> Result<Ranking>;

    /// Whether [`Self::search`] may take longer than an executor should be held up for, such as
    /// with an embedder that asks a service. Default false.
    fn may_block(&self) -> bool {
        false
    }

    /// Whether indexing the same snapshot again may give a better index, since something failed
    /// that may work now. Default false. Asked before every turn: the answer must cost nothing.
    fn wants_reindex(&self) -> bool {
        false
    }
}
