//! How long does one key take in a picker, until the rows of one screen are there?
//!
//! 200 queries are typed letter by letter, and deleted again letter by letter. Each key is one
//! measurement: the search, the rows, and 40 of them with what is highlighted. `first` are first
//! letters, which look at every item; `further` those that come after them; `deleting` the keys that
//! take a letter away. `open` is what it takes to show a catalog at
//! all, `update` to take a snapshot in which one server of all has changed.
//!
//! Corpus: `resources` in `corpus`, 200 resources a server. Caveat: words are drawn by Zipf's law
//! from 4,096, so a first letter meets nearly every item, which is the worst there is.

#![allow(clippy::unwrap_used, reason = "a bench that fails should stop")]

#[allow(dead_code, reason = "each bench uses its part")]
mod corpus;
#[allow(dead_code, reason = "each bench uses its part")]
mod measure;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::BenchmarkId;
use proem::{
    catalog::Catalog,
    picker::{Picker, PickerOptions, Preferences},
    protocol::Resource,
};

fn main() {
    let mut criterion = measure::criterion(20);
    for &size in corpus::sizes() {
        let catalog = corpus::resources(size);
        let typed = corpus::typed(&catalog, 200);
        let mut keys = Keys::default();
        let mut picker = open(&catalog);
        for query in &typed {
            keys.typed(&mut picker, query);
        }
        measure::print_times(&format!("picker/first/{size}"), keys.first);
        measure::print_times(&format!("picker/further/{size}"), keys.further);
        measure::print_times(&format!("picker/deleting/{size}"), keys.deleting);

        let changed = with_one_more(&catalog);
        let mut group = criterion.benchmark_group("picker");
        group.bench_function(BenchmarkId::new("open", size), |b| b.iter(|| open(&catalog)));
        let mut both = [&changed, &catalog].into_iter().cycle();
        group.bench_function(BenchmarkId::new("update", size), |b| b.iter(|| picker.update(both.next().unwrap())));
    }
    criterion.final_summary();
}

#[derive(Default)]
struct Keys {
    first: Vec<Duration>,
    further: Vec<Duration>,
    deleting: Vec<Duration>,
}

impl Keys {
    fn typed(&mut self, picker: &mut Picker, query: &str) {
        let ends = || query.char_indices().map(|(start, c)| start + c.len_utf8());
        for end in ends() {
            let time = key(picker, &query[..end]);
            if end == 1 { self.first.push(time) } else { self.further.push(time) }
        }
        for (start, _) in query.char_indices().rev() {
            self.deleting.push(key(picker, &query[..start]));
        }
    }
}

fn key(picker: &mut Picker, query: &str) -> Duration {
    let started = Instant::now();
    picker.set_query(query);
    black_box(picker.rows(0..40));
    started.elapsed()
}

fn open(catalog: &Catalog) -> Picker {
    Picker::new(catalog, PickerOptions::new(), Preferences::new())
}

fn with_one_more(catalog: &Catalog) -> Catalog {
    let all = catalog.resources();
    let builder = all
        .iter()
        .fold(Catalog::builder(), |builder, entry| builder.resource(entry.id.server.clone(), entry.resource.clone()));
    builder.resource(all[all.len() / 2].id.server.clone(), Resource::new("file:///new.md", "new.md")).build()
}
