use std::{collections::HashMap, time::Instant};

use super::{
    auroc::auroc,
    bootstrap,
    data_set::{DataSet, LabeledQuery},
    memory::resident_bytes,
    metrics::Metrics,
    options::EvalOptions,
    report::{CutOff, Latency, Measured, Report, Row, RowConfig, Tokens, percent, rounded},
};
use crate::{
    Result,
    id::ToolId,
    retrieval::{Filter, Ranking, Retriever},
    selection::{Form, catalog_tokens, form_tokens},
    tokens::CountCache,
};

/// Ranks the tools of a set for each of its queries, and measures the rankings.
///
/// `options` may be the number of tools to ask for. `progress` is called after each query with
/// the number done and the number of all.
///
/// # Errors
/// [`Error::Index`](crate::Error::Index) if the set cannot be indexed or searched.
pub fn evaluate(
    set: &DataSet,
    retriever: &dyn Retriever,
    options: impl Into<EvalOptions>,
    mut progress: impl FnMut(usize, usize),
) -> Result<Report> {
    let options = options.into();
    let (held, started) = (resident_bytes(), Instant::now());
    let index = retriever.index(&set.catalog, None)?;
    let index_ms = rounded(started.elapsed().as_secs_f64() * 1e3);
    let grown = resident_bytes().zip(held).and_then(|(now, before)| now.checked_sub(before));
    let in_split = |query: &&LabeledQuery| options.split.is_none() || query.split == options.split;
    let queries: Vec<&LabeledQuery> = set.queries.iter().filter(in_split).collect();
    let mut metrics = Vec::with_capacity(queries.len());
    let mut searches = Vec::with_capacity(queries.len());
    let mut needs = Needs::new(&queries);
    let mut costs = options.counts.as_deref().map(|counts| Costs::new(set, counts));
    for (i, labeled) in queries.iter().enumerate() {
        let query = labeled.query(options.queries);
        let started = Instant::now();
        let ranking = index.search(&query, &Filter::new(), options.k)?;
        let taken = started.elapsed();
        needs.add(labeled, &ranking);
        if !labeled.groups.is_empty() {
            searches.push(taken);
            if let Some(costs) = &mut costs {
                costs.add(&ranking);
            }
            let tools: Vec<ToolId> = ranking.hits.into_iter().map(|hit| hit.tool).collect();
            metrics.push(Metrics::of(&tools, &labeled.groups));
        }
        progress(i + 1, queries.len());
    }
    let row = Row {
        set: set.name.clone(),
        retriever: retriever.name().to_owned(),
        embedder: retriever.embedder().map(str::to_owned),
        tools: set.catalog.tools().len(),
        queries: metrics.len(),
        without_gold: queries.len() - metrics.len(),
        no_tool_auroc: needs.auroc(|sure| sure.confidence),
        no_tool_auroc_score: needs.auroc(|sure| sure.score),
        cut_off: needs.cut_off(options.min_confidence),
        tokens: costs.map(Costs::tokens),
        config: RowConfig {
            version: env!("CARGO_PKG_VERSION"),
            retriever: format!("{retriever:?}"),
            k: options.k,
            queries: options.queries,
            split: options.split,
            sample: set.sample.clone(),
            bootstrap_seed: bootstrap::SEED,
            bootstrap_samples: bootstrap::RESAMPLES,
        },
        ..Row::new(set.digest)
    };
    let mut report = Report::new();
    report.rows.push(row.with_averages(&metrics));
    let memory_bytes = grown.filter(|bytes| *bytes > 0);
    report.measured.push(Measured { latency_us: Latency::of(searches), index_ms, memory_bytes });
    Ok(report)
}

/// How sure rankings are of queries that need a tool, and of those that need none.
struct Needs {
    /// Whether some splits were made to be set against the queries that need no tool.
    paired: bool,
    tool: Vec<Sure>,
    none: Vec<Sure>,
}

struct Sure {
    score: f32,
    confidence: f32,
}

impl Needs {
    fn new(queries: &[&LabeledQuery]) -> Self {
        Self { paired: queries.iter().any(|query| Self::is_paired(query)), tool: Vec::new(), none: Vec::new() }
    }

    fn is_paired(query: &LabeledQuery) -> bool {
        query.split.as_deref().is_some_and(|split| split.ends_with("_pos"))
    }

    fn add(&mut self, query: &LabeledQuery, ranking: &Ranking) {
        let score = ranking.hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
        let sure = Sure { score, confidence: ranking.confidence.unwrap_or(1.0) };
        if query.groups.is_empty() {
            self.none.push(sure);
        } else if !self.paired || Self::is_paired(query) {
            self.tool.push(sure);
        }
    }

    fn auroc(&self, by: impl Fn(&Sure) -> f32) -> Option<f64> {
        let [tool, none] = [&self.tool, &self.none].map(|sure| sure.iter().map(&by).collect::<Vec<_>>());
        auroc(&tool, &none).map(percent)
    }

    fn cut_off(&self, min_confidence: f32) -> Option<CutOff> {
        let below = |sure: &[Sure]| {
            let below = sure.iter().filter(|sure| sure.confidence < min_confidence).count();
            (!sure.is_empty()).then(|| percent(below as f64 / sure.len() as f64))
        };
        let (no_tool_empty, fitting_lost) = below(&self.none).zip(below(&self.tool))?;
        Some(CutOff { min_confidence, no_tool_empty, fitting_lost })
    }
}

/// What definitions cost, each counted once.
struct Costs<'a> {
    set: &'a DataSet,
    counts: &'a CountCache,
    catalog: usize,
    tools: HashMap<ToolId, usize>,
    selected: Vec<usize>,
}

impl<'a> Costs<'a> {
    fn new(set: &'a DataSet, counts: &'a CountCache) -> Self {
        let catalog = catalog_tokens(&set.catalog, counts);
        Self { set, counts, catalog, tools: HashMap::new(), selected: Vec::new() }
    }

    fn add(&mut self, ranking: &Ranking) {
        let Self { set, counts, tools, .. } = self;
        let tokens = ranking.hits.iter().map(|hit| match tools.get(&hit.tool) {
            Some(tokens) => *tokens,
            None => {
                let tokens = set.catalog.tool(&hit.tool).map_or(0, |entry| form_tokens(entry, Form::Full, counts));
                tools.insert(hit.tool.clone(), tokens);
                tokens
            }
        });
        let tokens = tokens.sum();
        self.selected.push(tokens);
    }

    fn tokens(self) -> Tokens {
        Tokens::new(self.catalog, &self.selected, self.counts.counter().name())
    }
}
