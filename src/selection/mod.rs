//! Which of the ranked tools are offered, and in what form: a ranking in, a [`Selection`] out.
//!
//! Pinned tools come first, then tools by rank, until the [`Budget`](SelectionOptions::budget) is
//! spent, the scores have fallen too far, or the provider takes no more. One server cannot take
//! all places while others have something to offer, nor several with the same text. A tool that does not fit whole is offered in
//! a smaller [`Form`]. What is left out is listed with its reason.
//!
//! ```
//! use std::sync::Arc;
//! use proem::{
//!     catalog::Catalog, id::ServerId, protocol::Tool, retrieval::{Filter, Ranking},
//!     selection::{SelectionOptions, select}, tokens::{BytesPerToken, CountCache},
//! };
//!
//! let catalog = Catalog::builder()
//!     .tool(ServerId::new("git")?, Tool::new("merge", "Merge a branch"))
//!     .build();
//! let options = SelectionOptions::default().with_pin("git/merge".parse()?);
//! let counts = CountCache::new(Arc::new(BytesPerToken::default()));
//! let selection = select(&catalog, &Ranking::default(), &Filter::new(), &options, &counts);
//! assert_eq!(selection.tools[0].reason.to_string(), "pinned");
//! # Ok::<(), proem::Error>(())
//! ```

mod depth;
mod form;
mod gates;
mod options;
mod reason;
mod select;

pub(crate) use self::form::form_tokens;
pub use self::{
    form::{Definition, Form, catalog_tokens},
    options::SelectionOptions,
    reason::{Exclusion, Inclusion},
    select::{ExcludedTool, SelectedTool, Selection, select},
};
