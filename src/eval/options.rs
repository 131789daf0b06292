use std::sync::Arc;

use serde::Serialize;

use crate::{selection::SelectionOptions, tokens::CountCache};

/// What is measured, and how.
///
/// A number alone stands for that `k` and otherwise the defaults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvalOptions {
    /// How many tools are asked for. Figures beyond it see no more than these. Default: 10, the
    /// least that gives figures that others can be compared with.
    pub k: usize,
    /// What is searched with. Default: the requests as they are.
    pub queries: QueryForm,
    /// The only part of the set whose queries count. Default: all.
    pub split: Option<String>,
    /// The least confidence with which tools are offered, for the figures of the cut-off alone:
    /// rankings are measured whole. Default: that of a selection.
    pub min_confidence: f32,
    /// What counts tokens. Default: nothing, and the report tells no tokens.
    pub counts: Option<Arc<CountCache>>,
}

impl EvalOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            k: 10,
            queries: QueryForm::Full,
            split: None,
            min_confidence: SelectionOptions::default().min_confidence,
            counts: None,
        }
    }

    /// Sets what is searched with.
    #[must_use]
    pub fn with_queries(mut self, queries: QueryForm) -> Self {
        self.queries = queries;
        self
    }

    /// Sets the only part of the set whose queries count.
    #[must_use]
    pub fn with_split(mut self, split: impl Into<String>) -> Self {
        self.split = Some(split.into());
        self
    }

    /// Sets what counts tokens.
    #[must_use]
    pub fn with_counts(mut self, counts: Arc<CountCache>) -> Self {
        self.counts = Some(counts);
        self
    }
}

impl Default for EvalOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl From<usize> for EvalOptions {
    fn from(k: usize) -> Self {
        Self { k, ..Self::new() }
    }
}

/// What of a labeled query is searched with.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum QueryForm {
    /// The request as it is.
    #[default]
    Full,
    /// The annotator's steps as sub-queries: what a host reaches that takes requests apart well.
    /// A query without steps is searched as it is.
    Steps,
}
