use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    left_out::LeftOut,
    options::PromptOptions,
    piece::{Piece, bytes},
};
use crate::{
    Result,
    catalog::{Catalog, PromptEntry},
    error::{ClientError, excerpt},
    id::ResourceId,
    protocol::{GetPromptResult, PromptMessage},
};

/// What a server answered to an invocation, within bounds and without what is not for the model.
/// All of it is that server's.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptAnswer {
    /// The prompt, as it was listed when it was invoked.
    pub entry: Arc<PromptEntry>,
    /// For people; untrusted.
    pub description: Option<String>,
    /// The messages that may reach the model, in the server's order.
    pub messages: Vec<PromptMessage>,
    /// What may not, in the same order.
    pub left_out: Vec<LeftOut>,
    /// What else a person should know: messages that could not be read, an answer without any.
    pub notes: Vec<String>,
    /// The most tokens that the host's rules let a resource have, by the message of the answer.
    max_tokens: BTreeMap<usize, usize>,
}

impl PromptAnswer {
    /// The most notes about messages that could not be read.
    const MAX_NOTES: usize = 16;

    /// Checks an answer, for hosts that ask a server themselves. A resource that `catalog` lists for
    /// the user only stays with the user, whatever the answer says.
    ///
    /// # Errors
    /// [`Error::Server`](crate::Error::Server) for more messages or bytes than `options` take: a part
    /// of a prompt could mean something else than the whole.
    pub fn new(
        catalog: &Catalog,
        entry: &Arc<PromptEntry>,
        result: GetPromptResult,
        options: &PromptOptions,
    ) -> Result<Self> {
        let server = &entry.id.server;
        let too_much = |what: &str, is: usize, most: usize| {
            let reason = format!("prompt `{}` has {is} {what}, more than {most}", excerpt(&entry.id.name));
            ClientError::malformed(reason).at(server, "prompts/get")
        };
        let bytes = result.messages.iter().map(|message| bytes(&message.content)).sum();
        if result.messages.len() > options.messages {
            return Err(too_much("messages", result.messages.len(), options.messages));
        }
        if bytes > options.bytes {
            return Err(too_much("bytes", bytes, options.bytes));
        }
        let mut answer = Self {
            entry: Arc::clone(entry),
            description: result.description,
            messages: Vec::with_capacity(result.messages.len()),
            left_out: Vec::new(),
            notes: result.notes.iter().take(Self::MAX_NOTES).map(|note| excerpt(note)).collect(),
            max_tokens: BTreeMap::new(),
        };
        if result.notes.len() > Self::MAX_NOTES {
            answer.notes.push(format!("and {} more", result.notes.len() - Self::MAX_NOTES));
        }
        if result.messages.is_empty() {
            answer.notes.push("the server gave no message".into());
        }
        for (i, message) in result.messages.into_iter().enumerate() {
            let piece = Piece::of(&message.content);
            let resource = piece.uri.map(|uri| ResourceId::new(server.clone(), uri));
            match piece.permitted(resource.as_ref(), catalog, options) {
                Ok(max_tokens) => {
                    answer.max_tokens.extend(max_tokens.map(|most| (i, most)));
                    answer.messages.push(message);
                }
                Err(reason) => {
                    answer.left_out.push(LeftOut { message: i, kind: piece.kind, resource, reason });
                }
            }
        }
        if answer.messages.is_empty() && !answer.left_out.is_empty() {
            answer.notes.push("nothing of it is for the model".into());
        }
        Ok(answer)
    }

    /// The messages with their places in the server's answer, and what each may cost at most where a
    /// rule says so.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (usize, &PromptMessage, Option<usize>)> {
        let gone: BTreeSet<usize> = self.left_out.iter().map(|piece| piece.message).collect();
        let places = (0..).filter(move |place| !gone.contains(place));
        places.zip(&self.messages).map(|(place, message)| (place, message, self.max_tokens.get(&place).copied()))
    }
}
