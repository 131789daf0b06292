use super::data_set::DataSet;
use crate::{catalog::Authorization, retrieval::UsageLog};

/// Parts a set to measure what is learned from calls: the queries at even positions, with what
/// they need, are the log of one unnamed context, those at odd ones are the set that is left.
///
/// Queries without gold are left out of both. Of a gold group the first tool counts as called. The
/// sequence number of a call is its query's position, so that [`UsageLog::co_use`] learns from the
/// same half.
///
/// ```no_run
/// use proem::{
///     eval::{DataSet, evaluate, usage_split},
///     retrieval::{Hybrid, Lexical, Usage},
/// };
///
/// let (log, test) = usage_split(&DataSet::open("data/bench/metatool")?.sampled(4_000));
/// let learned = Hybrid::lexical(Lexical::new()).with_usage(Usage::new(&log));
/// println!("{}", evaluate(&test, &learned, 10, |_, _| {})?.rows[0].ndcg_10);
/// # Ok::<(), proem::Error>(())
/// ```
pub fn usage_split(set: &DataSet) -> (UsageLog, DataSet) {
    let mut log = UsageLog::new(Authorization::default()).with_max_calls(UsageLog::MAX_CALLS);
    let mut test = DataSet { queries: Vec::with_capacity(set.queries.len() / 2), ..set.clone() };
    for (position, query) in (0..).zip(set.queries.iter().filter(|query| !query.groups.is_empty())) {
        if position % 2 == 1 {
            test.queries.push(query.clone());
            continue;
        }
        for tool in query.groups.iter().filter_map(|group| group.first()) {
            log.record(position, &query.text, tool.clone());
        }
    }
    (log, test)
}
