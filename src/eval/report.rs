use std::time::Duration;

use serde::Serialize;

use super::metrics::Metrics;
use crate::json::Digest;

/// What was measured: rows that the same input always gives, and times apart from them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of this crate.
    pub version: &'static str,
    /// One row for each set and retriever.
    pub rows: Vec<Row>,
    /// How long it took, in the order of `rows`; differs from run to run.
    #[serde(skip)]
    pub timings: Vec<Timing>,
}

impl Report {
    /// A report without rows.
    pub fn new() -> Self {
        Self { version: env!("CARGO_PKG_VERSION"), rows: Vec::new(), timings: Vec::new() }
    }

    /// Appends the rows of another report.
    pub fn append(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.timings.extend(other.timings);
    }
}

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

/// The figures of one set: averages over its queries with gold, in percent, rounded to 2 decimals.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// The set's name.
    pub set: String,
    /// The retriever's name.
    pub retriever: String,
    /// The tools in the catalog.
    pub tools: usize,
    /// The queries that the figures are over.
    pub queries: usize,
    /// Queries that need no tool: left out of all averages.
    pub without_gold: usize,
    /// Mean share of gold groups satisfied by the first tool.
    #[serde(rename = "recall@1")]
    pub recall_1: f64,
    /// By the first 3.
    #[serde(rename = "recall@3")]
    pub recall_3: f64,
    /// By the first 5.
    #[serde(rename = "recall@5")]
    pub recall_5: f64,
    /// By the first 10.
    #[serde(rename = "recall@10")]
    pub recall_10: f64,
    /// Mean NDCG over the first 10.
    #[serde(rename = "ndcg@10")]
    pub ndcg_10: f64,
    /// Share of queries with every group satisfied by the first 10.
    #[serde(rename = "completeness@10")]
    pub completeness_10: f64,
    /// Mean reciprocal rank of the first tool that is gold, within 10.
    #[serde(rename = "mrr@10")]
    pub mrr_10: f64,
    /// Of the set's two files.
    pub digest: Digest,
}

impl Row {
    /// Sets the averages.
    pub(super) fn with_averages(mut self, metrics: &[Metrics]) -> Self {
        let percent = |value: &dyn Fn(&Metrics) -> f64| {
            let mean = metrics.iter().map(value).sum::<f64>() / metrics.len().max(1) as f64;
            (mean * 10_000.0).round() / 100.0
        };
        [self.recall_1, self.recall_3, self.recall_5, self.recall_10] =
            [0, 1, 2, 3].map(|at| percent(&|metrics| metrics.recall[at]));
        self.ndcg_10 = percent(&|metrics| metrics.ndcg_10);
        self.completeness_10 = percent(&|metrics| metrics.completeness_10);
        self.mrr_10 = percent(&|metrics| metrics.mrr_10);
        self
    }
}

/// How long one set took.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Timing {
    /// To index the catalog from nothing.
    pub index: Duration,
    /// The median search.
    pub p50: Duration,
    /// 95 % of searches took no longer.
    pub p95: Duration,
    /// 99 % of searches took no longer.
    pub p99: Duration,
}

impl Timing {
    pub(super) fn new(index: Duration, mut searches: Vec<Duration>) -> Self {
        searches.sort_unstable();
        let at = |share: f64| {
            let rank = (share * searches.len() as f64).ceil() as usize;
            searches.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        Self { index, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let searches = (1..=200).rev().map(Duration::from_micros).collect();
        let timing = Timing::new(Duration::ZERO, searches);
        assert_eq!([timing.p50, timing.p95, timing.p99].map(|time| time.as_micros()), [100, 190, 198]);
        assert_eq!(Timing::new(Duration::ZERO, Vec::new()), Timing::default());
    }
}
