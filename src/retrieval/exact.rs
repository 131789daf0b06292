//! The exact-name tier: tools that a request names.
//!
//! A name is compared by its words, so `create_issue`, `createIssue`, `create-issue` and
//! `create issue` are one name, and `github/create_issue`, `github.create_issue` or
//! `github__create_issue` the same with its server.
//!
//! Tools are named in ordinary words, and a request that uses these words does not name them. So
//! the words count as the name only if they are the whole request, stand in quotes or backticks,
//! are written as an identifier, are three or more in a row, or follow a word of calling ("use fetch").

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use super::places::places;
use crate::{
    catalog::{Catalog, ToolEntry, TrustTier},
    id::ServerId,
    index::{Carried, Roster, Word, fold, normalize, split},
};

/// The names of one catalog snapshot.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    /// Hashes of names with and without server, and whose they are; sorted.
    table: Vec<(u64, u32)>,
    /// The words of the longest name, also of one that is gone: it only bounds what is looked for.
    longest: usize,
}

impl NameIndex {
    /// More words than this are no name.
    const MAX_WORDS: usize = 24;

    /// Reads the names of a catalog.
    pub(super) fn new(roster: &Roster) -> Self {
        let mut names = Self::default();
        names.read(roster, 0..roster.len() as u32);
        names.table.sort_unstable();
        names
    }

    /// Reads those names of a catalog that are new in it since `previous`.
    pub(super) fn after(previous: &Arc<Self>, roster: &Roster, carried: &Carried) -> Arc<Self> {
        if carried.same_ids() {
            return Arc::clone(previous);
        }
        let mut new = Self { longest: previous.longest, ..Self::default() };
        new.read(roster, carried.added.iter().copied());
        new.table.sort_unstable();
        // Positions move, their order does not: what is left of the old table is sorted too.
        let moved = previous.table.iter().map(|(hash, before)| (*hash, carried.to[*before as usize]));
        let mut added = std::mem::take(&mut new.table).into_iter().peekable();
        new.table.reserve(previous.table.len() + added.len());
        for place in moved.filter(|(_, position)| *position != Carried::GONE) {
            while let Some(before) = added.next_if(|other| *other < place) {
                new.table.push(before);
            }
            new.table.push(place);
        }
        new.table.extend(added);
        Arc::new(new)
    }

    fn read(&mut self, roster: &Roster, positions: impl ExactSizeIterator<Item = u32>) {
        self.table.reserve(2 * positions.len());
        let mut server: Option<(&ServerId, Vec<String>)> = None;
        for position in positions {
            let id = &roster.catalog().tools()[position as usize].id;
            let of_server = match server.take_if(|(server, _)| *server == &id.server) {
                Some((_, words)) => words,
                None => folded(id.server.as_str()),
            };
            let name = folded(&id.name);
            for words in [&[], of_server.as_slice()] {
                let count = words.len() + name.len();
                if !name.is_empty() && count <= Self::MAX_WORDS {
                    self.table.push((hash(words.iter().chain(&name)), position));
                    self.longest = self.longest.max(count);
                }
            }
            server = Some((&id.server, of_server));
        }
    }

    /// The positions of the tools that `text` names, in order, each once.
    pub(super) fn named(&self, catalog: &Catalog, text: &str, passes: impl Fn(u32) -> bool) -> Vec<u32> {
        let request = Request::read(text);
        let mut named: Vec<u32> = request.exposed(catalog).filter(|position| passes(*position)).collect();
        let mut at = 0;
        while at < request.words.len() {
            at += self.named_at(catalog, &request, at, &passes, &mut named).unwrap_or(1);
        }
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Finds the longest name that begins at a word; gives its number of words.
    fn named_at(
        &self,
        catalog: &Catalog,
        request: &Request,
        at: usize,
        passes: &impl Fn(u32) -> bool,
        named: &mut Vec<u32>,
    ) -> Option<usize> {
        let mut hasher = DefaultHasher::new();
        let mut hashes = Vec::with_capacity(self.longest);
        for word in request.words.iter().skip(at).take(self.longest) {
            word.hash(&mut hasher);
            hashes.push(hasher.finish());
        }
        for (count, hash) in hashes.into_iter().enumerate().map(|(i, hash)| (i + 1, hash)).rev() {
            let words = &request.words[at..at + count];
            let style = request.style(at, count);
            let trust = |position: &u32| catalog.trust(&catalog.tools()[*position as usize].id.server);
            let untrusted = |position: &u32| trust(position) == TrustTier::Untrusted;
            let mut found: Vec<u32> = places(&self.table, hash)
                .filter(|position| passes(*position))
                .filter(|position| {
                    let entry = &catalog.tools()[*position as usize];
                    match Spelled::of(entry, words) {
                        // Its name could be the whole request.
                        Some(_) if style.is_plain() && untrusted(position) => false,
                        Some(spelled) => style.names(spelled, &entry.id.name),
                        None => false,
                    }
                })
                .collect();
            if found.is_empty() {
                continue;
            }
            // Of several, the one whose server is mentioned, then the one that is spelled just so.
            let id = |position: &u32| &catalog.tools()[*position as usize].id;
            let mentioned = |position: &u32| request.mentions(id(position).server.as_str());
            keep_if_any(&mut found, trust, mentioned);
            keep_if_any(&mut found, trust, |position| *id(position).name == *style.written);
            if !found.iter().all(untrusted) {
                found.retain(|position| !untrusted(position) || mentioned(position));
            }
            named.extend(found);
            return Some(count);
        }
        None
    }
}

/// Keeps those for which something holds, if there are any; and those that are trusted more than
/// all of these.
fn keep_if_any(found: &mut Vec<u32>, trust: impl Fn(&u32) -> TrustTier, holds: impl Fn(&u32) -> bool) {
    if found.len() > 1
        && let Some(best) = found.iter().filter(|position| holds(position)).map(&trust).min()
    {
        found.retain(|position| holds(position) || trust(position) < best);
    }
}

fn hash<'a>(words: impl Iterator<Item = &'a String>) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

/// How words spell a tool's name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Spelled {
    Bare,
    Qualified,
}

impl Spelled {
    /// Hashes may collide, words do not.
    fn of(entry: &ToolEntry, words: &[String]) -> Option<Self> {
        let name = folded(&entry.id.name);
        let server = words.strip_suffix(name.as_slice())?;
        if server.is_empty() {
            Some(Self::Bare)
        } else {
            (server == folded(entry.id.server.as_str())).then_some(Self::Qualified)
        }
    }
}

/// A request, split into words.
struct Request<'a> {
    text: std::borrow::Cow<'a, str>,
    places: Vec<Word>,
    words: Vec<String>,
}

impl<'a> Request<'a> {
    fn read(text: &'a str) -> Self {
        let text = normalize(text);
        let places = split(&text);
        let words = places.iter().map(|word| fold(&text[word.start..word.end]).into_owned()).collect();
        Self { text, places, words }
    }

    /// The tools whose exposed names stand in it, as a model would write them. Most are the tool's
    /// own name, with or without server; those that carry a digest are found only here.
    fn exposed(&self, catalog: &Catalog) -> impl Iterator<Item = u32> {
        let tokens = self.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
        tokens.filter(|token| token.contains('_')).filter_map(|token| {
            let entry = catalog.exposed(token)?;
            let id = &entry.id;
            // Where the name is its own, whether it counts is decided by trust and spelling.
            let own = *token == *id.name && catalog.trust(&id.server) == TrustTier::Untrusted;
            (!own).then(|| catalog.tools().partition_point(|entry| entry.id < *id) as u32)
        })
    }

    /// Whether the words of a server's name stand in it.
    fn mentions(&self, server: &str) -> bool {
        let server = folded(server);
        !server.is_empty() && self.words.windows(server.len()).any(|words| words == server)
    }

    fn style(&self, at: usize, count: usize) -> Style<'_> {
        let (Some(first), Some(last)) = (self.places.get(at), self.places.get(at + count - 1)) else {
            return Style { written: "", whole: false, quoted: false, called: false, words: 0 };
        };
        let before = self.text[..first.start].chars().next_back();
        let after = self.text[last.end..].chars().next();
        Style {
            written: &self.text[first.start..last.end],
            whole: at == 0 && count == self.places.len(),
            quoted: matches!(
                (before, after),
                (Some('`'), Some('`')) | (Some('"'), Some('"')) | (Some('\''), Some('\'')) | (Some('“'), Some('”'))
            ),
            called: at
                .checked_sub(1)
                .and_then(|before| self.words.get(before))
                .is_some_and(|before| CALLS.contains(&before.as_str())),
            words: count,
        }
    }
}

/// What is said before the name of something that is called.
const CALLS: [&str; 3] = ["use", "call", "invoke"];

/// How some words of a request are written.
struct Style<'a> {
    written: &'a str,
    /// They are all of it.
    whole: bool,
    quoted: bool,
    /// A word of calling stands before them.
    called: bool,
    words: usize,
}

impl Style<'_> {
    /// From so many words on, a name with spaces in a longer request is no accident. With two, the
    /// benchmarks lose up to 2 points of NDCG@10; with three, none loses a tenth.
    const SPACED: usize = 3;

    /// Whether words written like this mean the tool that they spell.
    fn names(&self, spelled: Spelled, name: &str) -> bool {
        if self.whole || self.quoted || self.called {
            return true;
        }
        match self.identifier() {
            Some(written) => {
                // `read/write`, `check-in` and `example.com` are ordinary words, unless the name is written so.
                spelled == Spelled::Qualified
                    || written.contains('_')
                    || camel(written)
                    || written == name
                    || written.matches('-').count() > 1
            }
            None => self.words >= Self::SPACED,
        }
    }

    /// Whether they are several words as in any sentence.
    fn is_plain(&self) -> bool {
        self.words > 1 && !self.quoted && self.identifier().is_none()
    }

    /// The words as written, if they are two or more without a space between them.
    fn identifier(&self) -> Option<&str> {
        let joined = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
        (self.words > 1 && self.written.chars().all(joined)).then_some(self.written)
    }
}

/// Whether a small letter stands before a capital.
fn camel(written: &str) -> bool {
    written.chars().zip(written.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

fn folded(name: &str) -> Vec<String> {
    let name = normalize(name);
    split(&name).iter().map(|word| fold(&name[word.start..word.end]).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Tool;

    fn named(tools: &[(&str, &str)], text: &str) -> Vec<String> {
        let catalog = tools
            .iter()
            .fold(Catalog::builder(), |builder, (server, name)| {
                builder.tool(ServerId::new(server).unwrap(), Tool::new(*name, ""))
            })
            .build();
        let index = NameIndex::new(&Roster::new(&catalog));
        let found = index.named(&catalog, text, |_| true);
        found.iter().map(|position| catalog.tools()[*position as usize].id.to_string()).collect()
    }

    #[test]
    fn any_spelling_names_the_tool() {
        let tools = [("GitHub", "create_issue"), ("mail", "sendMail"), ("mail", "search"), ("x", "get_user_info")];
        for (text, expected) in [
            ("create_issue", "GitHub/create_issue"),
            ("createIssue", "GitHub/create_issue"),
            ("Create Issue", "GitHub/create_issue"),
            ("create-issue", "GitHub/create_issue"),
            ("GitHub/create_issue", "GitHub/create_issue"),
            ("GitHub.create_issue", "GitHub/create_issue"),
            ("github__create_issue", "GitHub/create_issue"),
            ("please use create_issue now", "GitHub/create_issue"),
            ("call github/create_issue, then stop", "GitHub/create_issue"),
            ("run send_mail.", "mail/sendMail"),
            ("open `search` first", "mail/search"),
            ("open \"search\" first", "mail/search"),
            ("mail.search it", "mail/search"),
            ("search", "mail/search"),
            ("Search!", "mail/search"),
            ("now get user info of bob", "x/get_user_info"),
            ("please use search now", "mail/search"),
            ("then call send mail", "mail/sendMail"),
        ] {
            assert_eq!(named(&tools, text), [expected], "{text}");
        }
    }

    #[test]
    fn ordinary_words_name_nothing() {
        let tools = [("git", "create_issue"), ("mail", "search"), ("ui", "check_in"), ("io", "read_write")];
        for text in [
            "search the web for me",
            "create issue about the crash",
            "the check-in is at noon",
            "is it read/write or not",
            "tools that search, used by all",
            "open the search tool",
            "",
            "🎉",
        ] {
            assert!(named(&tools, text).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_longest_name_counts() {
        let tools = [("git", "create_issue"), ("git", "create_issue_comment"), ("git", "search")];
        assert_eq!(named(&tools, "use create_issue_comment"), ["git/create_issue_comment"]);
        assert_eq!(
            named(&tools, "create_issue_comment or create_issue"),
            ["git/create_issue", "git/create_issue_comment"]
        );
    }

    #[test]
    fn the_spelling_decides_between_servers() {
        let tools = [("crm", "getUser"), ("hr", "get_user")];
        assert_eq!(named(&tools, "getUser"), ["crm/getUser"]);
        assert_eq!(named(&tools, "call get_user now"), ["hr/get_user"]);
        assert_eq!(named(&tools, "get user"), ["crm/getUser", "hr/get_user"]);
        assert_eq!(named(&tools, "hr.getUser"), ["hr/get_user"]);
    }

    #[test]
    fn a_name_that_providers_refuse_is_known_by_the_name_given_to_the_model() {
        let tools = [("a", "查询"), ("b", "查询")];
        assert_eq!(named(&tools, "查询"), ["a/查询", "b/查询"]);
        let catalog = Catalog::builder().tool(ServerId::new("a").unwrap(), Tool::new("查询", "")).build();
        let exposed = catalog.tools()[0].exposed.to_string();
        assert_eq!(named(&tools[..1], &format!("call {exposed} now")), ["a/查询"], "{exposed}");
    }

    /// Of the tools of servers that are trusted so far: `+`, ` ` or `-` before their names.
    fn named_by_trust(tools: &[(&str, &str)], text: &str) -> Vec<String> {
        let mut builder = Catalog::builder();
        for (server, name) in tools {
            let tier = match server.chars().next() {
                Some('+') => TrustTier::Trusted,
                Some('-') => TrustTier::Untrusted,
                _ => TrustTier::Standard,
            };
            let id = ServerId::new(server.trim_start_matches(['+', '-'])).unwrap();
            builder = builder.trust(id.clone(), tier).tool(id, Tool::new(*name, ""));
        }
        let catalog = builder.build();
        let found = NameIndex::new(&Roster::new(&catalog)).named(&catalog, text, |_| true);
        found.iter().map(|position| catalog.tools()[*position as usize].id.to_string()).collect()
    }

    #[test]
    fn an_untrusted_server_takes_no_name_from_another() {
        let tools = [("git", "createIssue"), ("-web", "create_issue"), ("+bank", "pay"), ("pal", "pay")];
        for (text, expected) in [
            ("create_issue", &["git/createIssue"][..]),
            ("call create_issue now", &["git/createIssue"]),
            ("createIssue", &["git/createIssue"]),
            // The server is asked for, by the name that the host gave it.
            ("web/create_issue", &["web/create_issue"]),
            ("`create_issue` of web", &["git/createIssue", "web/create_issue"]),
            ("git/create_issue", &["git/createIssue"]),
            ("pay", &["bank/pay", "pal/pay"]),
            ("`pay` by pal", &["bank/pay", "pal/pay"]),
        ] {
            assert_eq!(named_by_trust(&tools, text), expected, "{text}");
        }
        // Where no other has the name it is a name like any other.
        assert_eq!(named_by_trust(&tools[1..2], "call create_issue now"), ["web/create_issue"]);
    }

    #[test]
    fn the_words_of_a_request_name_no_untrusted_tool() {
        let request = "please merge the release branch";
        let tools = [("-web", "please_merge_the_release_branch"), ("-web", "merge the release")];
        assert!(named_by_trust(&tools, request).is_empty());
        assert_eq!(named_by_trust(&tools, "`merge the release`"), ["web/merge the release"]);
        assert_eq!(named_by_trust(&[("web", "merge the release")], request), ["web/merge the release"]);
        // Nor do they hide what is named in them.
        let tools = [("-web", "use_get_user_info_now"), ("hr", "get_user_info")];
        assert_eq!(named_by_trust(&tools, "use get_user_info now"), ["hr/get_user_info"]);
    }
}
