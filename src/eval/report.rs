use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;

use super::{bootstrap, metrics::Metrics, options::QueryForm};
use crate::json::Digest;

/// What was measured: rows that the same input always gives, and what differs from run to run
/// apart from them.
///
/// As JSON, it is the rows alone: the same bytes for the same input.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of this crate.
    pub version: &'static str,
    /// One row for each set and retriever.
    pub rows: Vec<Row>,
    /// Time and memory, in the order of `rows`.
    #[serde(skip)]
    pub measured: Vec<Measured>,
}

impl Report {
    /// A report without rows.
    pub fn new() -> Self {
        Self { version: env!("CARGO_PKG_VERSION"), rows: Vec::new(), measured: Vec::new() }
    }

    /// Appends the rows of another report.
    pub fn append(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.measured.extend(other.measured);
    }

    /// Each row with its time and memory, as one object to serialize.
    pub fn lines(&self) -> impl Iterator<Item = impl Serialize> {
        self.rows.iter().zip(&self.measured).map(|(row, measured)| Line { row, measured })
    }
}

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    row: &'a Row,
    #[serde(flatten)]
    measured: &'a Measured,
}

/// The figures of one set: averages over its queries with gold, in percent, rounded to 2 decimals.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// The set's name.
    pub set: String,
    /// The retriever's name.
    pub retriever: String,
    /// The identity of its embedder; `None` if it has none.
    pub embedder: Option<String>,
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
    /// Mean NDCG over the first 5.
    #[serde(rename = "ndcg@5")]
    pub ndcg_5: f64,
    /// Mean NDCG over the first 10.
    #[serde(rename = "ndcg@10")]
    pub ndcg_10: f64,
    /// Share of queries with every group satisfied by the first 10.
    #[serde(rename = "completeness@10")]
    pub completeness_10: f64,
    /// Mean reciprocal rank of the first tool that is gold, within 10.
    #[serde(rename = "mrr")]
    pub mrr_10: f64,
    /// How well [`Ranking::confidence`](crate::retrieval::Ranking::confidence) tells queries that
    /// need a tool from those that do not: the share of pairs that it orders rightly (AUROC).
    /// `None` where the set has none of either.
    ///
    /// The queries that need a tool are those of splits whose names end in `_pos`, made to be set
    /// against those that need none; all of them where no split is called so.
    pub no_tool_auroc: Option<f64>,
    /// The same of the best tool's score alone.
    pub no_tool_auroc_score: Option<f64>,
    /// What [`EvalOptions::min_confidence`](super::EvalOptions::min_confidence) does to both.
    pub cut_off: Option<CutOff>,
    /// By metric: the 95 % interval of the mean over queries, low and high (percentile bootstrap
    /// with the seed and the number of samples in [`Self::config`]).
    pub ci95: BTreeMap<&'static str, [f64; 2]>,
    /// What definitions cost; `None` if nothing counted.
    pub tokens: Option<Tokens>,
    /// Over the set's two files.
    #[serde(rename = "corpus_digest")]
    pub digest: Digest,
    /// What would give the same row again.
    pub config: RowConfig,
}

impl Row {
    /// A row of zeros.
    pub(super) fn new(digest: Digest) -> Self {
        Self {
            set: String::new(),
            retriever: String::new(),
            embedder: None,
            tools: 0,
            queries: 0,
            without_gold: 0,
            recall_1: 0.0,
            recall_3: 0.0,
            recall_5: 0.0,
            recall_10: 0.0,
            ndcg_5: 0.0,
            ndcg_10: 0.0,
            completeness_10: 0.0,
            mrr_10: 0.0,
            no_tool_auroc: None,
            no_tool_auroc_score: None,
            cut_off: None,
            ci95: BTreeMap::new(),
            tokens: None,
            digest,
            config: RowConfig::default(),
        }
    }

    /// Sets the averages and their intervals.
    pub(super) fn with_averages(mut self, metrics: &[Metrics]) -> Self {
        let values: Vec<_> = metrics.iter().map(Metrics::values).collect();
        let mut means = [0.0; Metrics::NAMES.len()];
        for row in &values {
            means.iter_mut().zip(row).for_each(|(mean, value)| *mean += value / values.len() as f64);
        }
        [
            self.recall_1,
            self.recall_3,
            self.recall_5,
            self.recall_10,
            self.ndcg_5,
            self.ndcg_10,
            self.completeness_10,
            self.mrr_10,
        ] = means.map(percent);
        self.ci95 = Metrics::NAMES.into_iter().zip(bootstrap::ci95(&values).map(|ends| ends.map(percent))).collect();
        self
    }
}

pub(super) fn percent(share: f64) -> f64 {
    (share * 10_000.0).round() / 100.0
}

/// What definitions cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tokens {
    /// All definitions together.
    pub catalog: usize,
    /// The whole definitions of the first `k` tools: the mean over queries with gold, to one decimal.
    pub selected_mean: f64,
    /// What is not sent, in percent: 100 · (1 − selected / catalog). 0 for an empty catalog.
    pub saved_ratio: f64,
    /// What counted.
    pub counter: String,
}

impl Tokens {
    pub(super) fn new(catalog: usize, selected: &[usize], counter: String) -> Self {
        let mean = selected.iter().sum::<usize>() as f64 / selected.len().max(1) as f64;
        let saved = if catalog == 0 { 0.0 } else { 1.0 - mean / catalog as f64 };
        Self { catalog, selected_mean: rounded(mean), saved_ratio: percent(saved), counter }
    }
}

/// What a cut-off at a least confidence does: shares of queries in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CutOff {
    /// The least confidence.
    pub min_confidence: f32,
    /// Of the queries that need no tool, those that get none.
    pub no_tool_empty: f64,
    /// Of the queries that need one, those that get none either.
    pub fitting_lost: f64,
}

/// What would give the same row again.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RowConfig {
    /// The version of this crate.
    pub version: &'static str,
    /// The retriever with its options, as it shows itself.
    pub retriever: String,
    /// How many tools were asked for.
    pub k: usize,
    /// What was searched with.
    pub queries: QueryForm,
    /// The only split whose queries count; `None` for all.
    pub split: Option<String>,
    /// Which of the set's queries these are, in words; `None` for all.
    pub sample: Option<String>,
    /// Where the random numbers of the bootstrap start.
    pub bootstrap_seed: u64,
    /// The samples it draws.
    pub bootstrap_samples: usize,
}

/// Time and memory of one set. Differs from run to run and from machine to machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Measured {
    /// How long the searches for queries with gold took.
    pub latency_us: Latency,
    /// How long it took to index the catalog from nothing, in milliseconds.
    pub index_ms: f64,
    /// By how much the memory of the process grew while it indexed, in bytes; absent where the
    /// system does not tell (it is read on Linux) or where memory from before was enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// Percentiles of searches, in microseconds, to one decimal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Latency {
    /// The median.
    pub p50: f64,
    /// 95 % took no longer.
    pub p95: f64,
    /// 99 % took no longer.
    pub p99: f64,
}

impl Latency {
    pub(super) fn of(mut searches: Vec<Duration>) -> Self {
        searches.sort_unstable();
        let at = |share: f64| {
            let rank = (share * searches.len() as f64).ceil() as usize;
            rounded(searches.get(rank.saturating_sub(1)).copied().unwrap_or_default().as_secs_f64() * 1e6)
        };
        Self { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
    }
}

/// To one decimal.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row::new(Digest::of_bytes(""))
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let searches = (1..=200).rev().map(Duration::from_micros).collect();
        let latency = Latency::of(searches);
        assert_eq!([latency.p50, latency.p95, latency.p99], [100.0, 190.0, 198.0]);
        assert_eq!(Latency::of(Vec::new()), Latency::default());
    }

    #[test]
    fn averages_are_percent_with_their_intervals() {
        let (mut hit, miss) = (Metrics::default(), Metrics::default());
        (hit.recall, hit.mrr_10) = ([1.0; 4], 0.5);
        let figures = row().with_averages(&[hit, miss, miss]);
        assert_eq!((figures.recall_1, figures.mrr_10, figures.ndcg_5), (33.33, 16.67, 0.0));
        assert_eq!((figures.ci95["recall@1"], figures.ci95["ndcg@10"]), ([0.0, 100.0], [0.0, 0.0]));
        assert_eq!(row().with_averages(&[]).recall_10, 0.0);
    }

    #[test]
    fn a_report_is_what_does_not_change_and_a_line_is_all() {
        let mut report = Report::new();
        report.rows.push(Row { set: "some".into(), ..row() });
        report.measured.push(Measured { index_ms: 1.5, ..Measured::default() });
        assert!(!serde_json::to_string(&report).unwrap().contains("index_ms"));
        let line = serde_json::to_value(report.lines().next()).unwrap();
        assert_eq!((&line["set"], &line["index_ms"]), (&"some".into(), &1.5.into()));
        assert!(line["latency_us"]["p99"].is_number() && line.get("memory_bytes").is_none());
        assert_eq!(Tokens::new(1_000, &[100, 201], "c".into()).saved_ratio, 84.95);
    }
}
