use std::collections::BTreeMap;

use crate::client::{Change, ListKind};

/// What a server said has changed, until it has been dealt with.
///
/// Each news has a number: what was heard again while it was dealt with stays.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    count: u64,
    pub(super) lists: BTreeMap<ListKind, u64>,
    pub(super) resources: BTreeMap<String, u64>,
}

/// The most changed resources that are remembered one by one. Beyond it the whole list is read
/// again, since a server must not fill the host's memory with news that nobody asks for.
const MAX_RESOURCES: usize = 4_096;

/// The longest URI of a changed resource that is remembered, in bytes.
const MAX_URI_BYTES: usize = 8_192;

impl Heard {
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.resources.is_empty()
    }

    pub(super) fn hear(&mut self, change: Change) {
        self.count += 1;
        let number = self.count;
        match change {
            Change::List(kind) => _ = self.lists.insert(kind, number),
            Change::Reconnected => self.lists.extend(ListKind::ALL.map(|kind| (kind, number))),
            Change::Resource(uri) => {
                let room = self.resources.len() < MAX_RESOURCES || self.resources.contains_key(&uri);
                if room && uri.len() <= MAX_URI_BYTES {
                    self.resources.insert(uri, number);
                } else {
                    self.lists.insert(ListKind::Resources, number);
                }
            }
        }
    }

    /// Forgets the lists of `done` that were not heard of again since.
    pub(super) fn settle_lists(&mut self, done: &Self) {
        self.lists.retain(|kind, number| done.lists.get(kind) != Some(number));
    }

    /// Forgets the resources of `done` that were not heard of again since.
    pub(super) fn settle_resources(&mut self, done: &Self) {
        self.resources.retain(|uri, number| done.resources.get(uri) != Some(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_heard_again_meanwhile_stays() {
        let mut heard = Heard::default();
        heard.hear(Change::List(ListKind::Tools));
        heard.hear(Change::List(ListKind::Prompts));
        heard.hear(Change::Resource("a:1".into()));
        let done = heard.clone();
        heard.hear(Change::List(ListKind::Tools));
        heard.settle_lists(&done);
        heard.settle_resources(&done);
        assert_eq!(heard.lists.keys().collect::<Vec<_>>(), [&ListKind::Tools]);
        assert!(heard.resources.is_empty());
    }

    #[test]
    fn news_of_resources_are_bounded() {
        let mut heard = Heard::default();
        heard.hear(Change::Resource("a:".repeat(MAX_URI_BYTES)));
        assert!(heard.resources.is_empty() && heard.lists.contains_key(&ListKind::Resources));
        for i in 0..2 * MAX_RESOURCES {
            heard.hear(Change::Resource(format!("a:{i}")));
        }
        assert_eq!(heard.resources.len(), MAX_RESOURCES);
    }
}
