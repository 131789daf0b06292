//! Proem composes what stands before the question.

#![forbid(unsafe_code)]

pub mod catalog;
pub mod client;
pub mod error;
#[cfg(feature = "eval")]
pub mod eval;
pub mod evidence;
pub mod id;
pub mod index;
pub mod json;
pub mod protocol;
pub mod retrieval;

pub use self::error::{Error, Result};
