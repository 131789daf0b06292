//! Integration tests, in one binary: linking is what takes the time.

mod render;
