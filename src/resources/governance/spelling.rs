//! The same URI, spelled in other ways.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

use crate::wildcard::Wildcard;

/// The longest URI that is taken apart: what HTTP asks servers to bear (RFC 9110, section 4.1).
const MAX_BYTES: usize = 8_192;

/// A pattern of URIs: as it is written, and read in the way that URIs are.
#[derive(Clone, Debug)]
pub(super) struct UriPattern {
    given: Wildcard,
    resolved: Wildcard,
}

/// How a pattern matches a URI.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Match {
    No,
    /// In some readings of it.
    InPart,
    /// In all readings that leave nothing of it out.
    Whole,
}

impl UriPattern {
    /// # Errors
    /// What makes it useless, in words.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let parts = Parts::of(pattern).decoded(decode_all);
        if segments(&parts.path).any(|segment| matches!(segment, "." | "..")) {
            return Err("the pattern of URIs has `.` or `..` as a segment".into());
        }
        let resolved = parts.resolved(&parts.path) + &parts.query + &parts.fragment;
        Ok(Self { given: Wildcard::new(&as_given(pattern)), resolved: Wildcard::new(&resolved) })
    }

    pub(super) fn matches(&self, spellings: &Spellings) -> Match {
        let resolved = |uri: &String| self.resolved.matches(uri);
        if spellings.too_long {
            Match::InPart
        } else if self.given.matches(&spellings.given) {
            if spellings.whole.iter().all(resolved) { Match::Whole } else { Match::InPart }
        } else if spellings.whole.iter().chain(&spellings.shortened).any(resolved) {
            Match::InPart
        } else {
            Match::No
        }
    }
}

/// All readings of a URI that a server may have.
#[derive(Debug, Default)]
pub(super) struct Spellings {
    given: String,
    whole: BTreeSet<String>,
    /// Without what some servers do not look at.
    shortened: BTreeSet<String>,
    too_long: bool,
}

impl Spellings {
    pub(super) fn of(uri: &str) -> Self {
        if uri.len() > MAX_BYTES {
            return Self { too_long: true, ..Self::default() };
        }
        let mut spellings = Self { given: as_given(uri), ..Self::default() };
        // Who undoes the encoding first finds other ends of the path than who takes the URI apart first.
        for before in DECODINGS {
            let text = before(uri);
            for after in DECODINGS {
                spellings.add(Parts::of(&text).decoded(after));
                if !text.contains('%') {
                    break;
                }
            }
            if !uri.contains('%') {
                break;
            }
        }
        spellings
    }

    fn add(&mut self, parts: Parts) {
        let Parts { path, query, fragment, .. } = &parts;
        self.whole.insert(parts.resolved(path) + query + fragment);
        if path.contains("..") {
            self.whole.insert(parts.resolved_without_authority(path) + query + fragment);
        }
        if query.contains("..") || fragment.contains("..") {
            self.whole.insert(parts.resolved(&format!("{path}{query}{fragment}")));
        }
        for parts in [parts.without_user_and_port(), parts] {
            let Parts { path, query, fragment, .. } = &parts;
            let resolved = parts.resolved(path);
            self.shortened.insert(format!("{resolved}{query}{fragment}"));
            self.shortened.insert(format!("{resolved}{query}"));
            self.shortened.insert(resolved);
        }
    }
}

/// A URI, taken apart as RFC 3986 does (appendix B).
struct Parts {
    scheme: String,
    authority: Option<String>,
    path: String,
    /// With its `?`, or empty.
    query: String,
    /// With its `#`, or empty.
    fragment: String,
}

impl Parts {
    fn of(uri: &str) -> Self {
        let (uri, fragment) = uri.split_at(uri.find('#').unwrap_or(uri.len()));
        let (uri, query) = uri.split_at(uri.find('?').unwrap_or(uri.len()));
        let (scheme, rest) = split_scheme(uri);
        let parted = (!scheme.is_empty()).then(|| rest.strip_prefix("//")).flatten();
        let parted = parted.map(|rest| rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len())));
        let (authority, path) = parted.map_or((None, rest), |(authority, path)| (Some(authority.to_owned()), path));
        let [path, query, fragment] = [path, query, fragment].map(str::to_owned);
        Self { scheme: scheme.to_ascii_lowercase(), authority, path, query, fragment }
    }

    fn decoded(self, decode: Decoding) -> Self {
        let Self { scheme, authority, path, query, fragment } = self;
        let authority = authority.map(|authority| decode(&authority));
        Self { scheme, authority, path: decode(&path), query: decode(&query), fragment: decode(&fragment) }
    }

    fn without_user_and_port(&self) -> Self {
        let host = |authority: &String| {
            let host = authority.rsplit_once('@').map_or(authority.as_str(), |(_, host)| host);
            // Not the colons in an address of IPv6.
            let (host, port) = host.rsplit_once(':').unwrap_or((host, ""));
            if port.contains(']') { format!("{host}:{port}") } else { host.to_owned() }
        };
        let Self { scheme, path, query, fragment, .. } = self;
        let [scheme, path, query, fragment] = [scheme, path, query, fragment].map(String::clone);
        Self { scheme, authority: self.authority.as_ref().map(host), path, query, fragment }
    }

    /// The URI without query and fragment, with this path and its segments resolved.
    fn resolved(&self, path: &str) -> String {
        self.resolved_above(path, 1)
    }

    /// As a server resolves it that takes the authority for the first segment of the path.
    fn resolved_without_authority(&self, path: &str) -> String {
        self.resolved_above(path, 0)
    }

    /// The first `fixed` segments, the authority among them, are not left by `..`.
    fn resolved_above(&self, path: &str, fixed: usize) -> String {
        let authority = self.authority.as_deref().unwrap_or_default().to_lowercase();
        let authority = if self.scheme == "file" && authority == "localhost" { "" } else { &authority };
        let rooted = self.authority.is_some() || path.starts_with(['/', '\\']);
        let mut stack: Vec<&str> = rooted.then_some(authority).into_iter().collect();
        let fixed = if rooted { fixed } else { 0 };
        for segment in segments(path) {
            match segment {
                "" | "." => {}
                ".." => stack.truncate(stack.len().saturating_sub(1).max(fixed)),
                segment => stack.push(segment),
            }
        }
        let start = match (self.scheme.as_str(), rooted) {
            ("", _) => String::new(),
            (scheme, true) => format!("{scheme}://"),
            (scheme, false) => format!("{scheme}:"),
        };
        let text = start + &stack.join("/");
        text.chars().filter(|c| !c.is_control()).nfc().collect()
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\'])
}

/// A star of a pattern may be part of a scheme.
fn split_scheme(uri: &str) -> (&str, &str) {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.*".contains(c);
    match uri.split_once(':') {
        Some((scheme, rest)) if !scheme.is_empty() && scheme.chars().all(is_scheme) => (scheme, rest),
        _ => ("", uri),
    }
}

fn as_given(uri: &str) -> String {
    match split_scheme(uri) {
        ("", uri) => uri.to_owned(),
        (scheme, rest) => format!("{}:{rest}", scheme.to_ascii_lowercase()),
    }
}

type Decoding = fn(&str) -> String;

const DECODINGS: [Decoding; 3] = [str::to_owned, decode_once, decode_all];

fn decode_once(text: &str) -> String {
    decode(text, false)
}

/// What is left when decoding changes nothing any more.
fn decode_all(text: &str) -> String {
    decode(text, true)
}

/// Linear in the text: with `again`, what was decoded is looked at together with what comes after it.
fn decode(text: &str, again: bool) -> String {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    // What stands before it in `out` is not looked at again.
    let mut settled = 0;
    for byte in text.bytes() {
        out.push(byte);
        while let [.., b'%', high, low] = out[settled..] {
            let (Some(high), Some(low)) = (digit(high), digit(low)) else { break };
            out.truncate(out.len() - 3);
            out.push(high << 4 | low);
            if !again {
                settled = out.len();
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(pattern: &str, uri: &str) -> Match {
        UriPattern::new(pattern).unwrap().matches(&Spellings::of(uri))
    }

    #[test]
    fn decoding_ends_in_one_pass() {
        for (text, once, all) in [
            ("a%20b", "a b", "a b"),
            ("%2561", "%61", "a"),
            ("%2%35%36%31", "%2561", "a"),
            ("%zz%4", "%zz%4", "%zz%4"),
            ("%c3%a9%ff", "é\u{fffd}", "é\u{fffd}"),
        ] {
            assert_eq!((decode_once(text).as_str(), decode_all(text).as_str()), (once, all), "{text}");
        }
        let bomb = format!("%{}41", "25".repeat(4_000));
        assert_eq!(decode_all(&bomb), "A");
    }

    #[test]
    fn plain_uris_match_as_they_are_written() {
        for (pattern, uri, expected) in [
            ("*", "file:///a", Match::Whole),
            ("file:///a/*", "file:///a/b", Match::Whole),
            ("file:///a/*", "FILE:///a/b%20c", Match::Whole),
            ("file:///a/*", "file:///ab", Match::No),
            ("file:///a", "file:///A", Match::No),
            ("wiki://p?page=*", "wiki://p?page=2", Match::Whole),
            ("wiki://p", "wiki://p?page=2", Match::InPart),
            ("https://x:8080/*", "https://x:8080/a", Match::Whole),
            ("https://x:8080/*", "https://x:8081/a", Match::No),
            ("notes*", "notes.md", Match::Whole),
            ("urn:x:*", "urn:x:7", Match::Whole),
            ("https://[::1]/*", "https://[::1]/a", Match::Whole),
        ] {
            assert_eq!(matched(pattern, uri), expected, "{pattern} {uri}");
        }
    }

    #[test]
    fn no_spelling_gets_around_a_pattern() {
        for uri in [
            "FILE:///srv/secrets/key",
            "file:/srv/secrets/key",
            "file:////srv//secrets/key",
            "file://localhost/srv/secrets/key",
            "file://LOCALHOST/srv/secrets/key",
            "file:///srv/./secrets/key",
            "file:///srv/public/../secrets/key",
            "file:///../../srv/secrets/key",
            "file:///srv/public/%2e%2E/secrets/key",
            "file:///srv/public/%252e%252e/secrets/key",
            "file:///srv/public%2f..%2fsecrets/key",
            "file:///srv%5Csecrets\\key",
            "file:///srv/%73ecrets/key",
            "file:///srv/%2573ecrets/key",
            "file:///srv/secrets/key?raw",
            "file:///srv/secrets/key#top",
            "file:///srv/secrets/key/",
            "file:///srv/sec\u{9}rets/key",
            "file:///srv/secrets/key%3Fraw",
            "file:///srv/secrets/key%23top",
            "file:///srv/public?/../secrets/key",
            "file:///srv/public%3F/../secrets/key",
            "file:///srv/public#/../../srv/secrets/key",
            "file:///srv/public/../secrets/%2e%2e/x/../secrets/key",
            "file:%2F%2F/srv/secrets/key",
            "file%3A///srv/secrets/key",
        ] {
            assert_ne!(matched("file:///srv/secrets/key", uri), Match::No, "{uri}");
            assert_ne!(matched("file:///srv/secrets/*", uri), Match::No, "{uri}");
        }
        for uri in ["https://u@intra.example/a", "https://intra.example:443/a", "https://u:p@INTRA.example:8443/a"] {
            assert_ne!(matched("https://intra.example/*", uri), Match::No, "{uri}");
        }
        assert_ne!(matched("wiki://caf\u{e9}/*", "wiki://cafe\u{301}/a"), Match::No);
        assert_eq!(matched("wiki://a", &format!("wiki://{}", "b".repeat(MAX_BYTES))), Match::InPart);
    }

    #[test]
    fn what_is_spelled_in_doubt_is_not_matched_as_a_whole() {
        for uri in [
            "file:///srv/public/../secrets/key",
            "file:///srv/public/%2e%2e/secrets/key",
            "file:///srv/public/..%5csecrets",
            "file:///srv/public/a%3F/../../secrets",
            "file:///srv/public/a?/../../secrets",
        ] {
            assert_eq!(matched("file:///srv/public/*", uri), Match::InPart, "{uri}");
        }
        // Whether `people` is an authority or a folder is for the server to say.
        assert_eq!(matched("crm://people/*", "crm://people/../salaries/ada"), Match::InPart);
        assert_eq!(matched("crm://salaries/*", "crm://people/../salaries/ada"), Match::InPart);
    }
}
