//! Which tools a request needs: a [`Query`] in, a [`Ranking`] out.
//!
//! A [`Retriever`] indexes a [`Catalog`]; the [`ToolIndex`] that it gives answers queries. What a
//! [`Filter`] excludes is excluded before ranking, statistics included, so that a ranking says
//! nothing about tools that the caller may not use.

#[cfg(feature = "tantivy")]
mod exact;
mod filter;
#[cfg(feature = "tantivy")]
mod lexical;
mod query;
mod ranking;

use std::{fmt, sync::Arc};

use crate::{Result, catalog::Catalog};

#[cfg(feature = "tantivy")]
pub use self::lexical::Lexical;
pub use self::{
    filter::{Filter, ToolPattern},
    query::Query,
    ranking::{Hit, Ranking, Tier},
};

/// Makes an index of a catalog. Lexical search is the one that ships by default.
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
}
