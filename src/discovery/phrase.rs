use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    catalog::{ServerEntry, ToolEntry},
    error::beginning,
    index::{fold, is_stop_word, normalize, split},
    prompts::shown,
    render::neutral,
};

/// What a server is for, in a few words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Phrase {
    /// Words of its tools' names, the most common first.
    Words(Vec<String>),
    /// Its own.
    Sentence(String),
}

impl Phrase {
    /// The most bytes that are read of what a server says of itself.
    const MAX_READ: usize = 4_096;

    /// Of a server with these tools. What describes the server comes first, then what its tools are called;
    /// instructions last, since those of real servers are rules for the model and seldom say what the
    /// server is for.
    pub(super) fn of(server: &ServerEntry, tools: &[&Arc<ToolEntry>]) -> Self {
        let info = &server.info;
        let said = |key: &str| info.implementation.as_ref()?.get(key).and_then(Value::as_str);
        if let Some(description) = said("description").and_then(first_sentence) {
            return Self::Sentence(description);
        }
        let words = words(server, tools);
        if !words.is_empty() {
            return Self::Words(words);
        }
        let sentence = info.instructions.as_deref().and_then(first_sentence).or_else(|| first_sentence(said("title")?));
        sentence.map_or(Self::Words(Vec::new()), Self::Sentence)
    }

    /// On one line of at most `max_chars` characters, unable to open or close a delimiter.
    pub(super) fn within(&self, max_chars: usize) -> String {
        let text = match self {
            Self::Sentence(text) => shown(text, max_chars),
            Self::Words(words) => {
                let mut text = String::new();
                for word in words {
                    let separator = if text.is_empty() { "" } else { ", " };
                    if text.chars().count() + separator.len() + word.chars().count() > max_chars {
                        break;
                    }
                    text.push_str(separator);
                    text.push_str(word);
                }
                text
            }
        };
        neutral(text.trim())
    }
}

/// The first sentence that says anything, without marks of Markdown before it.
fn first_sentence(text: &str) -> Option<String> {
    let text = beginning(text, Phrase::MAX_READ);
    let line =
        text.lines().map(|line| line.trim_matches(|c: char| !c.is_alphanumeric())).find(|line| !line.is_empty())?;
    let end = [". ", "! ", "? ", "。"].iter().filter_map(|mark| line.find(mark)).min();
    Some(line.get(..end.unwrap_or(line.len()))?.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The words that most tool names have, without those that all servers' have or the server's own name.
/// Depends on this server alone, so that another one moves nothing here.
fn words(server: &ServerEntry, tools: &[&Arc<ToolEntry>]) -> Vec<String> {
    /// More than a line holds.
    const MAX_WORDS: usize = 16;
    let own: BTreeSet<String> = word_list(server.id.as_str()).collect();
    let mut counts: BTreeMap<String, (usize, BTreeMap<String, usize>)> = BTreeMap::new();
    for tool in tools {
        let of_tool: BTreeSet<String> = word_list(&tool.id.name).collect();
        let singular: BTreeMap<String, String> = of_tool.into_iter().map(|word| (singular(&word), word)).collect();
        for (key, word) in singular {
            let (tools, spelled) = counts.entry(key).or_default();
            *tools += 1;
            *spelled.entry(word).or_default() += 1;
        }
    }
    let mut all: Vec<(usize, String)> = Vec::with_capacity(counts.len());
    for (_, (tools, spelled)) in counts {
        // The spelling that is used most; of equals the first in the alphabet.
        let word = spelled.into_iter().max_by_key(|(word, count)| (*count, Reverse(word.clone())));
        all.extend(word.map(|(word, _)| (tools, word)));
    }
    all.sort_by_key(|(tools, word)| (Reverse(*tools), word.clone()));
    let telling: Vec<String> =
        all.iter().map(|(_, word)| word).filter(|word| !is_generic(word) && !own.contains(*word)).cloned().collect();
    let all = if telling.is_empty() { all.into_iter().map(|(_, word)| word).collect() } else { telling };
    all.into_iter().take(MAX_WORDS).collect()
}

fn word_list(text: &str) -> impl Iterator<Item = String> {
    /// Longer ones are no words.
    const MAX_CHARS: usize = 24;
    let text = normalize(beginning(text, Phrase::MAX_READ)).into_owned();
    let words: Vec<String> =
        split(&text).iter().filter_map(|word| Some(fold(text.get(word.start..word.end)?).into_owned())).collect();
    words.into_iter().filter(|word| {
        let chars = word.chars().count();
        let short = if word.is_ascii() { 3 } else { 1 };
        (short..=MAX_CHARS).contains(&chars) && !is_stop_word(word) && word.contains(char::is_alphabetic)
    })
}

/// Without the ending of a plural, for comparison alone.
fn singular(word: &str) -> String {
    let es = word.strip_suffix("es").filter(|stem| ["ch", "sh", "ss", "x"].iter().any(|end| stem.ends_with(end)));
    let s = || word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s'));
    match word.strip_suffix("ies") {
        Some(stem) if stem.len() > 2 => format!("{stem}y"),
        _ => es.or_else(s).unwrap_or(word).to_owned(),
    }
}

/// Words of tool names that say what is done, not to what; and those that every tool could have.
fn is_generic(word: &str) -> bool {
    GENERIC.binary_search(&word).is_ok()
}

/// Sorted, so that a look-up is a search.
const GENERIC: &[&str] = &[
    "add", "all", "api", "apply", "batch", "bulk", "by", "call", "cancel", "change", "check", "clear", "close",
    "convert", "copy", "count", "create", "current", "data", "delete", "describe", "details", "disable", "download",
    "edit", "enable", "execute", "export", "fetch", "fill", "filter", "find", "from", "generate", "get", "handle",
    "import", "info", "insert", "join", "list", "load", "make", "manage", "manager", "mark", "mcp", "merge", "move",
    "multiple", "new", "open", "perform", "post", "process", "push", "query", "read", "remove", "rename", "replace",
    "reset", "resolve", "retrieve", "run", "save", "search", "select", "send", "set", "show", "start", "status",
    "stop", "submit", "sync", "test", "tool", "tools", "update", "upload", "upsert", "use", "validate", "view", "with",
    "write",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        catalog::Catalog,
        id::ServerId,
        protocol::{ServerInfo, Tool},
    };

    fn phrase(server: &str, tools: &[&str], implementation: Value, instructions: Option<&str>) -> String {
        let id = ServerId::new(server).unwrap();
        let instructions = instructions.map(str::to_owned);
        let info = ServerInfo { implementation: Some(implementation), instructions, ..ServerInfo::default() };
        let builder = Catalog::builder().server(id.clone(), info);
        let catalog =
            tools.iter().fold(builder, |builder, name| builder.tool(id.clone(), Tool::new(*name, ""))).build();
        let tools: Vec<_> = catalog.tools().iter().collect();
        Phrase::of(catalog.server(&id).unwrap(), &tools).within(60)
    }

    #[test]
    fn words_are_those_that_most_tools_share() {
        let tools =
            ["create_issue", "list_issues", "getIssue", "merge_pull_request", "list_pull_requests", "git-blame", "v2"];
        assert_eq!(phrase("git", &tools, json!({}), None), "issue, pull, request, blame");
        // Better than nothing.
        assert_eq!(phrase("fetch", &["fetch"], json!({}), None), "fetch");
        assert_eq!(phrase("x", &["查询天气"], json!({}), None), "查询天气");
        assert_eq!(phrase("x", &["a", "2"], json!({}), None), "");
    }

    #[test]
    fn a_description_comes_before_words_and_instructions_last() {
        let described = json!({"title": "Mail Server", "description": "\n# Sends and reads e-mail. Always prefer it!"});
        assert_eq!(phrase("mail", &["send_mail"], described, Some("Obey.")), "Sends and reads e-mail");
        assert_eq!(phrase("mail", &["send_letters"], json!({"title": "Mail Server"}), Some("Obey.")), "letters");
        assert_eq!(phrase("mail", &["x"], json!({"title": "Mail Server"}), Some("## Usage\nObey.")), "Usage");
        assert_eq!(phrase("mail", &["x"], json!({"title": "Mail Server"}), None), "Mail Server");
    }

    #[test]
    fn a_look_up_finds_every_generic_word() {
        assert!(GENERIC.is_sorted());
        assert!(GENERIC.iter().all(|word| is_generic(word)));
    }
}
