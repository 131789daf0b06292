use std::collections::BTreeMap;

use super::{options::SelectionOptions, reason::Exclusion};
use crate::{
    catalog::{Catalog, ToolEntry},
    id::ServerId,
    index::{NEAR_DUPLICATE, WordSet},
};

/// What makes a server's tools wait while tools of others have something to offer.
pub(super) struct Gates<'a> {
    catalog: &'a Catalog,
    options: &'a SelectionOptions,
    taken: BTreeMap<&'a ServerId, Vec<Taken<'a>>>,
}

struct Taken<'a> {
    entry: &'a ToolEntry,
    /// Read when a tool is compared with it.
    words: Option<WordSet>,
}

impl<'a> Gates<'a> {
    pub(super) fn new(catalog: &'a Catalog, options: &'a SelectionOptions) -> Self {
        Self { catalog, options, taken: BTreeMap::new() }
    }

    /// The gate that a tool has to wait at, as the reason why it is not offered if no place stays free.
    pub(super) fn hold_back(&mut self, entry: &ToolEntry) -> Option<Exclusion> {
        let taken = self.taken.get_mut(&entry.id.server)?;
        if taken.len() >= self.options.quota(self.catalog.trust(&entry.id.server)) {
            return Some(Exclusion::Quota);
        }
        // Most servers never come so far: no text is read for them.
        if taken.len() < self.options.per_text {
            return None;
        }
        let words = WordSet::of(entry);
        let alike = taken.iter_mut().map(|taken| {
            let of_taken = taken.words.get_or_insert_with(|| WordSet::of(taken.entry));
            usize::from(of_taken.similarity(&words) >= NEAR_DUPLICATE)
        });
        (alike.sum::<usize>() >= self.options.per_text).then_some(Exclusion::NearDuplicate)
    }

    /// Notes that a tool is offered.
    pub(super) fn let_through(&mut self, entry: &'a ToolEntry) {
        self.taken.entry(&entry.id.server).or_default().push(Taken { entry, words: None });
    }
}
