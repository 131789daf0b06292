//! A made-up workplace of MCP servers that run inside the process and speak the real protocol.
//!
//! About thirty servers with some 150 tools, resources, templates and prompts: large enough that a
//! model cannot be shown everything, and small enough to read. They page their lists, cache them for a
//! while or not at all, speak the protocol with and without `initialize`, share names with each
//! other, and change while they run: one its list of tools, some a resource. Their answers are canned and depend on
//! nothing but the arguments. No text in them comes from a real server.
//!
//! - [`servers`] gives them all, ordered by id; [`DemoServer::serve`] starts one and gives the
//!   client's end of the connection.
//! - [`QUESTIONS`] are things that people would ask, each with the tool that answers it.
//!
//! Every server is one file in `assets/demo`.
//!
//! ```
//! use rmcp::{ClientServiceExt, model::ProtocolVersion, service::ClientLifecycleMode};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let board = proem::demo::servers().into_iter().find(|server| server.id() == "sprint-board");
//! let stream = board.ok_or("no sprint board")?.serve();
//! let preferred_versions = vec![ProtocolVersion::LATEST];
//! let mode = ClientLifecycleMode::Auto { preferred_versions, legacy_version: None };
//! let client = ().serve_with_lifecycle(stream, mode).await?;
//!
//! let tools = client.list_all_tools().await?;
//! assert!(tools.iter().any(|tool| tool.name == "calculate-velocity"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod asset;
mod changes;
mod choices;
mod handler;
mod paging;
mod questions;
mod server;
mod subscriptions;
mod template;
#[cfg(test)]
mod tests;

pub use self::{
    questions::{QUESTIONS, Question},
    server::{DemoServer, servers},
};
