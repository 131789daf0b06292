use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Session, deliver::spec, delivery::Delivery};
use crate::{
    Error, Result,
    catalog::{Catalog, ToolEntry},
    discovery::{BridgedCall, CALL_TOOL, SEARCH_TOOLS, SearchCall, found, refused, resolve},
    id::ToolId,
    render::{Block, ToolSpec, original_arguments},
    retrieval::{Filter, Query},
    selection::{SelectionOptions, select},
};

/// What a call by the model comes to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Dispatched {
    /// A server's tool is to be called: by the host, if its user permits it.
    Call {
        /// Which.
        tool: ToolId,
        /// With what, by the names that its server gave them: they fit the schema as it was sent.
        arguments: Map<String, Value>,
        /// What of the schema they could not be checked against, one sentence each.
        unchecked: Vec<String>,
    },
    /// The answer is known: the result of a search, or what is wrong with the call. It goes to the
    /// model as it is.
    Answer(Block),
}

impl Session {
    /// Decides what a call by the model comes to, by the tools that it has and the filter of the last
    /// turn: searches are answered, calls through the bridge are taken apart, and arguments are checked
    /// against the schema as its server sent it, whatever the model was shown. Nothing is executed.
    ///
    /// A tool that is called counts as [used](Self::used). A tool that is listed but that the model
    /// was not told of is not called: the answer defines it.
    ///
    /// # Errors
    /// [`Error::Invalid`] before the first turn, also of a restored session: there is nothing to
    /// decide by. [`Error::Index`] if a search fails.
    pub async fn dispatch(&mut self, call_id: &str, name: &str, arguments: &Map<String, Value>) -> Result<Dispatched> {
        let Some((filter, options)) = self.filter.clone() else {
            return Err(Error::invalid("call of a tool", "no turn of this session was built before it"));
        };
        let catalog = self.composer.servers.catalog();
        let answer = |reason: &dyn std::fmt::Display| Ok(Dispatched::Answer(refused(call_id, reason)));
        let can_search = self.record.delivery.is_some_and(Delivery::can_search);
        if name == SEARCH_TOOLS && can_search {
            return match SearchCall::read(arguments) {
                Ok(search) => self.search(call_id, &search, &catalog, &filter, options).await,
                Err(invalid) => answer(&invalid),
            };
        }
        let bridged = name == CALL_TOOL && self.record.delivery == Some(Delivery::Bridge);
        let (name, arguments) = match bridged.then(|| BridgedCall::read(arguments)) {
            None => (name.to_owned(), arguments.clone()),
            Some(Ok(call)) => (call.name, call.arguments),
            Some(Err(invalid)) => return answer(&invalid),
        };
        let entry = match resolve(&name, &self.told, &catalog, &filter) {
            Ok(entry) if self.told.contains_key(&name) => entry,
            Ok(entry) if can_search => return Ok(Dispatched::Answer(self.define(call_id, &entry))),
            Ok(_) => return answer(&format!("the tool `{name}` is not offered in this conversation")),
            Err(unresolved) => return answer(&unresolved),
        };
        // The model was shown a schema that its provider takes.
        let arguments = original_arguments(&entry.tool.input_schema, arguments);
        match self.composer.validators.validate(&entry.tool.input_schema, &arguments) {
            Err(invalid) => answer(&invalid),
            Ok(checked) => {
                self.used(&entry.id);
                Ok(Dispatched::Call { tool: entry.id.clone(), arguments, unchecked: checked.unchecked })
            }
        }
    }

    async fn search(
        &mut self,
        call_id: &str,
        search: &SearchCall,
        catalog: &Catalog,
        filter: &Filter,
        options: SelectionOptions,
    ) -> Result<Dispatched> {
        let composer = Arc::clone(&self.composer);
        let index = composer.index(catalog).await?;
        let query = Query::new(search.query.as_str());
        let ranking = composer.search(&index, &query, filter, search.limit.saturating_mul(4).max(64)).await?;
        let selection = select(catalog, &ranking, filter, &options.with_top(search.limit), composer.counts());
        let tools = selection.tools.iter().map(spec).collect();
        let answer = found(call_id, search, tools, &self.told);
        for tool in &selection.tools {
            self.tell(tool.exposed.as_str(), &tool.id);
        }
        Ok(Dispatched::Answer(answer))
    }

    /// The definition of a tool that the model called by its name, without having been told of it.
    fn define(&mut self, call_id: &str, entry: &ToolEntry) -> Block {
        self.tell(entry.exposed.as_str(), &entry.id);
        let text =
            format!("`{}` was not called: this is its definition, by which it can be called now.", entry.exposed);
        let content = vec![Block::Text(text), Block::Tools { tools: vec![ToolSpec::from_entry(entry)] }];
        Block::ToolResult { call_id: call_id.to_owned(), content, is_error: true }
    }

    fn tell(&mut self, exposed: &str, tool: &ToolId) {
        for known in [&mut self.told, &mut self.offered] {
            known.insert(exposed.to_owned(), tool.clone());
        }
    }
}
