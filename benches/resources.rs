//! How long does it take to rank and select resources, before anything is read?
//!
//! - `request`: search by words and vectors, relevance, ranking and selection, for a request that was not made before.
//! - `value`: ranking and selection by priority and age alone, where every resource is a candidate.
//! - `bytes`: the same where bytes run out too, which is the harder choice.
//! - `learned`: what the next turn pays because one more text was read: that text's summary joins the index.
//! - `searchable`: what a new snapshot costs once: the resources in the form that is indexed, and the index.
//!
//! Budget 4,000 tokens, otherwise default options. Corpus: the tools of `corpus` taken for
//! resources of 200 B to 20 kB, a third without priority, a third without a time, one in a hundred
//! required. Percentiles are of a plain loop over 300 requests, the median of three rounds for each.

#![allow(clippy::unwrap_used, reason = "a bench that fails should stop")]

#[allow(dead_code, reason = "each bench uses its part")]
mod corpus;
#[allow(dead_code, reason = "each bench uses its part")]
mod measure;

use std::hint::black_box;

use criterion::BenchmarkId;
use proem::{
    TokenBudget,
    catalog::Catalog,
    index::StaticEmbedder,
    protocol::{Annotations, Resource},
    resources::{Governance, KnownTexts, Relevance, ResourceOptions, searchable, select},
    retrieval::{Filter, Hybrid, Retriever},
};

fn main() {
    let mut criterion = measure::criterion(20);
    let retriever = Hybrid::new(StaticEmbedder::bundled());
    let rules = Governance::default();
    let options = ResourceOptions::new("2026-10-01T00:00:00Z".parse().unwrap()).with_budget(TokenBudget::new(4_000));
    let tight = options.clone().with_max_bytes(12_000);
    for &size in corpus::sizes().iter().filter(|size| **size <= 10_000) {
        let catalog = resources(&corpus::catalog(size));
        let index = || {
            let documents = searchable(&catalog, &KnownTexts::new(), |_| true);
            retriever.index(&documents, None).unwrap()
        };
        let ready = index();
        let queries = corpus::queries(size, 300);
        let select = |relevance: Option<&Relevance>, text: &str, options: &ResourceOptions| {
            black_box(select(&catalog, &rules, relevance, text, options))
        };
        measure::print_rounds(&format!("resources/request/{size}"), &queries, |query| {
            let relevance = Relevance::of(&ready.search(query, &Filter::new(), 256).unwrap());
            _ = select(Some(&relevance), &query.text, &options);
        });
        let known = KnownTexts::new();
        let mut index_of_known = index();
        let learned: Vec<_> = queries.iter().zip(catalog.resources()).take(100).collect();
        measure::print(&format!("resources/learned/{size}"), learned, |(query, entry)| {
            known.read(&entry.id, &query.text);
            let documents = searchable(&catalog, &known, |_| true);
            index_of_known = retriever.index(&documents, Some(&index_of_known)).unwrap();
        });
        let mut group = criterion.benchmark_group("resources");
        group.bench_function(BenchmarkId::new("value", size), |b| b.iter(|| select(None, "", &options)));
        group.bench_function(BenchmarkId::new("bytes", size), |b| b.iter(|| select(None, "", &tight)));
        group.bench_function(BenchmarkId::new("searchable", size), |b| b.iter(index));
    }
    criterion.final_summary();
}

fn resources(tools: &Catalog) -> Catalog {
    let entries = tools.tools().iter().enumerate();
    entries
        .fold(Catalog::builder(), |builder, (i, entry)| {
            let mut hints = Annotations::new();
            hints.priority = (i % 3 > 0).then_some(if i % 100 == 1 { 1.0 } else { (i % 97) as f64 / 100.0 });
            hints.last_modified = (i % 3 < 2).then(|| format!("2026-{:02}-{:02}T08:00:00Z", i % 12 + 1, i % 28 + 1));
            let resource = Resource::new(format!("doc://{}/{}.md", entry.id.server, entry.id.name), &*entry.id.name)
                .with_description(entry.tool.description.clone().unwrap_or_default())
                .with_mime_type("text/markdown")
                .with_size(200 + (i as u64 * 7_919) % 19_800)
                .with_annotations(hints);
            builder.resource(entry.id.server.clone(), resource)
        })
        .build()
}
