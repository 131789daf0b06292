use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use proem::{
    Host, Session,
    render::{Message, Request},
    session::{Sent, SessionOptions},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::output::Failure;

/// A conversation that is kept in a file between runs.
pub(crate) struct Conversation {
    path: Option<PathBuf>,
    pub(crate) session: Session,
    pub(crate) messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Saved {
    session: Box<RawValue>,
    messages: Vec<Message>,
}

#[derive(Serialize)]
struct Saving<'a> {
    session: &'a RawValue,
    messages: &'a [Message],
}

impl Conversation {
    /// Goes on with the conversation in a file, or begins one.
    pub(crate) fn open(
        path: Option<&Path>,
        host: &Host,
        options: SessionOptions,
        now: Timestamp,
    ) -> Result<Self, Failure> {
        let begin = |options| Session::with_options(std::sync::Arc::clone(host.composer()), now, options);
        let Some(path) = path else {
            return Ok(Self { path: None, session: begin(options), messages: Vec::new() });
        };
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let (session, messages) = match fs::read_to_string(path) {
            Ok(text) => {
                let saved: Saved = serde_json::from_str(&text).map_err(|error| {
                    named(&format!("it is no conversation that `proem plan --session` wrote: {error}"))
                })?;
                let session = host.restore_session(options, saved.session.get()).map_err(|error| named(&error))?;
                (session, saved.messages)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => (begin(options), Vec::new()),
            Err(error) => return Err(named(&error).into()),
        };
        Ok(Self { path: Some(path.to_owned()), session, messages })
    }

    /// Takes the turn for sent, and writes the file.
    pub(crate) fn close(mut self, query: &str, request: &Request, now: Timestamp) -> Result<Option<Sent>, Failure> {
        let Some(path) = self.path.take() else { return Ok(None) };
        let sent = self.session.sent(request, now)?;
        self.messages.push(Message::user(query));
        let session = RawValue::from_string(self.session.to_json())?;
        let text = serde_json::to_string(&Saving { session: &session, messages: &self.messages })?;
        write(&path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Some(sent))
    }
}

/// Writes a file as a whole: who stops in between leaves the old one.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file = fs::File::create(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(beside, path)
}
