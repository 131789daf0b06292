use std::path::PathBuf;

use clap::Args;
use proem::{TokenBudget, session::Delivery};

use super::{QueriesArg, RetrieverArgs};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  proem simulate --trace examples/trace.jsonl --demo
  proem simulate --data data/bench/livemcpbench --prices openai/gpt-5.4 --prices gemini/gemini-2.5-flash
  proem simulate --trace log.jsonl --config mcp.json --policy per_turn --policy auto --html costs.html")]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) recorded: Recorded,
    #[command(flatten)]
    pub(crate) tools: TraceTools,
    /// How long one request to a server may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// With --data: what of a query becomes turns: each of its steps, or the query as one
    #[arg(long, value_enum, default_value_t = QueriesArg::Steps, conflicts_with = "trace")]
    pub(crate) turns_from: QueriesArg,
    /// With --data: at most so many queries of each split, evenly spaced
    #[arg(long, value_name = "N", conflicts_with = "trace")]
    pub(crate) sample: Option<usize>,
    /// Seconds between two turns where the trace does not say
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) pause: u64,
    /// How tools reach the model: all, per_turn, frozen, append, deferred, bridge or auto; again for
    /// each [default: all seven]
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Vec<Delivery>,
    /// What a model costs and how its prompts are cached: the name of a sheet that ships, or a JSON
    /// file of sheets; again for each [default: anthropic/claude-sonnet-4-6]
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) prices: Vec<String>,
    #[command(flatten)]
    pub(crate) retriever: RetrieverArgs,
    /// The most tools of the first turn where the model can search for more
    #[arg(long, value_name = "K")]
    pub(crate) first: Option<usize>,
    /// The most tools that a later turn brings there
    #[arg(long, value_name = "K")]
    pub(crate) later: Option<usize>,
    /// What the outline of all servers may cost there, in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) outline: Option<TokenBudget>,
    /// Print one JSON object a price sheet, one a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with tables and charts, for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Where the conversations come from.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct Recorded {
    /// A benchmark set, or a folder of sets: its queries are the conversations, its tools the catalog
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Recorded conversations: JSON Lines of turns, or messages as agents log them (Anthropic or
    /// OpenAI Chat, as JSON or JSON Lines)
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "TraceTools")]
    pub(crate) trace: Vec<PathBuf>,
}

/// Where the tools of a trace come from; several are joined.
#[derive(Args, Debug)]
#[group(multiple = true)]
pub(crate) struct TraceTools {
    /// With --trace: its tools are those of the demo servers
    #[arg(long, conflicts_with = "data")]
    pub(crate) demo: bool,
    /// With --trace: an `mcpServers` file, whose servers are started and asked for their tools
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub(crate) config: Vec<PathBuf>,
    /// With --trace: captures of servers, a folder of them, or a `tools.jsonl`
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "data")]
    pub(crate) catalog: Vec<PathBuf>,
}
