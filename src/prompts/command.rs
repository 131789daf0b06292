use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use unicode_normalization::UnicodeNormalization;

use super::{
    form::Form,
    line::quoted,
    search::{Text, near},
    shown::{folded, shown},
};
use crate::{
    Error, Result,
    catalog::{Catalog, PromptEntry},
    error::MAX_EXCERPT,
    id::{PromptId, ServerId},
};

/// A prompt as a person types it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Command {
    /// `/name`, or `/server:name` where a person could not tell whose it is. Quoted where the name
    /// needs it, with characters that cannot be seen written out: harmless to show, and typed as it
    /// is shown it means this prompt.
    pub command: String,
    /// The prompt.
    pub entry: Arc<PromptEntry>,
}

impl Command {
    /// The most characters of a label.
    pub const MAX_LABEL_CHARS: usize = 80;

    /// The most characters of a description that are shown.
    pub const MAX_DESCRIPTION_CHARS: usize = 400;

    /// What a person should read: the title, or else the name; [harmless](shown). Show the server
    /// beside it: a title may claim anything.
    pub fn label(&self) -> String {
        label(self.entry.prompt.title.as_deref(), &self.entry.prompt.name)
    }

    /// What its server says about it, [harmless](shown).
    pub fn description(&self) -> Option<String> {
        description(self.entry.prompt.description.as_deref())
    }

    /// Its arguments to fill in.
    pub fn form(&self) -> Form {
        Form::new(&self.entry)
    }
}

pub(super) fn label(title: Option<&str>, name: &str) -> String {
    shown(title.filter(|title| !title.trim().is_empty()).unwrap_or(name), Command::MAX_LABEL_CHARS)
}

pub(super) fn description(text: Option<&str>) -> Option<String> {
    let text = text.map(str::trim).filter(|text| !text.is_empty())?;
    Some(shown(text, Command::MAX_DESCRIPTION_CHARS))
}

/// All prompts of a catalog as commands.
///
/// A prompt is called `/name` unless a person could take it for another server's: two servers have
/// the name, or names that differ in what cannot be seen (case, width, invisible characters), or the
/// name reads like one that is qualified by a server. Then it is `/server:name`, which is accepted
/// for every prompt. A `:` or `%` in the server's own name is written `%3A` or `%25`, so that no
/// two commands are ever the same.
#[derive(Clone, Debug)]
pub struct Commands {
    all: Vec<Command>,
    texts: Vec<Text>,
    /// What is typed, without slash and quotes, and which command it means.
    keys: BTreeMap<String, usize>,
}

impl Commands {
    /// The commands of a catalog.
    pub fn new(catalog: &Catalog) -> Self {
        let ids = || catalog.prompts().iter().map(|entry| &entry.id);
        let servers = catalog.servers().iter().map(|server| &server.id).chain(ids().map(|id| &id.server));
        let servers: BTreeSet<String> =
            servers.flat_map(|server| [escaped(server).into_owned(), folded(&escaped(server))]).collect();
        let mut owners: BTreeMap<String, BTreeSet<&ServerId>> = BTreeMap::new();
        for id in ids() {
            owners.entry(folded(&id.name)).or_default().insert(&id.server);
        }
        let is_qualified = |name: &str| name.split_once(':').is_some_and(|(server, _)| servers.contains(server));
        let (mut all, mut texts, mut keys) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (i, entry) in catalog.prompts().iter().enumerate() {
            let id = &entry.id;
            let name = folded(&id.name);
            let alone = owners.get(&name).is_none_or(|owners| owners.len() == 1)
                && ![&name, &*id.name].into_iter().any(is_qualified);
            let key = if alone { id.name.to_string() } else { qualified(id) };
            all.push(Command { command: format!("/{}", quoted(&key)), entry: Arc::clone(entry) });
            texts.push(Text::new(entry, folded(&key), name));
            keys.insert(qualified(id), i);
            keys.insert(key, i);
        }
        Self { all, texts, keys }
    }

    /// All of them, by server and name in the order of their bytes: the same on every machine.
    pub fn all(&self) -> &[Command] {
        &self.all
    }

    /// The command of a name: `name` or `server:name`, with or without a slash before it, not quoted.
    ///
    /// The name must be spelled as the server spells it; only how accents are composed (NFC or NFD)
    /// does not matter, since nobody can see it.
    ///
    /// # Errors
    /// [`Error::UnknownCommand`] with the names that are near; [`Error::Invalid`] for a name that
    /// several prompts have, with their commands.
    pub fn find(&self, name: &str) -> Result<&Command> {
        self.named(name.strip_prefix('/').unwrap_or(name))
    }

    /// The commands that what was typed begins or means, the likeliest first and `limit` at most,
    /// for a list that narrows with each letter. A slash before it, case and width do not matter.
    ///
    /// First what is called so, then what begins so, then where each typed word begins a word of name,
    /// title or server, then where name, title, server or description hold each of them. Equals stay
    /// in the order of [`all`](Self::all); nothing typed gives the first of all.
    pub fn search(&self, typed: &str, limit: usize) -> Vec<&Command> {
        let typed = folded(typed.trim().trim_start_matches('/'));
        let words: Vec<&str> = typed.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let mut hits: Vec<(u8, &Command)> = self
            .texts
            .iter()
            .zip(&self.all)
            .filter_map(|(text, command)| Some((text.rank(&typed, &words)?, command)))
            .collect();
        hits.sort_by_key(|(rank, _)| *rank);
        hits.into_iter().take(limit).map(|(_, command)| command).collect()
    }

    /// As [`find`](Self::find), without a slash.
    pub(super) fn named(&self, key: &str) -> Result<&Command> {
        if let Some(command) = self.keys.get(key).and_then(|i| self.all.get(*i)) {
            return Ok(command);
        }
        let composed: String = key.nfc().collect();
        let same = |known: &str| known.nfc().eq(composed.chars());
        let meant: BTreeSet<usize> = self.keys.iter().filter(|(known, _)| same(known)).map(|(_, i)| *i).collect();
        let meant = if meant.is_empty() { self.likenesses(&folded(key)) } else { meant };
        let mut commands = meant.iter().filter_map(|i| self.all.get(*i));
        match (commands.next(), commands.next()) {
            (Some(only), None) if same(&only.entry.id.name) || same(&qualified(&only.entry.id)) => Ok(only),
            (Some(_), Some(_)) => {
                let listed = self.listed(meant.iter().take(MAX_LISTED).copied());
                let more = if meant.len() > MAX_LISTED { ", …" } else { "" };
                let reason = format!("several prompts are called so: {}{more}", listed.join(", "));
                Err(Error::invalid(format!("command `/{}`", shown(key, Command::MAX_LABEL_CHARS)), reason))
            }
            _ => Err(self.unknown(key)),
        }
    }

    fn likenesses(&self, folded: &str) -> BTreeSet<usize> {
        self.texts.iter().enumerate().filter(|(_, text)| text.name == folded).map(|(i, _)| i).collect()
    }

    fn unknown(&self, key: &str) -> Error {
        let typed = folded(key);
        let near = near(self.texts.iter().map(|text| text.key.as_str()), &typed, MAX_LISTED);
        Error::UnknownCommand {
            command: format!("/{}", shown(key, Command::MAX_LABEL_CHARS)),
            near: self.listed(near.into_iter()),
        }
    }

    /// Commands for an error: a name may be as long as its server likes.
    fn listed(&self, places: impl Iterator<Item = usize>) -> Vec<String> {
        places.filter_map(|i| self.all.get(i)).map(|command| shown(&command.command, MAX_EXCERPT)).collect()
    }
}

/// How many commands an error lists.
const MAX_LISTED: usize = 5;

fn qualified(id: &PromptId) -> String {
    format!("{}:{}", escaped(&id.server), id.name)
}

/// A server's name without a colon: what follows the first one is the prompt's name.
fn escaped(server: &ServerId) -> Cow<'_, str> {
    match server.as_str().contains([':', '%']) {
        true => server.as_str().replace('%', "%25").replace(':', "%3A").into(),
        false => server.as_str().into(),
    }
}
