use std::ops::Range;

use super::{code, start::may_start};

/// A mention that is being typed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Typing<'a> {
    /// Its bytes, from the `@` to the cursor: what [`write_mention`](super::write_mention) replaces.
    pub range: Range<usize>,
    /// What to search for: all behind the `@`, without a quotation mark. `server:` in front scopes
    /// it, as in a [`Picker`](crate::picker::Picker)'s query.
    pub query: &'a str,
}

/// The mention that is being typed at a byte position, for a list to choose from. `None` if there is
/// none: white space ended it, it is a word's or an address's `@`, or code.
///
/// ```
/// use proem::picker::complete_mention;
///
/// let text = "compare @wiki:hand with the rest";
/// let typing = complete_mention(text, 18).expect("a mention");
/// assert_eq!((typing.range, typing.query), (8..18, "wiki:hand"));
/// assert_eq!(complete_mention(text, 7), None);
/// ```
pub fn complete_mention(text: &str, cursor: usize) -> Option<Typing<'_>> {
    /// Farther back nobody types.
    const MAX_BYTES: usize = 512;
    let cursor = (0..=cursor.min(text.len())).rev().find(|at| text.is_char_boundary(*at))?;
    let from = (cursor.saturating_sub(MAX_BYTES)..=cursor).find(|at| text.is_char_boundary(*at))?;
    let starts = text[from..cursor].rmatch_indices('@').map(|(i, _)| from + i);
    let start = starts.filter(|start| may_start(text, *start)).find(|start| is_open(&text[start + 1..cursor]))?;
    if code::spans(text).iter().any(|span| span.contains(&start)) {
        return None;
    }
    let query = &text[start + 1..cursor];
    Some(Typing { range: start..cursor, query: query.strip_prefix('"').unwrap_or(query) })
}

/// Whether what was typed behind an `@` can go on.
fn is_open(typed: &str) -> bool {
    match typed.strip_prefix('"') {
        Some(inside) => !inside.contains(['"', '\n']),
        None => !typed.contains(char::is_whitespace),
    }
}
