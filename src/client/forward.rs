/// The methods of [`Client`](super::Client) that are one request each, over whatever `$to` has an
/// `ask` that makes one.
macro_rules! forward_requests {
    ($to:ident) => {
        fn list<'a>(
            &'a self,
            kind: $crate::client::ListKind,
            cursor: Option<&'a str>,
        ) -> $crate::client::ClientResult<'a, $crate::client::Page> {
            Box::pin(self.$to().ask(move |to| async move { to.list(kind, cursor).await }))
        }

        fn read_resource<'a>(
            &'a self,
            uri: &'a str,
        ) -> $crate::client::ClientResult<'a, $crate::protocol::ReadResourceResult> {
            Box::pin(self.$to().ask(move |to| async move { to.read_resource(uri, None).await }))
        }

        fn read_resource_with<'a>(
            &'a self,
            uri: &'a str,
            input: &'a $crate::protocol::InputResponses,
        ) -> $crate::client::ClientResult<'a, $crate::protocol::ReadResourceResult> {
            Box::pin(self.$to().ask(move |to| async move { to.read_resource(uri, Some(input)).await }))
        }

        fn get_prompt<'a>(
            &'a self,
            name: &'a str,
            arguments: &'a std::collections::BTreeMap<String, String>,
        ) -> $crate::client::ClientResult<'a, $crate::protocol::GetPromptResult> {
            Box::pin(self.$to().ask(move |to| async move { to.get_prompt(name, arguments, None).await }))
        }

        fn get_prompt_with<'a>(
            &'a self,
            name: &'a str,
            arguments: &'a std::collections::BTreeMap<String, String>,
            input: &'a $crate::protocol::InputResponses,
        ) -> $crate::client::ClientResult<'a, $crate::protocol::GetPromptResult> {
            Box::pin(self.$to().ask(move |to| async move { to.get_prompt(name, arguments, Some(input)).await }))
        }

        fn complete<'a>(
            &'a self,
            request: &'a $crate::protocol::CompletionRequest,
        ) -> $crate::client::ClientResult<'a, $crate::protocol::Completion> {
            Box::pin(self.$to().ask(move |to| async move { to.complete(request).await }))
        }

        fn call_tool<'a>(
            &'a self,
            name: &'a str,
            arguments: serde_json::Map<String, serde_json::Value>,
        ) -> $crate::client::ClientResult<'a, $crate::protocol::CallToolResult> {
            Box::pin(self.$to().ask(move |to| async move { to.call_tool(name, arguments).await }))
        }
    };
}
pub(super) use forward_requests;

/// [`Client`](super::Client) for a type with a method `connection` and a field `changes`.
macro_rules! client_over_connection {
    ($client:ty) => {
        impl $crate::client::Client for $client {
            $crate::client::forward::forward_requests!(connection);

            fn info(&self) -> $crate::client::ClientResult<'_, $crate::protocol::ServerInfo> {
                Box::pin(self.connection().info())
            }

            fn watch<'a>(
                &'a self,
                uris: &'a std::collections::BTreeSet<String>,
            ) -> $crate::client::ClientResult<'a, ()> {
                Box::pin(self.connection().watch(uris))
            }

            fn changes(&self) -> Option<tokio::sync::broadcast::Receiver<$crate::client::Change>> {
                Some(self.changes.subscribe())
            }
        }
    };
}
pub(super) use client_over_connection;
