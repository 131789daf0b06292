use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::RetrieverArgs;

#[derive(Args, Debug)]
pub(crate) struct EvalArgs {
    /// A set (`tools.jsonl` and `queries.jsonl`), or a folder of sets
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) retriever: RetrieverArgs,
    /// What of each query is searched with; sets without steps are left out of `steps`
    #[arg(long, value_enum, default_value_t = QueriesArg::Full)]
    pub(crate) queries: QueriesArg,
    /// Only the queries of this split; sets without it are left out
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    /// At most so many queries of each split, evenly spaced
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// Only the first queries by id
    #[arg(long, value_name = "N", conflicts_with = "sample")]
    pub(crate) first: Option<usize>,
    /// Print one JSON object a set, one a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum QueriesArg {
    /// The request as it is
    Full,
    /// The annotator's steps as sub-queries
    Steps,
}
