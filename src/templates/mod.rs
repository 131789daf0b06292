//! URI templates: families of resources that a server reads without listing them.
//!
//! A [`UriTemplate`] is read by RFC 6570, all four levels, with bounds that a hostile template
//! cannot pass. It [expands](UriTemplate::expand) to a URI, and [matches](UriTemplate::matches) a
//! URI back to its variables; [`matching`] finds the templates of a server that a URI comes from.
//! What values a variable may have, a server may suggest: a [`Completer`] asks it while a person types.
//!
//! ```
//! use proem::{
//!     catalog::Catalog,
//!     id::ServerId,
//!     protocol::ResourceTemplate,
//!     templates::{UriTemplate, Variables, matching},
//! };
//!
//! let template = UriTemplate::parse("logs://{service}/{+path}{?level,lines}")?;
//! assert_eq!(template.variables().collect::<Vec<_>>(), ["service", "path", "level", "lines"]);
//!
//! let variables = Variables::new().with("service", "web shop").with("path", "2026/10").with("lines", "50");
//! let uri = template.expand(&variables)?;
//! assert_eq!(uri, "logs://web%20shop/2026/10?lines=50");
//! assert_eq!(template.matches(&uri), Some(variables));
//! assert_eq!(template.matches("logs://web"), None);
//!
//! let server = ServerId::new("logs")?;
//! let catalog = Catalog::builder()
//!     .template(server.clone(), ResourceTemplate::new("logs://{service}/{+path}{?level,lines}", "log"))
//!     .template(server.clone(), ResourceTemplate::new("logs://{service}/today", "today"))
//!     .build();
//! let found = matching(&catalog, &server, "logs://shop/today"); // the one that says most comes first
//! assert_eq!(found[0].0.template.name, "today");
//! assert_eq!(found[0].1.text("service"), Some("shop"));
//! assert_eq!(found[1].1.text("path"), Some("today"));
//! # Ok::<(), proem::Error>(())
//! ```

mod characters;
mod completer;
mod expand;
mod find;
mod matching;
mod parse;
mod reading;
mod taken;
mod variables;

pub use self::{
    completer::{Completer, CompleterOptions},
    find::matching,
    parse::UriTemplate,
    variables::{VariableValue, Variables},
};
