use std::{
    fs::File,
    io::{self, Read},
};

use clap::{CommandFactory, error::ErrorKind};
use proem::{
    prefix::{Prefix, PrefixDiff, Segment},
    tokens::{Tiktoken, TokenCounter},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    args::{Cli, DiffArgs},
    output::{self, Failure, grouped},
};

/// Prints the difference, and says whether the cache holds.
pub(crate) fn run(args: &DiffArgs) -> Result<bool, Failure> {
    if args.a == "-" && args.b == "-" {
        Cli::command().error(ErrorKind::ArgumentConflict, "only one of the two requests can be on stdin").exit();
    }
    let (old, new) = (prefix(&args.a)?, prefix(&args.b)?);
    let mut diff = PrefixDiff::between(&old, &new);
    if args.without_text {
        diff = diff.without_text();
    }
    let counter = Tiktoken::default();
    let (kept, written) = new.segments.split_at(diff.kept.segments);
    let tokens = Tokens {
        kept: count(&counter, kept),
        written: count(&counter, written),
        counter: counter.name(),
        estimated: !counter.exact_for(new.dialect.as_str()),
    };
    if args.json {
        output::print(serde_json::to_string_pretty(&Shown { diff: &diff, tokens })?)?;
    } else {
        let about = if tokens.estimated { "about " } else { "" };
        let (kept, written) = (grouped(tokens.kept), grouped(tokens.written));
        output::print(format!("{diff}\n tokens  {about}{kept} kept, {written} written anew ({})", tokens.counter))?;
    }
    Ok(diff.extends)
}

#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    diff: &'a PrefixDiff,
    tokens: Tokens,
}

/// What the newer request costs: of the texts alone, without what a provider puts around them.
#[derive(Serialize)]
struct Tokens {
    kept: usize,
    written: usize,
    counter: String,
    estimated: bool,
}

fn count(counter: &Tiktoken, segments: &[Segment]) -> usize {
    segments.iter().map(|segment| counter.count(&segment.text)).sum()
}

/// More than any request.
const MAX_BYTES: u64 = 128 << 20;

/// The request in a file, alone or as one of the fields that logs keep it in.
fn prefix(file: &str) -> Result<Prefix, Failure> {
    #[derive(Deserialize)]
    struct Logged<'a> {
        #[serde(borrow, alias = "request")]
        body: &'a RawValue,
    }

    let name = if file == "-" { "stdin" } else { file };
    let mut text = String::new();
    let read = match file {
        "-" => io::stdin().lock().take(MAX_BYTES).read_to_string(&mut text),
        path => File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text)),
    };
    read.map_err(|error| format!("{name}: {error}"))?;
    let prefix = Prefix::read(&text).or_else(|error| match serde_json::from_str::<Logged<'_>>(&text) {
        Ok(logged) => Prefix::read(logged.body.get()),
        Err(_) => Err(error),
    });
    Ok(prefix.map_err(|error| format!("{name}: {error}"))?)
}
