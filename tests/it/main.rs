//! Integration tests, in one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[cfg(feature = "eval")]
mod eval;
