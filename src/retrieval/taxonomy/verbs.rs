//! The verbs of tools and of requests, and the kind of operation that each one names.

use super::kind::Kind::{self, Analyse, Create, Delete, Generate, Monitor, Read, Run, Send, Update};

/// How sure a word is to be a verb where it stands.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Use {
    /// Hardly ever anything else: `delete`.
    Always,
    /// A verb at the beginning of a name or a sentence: `list`, `search`.
    Leading,
    /// As often a noun, even at the beginning: `log`, `report`.
    Either,
}

use Use::{Always, Either, Leading};

/// The verb that a lowercase word is in its base form.
pub(super) fn verb(word: &str) -> Option<(Kind, Use)> {
    let at = VERBS.binary_search_by(|(verb, ..)| (*verb).cmp(word)).ok()?;
    Some((VERBS[at].1, VERBS[at].2))
}

/// The verb that a lowercase word is in the forms that begin a description: `get`, `gets`,
/// `searches`, `queries`, `getting`, `creating`. Participles (`deleted`) are adjectives there.
pub(super) fn inflected(word: &str) -> Option<(Kind, Use)> {
    verb(word).or_else(|| {
        let (stem, ending) = ["ing", "es", "s"].iter().find_map(|end| Some((word.strip_suffix(end)?, *end)))?;
        let undoubled = || {
            let last = stem.chars().next_back()?;
            let short = stem.strip_suffix(last)?;
            if short.ends_with(last) { verb(short) } else { None }
        };
        match ending {
            "ing" => verb(stem).or_else(|| verb(&format!("{stem}e"))).or_else(undoubled),
            "es" => {
                let y = || stem.strip_suffix('i').and_then(|stem| verb(&format!("{stem}y")));
                verb(stem).or_else(y).or_else(|| verb(&format!("{stem}e")))
            }
            _ if word == "news" => None,
            _ => verb(stem),
        }
    })
}

/// Sorted, so that a look-up is a search.
#[rustfmt::skip]
const VERBS: &[(&str, Kind, Use)] = &[
    ("abort", Run, Leading), ("accept", Update, Leading), ("access", Read, Leading), ("act", Run, Leading),
    ("activate", Run, Always), ("add", Create, Always), ("adjust", Update, Always), ("aggregate", Analyse, Leading),
    ("alert", Monitor, Leading), ("alter", Update, Always), ("amend", Update, Either), ("analyse", Analyse, Always),
    ("analysis", Analyse, Either), ("analyze", Analyse, Always), ("announce", Send, Always),
    ("append", Update, Always), ("apply", Update, Leading), ("approve", Update, Leading),
    ("archive", Update, Leading), ("assess", Analyse, Always), ("assign", Update, Always),
    ("attach", Create, Leading), ("audit", Analyse, Leading), ("authenticate", Run, Always),
    ("authorize", Run, Leading), ("await", Monitor, Always), ("backup", Create, Either), ("ban", Delete, Leading),
    ("begin", Run, Leading), ("benchmark", Analyse, Leading), ("block", Delete, Leading), ("book", Create, Either),
    ("bookmark", Create, Either), ("brainstorm", Generate, Always), ("broadcast", Send, Always),
    ("browse", Read, Always), ("build", Create, Leading), ("bulk", Update, Either), ("buy", Create, Always),
    ("calculate", Analyse, Always), ("calculation", Analyse, Either), ("calculator", Analyse, Either),
    ("call", Run, Leading), ("cancel", Delete, Always), ("capture", Read, Leading), ("categorize", Analyse, Always),
    ("change", Update, Leading), ("chart", Generate, Leading), ("check", Read, Leading), ("checker", Analyse, Either),
    ("checkout", Update, Leading), ("cherry", Update, Leading), ("classify", Analyse, Always),
    ("clear", Delete, Leading), ("click", Run, Leading), ("clone", Create, Always), ("close", Update, Leading),
    ("comment", Create, Either), ("commit", Create, Either), ("compare", Analyse, Always),
    ("comparison", Analyse, Either), ("compile", Generate, Leading), ("complete", Update, Leading),
    ("compose", Generate, Always), ("compress", Analyse, Leading), ("compute", Analyse, Either),
    ("conduct", Analyse, Leading), ("configure", Update, Always), ("confirm", Update, Leading),
    ("connect", Run, Leading), ("contact", Send, Leading), ("control", Run, Leading), ("convert", Analyse, Always),
    ("converter", Analyse, Either), ("copy", Create, Leading), ("count", Analyse, Leading),
    ("craft", Generate, Always), ("crawl", Read, Leading), ("create", Create, Always), ("customize", Update, Always),
    ("deactivate", Run, Always), ("debug", Analyse, Leading), ("decline", Update, Leading),
    ("decode", Analyse, Always), ("decrease", Update, Leading), ("decrypt", Analyse, Always),
    ("define", Create, Leading), ("del", Delete, Either), ("delete", Delete, Always), ("deliver", Send, Always),
    ("deploy", Run, Leading), ("deposit", Create, Leading), ("deregister", Delete, Always),
    ("describe", Read, Always), ("design", Generate, Leading), ("destroy", Delete, Always),
    ("detach", Delete, Leading), ("detect", Analyse, Always), ("detection", Analyse, Either),
    ("determine", Analyse, Always), ("diagnose", Analyse, Always), ("diff", Analyse, Leading),
    ("differentiate", Analyse, Leading), ("disable", Update, Leading), ("discard", Delete, Always),
    ("disconnect", Delete, Leading), ("discover", Read, Always), ("dispatch", Run, Leading),
    ("display", Read, Always), ("donate", Create, Leading), ("download", Read, Leading), ("draft", Create, Leading),
    ("drag", Run, Leading), ("draw", Generate, Always), ("drop", Delete, Leading), ("dump", Read, Leading),
    ("duplicate", Create, Always), ("edit", Update, Always), ("email", Send, Leading), ("empty", Delete, Leading),
    ("emulate", Run, Always), ("enable", Update, Leading), ("encode", Analyse, Always), ("encrypt", Analyse, Always),
    ("end", Run, Leading), ("enroll", Create, Always), ("enumerate", Read, Always), ("erase", Delete, Always),
    ("estimate", Analyse, Always), ("estimation", Analyse, Either), ("eval", Run, Leading),
    ("evaluate", Analyse, Always), ("evict", Delete, Always), ("examine", Analyse, Leading), ("exec", Run, Either),
    ("execute", Run, Always), ("explain", Analyse, Leading), ("explore", Read, Leading), ("export", Read, Leading),
    ("extend", Update, Leading), ("extract", Read, Leading), ("factor", Analyse, Leading), ("fetch", Read, Always),
    ("fill", Run, Leading), ("filter", Read, Leading), ("find", Read, Always), ("fix", Update, Leading),
    ("flush", Delete, Leading), ("follow", Update, Leading), ("forecast", Analyse, Either), ("fork", Create, Always),
    ("format", Analyse, Leading), ("forward", Send, Always), ("generate", Generate, Always),
    ("generator", Generate, Either), ("get", Read, Always), ("go", Run, Leading), ("handle", Update, Leading),
    ("hash", Analyse, Leading), ("health", Monitor, Either), ("help", Read, Leading), ("hire", Create, Leading),
    ("hover", Run, Leading), ("identify", Analyse, Always), ("illustrate", Generate, Always),
    ("imagine", Generate, Always), ("import", Create, Leading), ("increase", Update, Leading),
    ("increment", Update, Leading), ("index", Update, Either), ("infer", Analyse, Leading), ("init", Create, Leading),
    ("initialize", Create, Leading), ("insert", Create, Always), ("inspect", Read, Leading),
    ("install", Run, Leading), ("integrate", Analyse, Leading), ("interpolate", Analyse, Always),
    ("interpret", Analyse, Always), ("introduce", Create, Leading), ("investigate", Analyse, Leading),
    ("invite", Send, Always), ("invoke", Run, Always), ("join", Update, Leading), ("kill", Run, Leading),
    ("label", Update, Leading), ("launch", Run, Always), ("leave", Delete, Leading), ("link", Update, Leading),
    ("lint", Analyse, Leading), ("list", Read, Leading), ("listen", Monitor, Leading), ("load", Read, Either),
    ("locate", Read, Always), ("lock", Update, Leading), ("log", Create, Either), ("login", Run, Leading),
    ("logout", Run, Leading), ("look", Read, Leading), ("lookup", Read, Always), ("mail", Send, Either),
    ("maintain", Update, Leading), ("make", Create, Leading), ("manage", Update, Leading), ("mark", Update, Leading),
    ("match", Analyse, Leading), ("measure", Analyse, Leading), ("merge", Update, Leading),
    ("message", Send, Leading), ("migrate", Update, Leading), ("modify", Update, Always),
    ("monitor", Monitor, Either), ("move", Update, Leading), ("mute", Update, Leading), ("narrate", Generate, Always),
    ("navigate", Run, Always), ("new", Create, Leading), ("normalize", Analyse, Leading), ("note", Create, Either),
    ("notification", Send, Either), ("notify", Send, Always), ("observe", Monitor, Always), ("obtain", Read, Always),
    ("open", Create, Leading), ("optimize", Analyse, Always), ("order", Create, Either),
    ("organize", Update, Leading), ("overwrite", Update, Always), ("paint", Generate, Always),
    ("parse", Analyse, Always), ("patch", Update, Leading), ("pause", Run, Leading), ("pay", Create, Leading),
    ("peek", Read, Leading), ("perform", Run, Always), ("pin", Update, Leading), ("ping", Send, Leading),
    ("place", Create, Leading), ("plan", Generate, Either), ("play", Run, Leading), ("plot", Generate, Leading),
    ("poll", Monitor, Always), ("post", Create, Leading), ("power", Run, Leading), ("predict", Analyse, Always),
    ("prediction", Analyse, Either), ("prepare", Create, Leading), ("press", Run, Leading), ("process", Run, Leading),
    ("produce", Generate, Leading), ("profile", Analyse, Leading), ("provide", Read, Leading),
    ("provision", Create, Always), ("prune", Delete, Leading), ("publish", Send, Always),
    ("purchase", Create, Always), ("purge", Delete, Always), ("push", Update, Leading), ("put", Update, Leading),
    ("query", Read, Leading), ("rank", Analyse, Leading), ("rate", Create, Either), ("read", Read, Always),
    ("reason", Analyse, Leading), ("reassign", Update, Always), ("rebase", Update, Leading), ("reboot", Run, Always),
    ("recognize", Analyse, Leading), ("recommend", Analyse, Always), ("record", Create, Leading),
    ("redeem", Update, Leading), ("refresh", Update, Leading), ("register", Create, Always),
    ("reject", Update, Leading), ("remind", Send, Always), ("remove", Delete, Always), ("rename", Update, Always),
    ("render", Generate, Always), ("renew", Update, Leading), ("rent", Create, Leading), ("reopen", Update, Always),
    ("reorder", Update, Always), ("replace", Update, Always), ("reply", Send, Always), ("report", Create, Either),
    ("research", Analyse, Leading), ("reserve", Create, Always), ("reset", Update, Leading),
    ("resize", Analyse, Leading), ("resolve", Read, Leading), ("respond", Send, Always), ("restart", Run, Always),
    ("restore", Update, Leading), ("resume", Run, Leading), ("retrieve", Read, Always), ("retry", Run, Leading),
    ("return", Read, Always), ("revert", Update, Leading), ("review", Analyse, Leading), ("revise", Update, Always),
    ("revoke", Delete, Always), ("rm", Delete, Either), ("rollback", Update, Leading), ("rotate", Update, Leading),
    ("round", Analyse, Leading), ("run", Run, Leading), ("sanitize", Analyse, Leading), ("save", Update, Leading),
    ("scan", Read, Either), ("schedule", Create, Leading), ("score", Analyse, Leading), ("scrape", Read, Leading),
    ("screenshot", Read, Leading), ("scroll", Run, Leading), ("search", Read, Leading), ("see", Read, Leading),
    ("select", Read, Leading), ("send", Send, Always), ("set", Update, Leading), ("share", Send, Either),
    ("show", Read, Leading), ("shutdown", Run, Leading), ("simulate", Analyse, Always), ("sms", Send, Leading),
    ("snapshot", Read, Leading), ("solve", Analyse, Always), ("sort", Update, Leading), ("stage", Update, Leading),
    ("star", Update, Leading), ("start", Run, Leading), ("stop", Run, Leading), ("store", Update, Leading),
    ("submit", Create, Leading), ("subscribe", Monitor, Leading), ("suggest", Analyse, Always),
    ("sum", Analyse, Leading), ("summarise", Analyse, Always), ("summarize", Analyse, Always),
    ("suspend", Run, Leading), ("swap", Update, Leading), ("swipe", Run, Leading), ("switch", Update, Leading),
    ("sync", Update, Leading), ("synthesise", Generate, Always), ("synthesize", Generate, Always),
    ("tag", Update, Leading), ("tail", Monitor, Leading), ("take", Read, Leading), ("tap", Run, Leading),
    ("tell", Read, Always), ("terminate", Run, Leading), ("test", Analyse, Leading), ("think", Analyse, Leading),
    ("toggle", Update, Always), ("tokenize", Analyse, Leading), ("trace", Monitor, Leading),
    ("track", Monitor, Leading), ("tracker", Monitor, Either), ("transcribe", Analyse, Leading),
    ("transfer", Update, Leading), ("transform", Analyse, Leading), ("transition", Update, Leading),
    ("translate", Analyse, Always), ("trash", Delete, Leading), ("trigger", Run, Leading),
    ("truncate", Delete, Leading), ("tune", Update, Leading), ("turn", Update, Leading), ("tweet", Send, Leading),
    ("type", Run, Leading), ("unarchive", Update, Always), ("unassign", Delete, Always), ("undelete", Update, Always),
    ("undo", Delete, Leading), ("unfollow", Delete, Always), ("uninstall", Delete, Always),
    ("unlink", Update, Leading), ("unlock", Update, Always), ("unmute", Update, Leading), ("unpin", Update, Leading),
    ("unregister", Delete, Always), ("unshare", Delete, Leading), ("unstage", Update, Leading),
    ("unsubscribe", Delete, Always), ("update", Update, Always), ("upgrade", Update, Leading),
    ("upload", Create, Always), ("upsert", Update, Always), ("use", Run, Leading), ("validate", Analyse, Always),
    ("validator", Analyse, Either), ("verify", Analyse, Always), ("view", Read, Leading), ("visit", Run, Leading),
    ("visualise", Generate, Always), ("visualize", Generate, Always), ("vote", Create, Either),
    ("wait", Monitor, Leading), ("watch", Monitor, Leading), ("withdraw", Delete, Leading), ("write", Update, Always),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(VERBS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn forms_are_reduced() {
        for (word, base) in [
            ("gets", "get"),
            ("searches", "search"),
            ("queries", "query"),
            ("retrieves", "retrieve"),
            ("getting", "get"),
            ("creating", "create"),
            ("listing", "list"),
            ("analyses", "analyse"),
        ] {
            assert!(verb(base).is_some() && inflected(word) == verb(base), "{word}");
        }
        for word in ["", "s", "ing", "deleted", "news", "string", "🎉s"] {
            assert_eq!(inflected(word), None, "{word}");
        }
    }
}
