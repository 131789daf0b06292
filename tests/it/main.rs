//! Integration tests, in one binary: linking is what takes the time.

#[cfg(all(feature = "demo", feature = "tantivy", feature = "tiktoken"))]
mod demo;
#[cfg(feature = "eval")]
mod eval;
mod render;
