mod catalog;
mod diff;
#[cfg(feature = "eval")]
mod eval;
mod filter;
mod plan;
mod prompt;
mod prompts;
mod provider;
mod query;
mod resources;
mod retriever;
mod search;
mod session;
#[cfg(feature = "eval")]
mod simulate;
mod sources;

use clap::{Parser, Subcommand};

pub(crate) use self::{
    catalog::CatalogArgs,
    diff::DiffArgs,
    filter::{FilterArgs, TopicsArg},
    plan::PlanArgs,
    prompt::PromptArgs,
    prompts::PromptsArgs,
    provider::ProviderArg,
    query::QueryArgs,
    resources::{ReadArgs, ResourceArgs, ResourcesArgs},
    retriever::{EmbedderArg, RetrieverArg, RetrieverArgs},
    search::SearchArgs,
    session::SessionArgs,
    sources::{SourceArgs, Sources},
};
#[cfg(feature = "eval")]
pub(crate) use self::{
    eval::{EvalArgs, QueriesArg},
    simulate::SimulateArgs,
};

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
    Plan(Box<PlanArgs>),
    /// List what all servers offer
    Catalog(CatalogArgs),
    /// Show which resources a request would be given, and which not, with reasons
    Resources(ResourcesArgs),
    /// Print the contents of resources
    Read(ReadArgs),
    /// Rank the tools for a query, with the score of each field
    Search(SearchArgs),
    /// List the prompts of all servers, as commands that `proem prompt` takes
    ///
    /// A prompt is called /name, or /server:name where a person could take it for another server's.
    Prompts(PromptsArgs),
    /// Invoke a prompt, and show the messages that it puts before the model
    ///
    /// Arguments are given in the prompt's order or as NAME=VALUE; the last one takes all words that
    /// are left. Running this is the user's act: nothing else in this program asks a server for a
    /// prompt.
    Prompt(PromptArgs),
    /// Explain why a provider's prompt cache would miss between two saved requests
    Diff(DiffArgs),
    /// Measure retrieval on benchmark sets
    #[cfg(feature = "eval")]
    Eval(EvalArgs),
    /// Replay recorded conversations: what each way of delivering tools costs, and what it offers
    ///
    /// Real sessions and real requests, and a model of each provider's prompt cache in place of the
    /// provider: no model is called. Every conversation begins with an empty cache. Cost is that of
    /// the input.
    #[cfg(feature = "eval")]
    Simulate(SimulateArgs),
}
