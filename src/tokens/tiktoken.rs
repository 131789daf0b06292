use std::{fmt, sync::LazyLock};

use tiktoken_rs::CoreBPE;

use super::{counter::TokenCounter, pieces::PieceCounts};

/// OpenAI's public tokenizers. The vocabulary is inside the crate: nothing is downloaded.
#[derive(Clone, Copy)]
pub struct Tiktoken {
    name: &'static str,
    // The tables are built once for the process, on first use.
    table: fn() -> &'static CoreBPE,
    // As many as there are tokenizers, so they are shared by the process too.
    pieces: &'static LazyLock<PieceCounts>,
}

static O200K_PIECES: LazyLock<PieceCounts> = LazyLock::new(PieceCounts::default);
static CL100K_PIECES: LazyLock<PieceCounts> = LazyLock::new(PieceCounts::default);

impl Tiktoken {
    /// The tokenizer of GPT-4o and all later models: the default.
    pub fn o200k_base() -> Self {
        Self { name: "tiktoken/o200k_base", table: tiktoken_rs::o200k_base_singleton, pieces: &O200K_PIECES }
    }

    /// The tokenizer of GPT-4 and GPT-3.5.
    pub fn cl100k_base() -> Self {
        Self { name: "tiktoken/cl100k_base", table: tiktoken_rs::cl100k_base_singleton, pieces: &CL100K_PIECES }
    }

    /// The longest run of one kind of character that is given to the tokenizer whole. Merging is
    /// quadratic in the length of one run, and no word is longer: a megabyte without a space would
    /// otherwise take hours. A longer run is counted in parts, which can only count too many.
    const MAX_RUN: usize = 256;
}

impl Default for Tiktoken {
    fn default() -> Self {
        Self::o200k_base()
    }
}

impl fmt::Debug for Tiktoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tiktoken").field(&self.name).finish()
    }
}

impl TokenCounter for Tiktoken {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn count(&self, text: &str) -> usize {
        let table = (self.table)();
        self.pieces
            .count(text, |piece| bounded_runs(piece, Self::MAX_RUN).map(|part| table.encode_ordinary(part).len()).sum())
    }

    fn exact_for(&self, provider: &str) -> bool {
        provider.starts_with("openai")
    }
}

/// Cuts `text` wherever `max` bytes of one kind of character stand in a row. Usually one part.
fn bounded_runs(text: &str, max: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut kind = None;
        let mut run_start = 0;
        for (at, c) in rest.char_indices() {
            let this = Some((c.is_alphabetic(), c.is_whitespace()));
            if this != kind {
                (kind, run_start) = (this, at);
            } else if at - run_start >= max {
                let (part, more) = rest.split_at(at);
                rest = more;
                return Some(part);
            }
        }
        Some(std::mem::take(&mut rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_public_tokenizer() {
        let counter = Tiktoken::default();
        assert_eq!(counter.count("Merge a branch into another one."), 7);
        assert_eq!(counter.count(""), 0);
        assert!(counter.exact_for("openai-chat") && !counter.exact_for("anthropic"));
    }

    #[test]
    fn parts_are_the_text() {
        for text in ["", "a b", &"a".repeat(1_000), &" ".repeat(700), &"é".repeat(300), &"a1 ".repeat(500)] {
            assert_eq!(bounded_runs(text, 256).collect::<String>(), text);
        }
        assert_eq!(bounded_runs(&"a1 ".repeat(500), 256).count(), 1);
    }

    #[test]
    fn long_runs_end() {
        let counter = Tiktoken::default();
        for unit in ["a", " ", "\n", "=", "ก", "1", "\u{200b}", "ab ", "\t \n"] {
            let text = unit.repeat(300_000 / unit.len());
            assert!(counter.count(&text) > 1_000, "{unit:?}");
        }
    }
}
