//! How long does it take to count the tokens of a whole catalog?
//!
//! `cold`: nothing was counted before. `cached`: all of it was. Counting is spread over the cores of
//! the machine. Counter: tiktoken's `o200k_base`, whose tables are read before.
//!
//! Corpus: see `corpus`. Caveat: 50,000 cold is one run.

#![allow(clippy::unwrap_used, reason = "a bench that fails should stop")]

#[allow(dead_code, reason = "each bench uses its part")]
mod corpus;
#[allow(dead_code, reason = "each bench uses its part")]
mod measure;

use std::{hint::black_box, sync::Arc};

use criterion::BenchmarkId;
use proem::{
    selection::catalog_tokens,
    tokens::{CountCache, Tiktoken},
};

fn main() {
    let mut criterion = measure::criterion(10);
    let new = || CountCache::new(Arc::new(Tiktoken::default()));
    new().count("The tables are read on the first use, which takes a while.");
    for &size in corpus::sizes() {
        let catalog = corpus::catalog(size);
        if size <= 1_000 {
            let mut group = criterion.benchmark_group("tokens");
            group.bench_function(BenchmarkId::new("cold", size), |b| b.iter(|| catalog_tokens(&catalog, &new())));
        } else {
            let runs = if size <= 10_000 { 3 } else { 1 };
            let name = format!("tokens/cold/{size}");
            measure::print(&name, 0..runs, |_| _ = black_box(catalog_tokens(&catalog, &new())));
        }
        let counts = new();
        println!("{size} tools: {} tokens", catalog_tokens(&catalog, &counts));
        let mut group = criterion.benchmark_group("tokens");
        group.bench_function(BenchmarkId::new("cached", size), |b| b.iter(|| catalog_tokens(&catalog, &counts)));
    }
    criterion.final_summary();
}
