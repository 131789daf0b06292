use std::cmp::Reverse;

use super::{parse::UriTemplate, variables::Variables};
use crate::{
    catalog::{Catalog, TemplateEntry},
    id::ServerId,
};

/// The templates of a server that expand to a URI, and with which values: those that set most of it
/// themselves first, then by their text. Templates that cannot be read match nothing.
///
/// All of them together take as many steps as [`UriTemplate::matches`] takes for one, so that a
/// server with many of them holds nobody up.
pub fn matching<'a>(catalog: &'a Catalog, server: &ServerId, uri: &str) -> Vec<(&'a TemplateEntry, Variables)> {
    let mut steps = UriTemplate::MAX_STEPS;
    let mut found = Vec::new();
    for entry in catalog.templates().iter().filter(|entry| entry.id.server == *server) {
        let text = &entry.id.uri_template;
        // Most templates of a server begin with something else: they need not be read.
        let start = text.split('{').next().unwrap_or_default();
        if start.is_ascii() && !uri.starts_with(start) {
            continue;
        }
        let Ok(template) = UriTemplate::parse(text) else { continue };
        if let Some(variables) = template.matches_within(uri, &mut steps) {
            found.push((Reverse(template.literal_bytes()), &**entry, variables));
        }
    }
    // Entries are in the order of their texts already.
    found.sort_by_key(|(literal, ..)| *literal);
    found.into_iter().map(|(_, entry, variables)| (entry, variables)).collect()
}
