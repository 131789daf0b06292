use clap::Args;
use proem::TokenBudget;

use super::{ProviderArg, SourceArgs};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  proem prompt draft_refund_review T-4711 tone=warm --demo
  proem prompt support:draft_refund_review T-4711 --demo --json
  proem prompt '/draft_refund_review T-4711 warm' --demo --request --provider openai-chat")]
pub(crate) struct PromptArgs {
    /// name, server:name, either with a slash before it; or a whole line as it is typed in a chat
    pub(crate) name: String,
    /// Its arguments, as VALUE or NAME=VALUE
    #[arg(value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    /// What embedded resources and links may cost together, in tokens
    #[arg(long, value_name = "TOKENS", default_value = "8000")]
    pub(crate) budget: TokenBudget,
    /// Whose request is made
    #[arg(long, value_enum, default_value_t = ProviderArg::Anthropic)]
    pub(crate) provider: ProviderArg,
    /// The model named in the request
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Print messages, digest, tokens and what was left out as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the request body alone: the messages, without tools
    #[arg(long, conflicts_with = "json")]
    pub(crate) request: bool,
}
