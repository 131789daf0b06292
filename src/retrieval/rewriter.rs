use std::fmt;

use super::Query;
use crate::{client::BoxFuture, error::BoxError};

/// Takes requests apart, for example with a model: what a request needs several tools for is found
/// far more often by its parts ([`Query::of_parts`]).
///
/// Never required: where it fails, or takes too long, the request is searched as it is.
pub trait Rewriter: fmt::Debug + Send + Sync {
    /// A short name for notes.
    fn name(&self) -> &str;

    /// The sub-queries that a request comes to, most important first; none if it is best searched
    /// as it is. A follow-up has its turns in [`Query::turns`].
    fn rewrite<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, std::result::Result<Vec<String>, BoxError>>;
}
