use clap::Args;
use proem::{TokenBudget, retrieval::ToolPattern, selection::SelectionOptions};

use super::{
    FilterArgs, ProviderArg, QueryArgs, ResourceArgs, RetrieverArgs, SessionArgs, SourceArgs, query::query,
    retriever::share,
};

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
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    /// What the servers' instructions may cost, in tokens
    #[arg(long, value_name = "TOKENS", default_value = "2000")]
    pub(crate) instructions_budget: TokenBudget,
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
    #[command(flatten)]
    pub(crate) conversation: SessionArgs,
    /// Whose request is made
    #[arg(long, value_enum, default_value_t = ProviderArg::Anthropic)]
    pub(crate) provider: ProviderArg,
    /// The model named in the request
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
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
