//! How long does it take to read what all servers list, and to make a snapshot of it?
//!
//! `first`: nothing is known; every item is parsed, checked and digested, every tool gets its
//! exposed name. `unchanged`: the same host asks again and every server answers the same.
//!
//! Corpus: see `corpus`; the servers are captures in memory. Caveats: no transport and no paging,
//! so this is the work of this crate alone; handing out the raw lists (a copy) is in the figures.

#![allow(clippy::unwrap_used, reason = "a bench that fails should stop")]

#[allow(dead_code, reason = "each bench uses its part")]
mod corpus;
#[allow(dead_code, reason = "each bench uses its part")]
mod measure;

use std::time::Instant;

use criterion::{BatchSize, BenchmarkId};
use proem::catalog::{Aggregator, AggregatorOptions};
use tokio::runtime;

fn main() {
    let mut criterion = measure::criterion(10);
    let runtime = runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for &size in corpus::sizes() {
        let servers = corpus::servers(size);
        println!("{}", corpus::describe(&servers));
        let clients = corpus::clients(&servers);
        let new = || Aggregator::new(clients.clone(), AggregatorOptions::default());
        let known = new();
        runtime.block_on(known.refresh());
        if size <= 10_000 {
            let mut group = criterion.benchmark_group("refresh");
            group.bench_function(BenchmarkId::new("first", size), |b| {
                b.iter_batched_ref(new, |servers| runtime.block_on(servers.refresh()), BatchSize::PerIteration);
            });
            group.bench_function(BenchmarkId::new("unchanged", size), |b| {
                b.iter(|| runtime.block_on(known.refresh()));
            });
        } else {
            let first = |servers: Aggregator| {
                let started = Instant::now();
                runtime.block_on(servers.refresh());
                started.elapsed()
            };
            measure::print_times(&format!("refresh/first/{size}"), (0..5).map(|_| first(new())).collect());
            measure::print(&format!("refresh/unchanged/{size}"), 0..5, |_| _ = runtime.block_on(known.refresh()));
        }
    }
    criterion.final_summary();
}
