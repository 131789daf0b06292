//! Integration tests, in one binary: linking is what takes the time.

mod render;
#[cfg(all(feature = "demo", feature = "tantivy", feature = "tiktoken"))]
mod demo;
