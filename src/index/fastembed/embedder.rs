use std::{fmt, path::PathBuf};

use fastembed::TextEmbedding;

use super::{
    files::Prefixes,
    languages::{Languages, Word},
    model::{Known, OnnxModel, Use},
    session::Session,
};
use crate::{
    Error, Result,
    error::excerpt,
    index::{Embedder, TextKind},
    json::Digest,
};

/// An embedder that runs a model in ONNX form in this process.
///
/// ONNX Runtime is a library of its own, loaded when the first embedder is made: see
/// [`OnnxModel::with_runtime`]. Where it is missing, that is an error which says how to get it.
///
/// Texts are embedded one at a time: the same text gives the same vector, whatever stands beside
/// it, also with dynamically quantized models. Another processor or another version of ONNX
/// Runtime may change the last digits.
///
/// An [`Embedder`] blocks, and a host calls it where that is allowed, on tokio's threads for
/// blocking work; who calls [`embed`](Embedder::embed) from async code does so in `spawn_blocking`.
/// Calls from several threads wait for each other text by text.
///
/// ```no_run
/// use proem::{Host, index::FastEmbedder, retrieval::Hybrid};
///
/// let host = Host::builder().retriever(Hybrid::new(FastEmbedder::local("models/all-MiniLM-L6-v2")?));
/// # Ok::<(), proem::Error>(())
/// ```
pub struct FastEmbedder {
    identity: String,
    dimensions: usize,
    prefixes: Prefixes,
    languages: Languages,
    /// In characters of a text.
    longest: usize,
    session: Session<TextEmbedding>,
}

/// How the vectors of a text's tokens become one.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Pooling {
    /// That of the first token.
    Cls,
    /// Their mean.
    Mean,
}

impl From<Pooling> for fastembed::Pooling {
    fn from(pooling: Pooling) -> Self {
        match pooling {
            Pooling::Cls => Self::Cls,
            Pooling::Mean => Self::Mean,
        }
    }
}

impl FastEmbedder {
    /// The model of a folder, with the defaults of [`FastEmbedderBuilder`].
    ///
    /// # Errors
    /// As [`FastEmbedderBuilder::build`].
    pub fn local(folder: impl Into<PathBuf>) -> Result<Self> {
        Self::builder(OnnxModel::folder(folder)).build()
    }

    /// A model that fastembed knows, downloaded on first use: see [`OnnxModel::named`].
    ///
    /// # Errors
    /// As [`FastEmbedderBuilder::build`].
    #[cfg(feature = "fastembed-hub")]
    pub fn named(name: impl Into<String>) -> Result<Self> {
        Self::builder(OnnxModel::named(name)).build()
    }

    /// An embedder over this model.
    pub fn builder(model: OnnxModel) -> FastEmbedderBuilder {
        FastEmbedderBuilder { model, pooling: None, query: None, document: None, languages: None }
    }

    fn fail(&self, reason: &str) -> Error {
        Error::Embedder { embedder: self.identity.clone(), reason: excerpt(reason), source: None }
    }

    fn vector(&self, text: &str, kind: TextKind) -> Result<Vec<f32>> {
        if text.trim().is_empty() {
            return Ok(vec![0.0; self.dimensions]);
        }
        let prefix = match kind {
            TextKind::Document => &self.prefixes.document,
            TextKind::Query => &self.prefixes.query,
        };
        let text: String = prefix.chars().chain(text.chars().take(self.longest)).collect();
        let mut vectors =
            self.session.run(|model| model.embed([&text], Some(1))).map_err(|reason| self.fail(&reason))?;
        vectors.pop().ok_or_else(|| self.fail("no vector"))
    }
}

/// What a [`FastEmbedder`] is made of.
#[derive(Clone, Debug)]
#[must_use]
pub struct FastEmbedderBuilder {
    model: OnnxModel,
    pooling: Option<Pooling>,
    query: Option<String>,
    document: Option<String>,
    languages: Option<Languages>,
}

/// From this many pieces on a vocabulary is one of many languages: BERT's own multilingual ones
/// have 105,879 and 119,547, XLM-RoBERTa's 250,002, English ones 30,000 to 50,000.
const MULTILINGUAL: u64 = 100_000;

/// The most characters of a text for each token that is read of it. Words have about 5 a token.
const CHARS: usize = 32;

impl FastEmbedderBuilder {
    /// Sets the pooling. Default: what fastembed knows of a named model, what sentence-transformers
    /// wrote beside a local one, else the mean. A model that pools by itself is not changed by it.
    pub fn with_pooling(mut self, pooling: Pooling) -> Self {
        self.pooling = Some(pooling);
        self
    }

    /// Sets what stands before each text of a kind, such as `query: `. Models that were trained
    /// with prefixes are worse without. Default: what is known of a named model, what
    /// sentence-transformers wrote beside a local one, else nothing.
    pub fn with_prefix(mut self, kind: TextKind, prefix: impl Into<String>) -> Self {
        match kind {
            TextKind::Document => self.document = Some(prefix.into()),
            TextKind::Query => self.query = Some(prefix.into()),
        }
        self
    }

    /// Sets which languages the model knows. Default: what is known of a named model, else
    /// [`Languages::Many`] for a vocabulary of more than 100,000 pieces, else
    /// [`Languages::English`]. A model of one other language must be told to know many.
    pub fn with_languages(mut self, languages: Languages) -> Self {
        self.languages = Some(languages);
        self
    }

    /// Reads the model, and embeds a word to see that it works.
    ///
    /// # Errors
    /// [`Error::File`] if ONNX Runtime cannot be loaded, if files are missing, or hold no model or
    /// tokenizer; [`Error::Invalid`] for a name that is not known; [`Error::Embedder`] if the model
    /// gives no vector.
    pub fn build(self) -> Result<FastEmbedder> {
        let (files, known) = self.model.open(Use::Embed)?;
        let Known { output, .. } = known;
        let pooling = match self.pooling.or(known.pooling) {
            Some(pooling) => pooling,
            None => files.pooling.clone().map_err(|reason| files.fault(reason))?.unwrap_or(Pooling::Mean),
        };
        let told = known.prefixes.unwrap_or_else(|| files.prefixes.clone());
        let prefixes =
            Prefixes { query: self.query.unwrap_or(told.query), document: self.document.unwrap_or(told.document) };
        let many = files.vocabulary.is_some_and(|pieces| pieces > MULTILINGUAL);
        let languages = if many { Languages::Many } else { Languages::English };
        let length = self.model.max_length(&files);
        let digest = {
            let settings = format!("{pooling:?} {length} {output:?}");
            let weights = files.weights.iter().flat_map(|(name, bytes)| [name.as_bytes(), bytes]);
            let files = [&*files.onnx, &files.tokenizer, &files.special_tokens];
            let told = [&settings, &prefixes.query, &prefixes.document].map(String::as_bytes);
            Digest::of_parts(files.into_iter().chain(told).chain(weights))
        };
        let mut embedder = FastEmbedder {
            identity: format!("onnx/{}", digest.short(32)),
            dimensions: 0,
            prefixes,
            languages: self.languages.or(known.languages).unwrap_or(languages),
            longest: length.saturating_mul(CHARS),
            session: self.model.embedding(files, pooling, output)?,
        };
        embedder.dimensions = embedder.vector("dimensions", TextKind::Query)?.len();
        Ok(embedder)
    }
}

impl Embedder for FastEmbedder {
    /// A digest of the model's files, pooling, length and prefixes.
    fn identity(&self) -> &str {
        &self.identity
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Vectors of length 1; of a text without a visible character, zeros.
    fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Vec<Vec<f32>>> {
        texts.iter().map(|text| self.vector(text, kind)).collect()
    }

    fn covers(&self, text: &str) -> f32 {
        let text: String = text.chars().take(self.longest).collect();
        let cover = |model: &mut TextEmbedding| -> Result<f32, String> {
            let encoding = model.tokenizer.encode(text.as_str(), false).map_err(|error| error.to_string())?;
            let mut words: Vec<(u32, usize, usize, Word<'_>)> = Vec::new();
            let pieces = encoding.get_word_ids().iter().zip(encoding.get_offsets()).zip(encoding.get_tokens());
            for ((word, (start, end)), token) in pieces {
                let (Some(id), is_unknown) = (*word, UNKNOWN.contains(&token.as_str())) else { continue };
                match words.last_mut() {
                    Some((last, from, to, word)) if *last == id => {
                        (*from, *to) = (*start.min(from), *end.max(to));
                        word.pieces += 1;
                        word.unknown |= is_unknown;
                    }
                    _ => words.push((id, *start, *end, Word { text: "", pieces: 1, unknown: is_unknown })),
                }
            }
            let words: Vec<Word<'_>> = words
                .into_iter()
                .map(|(_, start, end, word)| Word { text: text.get(start..end).unwrap_or_default().trim(), ..word })
                .collect();
            Ok(self.languages.cover(&words))
        };
        self.session.run(cover).unwrap_or(0.0)
    }
}

/// How tokenizers of the BERT and of the SentencePiece kind mark what they do not know.
const UNKNOWN: [&str; 2] = ["[UNK]", "<unk>"];

impl fmt::Debug for FastEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FastEmbedder")
            .field("identity", &self.identity)
            .field("dimensions", &self.dimensions)
            .field("prefixes", &self.prefixes)
            .field("languages", &self.languages)
            .finish_non_exhaustive()
    }
}
