//! How long does it take to make a long text fit?
//!
//! `cold`: nothing was counted before, which is how a text that was just read comes. `counted`: the
//! whole was counted before, so what is left is parting, scoring, choosing, and counting what is kept.
//! `4000` and `64000` are the tokens that may be kept. `hostile` texts are one line, empty lines, rows
//! with a quote that stays open, and elements without content.
//!
//! Corpus: 4 MiB each of invented words from a fixed seed (hostile empty lines: 2 MiB). Counter:
//! tiktoken's `o200k_base`, whose tables are read before; what it remembers of single words is warm
//! after the first run. Caveat: real texts have more different words, which a first count feels.

#![allow(clippy::unwrap_used, reason = "a bench that fails should stop")]

#[allow(dead_code, reason = "each bench uses its part")]
mod measure;

use std::{hint::black_box, sync::Arc};

use criterion::BenchmarkId;
use proem::{
    resources::{TextKind, trim},
    tokens::{CountCache, Tiktoken},
};

const SIZE: usize = 4 << 20;
const QUERY: &str = "when is the kiln cooled before the glaze is checked?";

fn main() {
    let mut criterion = measure::criterion(10);
    let new = || CountCache::new(Arc::new(Tiktoken::default()));
    new().count("The tables are read on the first use, which takes a while.");
    let csv = TextKind::Csv { delimiter: b',' };
    let texts = [
        ("lines", TextKind::Plain, until_full(|words, _| format!("{}\n", words.sentence()))),
        ("markdown", TextKind::Markdown, until_full(section)),
        ("json", TextKind::Json, format!("[{}\n]", until_full(element).trim_end_matches(','))),
        ("rows", csv, until_full(|words, i| format!("{i},{},\"{}\"\n", words.word(), words.sentence()))),
        ("code", TextKind::Code, until_full(function)),
        ("hostile/one line", TextKind::Plain, "a".repeat(SIZE)),
        ("hostile/empty lines", TextKind::Plain, "\n".repeat(SIZE / 2)),
        ("hostile/open quote", csv, "5\" a,\"b\n".repeat(SIZE / 8)),
        ("hostile/elements", TextKind::Json, format!("[{}[]]", "[],".repeat(SIZE / 3))),
    ];
    for (name, kind, text) in &texts {
        let mut group = criterion.benchmark_group("trim");
        let run = |tokens, counts: &CountCache| black_box(trim(text, *kind, tokens, QUERY, counts, "read x:"));
        group.bench_function(BenchmarkId::new("cold", name), |b| b.iter(|| run(4_000, &new())));
        let counts = new();
        for tokens in [4_000, 64_000] {
            group.bench_function(BenchmarkId::new(format!("counted/{tokens}"), name), |b| {
                b.iter(|| run(tokens, &counts))
            });
        }
        let trimmed = run(4_000, &counts).unwrap();
        println!("{name}: {} tokens, {:?}", trimmed.tokens, trimmed.cut);
    }
    criterion.final_summary();
}

fn until_full(mut part: impl FnMut(&mut Words, usize) -> String) -> String {
    let mut words = Words(7);
    let mut text = String::with_capacity(SIZE + 4_096);
    for i in 0.. {
        if text.len() >= SIZE {
            break;
        }
        text.push_str(&part(&mut words, i));
    }
    text
}

fn section(words: &mut Words, i: usize) -> String {
    let marks = "#".repeat(1 + i % 3);
    let paragraphs: Vec<String> = (0..4).map(|_| (0..6).map(|_| words.sentence() + "\n").collect()).collect();
    format!("{marks} {} {}\n\n{}\n", words.word(), words.word(), paragraphs.join("\n"))
}

fn element(words: &mut Words, i: usize) -> String {
    format!(
        "\n  {{\"id\": {i}, \"name\": \"{}\", \"tags\": [\"{}\"], \"text\": \"{}\"}},",
        words.word(),
        words.word(),
        words.sentence()
    )
}

fn function(words: &mut Words, i: usize) -> String {
    let lines: String =
        (0..8).map(|_| format!("    {} = {}({});\n", words.word(), words.word(), words.word())).collect();
    format!("fn {}_{i}() {{\n{lines}}}\n\n", words.word())
}

/// Invented words in an order that is always the same: a linear congruential generator.
struct Words(u64);

impl Words {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn word(&mut self) -> String {
        const WORDS: [&str; 24] = [
            "glaze", "wheel", "clay", "shelf", "order", "bowl", "cooling", "firing", "sample", "crate", "label",
            "batch", "kiln", "handle", "rim", "slip", "stamp", "drying", "studio", "ledger", "window", "apron",
            "sponge", "cone",
        ];
        // Three words in four are made up of syllables, so that most are rare.
        if self.next(4) == 0 {
            return WORDS[self.next(WORDS.len())].to_owned();
        }
        const SYLLABLES: [&str; 16] =
            ["ra", "mo", "ti", "lek", "su", "ven", "dor", "pa", "ni", "gal", "eth", "ko", "zi", "bru", "fen", "ol"];
        (0..2 + self.next(3)).map(|_| SYLLABLES[self.next(SYLLABLES.len())]).collect()
    }

    fn sentence(&mut self) -> String {
        let words: Vec<String> = (0..6 + self.next(10)).map(|_| self.word()).collect();
        format!("{}.", words.join(" "))
    }
}
