//! Resource pickers without a user interface, and mentions of resources in what a person writes.
//!
//! A host that lets a person choose what to attach draws a [`Picker`]: its rows in their order, with
//! what the query met; which item is under the cursor; what is chosen and what it is estimated to
//! cost. It reads nothing from servers and nothing from the clock: what it shows depends on the
//! [`Catalog`](crate::catalog::Catalog), the query, the [`PickerOptions`], and the person's
//! [`Preferences`]. Nothing is read before the request is sent.
//!
//! - **Search as you type** over label, name, URI, server and description, with letters left out
//!   where nothing holds the words whole; `server:` scopes it.
//! - **Groups that do not flood**: a cap for each server, "N more" behind it, templates apart,
//!   pinned and recent items first, internal ones (`ui://`) hidden.
//! - **Rows that do not jump**: a snapshot that comes in while the picker is open leaves every row
//!   and the cursor where they are; see [`Picker::update`].
//! - **States of servers**: loading, failed (with the reason), without resources, empty and ready
//!   are different things; see [`Picker::servers`].
//!
//! [`mentions`] finds `@server:uri` and `@title` in a text, [`write_mention`] writes what it finds,
//! [`complete_mention`] says what to search for while one is typed. They need no feature; the picker
//! is behind `picker`.
//!
//! ```
//! # #[cfg(feature = "picker")]
//! # fn main() -> proem::Result<()> {
//! use proem::{
//!     TokenBudget,
//!     catalog::Catalog,
//!     id::ServerId,
//!     picker::{Picker, PickerOptions, Preferences, Row, write_mention},
//!     protocol::Resource,
//! };
//!
//! let wiki = ServerId::new("wiki")?;
//! let calendar = Resource::new("wiki://calendar", "calendar").with_title("Release calendar").with_size(800);
//! let catalog = Catalog::builder()
//!     .resource(wiki.clone(), calendar)
//!     .resource(wiki, Resource::new("wiki://handbook", "handbook").with_title("Employee handbook"))
//!     .build();
//!
//! let options = PickerOptions::new().with_budget(TokenBudget::new(1_000));
//! let mut picker = Picker::new(&catalog, options, Preferences::new());
//! picker.set_query("cal rel");
//! let Row::Item(row) = &picker.rows(0..10)[1] else { panic!("no item") };
//! assert_eq!((&*row.item.label, &*row.highlights.label), ("Release calendar", &[0..3, 8..11][..]));
//!
//! picker.accept(); // what is chosen, or what is under the cursor
//! assert_eq!(picker.tokens(), 200);
//! let picks = picker.picks(); // for `Turn::pick`
//! assert_eq!(write_mention(&picks[0], &catalog), "@wiki:wiki://calendar");
//! let _kept = serde_json::to_string(picker.preferences()); // for the next picker
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "picker"))]
//! # fn main() {}
//! ```

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
