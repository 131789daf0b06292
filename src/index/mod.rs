//! The text that stands for a tool, and the index that searches it.
//!
//! A [`ToolDocument`] holds a tool's text by [`Field`]; [`FieldWeights`] say how much a word of
//! each counts. With the feature `tantivy`, an `Analyzer` turns text into terms and
//! `retrieval::Lexical` indexes them with the `LexicalOptions` defined here.
//!
//! An [`Embedder`] turns text into vectors; [`Dense`](crate::retrieval::Dense) and
//! [`Hybrid`](crate::retrieval::Hybrid) search them. A [`StaticEmbedder`] is a table of words, and
//! one ships; a [`CallbackEmbedder`] is a function of the host's own, a [`ServiceEmbedder`] an
//! async one; with the feature `fastembed`, a `FastEmbedder` runs a model from a folder. A
//! [`VectorCache`] keeps vectors on disk.
//!
//! ```
//! use proem::{catalog::Catalog, id::ServerId, index::{Field, ToolDocument}, protocol::Tool};
//!
//! let catalog = Catalog::builder()
//!     .tool(ServerId::new("git")?, Tool::new("merge", "Merge a branch"))
//!     .build();
//! let document = ToolDocument::new(&catalog.tools()[0], None, &[]);
//! assert_eq!(document.text(Field::Name), "merge");
//! assert_eq!(document.text(Field::Server), "git");
//! # Ok::<(), proem::Error>(())
//! ```

#[cfg(feature = "tantivy")]
mod analyzer;
#[cfg(feature = "tantivy")]
mod bm25f;
mod callback;
mod dense;
mod document;
mod embedder;
#[cfg(feature = "fastembed")]
pub(crate) mod fastembed;
mod field;
mod hints;
#[cfg(feature = "tantivy")]
mod language;
#[cfg(feature = "tantivy")]
mod lexical;
mod mask;
mod near_duplicates;
mod passage;
mod pause;
#[cfg(feature = "tantivy")]
mod roster;
mod schema;
#[cfg(feature = "tantivy")]
mod segment;
mod service;
mod static_embedder;
mod stop_words;
#[cfg(test)]
pub(crate) mod trigrams;
mod unaided;
mod vector_cache;
mod vectors;
mod words;

#[cfg(feature = "fastembed")]
pub use self::fastembed::{FastEmbedder, FastEmbedderBuilder, Languages, OnnxModel, Pooling};
#[cfg(feature = "tantivy")]
pub use self::{analyzer::Analyzer, bm25f::Bm25, language::Language, lexical::LexicalOptions};
pub use self::{
    callback::CallbackEmbedder,
    dense::DenseOptions,
    document::ToolDocument,
    embedder::{Embedder, MAX_DIMENSIONS, TextKind},
    field::{Field, FieldWeights},
    hints::Hints,
    near_duplicates::{NEAR_DUPLICATE, NearDuplicates, near_duplicates},
    service::ServiceEmbedder,
    static_embedder::StaticEmbedder,
    vector_cache::VectorCache,
    vectors::VectorStorage,
};
#[cfg(feature = "tantivy")]
pub(crate) use self::{
    dense::Cosines,
    embedder::embed,
    lexical::{LexicalIndex, Scored},
    passage::passage,
    roster::{Carried, Roster},
    words::Word,
};
pub(crate) use self::{
    dense::{Channel, DenseIndex},
    mask::passes,
};
pub(crate) use self::{
    near_duplicates::WordSet,
    stop_words::is_stop_word,
    words::{fold, normalize, split},
};
