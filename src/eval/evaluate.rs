use std::time::Instant;

use super::{
    data_set::{DataSet, LabeledQuery},
    metrics::Metrics,
    report::{Report, Row, Timing},
};
use crate::{
    Result,
    id::ToolId,
    retrieval::{Filter, Query, Retriever},
};

/// Ranks the tools of a set for each of its queries with gold, and measures the rankings.
///
/// `k` is how many tools are asked for; figures beyond `k` see no more than these, so 10 is the
/// least that gives figures that others can be compared with. `progress` is called after each
/// query with the number done and the number of all.
///
/// # Errors
/// [`Error::Index`](crate::Error::Index) if the set cannot be indexed or searched.
pub fn evaluate(
    set: &DataSet,
    retriever: &dyn Retriever,
    k: usize,
    mut progress: impl FnMut(usize, usize),
) -> Result<Report> {
    let started = Instant::now();
    let index = retriever.index(&set.catalog, None)?;
    let index_time = started.elapsed();
    let queries: Vec<&LabeledQuery> = set.queries.iter().filter(|query| !query.groups.is_empty()).collect();
    let mut metrics = Vec::with_capacity(queries.len());
    let mut searches = Vec::with_capacity(queries.len());
    for (i, labeled) in queries.iter().enumerate() {
        let query = Query::new(labeled.text.as_str());
        let started = Instant::now();
        let ranking = index.search(&query, &Filter::new(), k)?;
        searches.push(started.elapsed());
        let tools: Vec<ToolId> = ranking.hits.into_iter().map(|hit| hit.tool).collect();
        metrics.push(Metrics::of(&tools, &labeled.groups));
        progress(i + 1, queries.len());
    }
    let row = Row {
        set: set.name.clone(),
        retriever: retriever.name().to_owned(),
        tools: set.catalog.tools().len(),
        queries: queries.len(),
        without_gold: set.queries.len() - queries.len(),
        recall_1: 0.0,
        recall_3: 0.0,
        recall_5: 0.0,
        recall_10: 0.0,
        ndcg_10: 0.0,
        completeness_10: 0.0,
        mrr_10: 0.0,
        digest: set.digest,
    };
    let mut report = Report::new();
    report.rows.push(row.with_averages(&metrics));
    report.timings.push(Timing::new(index_time, searches));
    Ok(report)
}
