//! How much memory does a host of 10,000 tools hold, over the raw JSON of its servers' lists?
//!
//! What the process holds (`VmRSS` of Linux) is read before anything is made, with the servers' raw
//! lists alone, and after each step of a host's life; the largest it ever was is `VmHWM`. What counts
//! is the growth over the raw lists, which a host with real servers would not keep.
//!
//! Corpus: see `corpus`. Caveats: resident pages are what the allocator took and need not be in
//! use; the corpus is made by a child process, so that what that took and gave back cannot serve
//! later; the tokenizer's tables are the same for any catalog and are shown by themselves. Systems
//! without `/proc` print nothing.

#![allow(clippy::unwrap_used, reason = "a bench that fails should stop")]

#[allow(dead_code, reason = "each bench uses its part")]
mod corpus;

use std::{
    env, fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use proem::{Host, retrieval::Query, selection::catalog_tokens};
use tokio::runtime::Builder;

const GENERATE: &str = "--generate-corpus";

fn main() {
    let size = if corpus::measuring() { 10_000 } else { 100 };
    if env::args().any(|argument| argument == GENERATE) {
        return generate(size);
    }
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let Some(start) = megabytes("VmRSS:") else { return println!("memory: this system does not tell") };
    let mut child = Command::new(env::current_exe().unwrap())
        .args(env::args().skip(1))
        .arg(GENERATE)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let servers: Vec<_> =
        lines.by_ref().take_while(|line| !line.is_empty()).map(|line| corpus::client(&line)).collect();
    let queries: Vec<Query> = lines.map(Query::from).collect();
    child.wait().unwrap();
    let raw = megabytes("VmRSS:").unwrap_or_default();
    println!("memory/{size}: {:.1} MB with the raw lists", raw - start);

    let mut before = raw;
    let mut step = |name: &str| {
        let now = megabytes("VmRSS:").unwrap_or_default();
        println!("  {name:<36} {:>+7.1} MB, {:>6.1} MB over the raw lists", now - before, now - raw);
        before = now;
    };
    let host = Host::builder().servers(servers).build().unwrap();
    host.counts().count("The tables are read on the first use, which takes a while.");
    step("tables of the tokenizer");
    let catalog = runtime.block_on(host.refresh());
    step("catalog");
    let mut session = host.session();
    drop(runtime.block_on(session.turn("the first turn makes the index").build()).unwrap());
    step("index");
    catalog_tokens(&catalog, host.counts());
    step("token counts of all definitions");
    for query in queries {
        drop(runtime.block_on(session.turn(query).build()).unwrap());
    }
    step("1,000 turns");
    println!("  largest at any time: {:.1} MB", megabytes("VmHWM:").unwrap_or_default());
}

/// Prints the servers' captures and, after an empty line, requests.
fn generate(size: usize) {
    for server in corpus::servers(size) {
        println!("{}", corpus::capture(&server));
    }
    println!();
    for query in corpus::queries(size, 1_000) {
        println!("{}", query.text);
    }
}

fn megabytes(field: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1_024.0 / 1e6)
}
