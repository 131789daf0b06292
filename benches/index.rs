//! How long does it take to index a catalog, and to bring the index up to date when one tool changed?
//!
//! `cold`: the whole catalog, from nothing. `one_changed`: the description of one tool in the middle
//! of the catalog is another one, and the index of the catalog before is at hand.
//!
//! Corpus: see `corpus`. Caveats: the catalogs are made outside of the timing (`refresh` measures
//! that); dropping an index is in the figures. `hybrid` is with the embedding that ships. 50,000 cold is a loop of three.

#![allow(clippy::unwrap_used, reason = "a bench that fails should stop")]

#[allow(dead_code, reason = "each bench uses its part")]
mod corpus;
#[allow(dead_code, reason = "each bench uses its part")]
mod measure;

use criterion::BenchmarkId;
use proem::{
    index::StaticEmbedder,
    retrieval::{Hybrid, Lexical, Retriever},
};

fn main() {
    let mut criterion = measure::criterion(10);
    let retrievers: [Box<dyn Retriever>; 2] =
        [Box::new(Lexical::new()), Box::new(Hybrid::new(StaticEmbedder::bundled()))];
    for &size in corpus::sizes() {
        let mut servers = corpus::servers(size);
        println!("{}", corpus::describe(&servers));
        let before = corpus::catalog_of(&servers);
        corpus::change_one(&mut servers);
        let after = corpus::catalog_of(&servers);
        drop(servers);
        for retriever in &retrievers {
            let name = retriever.name();
            if size <= 10_000 {
                let mut group = criterion.benchmark_group(format!("index/{name}"));
                let cold = BenchmarkId::new("cold", size);
                group.bench_function(cold, |b| b.iter(|| retriever.index(&before, None).unwrap()));
            } else {
                let name = format!("index/{name}/cold/{size}");
                measure::print(&name, 0..3, |_| _ = retriever.index(&before, None).unwrap());
            }
            let known = retriever.index(&before, None).unwrap();
            let mut group = criterion.benchmark_group(format!("index/{name}"));
            group.bench_function(BenchmarkId::new("one_changed", size), |b| {
                b.iter(|| retriever.index(&after, Some(&known)).unwrap());
            });
        }
    }
    criterion.final_summary();
}
