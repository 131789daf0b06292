//! Integration tests, in one binary: linking is what takes the time.

mod catalog;
mod fake;
mod hostile;
mod layers;
mod protocol;
mod render;
mod resources;
mod selection;
mod session;
