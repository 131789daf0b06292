use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::{
    Conversation, TraceCall, TraceTurn,
    message::{Api, Piece, pieces, text},
    names::Names,
    turn_line::seconds,
};

/// Reads what agents log: messages, alone or in lists.
pub(super) struct AgentLog {
    /// What a conversation without a name of its own is called after.
    name: String,
    recordings: Vec<Recording>,
    by_id: HashMap<String, usize>,
    apis: BTreeSet<Api>,
    /// How many values are no messages.
    others: usize,
}

/// A conversation as far as it was read.
#[derive(Default)]
struct Recording {
    conversation: Conversation,
    /// Whether the model did anything in the last turn: what the user says next begins another.
    is_answered: bool,
    /// Whether calls of the last round have results: the next call begins another.
    has_results: bool,
    /// Where the calls of the last turn stand, by their ids.
    calls: HashMap<String, (usize, usize)>,
}

impl AgentLog {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), recordings: Vec::new(), by_id: HashMap::new(), apis: BTreeSet::new(), others: 0 }
    }

    /// Adds a value: a message, a list of messages, an object that holds one of them, or a list of such
    /// objects.
    pub(super) fn add(&mut self, value: &Value, names: &mut Names<'_>) -> Result<(), String> {
        let list = |value: &Value| value.get("messages").is_some_and(Value::is_array);
        match value {
            Value::Array(values) if values.iter().any(list) => {
                values.iter().try_for_each(|value| self.add(value, names))
            }
            Value::Array(messages) => self.add_all(&Value::Null, messages, names),
            Value::Object(object) => match object.get("messages").and_then(Value::as_array) {
                Some(messages) => self.add_all(value, messages, names),
                None => self.add_record(value, names),
            },
            _ => Err("it is neither a message nor a list of messages".into()),
        }
    }

    /// What it was read as.
    pub(super) fn form(&self) -> String {
        match self.apis.first() {
            Some(Api::Anthropic) if self.apis.len() == 1 => "messages of Anthropic's form".into(),
            Some(Api::OpenAiChat) if self.apis.len() == 1 => "messages of OpenAI Chat's form".into(),
            _ => "messages".into(),
        }
    }

    pub(super) fn left_out(&self) -> Option<String> {
        (self.others > 0).then(|| format!("{} values are left out: they are no messages", self.others))
    }

    pub(super) fn finish(self) -> Vec<Conversation> {
        let conversations = self.recordings.into_iter().map(|recording| recording.conversation);
        conversations.filter(|conversation| !conversation.turns.is_empty()).collect()
    }

    /// A whole conversation.
    fn add_all(&mut self, of: &Value, messages: &[Value], names: &mut Names<'_>) -> Result<(), String> {
        let id = id(of).unwrap_or_else(|| format!("{} {}", self.name, self.recordings.len() + 1));
        let mut recording = Recording::default();
        recording.conversation.id = id;
        recording.conversation.system = of.get("system").and_then(text);
        for message in messages {
            self.take(&mut recording, message, names)?;
        }
        self.recordings.push(recording);
        Ok(())
    }

    /// One message of a conversation that others belong to. What a sub-agent says is another's.
    fn add_record(&mut self, record: &Value, names: &mut Names<'_>) -> Result<(), String> {
        if record.get("isSidechain").and_then(Value::as_bool) == Some(true) {
            self.others += 1;
            return Ok(());
        }
        let id = id(record).unwrap_or_else(|| self.name.clone());
        let next = self.recordings.len();
        let at = *self.by_id.entry(id.clone()).or_insert(next);
        if at == next {
            self.recordings.push(Recording::default());
        }
        let Some(recording) = self.recordings.get_mut(at) else { return Ok(()) };
        let mut recording = std::mem::take(recording);
        recording.conversation.id = id;
        let taken = self.take(&mut recording, record, names);
        if let Some(place) = self.recordings.get_mut(at) {
            *place = recording;
        }
        taken
    }

    fn take(&mut self, recording: &mut Recording, record: &Value, names: &mut Names<'_>) -> Result<(), String> {
        let message = record.get("message").filter(|message| message.is_object()).unwrap_or(record);
        let Some((api, pieces)) = pieces(message) else {
            self.others += 1;
            return Ok(());
        };
        self.apis.extend(api);
        let time = time(record);
        pieces.into_iter().try_for_each(|piece| recording.add(piece, time, names))
    }
}

impl Recording {
    fn add(&mut self, piece: Piece<'_>, time: Option<u64>, names: &mut Names<'_>) -> Result<(), String> {
        let Some(turn) = self.conversation.turns.last_mut() else {
            match piece {
                Piece::System(text) => append(&mut self.conversation.system, &text),
                Piece::Asked(text) => return self.begin(text, time),
                // The log begins in the middle of a turn.
                _ => {}
            }
            return Ok(());
        };
        match piece {
            Piece::Asked(text) if self.is_answered => return self.begin(text, time),
            Piece::Asked(text) => {
                turn.text.push('\n');
                turn.text.push_str(&text);
            }
            Piece::Said(text) => {
                self.is_answered = true;
                append(&mut turn.answer, &text);
            }
            Piece::Call { id, name, arguments } => {
                self.is_answered = true;
                let Some(tool) = names.of_model(name) else { return Ok(()) };
                if self.has_results || turn.rounds.is_empty() {
                    turn.rounds.push(Vec::new());
                    self.has_results = false;
                }
                let round = turn.rounds.len() - 1;
                if let Some(calls) = turn.rounds.last_mut() {
                    self.calls.insert(id.to_owned(), (round, calls.len()));
                    calls.push(TraceCall { arguments, ..TraceCall::new(tool) });
                }
            }
            Piece::Result { id, text } => {
                let place = self.calls.get(id);
                let call = place.and_then(|(round, call)| turn.rounds.get_mut(*round)?.get_mut(*call));
                if let Some(call) = call {
                    call.result = Some(text);
                    self.has_results = true;
                }
            }
            // What the host says in between is no part of the front.
            Piece::System(_) => {}
        }
        Ok(())
    }

    fn begin(&mut self, text: String, time: Option<u64>) -> Result<(), String> {
        let last = self.conversation.turns.iter().rev().find_map(|turn| turn.time);
        (self.is_answered, self.has_results) = (false, false);
        self.calls.clear();
        // Clocks of several machines may be behind each other.
        let time = time.map(|time| time.max(last.unwrap_or_default()));
        self.conversation.push(TraceTurn { time, ..TraceTurn::new(text) })
    }
}

fn append(text: &mut Option<String>, more: &str) {
    match text {
        Some(text) => {
            text.push('\n');
            text.push_str(more);
        }
        None => *text = Some(more.to_owned()),
    }
}

fn id(of: &Value) -> Option<String> {
    let keys = ["sessionId", "session_id", "conversation_id", "thread_id", "custom_id", "id"];
    keys.into_iter().find_map(|key| of.get(key)?.as_str()).map(str::to_owned)
}

/// When a record was made, as far as it says so.
fn time(record: &Value) -> Option<u64> {
    let keys = ["timestamp", "created_at", "time"];
    let time = keys.into_iter().find_map(|key| record.get(key))?;
    let milliseconds = time.as_u64().filter(|time| *time > 100_000_000_000);
    milliseconds.map(|time| time / 1_000).or_else(|| seconds(time).ok())
}
