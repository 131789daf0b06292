mod agent_log;
mod message;
mod names;
mod steps;
#[cfg(test)]
mod tests;
mod turn_line;
mod values;

use std::path::Path;

use serde_json::{Map, Value};

use self::{agent_log::AgentLog, names::Names, turn_line::TurnLines, values::values};
use crate::{Error, Result, catalog::Catalog, client::read_text, id::ToolId};

/// Recorded conversations, and the tools that they needed.
///
/// They come from a benchmark set, see [`DataSet::trace`](super::DataSet::trace), or from files of
/// one of two forms; which one a file has is told by its first value.
///
/// **Turns**: JSON Lines, one line a turn. `conversation` and `text` are required:
///
/// ```json
/// {"conversation": "c1", "time": "2026-05-04T09:00:00Z", "text": "who is on call?", "tools_used": [["on-call", "get_shift"]], "results": ["Ada until 18:00"], "answer": "Ada is."}
/// {"conversation": "c1", "time": "2026-05-04T09:01:10Z", "text": "page her", "tools_used": [["on-call", "page"]], "results": [40]}
/// ```
///
/// `time` is that or a number of seconds; a turn without one comes a
/// [pause](super::SimulationOptions::pause_seconds) after the turn before. `results` go with
/// `tools_used` one by one: a text, a number of tokens that a text of that size stands for, or
/// `null` for one that was not kept. The turns of several conversations may be mixed.
///
/// **Messages**: what agents log. An array of messages of Anthropic Messages or OpenAI Chat
/// Completions; an object with such an array as `messages`, as request bodies are; arrays and
/// objects one a line; or one message a line, alone or as `message` of a record with `timestamp`
/// and `sessionId`, as Claude Code writes them. What the user says begins a turn, calls and their
/// results are read by their ids, and what the model says is the answer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Trace {
    /// Where they are from, for reports: the set's name, or the names of the files.
    pub source: String,
    /// The conversations, in the order in which they begin.
    pub conversations: Vec<Conversation>,
    /// What form each file has, and what of it could not be used.
    pub notes: Vec<String>,
}

/// One conversation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Conversation {
    /// As the source names it.
    pub id: String,
    /// The host's own text, where the source has it.
    pub system: Option<String>,
    /// What was asked, oldest first.
    pub turns: Vec<TraceTurn>,
    /// What it needs beside the tools that its turns used, at any time: of each group one tool, any
    /// of them.
    pub needs: Vec<Vec<ToolId>>,
}

/// One turn: what the user said, and all that came of it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TraceTurn {
    /// When it was asked, in seconds from wherever the source counts. `None` if it does not say.
    pub time: Option<u64>,
    /// What the user said.
    pub text: String,
    /// The calls that the model made, those that it made at once together.
    pub rounds: Vec<Vec<TraceCall>>,
    /// What the model said. `None` if it was not kept.
    pub answer: Option<String>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TraceCall {
    /// The tool, which is in the catalog.
    pub tool: ToolId,
    /// Its arguments; empty if they were not kept.
    pub arguments: Map<String, Value>,
    /// What it gave. `None` if that was not kept.
    pub result: Option<String>,
}

impl Trace {
    /// The largest file that is read: 256 MiB.
    pub const MAX_BYTES: u64 = 256 << 20;

    /// The most turns of one conversation: 10,000.
    pub const MAX_TURNS: usize = 10_000;

    /// The most tokens that a number stands for as a result: 1,000,000.
    pub const MAX_RESULT_TOKENS: u64 = 1_000_000;

    /// Reads files. Tools that the catalog does not have are left out, and [`Self::notes`] say so:
    /// they could not be offered.
    ///
    /// # Errors
    /// [`Error::File`], with the line, if a file cannot be read or holds what it must not: a trace
    /// that is only partly understood would give wrong figures.
    pub fn open(paths: &[impl AsRef<Path>], catalog: &Catalog) -> Result<Self> {
        let mut trace = Self::default();
        let mut sources = Vec::new();
        for path in paths {
            let path = path.as_ref();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = read_text(path, Self::MAX_BYTES)?;
            let one = Self::read(&name, &text, catalog).map_err(|reason| Error::File {
                path: path.to_owned(),
                reason,
                source: None,
            })?;
            trace.conversations.extend(one.conversations);
            trace.notes.extend(one.notes);
            sources.push(name);
        }
        trace.source = sources.join(", ");
        Ok(trace)
    }

    /// Reads the text of one file. `name` is what reports and notes call it.
    ///
    /// # Errors
    /// What is wrong with it, with the line.
    pub fn read(name: &str, text: &str, catalog: &Catalog) -> Result<Self, String> {
        let mut names = Names::new(catalog);
        let mut values = values(text).peekable();
        let is_turns = match values.peek() {
            None => return Err("it holds nothing".into()),
            Some(Ok((_, value))) => value.get("conversation").is_some(),
            // Said by whoever reads on.
            Some(Err(_)) => false,
        };
        let (form, conversations, left_out) = if is_turns {
            let mut lines = TurnLines::default();
            for value in values {
                let (line, value) = value?;
                lines.add(value, &mut names).map_err(|reason| format!("line {line}: {reason}"))?;
            }
            ("turns".to_owned(), lines.finish(), None)
        } else {
            let mut log = AgentLog::new(name);
            for value in values {
                let (line, value) = value?;
                log.add(&value, &mut names).map_err(|reason| format!("line {line}: {reason}"))?;
            }
            let left_out = log.left_out();
            (log.form(), log.finish(), left_out)
        };
        if conversations.is_empty() {
            return Err(format!("read as {form}, it holds no turn"));
        }
        let notes = std::iter::once(format!("read as {form}: {} conversations", conversations.len()));
        let notes = notes.chain(left_out).chain(names.unknown()).map(|note| format!("{name}: {note}"));
        Ok(Self { source: name.to_owned(), notes: notes.collect(), conversations })
    }

    /// How many turns the conversations have together.
    pub fn turns(&self) -> usize {
        self.conversations.iter().map(|conversation| conversation.turns.len()).sum()
    }
}

impl TraceTurn {
    /// What the user said, with nothing known of what came of it.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The tools that were called.
    pub fn used(&self) -> impl Iterator<Item = &ToolId> {
        self.rounds.iter().flatten().map(|call| &call.tool)
    }
}

impl TraceCall {
    /// A call of a tool, of which nothing more is known.
    pub fn new(tool: ToolId) -> Self {
        Self { tool, arguments: Map::new(), result: None }
    }
}

impl Conversation {
    /// A conversation without turns.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// Adds a turn, unless there are too many.
    fn push(&mut self, turn: TraceTurn) -> Result<(), String> {
        if self.turns.len() == Trace::MAX_TURNS {
            return Err(format!("conversation `{}` has more than {} turns", self.id, Trace::MAX_TURNS));
        }
        self.turns.push(turn);
        Ok(())
    }
}
