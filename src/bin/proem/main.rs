//! The `proem` command line: thin, over the library. Results go to stdout, everything else to stderr.

#![forbid(unsafe_code)]

mod args;
mod catalog;
mod choose;
mod conversation;
mod diff;
#[cfg(feature = "eval")]
mod eval;
mod output;
mod picker;
mod plan;
mod prompt;
mod prompts;
mod read;
mod reference;
mod resources;
mod retriever;
mod search;
#[cfg(feature = "eval")]
mod simulate;
mod sources;

use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use self::args::{Cli, Command};

#[tokio::main]
async fn main() -> ExitCode {
    // Usage errors end the program here, with exit code 2.
    let cli = Cli::parse();
    let filter = EnvFilter::try_from_env("PROEM_LOG").unwrap_or_else(|_| EnvFilter::new("off"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let done = match cli.command {
        Command::Plan(args) => plan::run(*args).await,
        Command::Catalog(args) => catalog::run(args).await,
        Command::Resources(args) => resources::run(args).await,
        Command::Read(args) => read::run(args).await,
        Command::Search(args) => search::run(args).await,
        Command::Prompts(args) => prompts::run(args).await,
        Command::Prompt(args) => prompt::run(args).await,
        Command::Diff(args) => match diff::run(&args) {
            Ok(holds) if holds || !args.exit_code => Ok(()),
            Ok(_) => return ExitCode::from(args::DiffArgs::MISSES),
            Err(error) => Err(error),
        },
        #[cfg(feature = "eval")]
        Command::Eval(args) => eval::run(args),
        #[cfg(feature = "eval")]
        Command::Simulate(args) => simulate::run(args).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
