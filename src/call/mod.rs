//! What stands between a model's call and the server: its arguments are checked first.
//!
//! [`Validators`] checks them against the schema that the server sent, whatever form of it the model was
//! shown. What does not fit is told in words for the model ([`Invalid`]); what cannot be checked, because
//! the schema is at fault or too costly, blocks nothing and is told to the host ([`Checked`]).
//!
//! ```
//! use proem::{call::Validators, protocol::Schema};
//! use serde_json::json;
//!
//! let validators = Validators::new();
//! let schema = Schema::from(json!({"type": "object", "properties": {"tags": {"type": "array"}}}));
//! let check = |arguments: serde_json::Value| validators.validate(&schema, arguments.as_object().unwrap());
//!
//! assert!(check(json!({"tags": ["release"]}))?.unchecked.is_empty());
//! let invalid = check(json!({"tags": "[\"release\"]"})).unwrap_err();
//! assert_eq!(
//!     invalid.faults[0].to_string(),
//!     r#"/tags: expected an array (itself, not written as text), got "[\"release\"]""#
//! );
//! # Ok::<(), proem::call::Invalid>(())
//! ```

mod compiled;
mod effort;
mod explain;
mod invalid;
mod keywords;
mod references;
mod validators;

pub use self::{
    invalid::{Fault, Invalid},
    validators::{Checked, Validators, validate},
};
