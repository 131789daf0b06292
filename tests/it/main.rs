//! Integration tests, in one binary: linking is what takes the time.

mod catalog;
#[cfg(all(feature = "tantivy", feature = "tiktoken"))]
mod captures;
#[cfg(feature = "cli")]
mod command_line;
#[cfg(all(feature = "demo", feature = "tantivy", feature = "tiktoken"))]
mod demo;
#[cfg(feature = "eval")]
mod eval;
mod fake;
mod hostile;
mod layers;
mod protocol;
#[cfg(all(feature = "tantivy", feature = "tiktoken"))]
mod outside;
#[cfg(feature = "cli")]
mod real_servers;
mod render;
mod resources;
mod selection;
mod session;
