//! Mentions of resources in what a person writes.

mod code;
mod complete;
mod find;
mod percent;
mod qualified;
mod start;
mod title;
mod write;

pub use self::{
    complete::{Typing, complete_mention},
    find::{MAX_MENTIONS, Mention, Target, mentions},
    write::write_mention,
};
