mod table;
mod vocabulary;
mod words;

use std::{
    borrow::Cow,
    fmt,
    num::NonZeroUsize,
    thread::{self, available_parallelism},
};

use self::{
    table::Table,
    words::{letters, words},
};
use super::embedder::{Embedder, TextKind};
use crate::Result;

/// An embedder that is a table: a vector for each word or piece of a word, added up.
///
/// It needs no model runtime and no network, embeds a request in microseconds, and gives the same
/// bits on every machine. What it cannot see is the order of words: "from euros to dollars" and
/// "from dollars to euros" are one to it. A transformer finds more
/// (`docs/retrieval.md` has the figures of both), at a thousand times the time.
///
/// [`Self::bundled`] is the one that ships. Others are read from files of the same format, such as
/// the training program makes of other texts.
#[derive(Clone)]
pub struct StaticEmbedder {
    identity: Cow<'static, str>,
    table: Table,
}

impl StaticEmbedder {
    /// The embedding that ships: English, made for tools. `docs/embedding.md` says of what and how
    /// it was trained.
    ///
    /// Reading the table takes some milliseconds once; all that hold it share it.
    ///
    /// ```
    /// use proem::{
    ///     catalog::Catalog,
    ///     id::ServerId,
    ///     index::StaticEmbedder,
    ///     protocol::Tool,
    ///     retrieval::{Filter, Hybrid, Retriever},
    /// };
    ///
    /// let catalog = Catalog::builder()
    ///     .tool(ServerId::new("sky")?, Tool::new("forecast", "The weather of the coming days"))
    ///     .tool(ServerId::new("mail")?, Tool::new("send", "Send a message to a person"))
    ///     .build();
    /// let index = Hybrid::new(StaticEmbedder::bundled()).index(&catalog, None)?;
    /// // No word in common.
    /// let ranking = index.search(&"will it rain tomorrow?".into(), &Filter::new(), 1)?;
    /// assert_eq!(ranking.hits[0].tool.to_string(), "sky/forecast");
    /// # Ok::<(), proem::Error>(())
    /// ```
    #[cfg(feature = "bundled")]
    pub fn bundled() -> Self {
        use std::sync::LazyLock;

        static BUNDLED: LazyLock<StaticEmbedder> = LazyLock::new(|| {
            let file: &'static [u8] = include_bytes!("../../../assets/embedding/static-en.bin");
            // The file is part of the crate, and a test reads it; an embedder of nothing knows nothing.
            let table = Table::read(Cow::Borrowed(file)).unwrap_or_default();
            StaticEmbedder { identity: Cow::Borrowed("proem-static-en-1"), table }
        });
        BUNDLED.clone()
    }

    /// Reads a table.
    ///
    /// `identity` tells its vectors from those of all others: see [`Embedder::identity`].
    ///
    /// All numbers are little endian. The file has: the eight bytes `PROEMEMB`, then as `u32` the
    /// version (1), the number of rows and of dimensions; an `f32` for each row, its scale; an `i8`
    /// for each number of each row, which times the scale is its value; and for each row its entry
    /// in UTF-8, ended by a newline. An entry is a word in lower case, a piece that goes on with a
    /// word (`##ing`), or a pair of neighbouring words (`pull request`).
    ///
    /// # Errors
    /// [`Error::Embedder`](crate::Error::Embedder) if it is none.
    pub fn read(identity: impl Into<String>, file: impl Into<Vec<u8>>) -> Result<Self> {
        let identity = identity.into();
        let table = Table::read(Cow::Owned(file.into())).map_err(|reason| crate::Error::Embedder {
            embedder: identity.clone(),
            reason: reason.into(),
            source: None,
        })?;
        Ok(Self { identity: identity.into(), table })
    }
}

impl Embedder for StaticEmbedder {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn dimensions(&self) -> usize {
        self.table.dimensions()
    }

    /// Never fails. Many texts are shared out among the cores at hand.
    fn embed(&self, texts: &[&str], _: TextKind) -> Result<Vec<Vec<f32>>> {
        let sums = |texts: &[&str]| texts.iter().map(|text| self.table.sum(text)).collect::<Vec<_>>();
        let cores = if texts.len() < SHARED_OUT { 1 } else { available_parallelism().map_or(1, NonZeroUsize::get) };
        let mut parts = texts.chunks(texts.len().div_ceil(cores).max(1));
        let first = parts.next().unwrap_or_default();
        let vectors = thread::scope(|scope| {
            let others: Vec<_> = parts.map(|part| (part, scope.spawn(move || sums(part)))).collect();
            let mut vectors = sums(first);
            // A thread that panicked has done nothing: its part is done here.
            others.into_iter().for_each(|(part, other)| vectors.extend(other.join().unwrap_or_else(|_| sums(part))));
            vectors
        });
        Ok(vectors)
    }

    fn max_batch(&self) -> usize {
        1_024
    }

    fn may_block(&self) -> bool {
        false
    }

    /// By the share of the text's letters that stand in words which the table holds as a whole:
    /// words of other languages are made of pieces, whose sum means nothing.
    fn covers(&self, text: &str) -> f32 {
        let all = letters(text);
        let mut known = 0;
        words(text, |word| {
            if self.table.vocabulary().holds(word) {
                known += word.bytes().filter(u8::is_ascii_alphabetic).count();
            }
        });
        if all == 0 {
            return 0.0;
        }
        let share = known as f32 / all as f32;
        ((share - FOREIGN) / (KNOWN - FOREIGN)).clamp(0.0, 1.0)
    }
}

/// From so many texts on, to start threads takes less time than it saves.
const SHARED_OUT: usize = 128;

/// Up to the first share of letters in known words a text is in another language, from the second
/// on it is not. Of six sets of English requests, 95 of 100 have more than 0.62 to 0.85; requests in
/// French, German, Spanish and others have 0.1 to 0.5, for words that they share with English.
const FOREIGN: f32 = 0.5;
const KNOWN: f32 = 0.75;

impl fmt::Debug for StaticEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticEmbedder").field("identity", &self.identity).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
