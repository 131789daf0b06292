use proptest::prelude::*;

use super::*;
use crate::index::embedder::embed;

/// A file of these rows.
fn file(rows: &[(&str, f32, &[i8])]) -> Vec<u8> {
    let dimensions = rows.first().map_or(2, |row| row.2.len());
    let mut file = b"PROEMEMB".to_vec();
    for number in [1, rows.len() as u32, dimensions as u32] {
        file.extend(number.to_le_bytes());
    }
    rows.iter().for_each(|row| file.extend(row.1.to_le_bytes()));
    rows.iter().for_each(|row| file.extend(row.2.iter().map(|value| *value as u8)));
    rows.iter().for_each(|row| file.extend(format!("{}\n", row.0).bytes()));
    file
}

fn small() -> StaticEmbedder {
    let rows: &[(&str, f32, &[i8])] =
        &[("##s", 0.5, &[0, 2]), ("pull", 1.0, &[3, 0]), ("pull request", 1.0, &[0, 100]), ("request", 2.0, &[-1, 1])];
    StaticEmbedder::read("small", file(rows)).unwrap()
}

#[test]
fn a_text_is_the_sum_of_its_pieces_and_pairs() {
    let embedder = small();
    for (text, expected) in [
        ("pull", [3.0, 0.0]),
        ("Pulls", [3.0, 1.0]),
        ("request pull", [1.0, 2.0]),
        ("pullRequest", [1.0, 102.0]),
        ("nothing", [0.0, 0.0]),
        ("", [0.0, 0.0]),
    ] {
        assert_eq!(embedder.embed(&[text], TextKind::Query).unwrap(), [expected], "{text}");
    }
    assert_eq!(embedder.dimensions(), 2);
}

#[test]
fn many_texts_are_as_each_alone() {
    let embedder = small();
    let texts: Vec<String> = (0..300).map(|i| format!("pull{} request", "s".repeat(i % 7))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = embedder.embed(&texts, TextKind::Document).unwrap();
    let alone: Vec<_> = texts.iter().map(|text| embedder.table.sum(text)).collect();
    assert_eq!(together, alone);
    assert!(embedder.embed(&[], TextKind::Document).unwrap().is_empty());
}

#[test]
fn it_covers_what_it_holds_as_a_whole() {
    let embedder = small();
    for (text, expected) in
        [("pull", 1.0), ("pulls", 0.0), ("pull aaa", 0.286), ("pull 请求", 0.667), ("pull aaaa", 0.0), ("12 !", 0.0)]
    {
        let covers = embedder.covers(text);
        assert!((covers - expected).abs() < 1e-3, "{text}: {covers}");
    }
}

#[test]
fn what_is_no_table_is_an_error() {
    let good = file(&[("a", 1.0, &[1, 2])]);
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    for (file, expected) in [
        (Vec::new(), "the file is shorter than a header"),
        (changed(0, b"X"), "the file is no static embedding"),
        (changed(8, &[2]), "the file has another version than 1"),
        (changed(12, &[0xFF; 4]), "the file is shorter than its rows"),
        (changed(16, &[0; 4]), "the dimensions are not between 1 and 16384"),
        (changed(20, &f32::NAN.to_le_bytes()), "a scale is not finite"),
        (changed(good.len() - 1, b"b"), "the last entry has no end"),
        ([&good[..], b"b\n"].concat(), "there are not as many entries as rows"),
    ] {
        let error = StaticEmbedder::read("mine", file).unwrap_err();
        assert_eq!(error.to_string(), format!("embedder `mine`: {expected}"));
    }
    assert_eq!(StaticEmbedder::read("mine", good).unwrap().identity(), "mine");
}

proptest! {
    #[test]
    fn any_file_and_text_is_taken_or_refused(
        at in 0..64_usize,
        byte in any::<u8>(),
        cut in 0..64_usize,
        text in any::<String>(),
    ) {
        let mut file = file(&[("##b", 1.0, &[1, 2]), ("a", 1.0, &[1, 2])]);
        let length = file.len();
        file[at % length] = byte;
        file.truncate(length.saturating_sub(cut / 8));
        if let Ok(embedder) = StaticEmbedder::read("any", file) {
            prop_assert!((0.0..=1.0).contains(&embedder.covers(&text)));
            // A scale may be large, but never is a vector not one.
            let _ = embed(&embedder, &[&text], TextKind::Query);
        }
    }
}

#[cfg(feature = "bundled")]
mod bundled {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Pieces {
        text: String,
        pieces: Vec<String>,
    }

    #[derive(Deserialize)]
    struct Vectors {
        text: String,
        vector: Vec<f32>,
    }

    fn lines<T: for<'a> Deserialize<'a>>(file: &'static str) -> Vec<T> {
        file.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn words_are_taken_apart_as_in_training() {
        let golden: Vec<Pieces> = lines(include_str!("../../../tests/golden/embedding-tokens.jsonl"));
        assert!(golden.len() >= 40);
        let embedder = StaticEmbedder::bundled();
        for Pieces { text, pieces } in golden {
            // Pairs stand among the words here, and after them there.
            let sorted = |mut entries: Vec<String>| {
                entries.sort_unstable();
                entries
            };
            assert_eq!(sorted(embedder.table.entries(&text)), sorted(pieces), "{text}");
        }
    }

    #[test]
    fn vectors_are_those_of_the_training_program() {
        let golden: Vec<Vectors> = lines(include_str!("../../../tests/golden/embedding-vectors.jsonl"));
        assert!(golden.len() >= 8);
        for Vectors { text, vector } in golden {
            let found = embed(&StaticEmbedder::bundled(), &[&text], TextKind::Query).unwrap().remove(0);
            for (found, expected) in found.iter().zip(&vector) {
                assert!((found - expected).abs() < 2e-6, "{text}: {found} {expected}");
            }
        }
    }

    #[test]
    fn it_is_as_small_as_it_is_said_to_be() {
        let embedder = StaticEmbedder::bundled();
        assert!(embedder.table.vocabulary().len() > 10_000);
        assert_eq!(embedder.identity(), "proem-static-en-1");
        assert!(include_bytes!("../../../assets/embedding/static-en.bin").len() <= 8_000_000);
    }
}
