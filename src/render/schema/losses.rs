use std::fmt::{self, Write as _};

use crate::error::excerpt;

/// What the model is no longer told, and where in the schema.
#[derive(Debug, Default)]
pub(in crate::render) struct Losses {
    /// JSON pointer of the schema that is looked at; empty for the root.
    at: String,
    sentences: Vec<String>,
    more: usize,
}

impl Losses {
    /// Who reads a report needs the kind of the losses, not each of a hundred.
    const MAX_SENTENCES: usize = 8;

    /// Adds a sentence about the schema that is looked at.
    pub(super) fn add(&mut self, what: impl fmt::Display) {
        if self.sentences.len() == Self::MAX_SENTENCES {
            self.more += 1;
        } else {
            self.sentences.push(format!("{} {what}", self.place()));
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.sentences.len() + self.more
    }

    /// What is looked at, for a sentence.
    pub(super) fn place(&self) -> String {
        if self.at.is_empty() { "root".into() } else { excerpt(&self.at) }
    }

    /// Whether it is the root that is looked at.
    pub(super) fn is_at_root(&self) -> bool {
        self.at.is_empty()
    }

    /// Looks at a schema within the one that is looked at.
    pub(super) fn within<T>(&mut self, path: &[&str], look: impl FnOnce(&mut Self) -> T) -> T {
        let end = self.at.len();
        for name in path {
            let _ = write!(self.at, "/{}", name.replace('~', "~0").replace('/', "~1"));
        }
        let result = look(self);
        self.at.truncate(end);
        result
    }

    /// One sentence for each loss; the last one counts those beyond a few.
    pub(super) fn into_sentences(mut self) -> Vec<String> {
        if self.more > 0 {
            self.sentences.push(format!("and {} more", self.more));
        }
        self.sentences
    }
}
