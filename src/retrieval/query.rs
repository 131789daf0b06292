use super::follow_up::Weight;
use crate::id::ToolId;

/// What is asked for: one text, several sub-queries, or the newest turn of a conversation.
///
/// ```
/// use proem::{
///     catalog::Catalog,
///     id::ServerId,
///     protocol::Tool,
///     retrieval::{Filter, Lexical, Origin, Query, Retriever},
/// };
///
/// let catalog = Catalog::builder()
///     .tool(ServerId::new("git")?, Tool::new("merge", "Merge a branch into the current one"))
///     .tool(ServerId::new("mail")?, Tool::new("send_mail", "Send an e-mail to a person"))
///     .build();
/// let index = Lexical::new().index(&catalog, None)?;
///
/// let release = Query::of_parts(["merge the release branch", "mail the team"]);
/// let hits = index.search(&release, &Filter::new(), 5)?.hits;
/// assert_eq!((hits[1].tool.to_string(), hits[1].origin), ("mail/send_mail".into(), Origin::SubQuery(1)));
///
/// let agreed = Query::new("yes, do it").with_turns(["merge the release branch"]);
/// let hits = index.search(&agreed, &Filter::new(), 5)?.hits;
/// assert_eq!((hits[0].tool.to_string(), hits[0].origin), ("git/merge".into(), Origin::Turn(1)));
/// # Ok::<(), proem::Error>(())
/// ```
///
/// All texts are untrusted and may be long; what is searched with is bounded by
/// [`Query::MAX_CHARS`] and [`Query::MAX_PARTS`].
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// The request in the user's or the model's words.
    pub text: String,
    /// The parts that the request comes to. If there are any, each is searched for, and the whole
    /// text after them: of a benchmark's requests with their steps, that found 63 % of the needed
    /// tools among the first five, the steps alone 59 %, and nothing less among the first ten.
    pub sub_queries: Vec<String>,
    /// What the user asked before, newest last. Counts only for a [follow-up](Self::is_follow_up).
    pub turns: Vec<String>,
    /// The tools used before, newest last. Count only for a [follow-up](Self::is_follow_up).
    pub recent_tools: Vec<ToolId>,
}

impl Query {
    /// The most characters that are searched with, over all texts together: the beginning of what is longer.
    pub const MAX_CHARS: usize = 8_192;

    /// The most sub-queries that are searched, the most turns that are looked back at, and the
    /// most recent tools. Each costs a search, and plans of more steps are not made in one turn.
    pub const MAX_PARTS: usize = 16;

    /// A query of one text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A query of several parts; its text is a line for each. Empty parts are ignored, and one
    /// part is a query of one text.
    ///
    /// Parts are worth having where a request needs several tools: with the steps of its tasks as
    /// parts, a benchmark of such requests found 71 % of the needed tools among the first ten,
    /// with the requests as they are 44 %.
    pub fn of_parts<T: Into<String>>(parts: impl IntoIterator<Item = T>) -> Self {
        let parts = parts.into_iter().map(Into::into).filter(|part| !part.trim().is_empty());
        let parts: Vec<String> = parts.take(Self::MAX_PARTS).collect();
        let text = parts.join("\n");
        Self { text, sub_queries: if parts.len() > 1 { parts } else { Vec::new() }, ..Self::default() }
    }

    /// Adds a part that the request comes to, in the order of importance: of hits that are equally
    /// high in two parts, that of the earlier part comes first.
    #[must_use]
    pub fn with_sub_query(mut self, text: impl Into<String>) -> Self {
        self.sub_queries.push(text.into());
        self
    }

    /// Sets what the user asked before, newest last.
    #[must_use]
    pub fn with_turns<T: Into<String>>(mut self, turns: impl IntoIterator<Item = T>) -> Self {
        self.turns = turns.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the tools used before, newest last.
    #[must_use]
    pub fn with_recent_tools(mut self, tools: impl IntoIterator<Item = ToolId>) -> Self {
        self.recent_tools = tools.into_iter().collect();
        self
    }

    /// Whether the text says too little on its own, so that the turns before it count.
    ///
    /// Decided without a model, by the words that are left without stop words, digits and words of
    /// agreement ("yes", "go ahead"): at most one ("u sure?", "what about Berlin?"), or at most
    /// two if the text also points back ("send it to Anna"). A text with sub-queries, or of more
    /// than 256 bytes, says enough. Of 28,214 requests that stand alone, 103 were taken for
    /// follow-ups ("what are NFTs?"): in a conversation their own hits still come first. The words are English; of other languages, short answers in
    /// Chinese and Japanese are known.
    pub fn is_follow_up(&self) -> bool {
        self.sub_queries.iter().all(|part| part.trim().is_empty()) && Weight::of(&self.text).leans()
    }

    /// The bytes of all texts.
    pub(crate) fn bytes(&self) -> usize {
        self.sub_queries.iter().chain(&self.turns).map(String::len).sum::<usize>() + self.text.len()
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
