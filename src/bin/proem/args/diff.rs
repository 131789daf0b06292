use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
A request is its JSON body as it was sent, or an object that holds it as `body` or `request`.

Examples:
  proem diff turn1.json turn2.json
  proem plan 'merge the release branch' --demo --request | proem diff yesterday.json - --json")]
pub(crate) struct DiffArgs {
    /// The file of the older request; `-` is stdin
    pub(crate) a: String,
    /// The file of the newer request; `-` is stdin
    pub(crate) b: String,
    /// Print what is kept and what differs as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave out what messages say
    #[arg(long)]
    pub(crate) without_text: bool,
    /// End with exit code 3 if the cache misses
    #[arg(long)]
    pub(crate) exit_code: bool,
}

impl DiffArgs {
    /// The exit code for a miss: 1 says that the comparison failed.
    pub(crate) const MISSES: u8 = 3;
}
