//! Integration tests, in one binary: linking is what takes the time.

mod catalog;
#[cfg(all(feature = "demo", feature = "tantivy", feature = "tiktoken"))]
mod demo;
#[cfg(feature = "eval")]
mod eval;
mod fake;
mod hostile;
mod layers;
mod protocol;
mod render;
mod resources;
mod selection;
mod session;
