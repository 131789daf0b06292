use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Session, composer::Composer, event::SessionEvent, memory::Memory, options::SessionOptions, record::Record,
    sent::Wire,
};
use crate::{
    Error, Result,
    catalog::PromptEntry,
    id::{PromptId, ToolId},
    json::Digest,
    prompts::Invoked,
    protocol::Prompt,
};

/// What a file of a session is written as. Its version rises when an older program could not go on
/// with it.
const VERSION: u32 = 1;

/// A session as it is kept.
#[derive(Deserialize, Serialize)]
struct Saved {
    version: u32,
    now: Timestamp,
    record: Record,
    offered: BTreeMap<String, ToolId>,
    memory: Memory,
    invoked: Vec<SavedPrompt>,
    /// What happened since the last turn.
    event: Option<SessionEvent>,
    wire: Wire,
}

#[derive(Deserialize, Serialize)]
struct SavedPrompt {
    id: PromptId,
    definition: Value,
    digest: Digest,
    result: Digest,
}

/// Read before the rest, which an older version may hold otherwise.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl Session {
    /// The session as JSON, to [go on](Self::restore) with after a restart: what its prefix holds,
    /// word for word, and what its follow-ups lean on. The host's messages are not in it, and neither
    /// are the options.
    ///
    /// It holds what servers sent for this conversation, attached resources included: keep it as
    /// you keep the conversation.
    pub fn to_json(&self) -> String {
        let prompt = |invoked: &Invoked| SavedPrompt {
            id: invoked.entry.id.clone(),
            definition: invoked.entry.prompt.to_value(),
            digest: invoked.entry.digest,
            result: invoked.result,
        };
        let saved = Saved {
            version: VERSION,
            now: self.now,
            record: self.record.clone(),
            offered: self.offered.clone(),
            memory: self.memory.clone(),
            invoked: self.invoked.iter().map(prompt).collect(),
            event: self.event,
            wire: self.wire.clone(),
        };
        // Strings, numbers and canonical schemas: there is nothing in it that has no JSON.
        serde_json::to_string(&saved).unwrap_or_default()
    }

    /// Goes on with a session that was [written](Self::to_json) before. With the same messages it
    /// renders the same bytes, whatever the servers list now.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a text that is no session, and for one that a newer version wrote.
    pub fn restore(composer: Arc<Composer>, options: SessionOptions, json: &str) -> Result<Self> {
        let what = "saved session";
        let no_session = |error: serde_json::Error| Error::invalid(what, error.to_string());
        let Version { version } = serde_json::from_str(json).map_err(no_session)?;
        if version != VERSION {
            return Err(Error::invalid(
                what,
                format!("it has version {version}, this program reads version {VERSION}"),
            ));
        }
        let saved: Saved = serde_json::from_str(json).map_err(no_session)?;
        let prompt = |saved: SavedPrompt| {
            let prompt = Prompt::read(saved.definition).map_err(|reason| Error::invalid(what, reason))?.item;
            let entry = Arc::new(PromptEntry { id: saved.id, prompt, digest: saved.digest });
            Ok(Invoked::new(entry, saved.result))
        };
        let mut session = Self::with_options(composer, saved.now, options);
        session.record = saved.record;
        session.offered = saved.offered;
        session.memory = saved.memory;
        session.event = saved.event;
        session.wire = saved.wire;
        session.invoked = saved.invoked.into_iter().map(prompt).collect::<Result<_>>()?;
        Ok(session)
    }
}
