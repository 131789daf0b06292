//! How long does a turn take: search, selection, layout and rendering, with default options?
//!
//! - `first`: a request that was not made before, over a catalog that is indexed and whose
//!   definitions are counted, as after one report.
//! - `uncounted`: the same, but no definition was ever counted: the first turns of a new process.
//! - `cached`: the same request over the same catalog once more.
//! - `render`: the part of it that renders.
//!
//! Percentiles are of plain loops over 1,000 different requests (`cached`: 100). All but `uncounted`
//! go through them three times and count the median for each request: so few rankings are remembered
//! that a round finds none of the one before. Corpus: see `corpus`. Nothing is
//! attached (the default), though the catalog holds resources. Caveat: `uncounted` can be measured once
//! only, so the machine's other load is in it.

#![allow(clippy::unwrap_used, reason = "a bench that fails should stop")]

#[allow(dead_code, reason = "each bench uses its part")]
mod corpus;
#[allow(dead_code, reason = "each bench uses its part")]
mod measure;

use std::hint::black_box;

use criterion::BenchmarkId;
use proem::{Context, Host, Session, render::Anthropic, retrieval::Query, selection::catalog_tokens};
use tokio::runtime::{Builder, Runtime};

fn main() {
    let mut criterion = measure::criterion(20);
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let provider = Anthropic::new();
    for &size in corpus::sizes() {
        let host = Host::builder().servers(corpus::clients(&corpus::servers(size))).build().unwrap();
        runtime.block_on(host.refresh());
        let queries = corpus::queries(size, 2_000);
        let (queries, more) = queries.split_at(1_000);
        let mut session = host.session();
        // Indexes, and reads the tokenizer's tables.
        turn(&runtime, &mut session, &Query::new("warm up"));

        measure::print(&format!("plan/uncounted/{size}"), queries, |query| {
            _ = black_box(turn(&runtime, &mut session, query).render(&provider));
        });
        catalog_tokens(&host.catalog(), host.counts());
        let mut parts = Vec::with_capacity(more.len());
        measure::print_rounds(&format!("plan/first/{size}"), more, |query| {
            let context = turn(&runtime, &mut session, query);
            _ = black_box(context.render(&provider));
            parts.push(*context.timings());
        });
        measure::print_times(&format!("  search/{size}"), parts.iter().map(|parts| parts.search).collect());
        measure::print_times(&format!("  select/{size}"), parts.iter().map(|parts| parts.select).collect());
        measure::print_times(&format!("  attach/{size}"), parts.iter().map(|parts| parts.attach).collect());
        measure::print_times(&format!("  layout/{size}"), parts.iter().map(|parts| parts.layout).collect());
        // Fewer than are remembered.
        let recent = &more[more.len() - 100..];
        measure::print_rounds(&format!("plan/cached/{size}"), recent, |query| {
            _ = black_box(turn(&runtime, &mut session, query));
        });

        let mut group = criterion.benchmark_group("plan");
        let mut next = recent.iter().cycle();
        group.bench_function(BenchmarkId::new("cached", size), |b| {
            b.iter(|| next.next().map(|query| turn(&runtime, &mut session, query)));
        });
        let context = turn(&runtime, &mut session, &recent[0]);
        group.bench_function(BenchmarkId::new("render", size), |b| b.iter(|| context.render(&provider)));
    }
    criterion.final_summary();
}

fn turn(runtime: &Runtime, session: &mut Session, query: &Query) -> Context {
    runtime.block_on(session.turn(query.clone()).build()).unwrap()
}
