use std::{
    io::{self, Read},
    path::PathBuf,
    str::FromStr,
    sync::Arc,
};

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;
use proem::{
    TokenBudget,
    catalog::Catalog,
    render::{Anthropic, OpenAiChat, OpenAiResponses, Provider},
    retrieval::{Filter, Kind, Narrowing, Query, Taxonomy, ToolPattern, TopicFile},
    selection::SelectionOptions,
};

use crate::output::Failure;

/// Compose what stands before the question: the MCP tools and resources that one request needs.
///
/// Exit codes: 0 done, 1 failed, 2 bad usage. A server that fails is a warning on stderr.
/// PROEM_LOG=debug shows what happens inside.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what a request would be given: tools, resources, and what that saves
    Plan(PlanArgs),
    /// List what all servers offer
    Catalog(CatalogArgs),
    /// Rank the tools for a query, with the score of each field
    Search(SearchArgs),
    /// Measure retrieval on benchmark sets
    #[cfg(feature = "eval")]
    Eval(EvalArgs),
}

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

#[derive(Args, Debug)]
pub(crate) struct FilterArgs {
    /// Never offer these tools: `server`, `server/tool`, `*` for any run of characters
    #[arg(long, value_name = "PATTERN")]
    deny: Vec<ToolPattern>,
    /// Offer only these tools
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<ToolPattern>,
    /// Offer only tools whose server says that they change nothing
    #[arg(long)]
    read_only: bool,
    /// Search only tools of this kind, as long as that leaves enough: read, create, update, delete,
    /// analyse, generate, monitor, send, run or other; again for each
    #[arg(long, value_name = "KIND")]
    kind: Vec<Kind>,
    /// Search only tools of this topic, as long as that leaves enough: a label of `proem catalog
    /// --outline`, or a word of one; again for each
    #[arg(long, value_name = "TOPIC")]
    topic: Vec<String>,
    #[command(flatten)]
    topics: TopicsArg,
}

/// Where topics come from.
#[derive(Args, Debug)]
pub(crate) struct TopicsArg {
    /// Your own topics: a JSON file of labels and tool patterns [default: the words of the tools]
    #[arg(long, value_name = "FILE")]
    topics: Option<PathBuf>,
}

impl TopicsArg {
    pub(crate) fn taxonomy(&self, catalog: &Catalog) -> Result<Taxonomy, Failure> {
        Ok(match &self.topics {
            Some(file) => Taxonomy::with_topics(catalog, &TopicFile::open(file)?),
            None => Taxonomy::new(catalog),
        })
    }
}

impl FilterArgs {
    pub(crate) fn filter(&self, catalog: &Catalog) -> Result<Filter, Failure> {
        let filter = self.rules();
        if self.kind.is_empty() && self.topic.is_empty() {
            return Ok(filter);
        }
        let taxonomy = Arc::new(self.topics.taxonomy(catalog)?);
        for asked in &self.topic {
            if !taxonomy.topics().iter().any(|topic| topic.is(asked)) {
                let labels: Vec<&str> = taxonomy.topics().iter().map(|topic| &*topic.label).collect();
                return Err(format!("no topic `{asked}` in this catalog: {}", labels.join("; ")).into());
            }
        }
        let narrowing = self.kind.iter().fold(Narrowing::new(taxonomy), |narrowing, kind| narrowing.with_kind(*kind));
        Ok(filter.narrow(self.topic.iter().fold(narrowing, |narrowing, topic| narrowing.with_topic(topic))))
    }

    fn rules(&self) -> Filter {
        let mut filter = Filter::new();
        for pattern in &self.deny {
            filter = filter.deny(pattern.clone());
        }
        for pattern in &self.allow {
            filter = filter.allow(pattern.clone());
        }
        if self.read_only { filter.read_only() } else { filter }
    }
}

/// What ranks the tools.
#[derive(Args, Debug)]
pub(crate) struct RetrieverArgs {
    /// What retrieves
    #[arg(long, value_enum, default_value_t = RetrieverArg::Hybrid)]
    pub(crate) retriever: RetrieverArg,
    /// What turns texts into vectors: `bundled`, `local:DIR` for a folder with an ONNX model and
    /// its tokenizer, `fastembed:NAME` for a model of the Hugging Face Hub
    #[arg(long, value_name = "EMBEDDER", default_value = "bundled")]
    pub(crate) embedder: EmbedderArg,
    /// The share of vectors in a hybrid score, 0 to 1 [default: what suits most catalogs]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) dense_weight: Option<f32>,
    /// How much a tool gains in a hybrid score where its server as a whole fits, 0 to 1
    #[arg(long, value_name = "WEIGHT", value_parser = share)]
    pub(crate) server_weight: Option<f32>,
}

fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("not a number from 0 to 1".into()),
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum RetrieverArg {
    /// Words: combined-fields BM25F
    Lexical,
    /// Vectors of meaning
    Dense,
    /// Both
    Hybrid,
}

#[derive(Clone, Debug)]
pub(crate) enum EmbedderArg {
    Bundled,
    Local(PathBuf),
    Named(String),
}

impl FromStr for EmbedderArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "bundled" => Ok(Self::Bundled),
            Some(("local", folder)) if !folder.is_empty() => Ok(Self::Local(folder.into())),
            Some(("fastembed", name)) if !name.is_empty() => Ok(Self::Named(name.into())),
            _ => Err("neither `bundled`, `local:DIR` nor `fastembed:NAME`".into()),
        }
    }
}

/// What stands beside the query's text.
#[derive(Args, Debug)]
pub(crate) struct QueryArgs {
    /// One part of what QUERY comes to, again for each: the tools of each part are searched for
    /// alone, those of QUERY as a whole after them
    #[arg(long, value_name = "QUERY")]
    part: Vec<String>,
    /// What was asked before, again for each turn, oldest first: a QUERY that says little
    /// ("yes, do it") leans on it
    #[arg(long, value_name = "QUERY")]
    after: Vec<String>,
}

impl QueryArgs {
    pub(crate) fn query(&self, text: &str) -> Query {
        let query = Query::new(text).with_turns(self.after.iter().map(String::as_str));
        self.part.iter().fold(query, |query, part| query.with_sub_query(part.as_str()))
    }
}

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// What is asked for, in the user's words; `-` reads it from stdin
    #[arg(value_parser = query)]
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) context: QueryArgs,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    #[command(flatten)]
    pub(crate) retriever: RetrieverArgs,
    /// What tool definitions may cost, in tokens
    #[arg(long, value_name = "TOKENS", default_value = "4000")]
    pub(crate) tools_budget: TokenBudget,
    /// What attached resources may cost, in tokens
    #[arg(long, value_name = "TOKENS", default_value = "1000")]
    pub(crate) resources_budget: TokenBudget,
    /// The most tools besides pinned ones
    #[arg(long, value_name = "K", default_value_t = 20)]
    pub(crate) top: usize,
    /// Offer nothing if it is less likely than this that any tool fits; 0 always offers the best
    #[arg(long, value_name = "PROBABILITY", default_value_t = SelectionOptions::default().min_confidence, value_parser = share)]
    pub(crate) min_confidence: f32,
    /// Always offer these tools
    #[arg(long, value_name = "PATTERN")]
    pub(crate) pin: Vec<ToolPattern>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Whose request is made
    #[arg(long, value_enum, default_value_t = ProviderArg::Anthropic)]
    pub(crate) provider: ProviderArg,
    /// The model named in the request
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The time that a resource's age is measured against, such as 2026-11-30T00:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<Timestamp>,
    /// Print the plan as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the request body alone
    #[arg(long, conflicts_with = "json")]
    pub(crate) request: bool,
}

impl PlanArgs {
    pub(crate) fn selection(&self) -> SelectionOptions {
        let options = SelectionOptions::default()
            .with_budget(self.tools_budget)
            .with_top(self.top)
            .with_min_confidence(self.min_confidence);
        self.pin.iter().fold(options, |options, pin| options.with_pin(pin.clone()))
    }
}

/// More than any request, and no more than a turn can use.
const MAX_QUERY_BYTES: u64 = 1 << 20;

fn query(text: &str) -> Result<String, String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = String::new();
    let bytes = io::stdin().lock().take(MAX_QUERY_BYTES).read_to_string(&mut read);
    bytes.map(|_| read).map_err(|error| format!("stdin: {error}"))
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ProviderArg {
    /// Anthropic Messages
    Anthropic,
    /// OpenAI Responses
    OpenaiResponses,
    /// OpenAI Chat Completions
    OpenaiChat,
}

impl ProviderArg {
    pub(crate) fn provider(self) -> Box<dyn Provider> {
        match self {
            Self::Anthropic => Box::new(Anthropic::new()),
            Self::OpenaiResponses => Box::new(OpenAiResponses::new()),
            Self::OpenaiChat => Box::new(OpenAiChat::new()),
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct CatalogArgs {
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    /// Print as JSON, definitions included
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what the catalog holds by server, topic and kind, for a prompt or a person
    #[arg(long, conflicts_with = "json")]
    pub(crate) outline: bool,
    /// What the outline may cost, in tokens
    #[arg(long, value_name = "TOKENS", default_value = "400", requires = "outline")]
    pub(crate) tokens: TokenBudget,
    #[command(flatten)]
    pub(crate) topics: TopicsArg,
}

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

#[cfg(feature = "eval")]
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

#[cfg(feature = "eval")]
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum QueriesArg {
    /// The request as it is
    Full,
    /// The annotator's steps as sub-queries
    Steps,
}
