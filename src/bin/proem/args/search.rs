use clap::Args;

use super::{FilterArgs, QueryArgs, RetrieverArgs, SourceArgs, query::query};

#[derive(Args, Debug)]
pub(crate) struct SearchArgs {
    /// What is asked for; `-` reads it from stdin
    #[arg(value_parser = query)]
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) context: QueryArgs,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    #[command(flatten)]
    pub(crate) retriever: RetrieverArgs,
    /// The most hits
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
