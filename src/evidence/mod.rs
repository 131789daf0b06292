//! What happened, as plain data that a host can keep: findings here; receipts join them.
//!
//! A [`Finding`] says what is wrong with something that a server sent, and names the server and
//! the item. It never hides the rest: the item, page or server that it names was set aside, or
//! repaired, and everything else stands.

mod finding;

pub use self::finding::{Finding, FindingKind};
