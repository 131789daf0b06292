//! placeholder page

#[cfg(feature = "picker")]
mod choose;
#[cfg(feature = "picker")]
mod ground;
#[cfg(feature = "picker")]
mod highlight;
#[cfg(feature = "picker")]
mod item;
#[cfg(feature = "picker")]
mod label;
#[cfg(feature = "picker")]
mod layout;
mod mention;
#[cfg(feature = "picker")]
mod options;
#[cfg(feature = "picker")]
mod pattern;
mod pick;
#[cfg(feature = "picker")]
#[allow(clippy::module_inception, reason = "the type that the module is for")]
mod picker;
mod preferences;
#[cfg(feature = "picker")]
mod row;
#[cfg(feature = "picker")]
mod search;
#[cfg(feature = "picker")]
mod source;
#[cfg(feature = "picker")]
mod status;
#[cfg(feature = "picker")]
mod texts;

#[cfg(feature = "picker")]
pub use self::{
    highlight::Highlights,
    item::Item,
    options::PickerOptions,
    picker::Picker,
    row::{ItemRow, Row, Section},
    status::{ServerState, ServerStatus},
};
pub use self::{
    mention::{MAX_MENTIONS, Mention, Target, Typing, complete_mention, mentions, write_mention},
    pick::Pick,
    preferences::Preferences,
};
