use std::{cmp::Ordering, collections::BTreeSet, sync::Arc};

use super::{
    item::Of,
    label::{MAX_URI, by_label, shown},
    options::PickerOptions,
    pick::Pick,
    texts::{Letters, Pairs, Span, Texts},
};
use crate::{id::ServerId, json::Digest};

/// What one server offers to a picker, ready to be searched: resources, then templates, each by
/// priority, label and URI. It does not change; a server whose lists changed has another one.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) server: ServerId,
    /// Of the server's items; `None` for one that is in no catalog.
    pub(super) digest: Option<Digest>,
    /// How many links it was made with.
    pub(super) links: usize,
    pub(super) entries: Vec<Entry>,
    /// How many of them are resources.
    pub(super) resources: usize,
    /// Items that the options leave out.
    pub(super) hidden: usize,
    pub(super) texts: Texts,
    pub(super) name: Span,
    pub(super) name_pairs: Pairs,
    pub(super) name_letters: Letters,
    /// Positions in `entries`: of resources by URI, then of templates by template.
    by_uri: Vec<u32>,
}

/// One item, and where its texts lie.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) of: Of,
    pub(super) label: Span,
    /// Empty where it says nothing that label and URI do not.
    pub(super) name: Span,
    pub(super) uri: Span,
    pub(super) description: Span,
    pub(super) label_letters: Letters,
    /// Of name and URI.
    pub(super) uri_letters: Letters,
    pub(super) description_letters: Letters,
    pub(super) label_pairs: Pairs,
    pub(super) uri_pairs: Pairs,
    pub(super) description_pairs: Pairs,
}

impl Source {
    /// Takes the items of one server, resources from its lists before those from links: the first of
    /// a URI stands.
    pub(super) fn new(
        server: ServerId,
        digest: Option<Digest>,
        links: usize,
        items: impl Iterator<Item = Of>,
        options: &PickerOptions,
    ) -> Self {
        let (mut seen, mut shown, mut hidden) = (BTreeSet::new(), Vec::new(), 0);
        for of in items {
            if links > 0 && !seen.insert(of.pick()) {
                continue;
            }
            if of.is_shown(options) {
                shown.push((of.label(), of));
            } else {
                hidden += 1;
            }
        }
        shown.sort_by(|(a_label, a), (b_label, b)| {
            let templates_last = a.is_template().cmp(&b.is_template());
            templates_last.then_with(|| by_worth((a, || a_label.chars()), (b, || b_label.chars())))
        });
        let mut texts = Texts::default();
        let name = texts.push(server.as_str());
        // In their order, so that a search goes through memory from front to back.
        let entries: Vec<Entry> = shown.into_iter().map(|(label, of)| Entry::new(of, &label, &mut texts)).collect();
        let resources = entries.partition_point(|entry| !entry.of.is_template());
        let mut by_uri: Vec<u32> = (0..).take(entries.len()).collect();
        by_uri.sort_by_key(|at| key(&entries, *at));
        let name_letters = Letters::of(texts.text(name));
        let name_pairs = Pairs::of(texts.text(name));
        Self { server, digest, links, entries, resources, hidden, texts, name, name_letters, name_pairs, by_uri }
    }

    /// Where an item stands.
    pub(super) fn position(&self, pick: &Pick) -> Option<u32> {
        let wanted = (matches!(pick, Pick::Template(_)), pick.uri());
        self.by_uri.binary_search_by_key(&wanted, |at| key(&self.entries, *at)).ok().map(|i| self.by_uri[i])
    }
}

impl Entry {
    fn new(of: Of, label: &str, texts: &mut Texts) -> Self {
        let label = texts.push(label);
        let name = texts.push(&of.distinct_name().unwrap_or_default());
        let uri = texts.push(&shown(of.uri(), MAX_URI));
        let description = texts.push(&of.description().unwrap_or_default());
        let letters = |span| Letters::of(texts.text(span));
        let pairs = |span| Pairs::of(texts.text(span));
        Self {
            label,
            name,
            uri,
            description,
            label_letters: letters(label),
            uri_letters: letters(name).and(letters(uri)),
            description_letters: letters(description),
            label_pairs: pairs(label),
            uri_pairs: pairs(name).and(pairs(uri)),
            description_pairs: pairs(description),
            of,
        }
    }
}

/// Which of two items of any servers comes first where nothing else says it: by priority in
/// tenths, since servers do not mean the second digit; then by label; then by URI and server.
pub(super) fn by_worth<T: Iterator<Item = char>>(
    (a, a_label): (&Of, impl Fn() -> T),
    (b, b_label): (&Of, impl Fn() -> T),
) -> Ordering {
    b.priority_in_tenths()
        .cmp(&a.priority_in_tenths())
        .then_with(|| by_label(a_label, b_label))
        .then_with(|| a.uri().cmp(b.uri()))
        .then_with(|| a.server().cmp(b.server()))
}

fn key(entries: &[Entry], at: u32) -> (bool, &str) {
    let of = &entries[at as usize].of;
    (of.is_template(), of.uri())
}

/// Where an item stands among sources, which are in the order of their servers.
pub(super) fn position(sources: &[Arc<Source>], pick: &Pick) -> Option<(u32, u32)> {
    let source = sources.binary_search_by(|source| source.server.cmp(pick.server())).ok()?;
    Some((u32::try_from(source).ok()?, sources[source].position(pick)?))
}
