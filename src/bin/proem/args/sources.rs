use std::path::PathBuf;

use clap::Args;

/// Where the tools come from; at least one, several are joined.
#[derive(Args, Debug)]
#[group(required = true, multiple = true)]
pub(crate) struct Sources {
    /// Demo servers of an invented workplace, inside this program
    #[arg(long)]
    pub(crate) demo: bool,
    /// An `mcpServers` file, as MCP hosts write it: its servers are started and asked
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Captures: a file for a server, a folder of them, or a `tools.jsonl`
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) catalog: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct SourceArgs {
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// How long one request to a server may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
}
