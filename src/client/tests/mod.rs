//! Clients over rmcp against servers that misbehave, in both eras.

#![allow(clippy::unwrap_used, reason = "a fake server that cannot go on fails its test")]

mod fake;
#[cfg(feature = "http")]
mod http;
mod peer;
mod requests;
mod stdio;
mod stream;
