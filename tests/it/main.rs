//! Integration tests, in one binary: linking is what takes the time.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod attach;
#[cfg(all(feature = "bundled", feature = "eval"))]
mod attacks;
#[cfg(feature = "tantivy")]
mod cached_prefix;
mod call;
#[cfg(all(feature = "tantivy", feature = "tiktoken"))]
mod captures;
mod catalog;
#[cfg(feature = "cli")]
mod command_diff;
#[cfg(feature = "cli")]
mod command_line;
#[cfg(feature = "cli")]
mod command_prompts;
#[cfg(feature = "cli")]
mod command_resources;
#[cfg(all(feature = "cli", feature = "eval"))]
mod command_simulate;
mod content;
#[cfg(feature = "tantivy")]
mod conversation;
mod cost;
mod deferral;
#[cfg(feature = "tantivy")]
mod delivery;
#[cfg(all(feature = "demo", feature = "tantivy", feature = "tiktoken"))]
mod demo;
mod discovery;
#[cfg(feature = "tantivy")]
mod dispatch;
#[cfg(all(feature = "bundled", feature = "eval"))]
mod eval;
#[cfg(feature = "tantivy")]
mod evidence;
mod fake;
#[cfg(all(feature = "cli", feature = "eval", feature = "fastembed"))]
mod fastembed;
#[cfg(all(feature = "bundled", feature = "tantivy"))]
mod given_to_the_model;
mod governance;
mod hostile;
#[cfg(all(feature = "cli", feature = "eval", feature = "fastembed-hub"))]
mod hub;
#[cfg(feature = "tantivy")]
mod hybrid;
#[cfg(all(feature = "tantivy", feature = "bundled"))]
mod languages;
mod layers;
mod mentions;
#[cfg(all(feature = "tantivy", feature = "bundled"))]
mod names;
mod outside;
#[cfg(feature = "picker")]
mod picker;
mod prefix;
mod prompts;
mod protocol;
mod provider_requests;
mod provider_rules;
mod reads;
#[cfg(feature = "cli")]
mod real_servers;
#[cfg(all(feature = "bundled", feature = "eval"))]
mod reference;
#[cfg(all(feature = "demo", feature = "bundled", feature = "tantivy", feature = "tiktoken"))]
mod relevance;
mod render;
mod resources;
#[cfg(feature = "eval")]
mod selection;
mod session;
#[cfg(all(feature = "bundled", feature = "eval", feature = "tiktoken"))]
mod simulate;
#[cfg(feature = "tantivy")]
mod taxonomy;
mod templates;
mod trim;
mod vector_cache;
