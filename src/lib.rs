//! Proem composes what stands before the question.

#![forbid(unsafe_code)]

pub mod catalog;
pub mod client;
#[cfg(feature = "demo")]
pub mod demo;
pub mod error;
pub mod evidence;
pub mod id;
pub mod json;
pub mod protocol;
pub mod retrieval;

pub use self::error::{Error, Result};
