//! Integration tests, in one binary.

#[cfg(feature = "eval")]
mod eval;
