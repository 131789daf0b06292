//! Proem composes what stands before the question.

#![forbid(unsafe_code)]

pub mod catalog;
pub mod client;
#[cfg(feature = "demo")]
pub mod demo;
pub mod error;
#[cfg(feature = "eval")]
pub mod eval;
pub mod evidence;
pub mod host;
pub mod id;
pub mod index;
pub mod json;
pub mod prompts;
pub mod protocol;
pub mod render;
pub mod resources;
pub mod retrieval;
pub mod selection;
pub mod session;
pub mod tokens;

pub use self::{
    error::{Error, Result},
    host::Host,
    session::{Context, Session},
    tokens::TokenBudget,
};
