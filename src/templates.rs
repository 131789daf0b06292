//! stub
#![allow(missing_docs)]
pub fn matching(_c: &crate::catalog::Catalog, _s: &crate::id::ServerId, _u: &str) -> Vec<u8> {
    vec![]
}
