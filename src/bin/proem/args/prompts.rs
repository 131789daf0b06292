use clap::Args;

use super::SourceArgs;

#[derive(Args, Debug)]
pub(crate) struct PromptsArgs {
    /// Only those that this begins or means: a name, words of a title or description
    #[arg(value_name = "QUERY")]
    pub(crate) query: Option<String>,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    /// Print as JSON, definitions included
    #[arg(long)]
    pub(crate) json: bool,
}
