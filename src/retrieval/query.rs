/// What is asked for.
///
/// The text is untrusted and may be long; what an index uses of it is bounded by
/// [`Query::MAX_CHARS`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// The request in the user's or the model's words.
    pub text: String,
}

impl Query {
    /// The most characters that are searched with: the beginning of a longer text.
    pub const MAX_CHARS: usize = 8_192;

    /// A query of one text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// The text that is searched with.
    pub fn searched(&self) -> &str {
        match self.text.char_indices().nth(Self::MAX_CHARS) {
            Some((end, _)) => &self.text[..end],
            None => &self.text,
        }
    }
}

impl From<&str> for Query {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Query {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}
