//! How long does one search take, without selection and rendering, by words alone and with the
//! vectors of the embedding that ships?
//!
//! The best 80 tools, which is how deep a turn with default options ranks, explanations included.
//! criterion runs through 500 different requests one after the other; the percentiles are of a plain
//! loop over 1,000, and the median of three such loops counts for each.
//!
//! Corpus: see `corpus`. Caveat: a request of 20 frequent words meets most of the catalog, which
//! is the worst that a lexical index can be asked for; the Zipf law makes such requests common here.

#![allow(clippy::unwrap_used, reason = "a bench that fails should stop")]

#[allow(dead_code, reason = "each bench uses its part")]
mod corpus;
#[allow(dead_code, reason = "each bench uses its part")]
mod measure;

use std::hint::black_box;

use criterion::BenchmarkId;
use proem::{
    index::StaticEmbedder,
    retrieval::{Filter, Hybrid, Lexical, Retriever},
};

const DEPTH: usize = 80;

fn main() {
    let mut criterion = measure::criterion(20);
    for &size in corpus::sizes() {
        let catalog = corpus::catalog(size);
        let queries = corpus::queries(size, 1_000);
        let filter = Filter::new();
        let retrievers: [Box<dyn Retriever>; 2] =
            [Box::new(Lexical::new()), Box::new(Hybrid::new(StaticEmbedder::bundled()))];
        for retriever in retrievers {
            let index = retriever.index(&catalog, None).unwrap();
            let mut next = queries.iter().take(500).cycle();
            let mut group = criterion.benchmark_group("query");
            group.bench_function(BenchmarkId::new(retriever.name(), size), |b| {
                b.iter(|| next.next().map(|query| index.search(query, &filter, DEPTH).unwrap()));
            });
            drop(group);
            measure::print_rounds(&format!("query/{}/{size}", retriever.name()), &queries, |query| {
                _ = black_box(index.search(query, &filter, DEPTH).unwrap());
            });
        }
    }
    criterion.final_summary();
}
