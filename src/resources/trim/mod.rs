//! A long text made to fit: parts that matter, whole, with a notice of what was cut. See [`trim`].
//!
//! The text is parted as its kind says ([`outline`]), parts are scored by the words of the query
//! ([`score`]) and chosen under the budget ([`pick`]), and what is kept is written with marks
//! ([`write`]) and a notice ([`notice`]).

mod code;
mod csv;
mod json;
mod lines;
mod markdown;
mod notice;
mod outline;
mod pick;
mod score;
mod trimmed;
mod write;

pub(crate) use self::trimmed::fitted;
pub use self::trimmed::{Cut, Trimmed, trim};
