use std::ops::Range;

use super::{
    code,
    qualified::{self, Reading},
    start::{ends_word, is_trailing, may_start, starts_name},
    title::{self, Effort},
};
use crate::{catalog::Catalog, id::ResourceId};

/// The most mentions that are looked for in one text: what follows is text.
pub const MAX_MENTIONS: usize = 256;

/// A mention in a text.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Mention {
    /// Its bytes, from the `@` on. Mentions are in order and never overlap, and begin and end on
    /// characters' boundaries.
    pub range: Range<usize>,
    /// What it means.
    pub target: Target,
}

/// What a mention means.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Target {
    /// This resource, and no other.
    Resource(ResourceId),
    /// Any of these, by id: the host asks. It is never guessed.
    Several(Vec<ResourceId>),
    /// A URI of a server that is known, in none of its lists: perhaps an instance of one of its
    /// templates.
    Unlisted(ResourceId),
    /// Nothing that is known: perhaps no mention at all.
    Unknown,
}

/// The mentions of resources in a text.
///
/// - `@server:uri` and `@server:title`, where `server` is one of the catalog. In both parts any
///   character may be percent-encoded, and those must be that would end them: white space, and a
///   colon in the server's name. A text that names a resource both ways means the decoded one.
/// - `@title`, `@name` and `@uri` of a resource of any server, in any case; those spelled exactly so
///   go before others. Resources of the scheme `ui` have no titles here.
/// - `@"…"` for any of them, with `\"` and `\\` inside, and `@"server":…`.
///
/// The longest match counts. An `@` inside a word, path or address (`user@host`) starts none, nor
/// does one behind a `\` or in Markdown code. Punctuation behind a mention is not part of it, unless
/// something is called so. What looks like a mention and is none is [`Target::Unknown`].
///
/// Takes time linear in the text, and in the catalog for each of the first [`MAX_MENTIONS`]; what
/// would take longer, since servers gave names for it, is text too.
///
/// ```
/// use proem::{catalog::Catalog, id::ServerId, picker::{Target, mentions}, protocol::Resource};
///
/// let wiki = ServerId::new("wiki")?;
/// let rules = Resource::new("wiki://rules", "rules").with_title("House rules");
/// let catalog = Catalog::builder().resource(wiki, rules).build();
///
/// let text = "By @house rules, and @wiki:wiki://rules: is mira@example.org right?";
/// let found = mentions(text, &catalog);
/// let texts: Vec<&str> = found.iter().map(|mention| &text[mention.range.clone()]).collect();
/// assert_eq!(texts, ["@house rules", "@wiki:wiki://rules"]);
/// assert!(found.iter().all(|mention| matches!(&mention.target, Target::Resource(id) if &*id.uri == "wiki://rules")));
/// # Ok::<(), proem::Error>(())
/// ```
pub fn mentions(text: &str, catalog: &Catalog) -> Vec<Mention> {
    let mut found = Vec::new();
    if !text.contains('@') {
        return found;
    }
    let mut code = code::spans(text).into_iter().peekable();
    let (mut at, mut tried, mut effort) = (0, 0, Effort::default());
    while let Some(start) = text[at..].find('@').map(|i| at + i) {
        at = start + 1;
        while code.next_if(|span| span.end <= start).is_some() {}
        if let Some(span) = code.peek().filter(|span| span.start <= start) {
            at = span.end;
            continue;
        }
        if !may_start(text, start) || !starts_name(&text[at..]) {
            continue;
        }
        tried += 1;
        if tried > MAX_MENTIONS {
            break;
        }
        let reading = read(&text[at..], catalog, &mut effort);
        if effort.is_spent() {
            break;
        }
        if let Some(reading) = reading {
            let end = at + reading.bytes;
            found.push(Mention { range: start..end, target: reading.target });
            at = end;
        }
    }
    found
}

/// What stands behind an `@`; `None` for a quotation that does not end.
fn read(text: &str, catalog: &Catalog, effort: &mut Effort) -> Option<Reading> {
    if text.starts_with('"') {
        return quoted(text, catalog, effort);
    }
    let word = &text[..ends_word(text)];
    let qualified = qualified::read(word, text, catalog, effort);
    let titled = title::longest(text, catalog.resources(), effort);
    let unknown = Reading { bytes: word.trim_end_matches(is_trailing).len(), target: Target::Unknown };
    // What is known, then what is longest, then what names its server.
    [Some(unknown), titled, qualified]
        .into_iter()
        .flatten()
        .max_by_key(|reading| (reading.target != Target::Unknown, reading.bytes))
}

fn quoted(text: &str, catalog: &Catalog, effort: &mut Effort) -> Option<Reading> {
    let (inside, bytes) = title::unquote(text)?;
    let rest = &text[bytes..];
    if let Some(reading) = qualified::behind_server(&inside, rest, catalog, effort) {
        return Some(Reading { bytes: bytes + reading.bytes, ..reading });
    }
    let target = qualified::whole(&inside, catalog).or_else(|| title::named(&inside, catalog.resources(), effort));
    Some(Reading { bytes, target: target.unwrap_or(Target::Unknown) })
}
