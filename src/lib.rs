//! Proem composes what stands before the question: it sits in an MCP host between the servers and
//! the model call, and puts before the model the few tools and resources that a turn needs, in an
//! order that keeps the provider's prompt cache warm.
//!
//! ```
//! use proem::{Host, TokenBudget, client::MemoryClient, render::Anthropic};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> proem::Result<()> {
//! let host = Host::builder()
//!     .server("git", MemoryClient::new().with_tool("merge", "Merge a branch into another one"))
//!     .server("mail", MemoryClient::new().with_tool("send", "Send a message to a person"))
//!     .server("files", MemoryClient::new().with_resource("file:///notes.md", "Release on Friday."))
//!     .build()?;
//! let catalog = host.refresh().await; // one failing server never hides the others
//! assert_eq!(catalog.tools().len(), 2);
//!
//! let mut session = host.session();
//! let context = session
//!     .turn("merge the release branch")
//!     .tools(TokenBudget::new(2_000)) // only the relevant ones
//!     .resources(TokenBudget::new(1_000)) // by relevance, audience, priority and age
//!     .build()
//!     .await?;
//! println!("{}", context.report(&Anthropic::new()));
//!
//! let request = context.render(&Anthropic::new()); // same input, same bytes
//! assert_eq!(request.to_value()["tools"].as_array().map(Vec::len), Some(1));
//! let tool = context.route("merge")?; // the name that the model used → server and tool
//! assert_eq!((tool.server.as_str(), &*tool.name), ("git", "merge"));
//! # Ok(())
//! # }
//! ```
//!
//! # The parts
//! - A [`Client`](client::Client) stands for one server: a child process, a streamable HTTP
//!   endpoint, an rmcp peer that a framework already holds, a capture file, items in memory.
//! - A [`Catalog`](catalog::Catalog) is an immutable snapshot of all of them, ordered and
//!   digested; an [`Aggregator`](catalog::Aggregator) keeps it up to date.
//! - A [`Retriever`](retrieval::Retriever) ranks tools for a query, by words and by meaning: with the
//!   embedding that ships, or an [`Embedder`](index::Embedder) of the host's choice;
//!   [`selection`] fits them into a token budget, and [`resources`] does that for resources.
//! - [`prompts`] are commands that a person invokes; [`templates`] give URIs and suggest values;
//!   [`picker`] is what a resource picker shows and keeps.
//! - A [`Provider`](render::Provider) renders a [`Layout`](render::Layout) to the exact bytes of a
//!   request.
//! - A [`Host`] wires them; a [`Session`] is one conversation, whose prefix a provider's cache keeps;
//!   a [`Context`] is one turn, decided: it renders, reports why, and routes the model's names back.
//! - [`discovery`] is how a model finds more tools; [`call`] checks the arguments of its calls.
//! - [`prefix`] is what a prompt cache reads of a request; [`cost`] is what that costs.
//!
//! Each part works alone: see the example `layers`. Time, token counters and servers are handed
//! in; nothing here starts a model, downloads anything, or reads the environment. The feature
//! `fastembed` is the exception: it runs a model that the host hands in, and finds ONNX Runtime by
//! `ORT_DYLIB_PATH` if no path is given; `fastembed-hub` downloads a model that is asked for by name.
//!
//! # What it holds to
//! - Same input, same bytes: whatever the order of servers, answers, keys, threads or features.
//! - One bad server, page, item or schema costs itself only, and is reported with its reason.
//! - Nothing is trusted because a server says so: text is bounded, delimited and attributed;
//!   names never guess; hints authorize nothing.
//! - Tools are the model's to call, resources the host's to attach, prompts the user's to invoke.
//!
//! # What it does not do
//! It calls no model, keeps no transcript for the host, and runs no server. Of a conversation it
//! remembers what its prefix holds, and the last questions and tools, for terse follow-ups. It does not rewrite queries or
//! descriptions with a model, though a host may hook one in. The embedding that ships knows English
//! alone; the feature `fastembed` runs the models of others.
//!
//! # Features
//! | feature | default | adds |
//! |---|---|---|
//! | `rmcp` | yes | clients over the official SDK: `PeerClient`, `StdioClient`, `StreamClient` |
//! | `tantivy` | yes | the lexical index, `retrieval::Lexical` |
//! | `tiktoken` | yes | `tokens::Tiktoken` |
//! | `bundled` | yes | the embedding that ships, `index::StaticEmbedder::bundled` |
//! | `picker` | yes | `picker::Picker`, the model of a resource picker |
//! | `http` | | `client::HttpClient` |
//! | `fastembed` | | models in ONNX form from a folder: `index::FastEmbedder`, `retrieval::FastReranker` |
//! | `fastembed-hub` | | the same by name, downloaded |
//! | `demo` | | in-process servers of an invented workplace |
//! | `eval` | | benchmark sets and metrics of retrieval; recorded conversations replayed |
//! | `cli` | | the `proem` program |
//!
//! Features add types that a host hands to a builder; none changes what already works.

#![forbid(unsafe_code)]

pub mod call;
pub mod catalog;
pub mod client;
pub mod cost;
#[cfg(feature = "demo")]
pub mod demo;
pub mod discovery;
pub mod error;
#[cfg(feature = "eval")]
pub mod eval;
pub mod evidence;
pub mod host;
pub mod id;
pub mod index;
pub mod json;
pub mod picker;
pub mod prefix;
pub mod prompts;
pub mod protocol;
pub mod render;
pub mod resources;
pub mod retrieval;
pub mod selection;
pub mod session;
pub mod templates;
pub mod tokens;
mod wildcard;

pub use self::{
    error::{Error, Result},
    host::Host,
    session::{Context, Session},
    tokens::TokenBudget,
};

/// The texts of `docs/`, so that their examples are compiled with the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/architecture.md")]
#[doc = include_str!("../docs/design.md")]
#[cfg_attr(all(feature = "tantivy", feature = "bundled", feature = "tiktoken"), doc = include_str!("../docs/resources.md"))]
#[doc = include_str!("../docs/prompts.md")]
#[doc = include_str!("../docs/costs.md")]
#[cfg_attr(all(feature = "tantivy", feature = "bundled", feature = "tiktoken"), doc = include_str!("../docs/sessions.md"))]
#[doc = include_str!("../docs/providers.md")]
#[cfg_attr(feature = "fastembed", doc = include_str!("../docs/fastembed.md"))]
mod documentation {}
