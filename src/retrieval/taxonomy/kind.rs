use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::Serialize;

use super::verbs::{Use, inflected, verb};
use crate::{
    Error,
    error::beginning,
    index::{Word, fold, normalize, split},
    protocol::Tool,
};

/// What a tool does to what it works on.
///
/// Ten kinds cover the verbs of real servers. Besides those that only look (`read`, `analyse`,
/// `monitor`) and those that make something (`create`, `generate`), changing and destroying are
/// apart, since hosts ask before one and not before the other; so are `send`, which reaches people,
/// and `run`, which drives a browser, a shell or a machine. What fits none is `other`.
///
/// ```
/// use proem::{protocol::Tool, retrieval::Kind};
///
/// assert_eq!(Kind::of(&Tool::new("jira_get_issue", "")), Kind::Read);
/// assert_eq!(Kind::of(&Tool::new("branches", "Deletes a branch for good")), Kind::Delete);
/// assert_eq!(Kind::wanted("Please find the invoice and send it to Anna"), [Kind::Read, Kind::Send]);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// Gives what is there: get, list, search, download.
    Read,
    /// Adds something that was not there: create, upload, book.
    Create,
    /// Changes what is there: update, move, close.
    Update,
    /// Takes away what is there: delete, cancel, revoke.
    Delete,
    /// Works something out of what it is given, and changes nothing: calculate, compare, convert.
    Analyse,
    /// Makes content: text, pictures, plans.
    Generate,
    /// Stays with something that changes: watch, track, wait.
    Monitor,
    /// Reaches people: send, notify, publish.
    Send,
    /// Sets something going: run, click, deploy.
    Run,
    /// None of these, or nothing says which.
    Other,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Read,
        Self::Create,
        Self::Update,
        Self::Delete,
        Self::Analyse,
        Self::Generate,
        Self::Monitor,
        Self::Send,
        Self::Run,
        Self::Other,
    ];

    /// The kind of a tool: by the verb in its name, else by the first verb of its title or its
    /// description, else by what its arguments are called, else by its server's hints.
    ///
    /// Hints are the server's word: they decide where words do not, and a verb in the name stands
    /// against them. Of 989 tools of real servers, one sends messages and hints that it is
    /// read-only. Verbs are English. Looks at the first 128 bytes of the name and the first 256 of
    /// other texts.
    pub fn of(tool: &Tool) -> Self {
        let title = tool.title.as_deref().or(tool.annotations.title.as_deref()).unwrap_or_default();
        let description = tool.description.as_deref().unwrap_or_default();
        let name = Words::of(&tool.name, 128);
        let named = in_name(&name);
        if let Some((kind, Rank::Likely)) = named {
            return kind;
        }
        let prose = in_prose(&Words::of(title, 256)).or_else(|| in_prose(&Words::of(description, 256)));
        let kind = prose.or(named.map(|(kind, _)| kind)).or_else(|| in_arguments(tool));
        let hints = &tool.annotations;
        match (kind, hints.read_only_hint) {
            (Some(kind), Some(true)) if kind.writes() => Self::Read,
            (Some(kind), _) => kind,
            (None, Some(true)) => Self::Read,
            (None, _) if hints.destructive_hint == Some(true) => Self::Update,
            (None, Some(false)) => Self::Run,
            (None, None) => Self::Other,
        }
    }

    /// The kinds that a request asks for, in the order of [`Self::ALL`]; none if it does not say.
    ///
    /// They are those of its verbs where a verb may stand: at the beginning of a clause, after
    /// "to", "please", "you" and the like. A question without one wants to know something.
    pub fn wanted(request: &str) -> Vec<Self> {
        let words = Words::of(request, 1_024);
        let mut kinds = BTreeSet::new();
        for at in 0..words.len() {
            let word = words.word(at);
            if let Some((kind, sure)) = verb(&word)
                && (sure == Use::Always || words.begins_clause(at))
            {
                kinds.insert(kind);
            }
        }
        let asks = words.len() > 0 && (QUESTIONS.contains(&&*words.word(0)) || request.contains(['?', '？']));
        if kinds.is_empty() && asks {
            kinds.insert(Self::Read);
        }
        kinds.into_iter().collect()
    }

    /// Whether it changes something somewhere.
    pub fn writes(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Delete | Self::Send | Self::Run)
    }

    /// Its word, as in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Analyse => "analyse",
            Self::Generate => "generate",
            Self::Monitor => "monitor",
            Self::Send => "send",
            Self::Run => "run",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let known =
            Self::ALL.into_iter().find(|kind| kind.as_str() == text || (text, *kind) == ("analyze", Self::Analyse));
        known.ok_or_else(|| {
            let all: Vec<_> = Self::ALL.iter().map(|kind| kind.as_str()).collect();
            Error::invalid(
                format!("kind `{}`", crate::error::excerpt(text)),
                format!("it must be one of {}", all.join(", ")),
            )
        })
    }
}

/// How much a verb's place in a name says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Rank {
    /// It is a verb.
    Likely,
    /// It may be a noun: what the description says goes before it.
    Last,
}

/// The verb of a name. Words before it are often the server's or the product's (`jira_get_issue`),
/// and some servers put it last (`storage_account_list`), where nouns stand too (`git_log`).
fn in_name(name: &Words<'_>) -> Option<(Kind, Rank)> {
    let mut best: Option<(Kind, Rank, usize)> = None;
    for at in 0..name.len() {
        let Some((kind, sure)) = verb(&name.word(at)) else { continue };
        // The lower, the better; of equals the first, but of verbs that stand last the last.
        let (rank, order) = match sure {
            Use::Leading if at == 0 => (Rank::Likely, 0),
            Use::Always => (Rank::Likely, 1 + at),
            Use::Leading => (Rank::Likely, 200 - at.min(99)),
            Use::Either if at == 0 => (Rank::Last, 300),
            Use::Either => (Rank::Last, 500 - at.min(99)),
        };
        if best.is_none_or(|(.., least)| order < least) {
            best = Some((kind, rank, order));
        }
    }
    best.map(|(kind, rank, _)| (kind, rank))
}

/// The first verb of a sentence that says what a tool does.
fn in_prose(text: &Words<'_>) -> Option<Kind> {
    // Further on, verbs are about something else.
    (0..text.len().min(12)).find_map(|at| {
        let (kind, sure) = inflected(&text.word(at))?;
        (at == 0 || sure == Use::Always || (sure == Use::Leading && text.begins_clause(at))).then_some(kind)
    })
}

/// What the names of arguments say where no verb does.
fn in_arguments(tool: &Tool) -> Option<Kind> {
    let schema = tool.input_schema.to_map();
    let arguments = schema.get("properties").and_then(|properties| properties.as_object())?;
    let has = |names: &[&str]| names.iter().any(|name| arguments.contains_key(*name));
    if has(&["prompt"]) {
        Some(Kind::Generate)
    } else if has(&["recipient", "recipients", "to_email"]) {
        Some(Kind::Send)
    } else if has(&["expression", "formula", "equation"]) {
        Some(Kind::Analyse)
    } else if arguments.is_empty() || has(&["query", "q", "keyword", "limit", "page", "offset", "cursor"]) {
        Some(Kind::Read)
    } else {
        None
    }
}

const QUESTIONS: [&str; 9] = ["what", "whats", "who", "when", "where", "which", "how", "is", "are"];

/// The words after which a verb may stand.
const BEFORE_VERBS: [&str; 14] =
    ["to", "please", "you", "and", "then", "i", "lets", "must", "should", "will", "can", "or", "also", "for"];

/// The beginning of a text, in words.
struct Words<'a> {
    text: std::borrow::Cow<'a, str>,
    words: Vec<Word>,
}

impl<'a> Words<'a> {
    fn of(text: &'a str, max_bytes: usize) -> Self {
        let text = normalize(beginning(text, max_bytes));
        let words = split(&text);
        Self { text, words }
    }

    fn len(&self) -> usize {
        self.words.len()
    }

    fn word(&self, at: usize) -> std::borrow::Cow<'_, str> {
        fold(&self.text[self.words[at].start..self.words[at].end])
    }

    fn begins_clause(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return true };
        let gap = &self.text[self.words[before].end..self.words[at].start];
        gap.contains(['.', ',', ';', ':', '!', '?', '\n', '(']) || BEFORE_VERBS.contains(&&*self.word(before))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn of(name: &str, description: &str) -> Kind {
        Kind::of(&Tool::new(name, description).with_input_schema(json!({})))
    }

    #[test]
    fn names_tell() {
        for (names, kind) in [
            ("get_user listOrders crm_find_lead search-notes invoice_list pages.fetch show_me", Kind::Read),
            ("create_page addMember vault_secret_create upload_photo new_row book_table log_meal", Kind::Create),
            ("update_profile set_title pets_rename moveCard mark_paid team_member_edit", Kind::Update),
            ("delete_file removeUser clear_cache shift_cancel revoke-key", Kind::Delete),
            ("calculate_tax compareModels convert_units validate_iban diff count_rows", Kind::Analyse),
            ("generate_logo drawChart compose_poem plot", Kind::Generate),
            ("watch_folder track_parcel monitorUptime wait_for_build", Kind::Monitor),
            ("send_mail notifyTeam chat_reply email_report", Kind::Send),
            ("run_query page_click deploy_app restartService shell_execute", Kind::Run),
            ("weather team_colors 天气 _ x9", Kind::Other),
        ] {
            for name in names.split(' ') {
                assert_eq!(of(name, ""), kind, "{name}");
            }
        }
    }

    #[test]
    fn nouns_of_names_are_no_verbs() {
        for (name, description, kind) in [
            // The first word is a noun where a verb follows.
            ("order_delete", "", Kind::Delete),
            ("comment_create", "", Kind::Create),
            ("list_create", "", Kind::Read),
            ("task_list_create", "", Kind::Create),
            // The last word is a noun where the description has a verb.
            ("stock_order", "Shows one order", Kind::Read),
            ("branch_log", "Prints what happened. Returns lines", Kind::Read),
            ("stock_order", "", Kind::Create),
        ] {
            assert_eq!(of(name, description), kind, "{name}");
        }
    }

    #[test]
    fn descriptions_tell_where_names_do_not() {
        for (description, kind) in [
            ("Returns the tide tables of a harbour", Kind::Read),
            ("A tool for creating labels", Kind::Create),
            ("This tool allows you to merge two ledgers", Kind::Update),
            ("Searches everything that was deleted", Kind::Read),
            ("Fresh herbs of the season", Kind::Other),
            ("", Kind::Other),
        ] {
            assert_eq!(of("harbour", description), kind, "{description}");
        }
    }

    #[test]
    fn hints_decide_only_where_words_do_not() {
        let kind = |name: &str, read_only: Option<bool>, destructive: Option<bool>| {
            let mut tool = Tool::new(name, "").with_input_schema(json!({}));
            tool.annotations.read_only_hint = read_only;
            tool.annotations.destructive_hint = destructive;
            Kind::of(&tool)
        };
        assert_eq!(kind("tides", Some(true), None), Kind::Read);
        assert_eq!(kind("tides", None, Some(true)), Kind::Update);
        assert_eq!(kind("tides", Some(false), Some(false)), Kind::Run);
        // May be a noun: the hint says what it is.
        assert_eq!(kind("captains_log", Some(true), None), Kind::Read);
        assert_eq!(kind("captains_log", None, None), Kind::Create);
        // No doubt, whatever the server says.
        assert_eq!(kind("delete_tides", Some(true), Some(false)), Kind::Delete);
        assert_eq!(kind("get_tides", Some(false), Some(true)), Kind::Read);
    }

    #[test]
    fn arguments_tell_where_nothing_else_does() {
        for (properties, kind) in [
            (json!({"query": {}}), Kind::Read),
            (json!({"prompt": {}}), Kind::Generate),
            (json!({"recipients": {}}), Kind::Send),
            (json!({"expression": {}}), Kind::Analyse),
            (json!({}), Kind::Read),
            (json!({"harbour": {}}), Kind::Other),
        ] {
            let tool = Tool::new("tides", "").with_input_schema(json!({"properties": properties}));
            assert_eq!(Kind::of(&tool), kind, "{properties}");
        }
    }

    #[test]
    fn requests_tell() {
        for (request, kinds) in [
            ("book a table for two", &[Kind::Create] as &[Kind]),
            ("I read a book about ships", &[Kind::Read]),
            ("I'd like to order stamps, then notify the office", &[Kind::Create, Kind::Send]),
            ("What is the tide in Dover?", &[Kind::Read]),
            ("how do I delete a branch", &[Kind::Delete]),
            ("tides of Dover", &[]),
            ("", &[]),
        ] {
            assert_eq!(Kind::wanted(request), kinds, "{request}");
        }
    }

    #[test]
    fn words_of_kinds_are_read_back() {
        for kind in Kind::ALL {
            assert_eq!(kind.to_string().parse::<Kind>().unwrap(), kind);
        }
        let error = "reed".parse::<Kind>().unwrap_err().to_string();
        assert!(error.starts_with("invalid kind `reed`: it must be one of read, create,"), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_has_a_kind(name in "\\PC{1,40}", description in "\\PC{0,400}") {
            let kind = of(&name, &description);
            prop_assert!(Kind::ALL.contains(&kind));
            Kind::wanted(&description);
        }
    }
}
