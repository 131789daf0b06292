use std::collections::BTreeMap;

use crate::id::ToolId;

/// Example requests for tools, supplied by the host: "what people say when they mean this".
///
/// They are part of a tool's text with the weight of [`Field::Hints`](super::Field::Hints): worth
/// a point of NDCG@10 on a set of API tools with synthetic requests, at half the weight of the description.
///
/// ```
/// use proem::{id::{ServerId, ToolId}, index::Hints};
///
/// let merge = ToolId::new(ServerId::new("git")?, "merge");
/// let hints = Hints::new().with(merge.clone(), "bring main into my branch");
/// assert_eq!(hints.of(&merge), ["bring main into my branch"]);
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Hints(BTreeMap<ToolId, Vec<String>>);

impl Hints {
    /// No hints.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a request for a tool.
    #[must_use]
    pub fn with(mut self, tool: ToolId, request: impl Into<String>) -> Self {
        self.0.entry(tool).or_default().push(request.into());
        self
    }

    /// The requests for a tool, in the order in which they were added.
    pub fn of(&self, tool: &ToolId) -> &[String] {
        self.0.get(tool).map_or(&[], Vec::as_slice)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
