use super::{Conversation, Trace, TraceTurn};
use crate::eval::{DataSet, QueryForm};

impl DataSet {
    /// The set's queries as conversations: with [`QueryForm::Steps`] each step is a turn, and a query
    /// without steps is one turn, as with [`QueryForm::Full`] all are.
    ///
    /// What a conversation needs are the query's gold groups. It is not known which step needs
    /// which, so a tool counts whenever it is offered.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # std::fs::write(folder.path().join("tools.jsonl"), r#"{"server": "git", "name": "merge", "inputSchema": {}}"#)?;
    /// # std::fs::write(folder.path().join("queries.jsonl"), r#"{"id": 1, "query": "ship it", "gold": [["git", "merge"]], "steps": ["merge", "tell all"]}"#)?;
    /// # let folder = folder.path();
    /// use proem::eval::{DataSet, QueryForm};
    ///
    /// let trace = DataSet::open(folder)?.trace(QueryForm::Steps);
    /// let texts: Vec<_> = trace.conversations[0].turns.iter().map(|turn| turn.text.as_str()).collect();
    /// assert_eq!(texts, ["merge", "tell all"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn trace(&self, form: QueryForm) -> Trace {
        let conversations = self.queries.iter().map(|query| {
            let texts = match form {
                QueryForm::Steps if !query.steps.is_empty() => query.steps.as_slice(),
                _ => std::slice::from_ref(&query.text),
            };
            let turns = texts.iter().filter(|text| !text.trim().is_empty()).map(TraceTurn::new).collect();
            Conversation { turns, needs: query.groups.clone(), ..Conversation::new(&query.id) }
        });
        Trace {
            source: self.name.clone(),
            conversations: conversations.filter(|conversation| !conversation.turns.is_empty()).collect(),
            notes: Vec::new(),
        }
    }
}
