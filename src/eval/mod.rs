//! Benchmarks of tool retrieval: sets, metrics, reports. And simulations: [`simulate`] replays
//! recorded conversations, a [`Trace`], and says what each way of delivering tools costs and offers.
//!
//! ```no_run
//! use proem::{
//!     eval::{DataSet, EvalOptions, QueryForm, Report, SimulationOptions, evaluate, simulate},
//!     retrieval::Lexical,
//! };
//!
//! let mut report = Report::new();
//! for set in DataSet::open_all("data/bench")? {
//!     report.append(evaluate(&set, &Lexical::new(), 10, |_, _| {})?);
//! }
//! for row in &report.rows {
//!     println!("{}: NDCG@10 {}", row.set, row.ndcg_10);
//! }
//! // With an annotator's steps as sub-queries, where the set has them.
//! let steps = EvalOptions::new().with_queries(QueryForm::Steps);
//! let set = DataSet::open("data/bench/livemcpbench")?;
//! println!("{}", evaluate(&set, &Lexical::new(), steps, |_, _| {})?.rows[0].completeness_10);
//! // Each step as a turn of a conversation.
//! for report in simulate(&set.catalog, &set.trace(QueryForm::Steps), &SimulationOptions::new(), |_, _| {})? {
//!     println!("{}", report.policies[0].cost);
//! }
//! # Ok::<(), proem::Error>(())
//! ```

mod auroc;
mod bootstrap;
mod data_set;
mod evaluate;
mod memory;
mod metrics;
mod options;
mod report;
mod simulate;
mod trace;
mod usage;

pub use self::{
    data_set::{DataSet, LabeledQuery},
    evaluate::evaluate,
    metrics::Metrics,
    options::{EvalOptions, QueryForm},
    report::{CutOff, Latency, Measured, Report, Row, RowConfig, Tokens},
    simulate::{PolicyRow, SimulationOptions, SimulationReport, TokenSums, page, simulate},
    trace::{Conversation, Trace, TraceCall, TraceTurn},
    usage::usage_split,
};
