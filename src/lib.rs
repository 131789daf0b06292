//! Proem composes what stands before the question.

#![forbid(unsafe_code)]

pub mod catalog;
pub mod client;
pub mod error;
pub mod evidence;
pub mod id;
pub mod json;
pub mod prompts;
pub mod protocol;
pub mod resources;
pub mod retrieval;
pub mod selection;
pub mod tokens;

pub use self::error::{Error, Result};
