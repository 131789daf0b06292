use std::{collections::BTreeMap, fmt};

use crate::{id::PromptId, protocol::InputResponses};

/// A prompt that a person invoked, with the arguments that they gave: the only thing that
/// [`get`](super::get) takes.
///
/// Make one where a person acted, and nowhere else: not for a model, not for a server, not by a rule.
/// Not shown by `Debug`: what a person typed is theirs.
#[derive(Clone, PartialEq)]
#[must_use = "an invocation does nothing until the prompt is got"]
pub struct Invocation {
    id: PromptId,
    arguments: BTreeMap<String, String>,
    input: Option<InputResponses>,
}

impl Invocation {
    /// A person chose this prompt.
    pub fn by_user(id: PromptId) -> Self {
        Self { id, arguments: BTreeMap::new(), input: None }
    }

    /// Adds an argument, or replaces it. The value is data: it is sent as it is.
    pub fn with_argument(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.arguments.insert(name.into(), value.into());
        self
    }

    /// Sets all arguments.
    pub fn with_arguments(mut self, arguments: BTreeMap<String, String>) -> Self {
        self.arguments = arguments;
        self
    }

    /// Adds what the user answered to a server that
    /// [asked for input](crate::error::ClientError::InputRequired) first: the same request is sent
    /// again with it.
    pub fn with_input(mut self, input: InputResponses) -> Self {
        self.input = Some(input);
        self
    }

    /// Which prompt.
    pub fn id(&self) -> &PromptId {
        &self.id
    }

    /// The arguments by name.
    pub fn arguments(&self) -> &BTreeMap<String, String> {
        &self.arguments
    }

    /// What the user answered to the server.
    pub fn input(&self) -> Option<&InputResponses> {
        self.input.as_ref()
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation")
            .field("id", &self.id)
            .field("arguments", &self.arguments.keys())
            .finish_non_exhaustive()
    }
}
