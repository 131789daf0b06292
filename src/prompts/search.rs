use super::shown::folded;
use crate::catalog::PromptEntry;

/// What a command is searched by, folded once.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// What is typed for it.
    pub(super) key: String,
    /// The prompt's own name.
    pub(super) name: String,
    /// Name, title and server.
    names: String,
    description: String,
}

impl Text {
    pub(super) fn new(entry: &PromptEntry, key: String, name: String) -> Self {
        let title = folded(entry.prompt.title.as_deref().unwrap_or_default());
        let description = entry.prompt.description.as_deref().unwrap_or_default();
        // As far as a person reads; a server may send megabytes.
        let description: String = description.chars().take(1_024).collect();
        Self {
            names: format!("{name} {title} {}", folded(entry.id.server.as_str())),
            description: folded(&description),
            key,
            name,
        }
    }

    /// How near it is to what was typed, 0 the nearest; `None` if it is not meant.
    pub(super) fn rank(&self, typed: &str, words: &[&str]) -> Option<u8> {
        let in_names = |word: &&str| self.names.contains(word);
        if self.key == typed || self.name == typed {
            Some(0)
        } else if self.key.starts_with(typed) || self.name.starts_with(typed) {
            Some(1)
        } else if words.is_empty() {
            None
        } else if words.iter().all(|word| begins_a_word(&self.names, word)) {
            Some(2)
        } else if words.iter().all(in_names) {
            Some(3)
        } else {
            words.iter().all(|word| in_names(word) || self.description.contains(word)).then_some(4)
        }
    }
}

fn begins_a_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
}

/// The places of at most `limit` names that `typed` may be a slip of the hand for, nearest first.
pub(crate) fn near<'a>(names: impl Iterator<Item = &'a str>, typed: &str, limit: usize) -> Vec<usize> {
    /// Below it names have little in common.
    const LEAST: f64 = 0.6;
    // Names may be long, and the work grows with the product of their lengths.
    let bounded = |text: &str| text.chars().take(64).collect::<String>();
    let typed = bounded(typed);
    let mut near: Vec<(f64, usize)> = names
        .enumerate()
        .filter_map(|(i, name)| {
            let name = bounded(name);
            let own = name.rsplit_once(':').map_or(name.as_str(), |(_, own)| own);
            let begins = !typed.is_empty() && (name.starts_with(&typed) || own.starts_with(&typed));
            let like = |name: &str| strsim::normalized_damerau_levenshtein(name, &typed);
            let likeness = if begins { 1.0 } else { like(&name).max(like(own)) };
            (likeness >= LEAST).then_some((likeness, i))
        })
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    near.into_iter().take(limit).map(|(_, i)| i).collect()
}
