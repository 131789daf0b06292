//! Models in ONNX form, run by fastembed over ONNX Runtime. `docs/fastembed.md` tells how to use them.
//!
//! An [`OnnxModel`] says where a model comes from; its files are read and checked here, so that
//! fastembed meets none that it would panic at or leave without a reason. A `Session` is a model
//! that is loaded; nothing of `ort` runs before `runtime::load`.

mod embedder;
#[cfg(feature = "fastembed-hub")]
mod family;
mod files;
#[cfg(feature = "fastembed-hub")]
mod hub;
mod languages;
mod model;
mod runtime;
mod session;

pub(crate) use self::session::Session;
pub use self::{
    embedder::{FastEmbedder, FastEmbedderBuilder, Pooling},
    languages::Languages,
    model::OnnxModel,
};
