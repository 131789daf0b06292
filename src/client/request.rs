use std::{collections::BTreeMap, time::Duration};

use rmcp::{
    RoleClient,
    model::{
        ArgumentInfo, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientRequest,
        CompleteRequestParams, CompletionContext, CustomResult, GetPromptRequestParams, PaginatedRequestParams,
        ReadResourceRequestParams, Reference, Request, RequestId, RequestOptionalParam, ServerPeerInfo, ServerResult,
        SubscribeRequestParams, UnsubscribeRequestParams,
    },
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde_json::{Map, Value, value::RawValue};

use super::{ListKind, Page, carried::carried};
use crate::{
    error::{ClientError, InputRequired, excerpt},
    protocol::{
        CallToolResult, Completion, CompletionRequest, CompletionTarget, GetPromptResult, InputResponses, Read,
        ReadResourceResult, ServerInfo,
    },
};

/// Requests over an rmcp peer whose answers are read by Proem.
///
/// rmcp decodes an answer as a whole, so one bad item loses a page, and fields that it does not
/// know are gone. Here the request goes out by [`Peer::send_cancellable_request`], which also
/// bypasses rmcp's response cache: what is fresh, and what failed, is for the catalog to know.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    pub(super) peer: Peer<RoleClient>,
    pub(super) timeout: Duration,
    /// For tool calls.
    pub(super) call_timeout: Duration,
    /// Whether a transport of ours sits below, which leaves answers as their text.
    pub(super) tapped: bool,
}

impl Requests {
    /// Makes one request: nothing stands between it and the peer.
    pub(super) async fn ask<T, F>(&self, request: impl FnOnce(Self) -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        request(self.clone()).await
    }

    pub(super) async fn list(&self, kind: ListKind, cursor: Option<&str>) -> Result<Page, ClientError> {
        let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned())));
        macro_rules! request {
            ($variant:ident) => {
                ClientRequest::$variant(RequestOptionalParam {
                    method: Default::default(),
                    params,
                    extensions: Default::default(),
                })
            };
        }
        let request = match kind {
            ListKind::Tools => request!(ListToolsRequest),
            ListKind::Resources => request!(ListResourcesRequest),
            ListKind::ResourceTemplates => request!(ListResourceTemplatesRequest),
            ListKind::Prompts => request!(ListPromptsRequest),
        };
        let result = self.send(request).await?;
        Page::read(kind, &result)
    }

    pub(super) async fn read_resource(
        &self,
        uri: &str,
        input: Option<&InputResponses>,
    ) -> Result<ReadResourceResult, ClientError> {
        let mut params = ReadResourceRequestParams::new(uri);
        (params.input_responses, params.request_state) = answered(input);
        let request = ClientRequest::ReadResourceRequest(Request::new(params));
        self.answer("resources/read", request, ReadResourceResult::read).await
    }

    pub(super) async fn get_prompt(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
        input: Option<&InputResponses>,
    ) -> Result<GetPromptResult, ClientError> {
        let mut params = GetPromptRequestParams::new(name);
        if !arguments.is_empty() {
            params.arguments = Some(arguments.iter().map(|(k, v)| (k.clone(), Value::from(v.as_str()))).collect());
        }
        (params.input_responses, params.request_state) = answered(input);
        let request = ClientRequest::GetPromptRequest(Request::new(params));
        self.answer("prompts/get", request, GetPromptResult::read).await
    }

    pub(super) async fn complete(&self, request: &CompletionRequest) -> Result<Completion, ClientError> {
        if server_info(&self.peer).is_some_and(|info| !info.offers_completion()) {
            return Err(ClientError::Unsupported);
        }
        let target = match &request.target {
            CompletionTarget::Prompt(name) => Reference::for_prompt(name),
            CompletionTarget::Template(uri_template) => Reference::for_resource(uri_template),
        };
        let mut params = CompleteRequestParams::new(target, ArgumentInfo::new(&request.argument, &request.value));
        if !request.known.is_empty() {
            let known = request.known.iter().map(|(name, value)| (name.clone(), value.clone()));
            params.context = Some(CompletionContext::with_arguments(known.collect()));
        }
        let request = ClientRequest::CompleteRequest(Request::new(params));
        match self.answer("completion/complete", request, Completion::read).await {
            Err(error) if error.is_unsupported() => Err(ClientError::Unsupported),
            answer => answer,
        }
    }

    pub(super) async fn call_tool(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<CallToolResult, ClientError> {
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(Request::new(params));
        let patient = Self { timeout: self.call_timeout, ..self.clone() };
        patient.answer("tools/call", request, CallToolResult::read).await
    }

    /// Asks a server of the `initialize` era for the updates of a resource.
    pub(super) async fn subscribe(&self, uri: &str) -> Result<(), ClientError> {
        let request = ClientRequest::SubscribeRequest(Request::new(SubscribeRequestParams::new(uri)));
        self.send(request).await.map(drop)
    }

    pub(super) async fn unsubscribe(&self, uri: &str) -> Result<(), ClientError> {
        let request = ClientRequest::UnsubscribeRequest(Request::new(UnsubscribeRequestParams::new(uri)));
        self.send(request).await.map(drop)
    }

    /// Whether the server is of MCP 2026-07-28 or later.
    pub(super) fn is_modern(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| !info.protocol_version.has_initialize())
    }

    async fn answer<T>(
        &self,
        method: &'static str,
        request: ClientRequest,
        read: impl FnOnce(Value) -> Result<Read<T>, String>,
    ) -> Result<T, ClientError> {
        let raw = self.send(request).await?;
        let unreadable =
            |reason: String| ClientError::malformed(format!("the result of {method}: {}", excerpt(&reason)));
        let value: Value = serde_json::from_str(raw.get()).map_err(|error| unreadable(error.to_string()))?;
        match value.get("resultType").and_then(Value::as_str) {
            None | Some("complete") => {}
            Some("input_required") => return Err(input_required(value)),
            Some(other) => return Err(unreadable(format!("resultType `{other}` is not known"))),
        }
        let read = read(value).map_err(unreadable)?;
        for note in &read.notes {
            tracing::debug!(method, note = %excerpt(note), "part of an answer could not be read");
        }
        Ok(read.item)
    }

    async fn send(&self, request: ClientRequest) -> Result<Box<RawValue>, ClientError> {
        let answered = tokio::time::timeout(self.timeout, async {
            let mut handle = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
            let mut waiting = Waiting { peer: &self.peer, id: Some(handle.id.clone()) };
            let result = (&mut handle.rx).await;
            waiting.id = None;
            result.map_err(|_| ServiceError::TransportClosed)?
        });
        let result = match answered.await {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => return Err(self.failure(error)),
            Err(_) => return Err(ClientError::Timeout { after: self.timeout }),
        };
        self.raw(result)
    }

    fn raw(&self, result: ServerResult) -> Result<Box<RawValue>, ClientError> {
        let raw = match result {
            ServerResult::CustomResult(CustomResult(Value::String(text))) if self.tapped => RawValue::from_string(text),
            ServerResult::CustomResult(CustomResult(Value::Array(reason))) if self.tapped => {
                let reason = reason.first().and_then(Value::as_str).unwrap_or_default();
                return Err(ClientError::malformed(reason));
            }
            ServerResult::ListToolsResult(mut page) if self.tapped => match carried(&mut page) {
                Some(text) => RawValue::from_string(text),
                None => serde_json::value::to_raw_value(&page),
            },
            typed => serde_json::value::to_raw_value(&typed),
        };
        raw.map_err(|error| ClientError::malformed(error.to_string()))
    }

    fn failure(&self, error: ServiceError) -> ClientError {
        match error {
            ServiceError::McpError(error) => ClientError::rpc(error.code.0.into(), &error.message),
            ServiceError::Timeout { timeout } => ClientError::Timeout { after: timeout },
            ServiceError::TransportClosed => ClientError::unreachable("the connection is closed"),
            ServiceError::UnexpectedResponse => ClientError::malformed("it does not fit the request"),
            error if error.is_authorization_required() => {
                ClientError::unreachable("the server asks for authorization: check the headers or the token")
            }
            ServiceError::TransportSend(error) => {
                if let Some(most) = too_large(&error) {
                    return ClientError::malformed(format!("it is longer than {most} bytes"));
                }
                ClientError::unreachable(format!("the request could not be sent: {}", cause(&error)))
            }
            other => ClientError::unreachable(excerpt(&other.to_string())),
        }
    }
}

/// What a request holds that is sent again: absent is the same as nothing to say.
fn answered(input: Option<&InputResponses>) -> (Option<BTreeMap<String, Value>>, Option<String>) {
    let Some(input) = input else { return (None, None) };
    let responses = input.responses.iter().map(|(key, response)| (key.clone(), response.clone()));
    ((!input.responses.is_empty()).then(|| responses.collect()), input.state.clone())
}

/// What the server asks for first, bounded by the answer itself.
fn input_required(mut value: Value) -> ClientError {
    let requests = match value.get_mut("inputRequests").map(Value::take) {
        Some(Value::Object(requests)) => requests,
        _ => Map::new(),
    };
    let state = value.get("requestState").and_then(Value::as_str).map(str::to_owned);
    ClientError::InputRequired(Box::new(InputRequired::new(requests, state)))
}

/// The most bytes of an answer over HTTP, if one had more: rmcp says that it could not be sent.
fn too_large(error: &(dyn std::error::Error + 'static)) -> Option<usize> {
    #[cfg(feature = "http")]
    {
        use rmcp::transport::streamable_http_client::StreamableHttpError;
        std::iter::successors(Some(error), |error| source(*error)).find_map(|error| match error.downcast_ref() {
            Some(StreamableHttpError::<reqwest::Error>::ResponseBodyTooLarge { max_size }) => Some(*max_size),
            _ => None,
        })
    }
    #[cfg(not(feature = "http"))]
    {
        _ = error;
        None
    }
}

/// The innermost error: the outer ones hold URLs, and say less.
pub(super) fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let innermost = std::iter::successors(Some(error), |error| source(*error)).last().unwrap_or(error);
    excerpt(&innermost.to_string())
}

#[cfg(not(feature = "http"))]
fn source<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a (dyn std::error::Error + 'static)> {
    error.source()
}

#[cfg(feature = "http")]
fn source<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a (dyn std::error::Error + 'static)> {
    use rmcp::transport::streamable_http_client::StreamableHttpError;
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        // rmcp does not name it as its source.
        Some(StreamableHttpError::Client(inner)) => Some(inner),
        _ => error.source(),
    }
}

/// A request that is waited for; one that is given up is cancelled at the server too.
struct Waiting<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let params = CancelledNotificationParam::new(Some(id), Some("not waited for any longer".to_owned()));
            let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
        });
    }
}

/// What rmcp knows of the server; `None` before the handshake.
pub(super) fn server_info(peer: &Peer<RoleClient>) -> Option<ServerInfo> {
    peer.peer_info().map(|info| read_info(&info))
}

fn read_info(info: &ServerPeerInfo) -> ServerInfo {
    let object = |value: serde_json::Result<Value>| match value {
        Ok(Value::Object(map)) => Some(map),
        _ => None,
    };
    ServerInfo {
        protocol_version: Some(info.protocol_version.to_string()),
        implementation: info.server_info.as_ref().and_then(|server| serde_json::to_value(server).ok()),
        capabilities: object(serde_json::to_value(&info.capabilities)),
        instructions: info.instructions.clone(),
    }
}
