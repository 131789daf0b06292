use clap::Args;
use proem::TokenBudget;

use super::{SourceArgs, TopicsArg};

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
