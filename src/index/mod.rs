//! The text that stands for a tool, and the index that searches it.
//!
//! A [`ToolDocument`] holds a tool's text by [`Field`]; [`FieldWeights`] say how much a word of
//! each counts. With the feature `tantivy`, an `Analyzer` turns text into terms and
//! `retrieval::Lexical` indexes them with the `LexicalOptions` defined here.
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
mod document;
mod field;
mod hints;
#[cfg(feature = "tantivy")]
mod language;
#[cfg(feature = "tantivy")]
mod lexical;
#[cfg(feature = "tantivy")]
mod roster;
mod schema;
#[cfg(feature = "tantivy")]
mod segment;
mod stop_words;
mod words;

#[cfg(feature = "tantivy")]
pub use self::{analyzer::Analyzer, bm25f::Bm25, language::Language, lexical::LexicalOptions};
pub use self::{
    document::ToolDocument,
    field::{Field, FieldWeights},
    hints::Hints,
};
#[cfg(feature = "tantivy")]
pub(crate) use self::{
    lexical::LexicalIndex,
    roster::{Carried, Roster},
    words::Word,
};
pub(crate) use self::{
    stop_words::is_stop_word,
    words::{fold, normalize, split},
};
