use super::{
    find::{Target, mentions},
    percent,
    start::is_trailing,
};
use crate::{catalog::Catalog, id::ResourceId};

/// A mention of a resource, `@server:uri`, that [`mentions`] reads as exactly this resource, where
/// the catalog lists it, its URI has less than 4 KiB, and the mention stands between white space.
///
/// Percent-encoded is what would end it or be read otherwise. A URI with escapes of its own keeps
/// them where nothing else can be meant.
///
/// ```
/// use proem::{catalog::Catalog, id::{ResourceId, ServerId}, picker::write_mention};
///
/// let notes = ResourceId::new(ServerId::new("my notes")?, "file:///to do.md");
/// assert_eq!(write_mention(&notes, &Catalog::default()), "@my%20notes:file:///to%20do.md");
/// # Ok::<(), proem::Error>(())
/// ```
pub fn write_mention(id: &ResourceId, catalog: &Catalog) -> String {
    let server = percent::encode(id.server.as_str(), |at, c| {
        !(c.is_alphanumeric() || at > 0 && matches!(c, '-' | '_' | '.' | '~'))
    });
    let last = id.uri.char_indices().next_back().map_or(0, |(at, _)| at);
    let ends = |at: usize, c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '`' | '"') || (at == last && is_trailing(c))
    };
    let plain = format!("@{server}:{}", percent::encode(&id.uri, ends));
    if !id.uri.contains('%') {
        return plain;
    }
    match mentions(&plain, catalog).as_slice() {
        [only] if only.range == (0..plain.len()) && only.target == Target::Resource(id.clone()) => plain,
        _ => format!("@{server}:{}", percent::encode(&id.uri, |at, c| c == '%' || ends(at, c))),
    }
}
