use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use tokio::sync::broadcast;

use super::MemoryClient;
use crate::{
    client::{Change, Client, ClientResult, ListKind, Page},
    error::ClientError,
    protocol::{
        Completion, CompletionRequest, ContentBlock, GetPromptResult, PromptMessage, ReadResourceResult, ServerInfo,
    },
};

impl Client for MemoryClient {
    fn info(&self) -> ClientResult<'_, ServerInfo> {
        let info = self.state().info.clone();
        Box::pin(async { Ok(info) })
    }

    fn list<'a>(&'a self, kind: ListKind, cursor: Option<&'a str>) -> ClientResult<'a, Page> {
        Box::pin(async move {
            let state = self.state();
            let items = state.lists.get(&kind).map(Vec::as_slice).unwrap_or_default();
            let start = match cursor {
                None => 0,
                Some(text) => text
                    .parse()
                    .ok()
                    .filter(|start| *start <= items.len())
                    .ok_or_else(|| ClientError::rpc(ClientError::INVALID_PARAMS, "invalid cursor"))?,
            };
            let end = state.page_size.map_or(items.len(), |size| items.len().min(start + size));
            let raw = items[start..end]
                .iter()
                .map(serde_json::value::to_raw_value)
                .collect::<Result<Vec<Box<RawValue>>, _>>();
            Ok(Page {
                next_cursor: (end < items.len()).then(|| end.to_string()),
                ..Page::new(raw.map_err(|error| ClientError::malformed(error.to_string()))?)
            })
        })
    }

    fn read_resource<'a>(&'a self, uri: &'a str) -> ClientResult<'a, ReadResourceResult> {
        Box::pin(async move {
            let state = self.state();
            let contents = state.contents.get(uri).cloned();
            let contents =
                contents.ok_or_else(|| ClientError::rpc(ClientError::INVALID_PARAMS, "resource not found"))?;
            let (ttl, scope) = state.reads;
            Ok(ReadResourceResult { ttl, scope, ..ReadResourceResult::new(contents) })
        })
    }

    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
    ) -> ClientResult<'a, GetPromptResult> {
        Box::pin(async move {
            let messages = self.state().messages.get(name).cloned();
            let mut messages =
                messages.ok_or_else(|| ClientError::rpc(ClientError::INVALID_PARAMS, "no such prompt"))?;
            for PromptMessage { content, .. } in &mut messages {
                if let ContentBlock::Text { text, .. } = content {
                    *text = filled(text, arguments);
                }
            }
            Ok(GetPromptResult { messages, ..GetPromptResult::default() })
        })
    }

    fn complete<'a>(&'a self, request: &'a CompletionRequest) -> ClientResult<'a, Completion> {
        Box::pin(async move {
            let state = self.state();
            if state.values.is_empty() {
                return Err(ClientError::Unsupported);
            }
            let values = state.values.get(&(request.target.clone(), request.argument.clone()));
            let values = values.into_iter().flatten().filter(|value| value.starts_with(&request.value));
            Ok(Completion::new(values.cloned()))
        })
    }

    fn watch<'a>(&'a self, uris: &'a BTreeSet<String>) -> ClientResult<'a, ()> {
        Box::pin(async {
            self.state().watched.clone_from(uris);
            Ok(())
        })
    }

    fn changes(&self) -> Option<broadcast::Receiver<Change>> {
        Some(self.changes.subscribe())
    }
}

/// Puts every argument where its name stands in braces.
fn filled(text: &str, arguments: &BTreeMap<String, String>) -> String {
    arguments.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

#[cfg(test)]
mod tests {
    use crate::protocol::{CacheScope, CompletionTarget, Prompt, Resource, ResourceContents, Role};

    use super::*;

    #[tokio::test]
    async fn a_resource_may_have_several_contents_and_changes_are_told() {
        let server = MemoryClient::new()
            .with_contents(
                Resource::new("shop://week", "week"),
                [
                    ResourceContents::text("shop://week/1", "Closed.").with_mime_type("text/plain"),
                    ResourceContents::blob("shop://week/plan", "cGxhbg=="),
                ],
            )
            .with_read_ttl(std::time::Duration::from_secs(5), CacheScope::Public);
        let mut changes = server.changes().unwrap();
        let read = server.read_resource("shop://week").await.unwrap();
        assert_eq!((read.contents.len(), read.scope), (2, CacheScope::Public));
        assert_eq!(read.contents[1].blob.as_deref(), Some("cGxhbg=="));

        server.set_resource("shop://week", "Open.");
        server.set_resource("shop://day/1", "Not listed.");
        assert_eq!(changes.recv().await.unwrap(), Change::Resource("shop://week".into()));
        let read = server.read_resource("shop://week").await.unwrap();
        let text = ResourceContents::text("shop://week", "Open.").with_mime_type("text/plain");
        assert_eq!(read.contents, [text]);
        assert_eq!(server.list(ListKind::Resources, None).await.unwrap().items.len(), 1);
        assert!(server.read_resource("shop://day/1").await.is_ok());
        assert!(server.read_resource("shop://day/2").await.unwrap_err().is_not_found());

        server.watch(&["shop://week".to_owned()].into()).await.unwrap();
        assert_eq!(server.watched(), ["shop://week".to_owned()].into());
    }

    #[tokio::test]
    async fn a_prompt_may_have_several_messages_and_its_arguments_are_completed() {
        let said = |role, text: &str| PromptMessage::new(role, ContentBlock::text(text));
        let target = CompletionTarget::prompt("greet");
        let server = MemoryClient::new().with_prompt_messages(
            Prompt::new("greet", "Greets").with_argument("who", true),
            [said(Role::User, "Greet {who}."), said(Role::Assistant, "Hello {who}!")],
        );
        let request = CompletionRequest::new(target.clone(), "who").with_value("A");
        assert!(server.complete(&request).await.unwrap_err().is_unsupported());
        let server = server.with_completions(target.clone(), "who", ["Ada", "Alan", "Grace"]);
        assert_eq!(server.complete(&request).await.unwrap(), Completion::new(["Ada", "Alan"]));
        assert_eq!(server.complete(&CompletionRequest::new(target, "when")).await.unwrap().values, [""; 0]);

        let arguments = BTreeMap::from([("who".to_owned(), "Ada".to_owned())]);
        let got = server.get_prompt("greet", &arguments).await.unwrap();
        assert_eq!(got.messages, [said(Role::User, "Greet Ada."), said(Role::Assistant, "Hello Ada!")]);

        let mut changes = server.changes().unwrap();
        server.set_prompts([(Prompt::new("part", "Says goodbye"), vec![said(Role::User, "Goodbye.")])]);
        assert_eq!(changes.recv().await.unwrap(), Change::List(ListKind::Prompts));
        assert!(server.get_prompt("greet", &arguments).await.unwrap_err().is_not_found());
        assert_eq!(server.get_prompt("part", &arguments).await.unwrap().messages.len(), 1);
    }
}
