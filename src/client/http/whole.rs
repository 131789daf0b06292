use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::{StreamExt, stream::BoxStream};
use reqwest::{
    StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue},
    redirect::Policy,
};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::{
        common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE},
        streamable_http_client::{
            SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
            StreamableHttpResponseLimits,
        },
    },
};
use serde::Deserialize;
use serde_json::value::RawValue;
use sse_stream::Sse;

use crate::client::{ListKind, carried::carry};

/// rmcp's HTTP client, but for the answers to lists: these pass whole, as [`carry`] describes.
///
/// rmcp's own decodes a JSON answer before anybody can look at it. So a list is asked for here
/// first. What is no JSON answer (a stream of events, a refusal, an expired session) is left to
/// rmcp, which asks again; a server that answered with a stream once is not asked here any more.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    http: reqwest::Client,
    streams: Arc<AtomicBool>,
}

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// The most redirects that one request follows.
const MAX_REDIRECTS: usize = 10;

impl Whole {
    /// # Errors
    /// If the system offers no TLS.
    pub(super) fn new() -> reqwest::Result<Self> {
        let redirects = Policy::custom(|attempt| {
            let keeps_body =
                matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
            // Headers must not be carried to another host.
            let first = attempt.previous().first();
            let same_origin = first.is_some_and(|first| first.origin() == attempt.url().origin());
            if keeps_body && same_origin && attempt.previous().len() <= MAX_REDIRECTS {
                attempt.follow()
            } else {
                attempt.stop()
            }
        });
        // No idle connections, as in rmcp's own: a body that was not read to its end stalls the next request.
        let http = reqwest::Client::builder().pool_max_idle_per_host(0).redirect(redirects).build()?;
        Ok(Self { http, streams: Arc::default() })
    }

    /// Asks for a list; `None` if the answer is not a JSON message.
    async fn ask(
        &self,
        kind: ListKind,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        headers: Headers,
        max: usize,
    ) -> Result<Option<StreamableHttpPostResponse>, Failure> {
        let body = serde_json::to_vec(message)?;
        let mut request = self
            .http
            .post(uri)
            .header(ACCEPT, format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}"))
            .header(CONTENT_TYPE, JSON_MIME_TYPE)
            .body(body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(session) = session {
            request = request.header(HEADER_SESSION_ID, session);
        }
        let mut response = request.send().await.map_err(StreamableHttpError::Client)?;
        let content = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is = |mime: &str| content.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(mime));
        if is(EVENT_STREAM_MIME_TYPE) {
            self.streams.store(true, Ordering::Relaxed);
        }
        if response.status() != StatusCode::OK || !is(JSON_MIME_TYPE) {
            return Ok(None);
        }
        let session =
            response.headers().get(HEADER_SESSION_ID).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(StreamableHttpError::Client)? {
            if body.len() + piece.len() > max {
                return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: max });
            }
            body.extend_from_slice(&piece);
        }
        let text = std::str::from_utf8(&body)
            .map_err(|_| StreamableHttpError::UnexpectedServerResponse("the answer is not UTF-8".into()))?;
        let message = match whole(kind, text) {
            Some(message) => message,
            None => serde_json::from_str(text)?,
        };
        Ok(Some(StreamableHttpPostResponse::Json(message, session)))
    }
}

fn list_kind(message: &ClientJsonRpcMessage) -> Option<ListKind> {
    let JsonRpcMessage::Request(request) = message else { return None };
    match &request.request {
        ClientRequest::ListToolsRequest(_) => Some(ListKind::Tools),
        ClientRequest::ListResourcesRequest(_) => Some(ListKind::Resources),
        ClientRequest::ListResourceTemplatesRequest(_) => Some(ListKind::ResourceTemplates),
        ClientRequest::ListPromptsRequest(_) => Some(ListKind::Prompts),
        _ => None,
    }
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: RequestId,
    #[serde(borrow)]
    result: &'a RawValue,
}

/// The message with its result whole, if it is an answer with one.
fn whole(kind: ListKind, text: &str) -> Option<ServerJsonRpcMessage> {
    let answer: Answer<'_> = serde_json::from_str(text).ok()?;
    Some(JsonRpcMessage::response(carry(kind, answer.result), answer.id))
}

impl StreamableHttpClient for Whole {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, auth, headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let kind = list_kind(&message);
        if let Some(kind) = kind
            && !self.streams.load(Ordering::Relaxed)
        {
            let max = limits.max_json_response_size;
            let asked = self.ask(kind, &uri, &message, session.as_deref(), headers.clone(), max).await?;
            if let Some(answer) = asked {
                return Ok(answer);
            }
        }
        let answer = self.http.post_message_with_response_limits(uri, message, session, auth, headers, limits).await?;
        Ok(match (kind, answer) {
            (Some(kind), StreamableHttpPostResponse::Sse(events, session)) => {
                let events = events.map(move |event| event.map(|event| whole_event(kind, event)));
                StreamableHttpPostResponse::Sse(events.boxed(), session)
            }
            (_, answer) => answer,
        })
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.http.delete_session(uri, session, auth, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failure> {
        self.http.get_stream(uri, session, last_event, auth, headers).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: Headers,
        max: usize,
    ) -> Result<Events, Failure> {
        self.http.get_stream_with_max_sse_event_size(uri, session, last_event, auth, headers, max).await
    }
}

fn whole_event(kind: ListKind, mut event: Sse) -> Sse {
    let message = event.data.as_deref().and_then(|data| whole(kind, data));
    if let Some(text) = message.and_then(|message| serde_json::to_string(&message).ok()) {
        event.data = Some(text);
    }
    event
}
