//! How a model finds what is not before it: an outline of what there is, a tool that searches, and one
//! that calls what was found.
//!
//! The host's two own tools never change, so the array of tools need not either. [`search_tool`] is for
//! every provider; [`call_tool`] is for those that take no tools besides their array, where definitions
//! are given as text. The [`Outline`] tells what a search can find. Everything here is a function of plain
//! data: who searches, and what a conversation was offered so far, is its session's business.
//!
//! ```
//! use std::{collections::BTreeMap, sync::Arc};
//! use proem::{
//!     catalog::Catalog,
//!     discovery::{BridgedCall, Outline, SearchCall, found, resolve},
//!     id::ServerId,
//!     protocol::Tool,
//!     render::ToolSpec,
//!     retrieval::Filter,
//!     tokens::{BytesPerToken, CountCache, TokenBudget},
//! };
//! use serde_json::json;
//!
//! let catalog = Catalog::builder()
//!     .tool(ServerId::new("git")?, Tool::new("merge_branch", "Merge a branch"))
//!     .tool(ServerId::new("mail")?, Tool::new("send_message", "Send a message"))
//!     .build();
//! let (filter, mut offered) = (Filter::new(), BTreeMap::new());
//!
//! // In the system text:
//! let counts = CountCache::new(Arc::new(BytesPerToken::default()));
//! let outline = Outline::new(&catalog, &filter).text(TokenBudget::new(600), &counts);
//! assert!(outline.contains("- git (1): branch\n- mail (1): message\n"));
//!
//! // The model searches, and is given what was found:
//! let search = SearchCall::read(json!({"query": "merge a branch"}).as_object().unwrap()).unwrap();
//! let entry = &catalog.tools()[0];
//! let answer = found("call-1", &search, vec![ToolSpec::from_entry(entry)], &offered);
//! offered.insert(entry.exposed.to_string(), entry.id.clone());
//! assert!(format!("{answer:?}").contains("Merge a branch"));
//!
//! // It calls it through the bridge:
//! let arguments = json!({"name": "merge_branch", "arguments": {"branch": "release"}});
//! let call = BridgedCall::read(arguments.as_object().unwrap()).unwrap();
//! assert_eq!(resolve(&call.name, &offered, &catalog, &filter).unwrap().id.to_string(), "git/merge_branch");
//! let error = resolve("merge_brunch", &offered, &catalog, &filter).unwrap_err();
//! assert_eq!(error.to_string(), "no tool is named `merge_brunch`; did you mean `merge_branch`?");
//! # Ok::<(), proem::Error>(())
//! ```

mod answer;
mod calls;
mod outline;
mod phrase;
mod resolve;
mod tools;

pub use self::{
    answer::{found, refused},
    calls::{BridgedCall, SearchCall},
    outline::Outline,
    resolve::{Unresolved, resolve},
    tools::{CALL_TOOL, SEARCH_TOOLS, call_tool, search_tool},
};
