use std::{cmp::Reverse, fmt::Write};

use super::{phrase::Phrase, tools::SEARCH_TOOLS};
use crate::{
    catalog::Catalog,
    id::ServerId,
    prompts::shown,
    render::{neutral, tool_outline},
    retrieval::Filter,
    tokens::{CountCache, TokenBudget},
};

/// What a search can find, as a short text for the model: a line for each server, with how many tools it
/// has and what it is for. For the system text, where it is part of the prefix.
///
/// Depends on the catalog and the filter alone: servers stand by their ids, whatever order they
/// connected in, and what is said of one does not depend on the others. Servers whose tools the filter
/// excludes are not named.
///
/// What a server is for says its own description, else the words that its tools' names share. That is
/// server text: it stands on one line, bounded, between delimiters that it can neither open nor close.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct Outline {
    /// By id.
    servers: Vec<Line>,
    tools: usize,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Line {
    server: String,
    tools: usize,
    phrase: Phrase,
}

/// How much of it is told. Each step is shorter than the one before.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A line for each server, with how many tools it has and a phrase of so many characters.
    Phrases(usize),
    /// The same without how many: words help a search more than numbers.
    Words(usize),
    /// Names alone.
    Names,
    /// So many names, of the servers with the most tools, and how many more there are.
    Largest(usize),
    /// How many there are.
    Counts,
}

impl Outline {
    /// The most characters of a server's name.
    const MAX_NAME: usize = 64;

    const STEPS: [Step; 16] = [
        Step::Phrases(120),
        Step::Phrases(80),
        Step::Phrases(56),
        Step::Phrases(40),
        Step::Phrases(28),
        Step::Words(28),
        Step::Words(14),
        Step::Names,
        Step::Largest(128),
        Step::Largest(64),
        Step::Largest(32),
        Step::Largest(16),
        Step::Largest(8),
        Step::Largest(4),
        Step::Largest(1),
        Step::Counts,
    ];

    /// Of the tools of a catalog that a filter lets pass.
    pub fn new(catalog: &Catalog, filter: &Filter) -> Self {
        let tools: Vec<_> = catalog.tools().iter().filter(|entry| filter.passes(entry)).collect();
        let of_servers = tools.chunk_by(|a, b| a.id.server == b.id.server);
        let servers = of_servers.filter_map(|tools| {
            let server = catalog.server(&tools.first()?.id.server)?;
            Some(Line { server: name(&server.id), tools: tools.len(), phrase: Phrase::of(server, tools) })
        });
        Self { servers: servers.collect(), tools: tools.len() }
    }

    /// How many servers it names if there is room.
    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    /// How many tools it stands for.
    pub fn tools(&self) -> usize {
        self.tools
    }

    /// The text within a budget, delimiters included. What does not fit goes step by step: phrases become
    /// shorter, each server's number of tools goes, then only names stay, then those of the servers with
    /// the most tools, then the number of servers and tools. Empty if there are no tools, or not even that
    /// fits.
    pub fn text(&self, budget: TokenBudget, counts: &CountCache) -> String {
        if self.tools == 0 {
            return String::new();
        }
        let mut texts = Self::STEPS.iter().map(|step| tool_outline(&self.lines(*step)));
        texts.find(|text| counts.count(text) <= budget.tokens()).unwrap_or_default()
    }

    fn lines(&self, step: Step) -> String {
        let mut out =
            format!("{} tools on {} servers can be found with {SEARCH_TOOLS}", self.tools, self.servers.len());
        match step {
            Step::Phrases(max_chars) => {
                out.push_str(". Servers, with how many tools each has and what for:");
                self.phrased(&mut out, max_chars, true);
            }
            Step::Words(max_chars) => {
                out.push_str(". Servers, and what for:");
                self.phrased(&mut out, max_chars, false);
            }
            Step::Names => self.named(&mut out, self.servers.len()),
            Step::Largest(most) => self.named(&mut out, most),
            Step::Counts => out.push('.'),
        }
        out
    }

    fn phrased(&self, out: &mut String, max_chars: usize, counted: bool) {
        for line in &self.servers {
            _ = write!(out, "\n- {}", line.server);
            if counted {
                _ = write!(out, " ({})", line.tools);
            }
            let phrase = line.phrase.within(max_chars);
            if !phrase.is_empty() {
                _ = write!(out, ": {phrase}");
            }
        }
    }

    /// Writes the names of the servers with the most tools, by id.
    fn named(&self, out: &mut String, most: usize) {
        let mut largest: Vec<usize> = (0..self.servers.len()).collect();
        largest.sort_by_key(|i| (Reverse(self.servers.get(*i).map_or(0, |line| line.tools)), *i));
        largest.truncate(most);
        largest.sort_unstable();
        out.push_str(". Servers:");
        for (i, line) in largest.iter().filter_map(|i| self.servers.get(*i)).enumerate() {
            _ = write!(out, "{} {}", if i == 0 { "" } else { "," }, line.server);
        }
        let more = self.servers.len().saturating_sub(most);
        if more > 0 {
            _ = write!(out, " and {more} more servers");
        }
    }
}

fn name(server: &ServerId) -> String {
    neutral(&shown(server.as_str(), Outline::MAX_NAME))
}
