use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId};
use tokio::time::Instant;

/// Who reads the answer to a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reader {
    /// rmcp, which asked for it itself: the handshake.
    Initialize,
    /// rmcp, likewise.
    Discover,
    /// rmcp: anything that Proem does not read.
    Rmcp,
    /// Proem, from the text.
    Proem,
}

/// The requests that wait for an answer. Bounded by what the host has in flight.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<RequestId, Reader>,
    probe: Option<(RequestId, Instant)>,
}

impl Pending {
    /// Notes what is about to be sent; a probe for the era gets until `probe` from now.
    pub(super) fn sent(&self, message: &ClientJsonRpcMessage, probe: Duration) {
        let mut state = self.lock();
        match message {
            JsonRpcMessage::Request(request) => {
                let reader = match &request.request {
                    ClientRequest::InitializeRequest(_) => {
                        // rmcp waits for the probe no longer: a late answer would end its handshake.
                        if let Some((id, _)) = state.probe.take() {
                            state.waiting.remove(&id);
                        }
                        Reader::Initialize
                    }
                    ClientRequest::DiscoverRequest(_) => {
                        state.probe = Some((request.id.clone(), Instant::now() + probe));
                        Reader::Discover
                    }
                    ClientRequest::ListToolsRequest(_)
                    | ClientRequest::ListResourcesRequest(_)
                    | ClientRequest::ListResourceTemplatesRequest(_)
                    | ClientRequest::ListPromptsRequest(_)
                    | ClientRequest::ReadResourceRequest(_)
                    | ClientRequest::GetPromptRequest(_)
                    | ClientRequest::CompleteRequest(_)
                    | ClientRequest::CallToolRequest(_) => Reader::Proem,
                    _ => Reader::Rmcp,
                };
                state.waiting.insert(request.id.clone(), reader);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    state.waiting.remove(id);
                }
            }
            _ => {}
        }
    }

    /// Takes the request that `id` answers. Servers are met that send a number back as a string.
    pub(super) fn take(&self, id: &RequestId) -> Option<(RequestId, Reader)> {
        let number = match id {
            RequestId::String(text) => text.parse().ok().map(RequestId::Number),
            RequestId::Number(_) => None,
        };
        let mut state = self.lock();
        let (id, reader) = state.waiting.remove_entry(id).or_else(|| state.waiting.remove_entry(number.as_ref()?))?;
        if state.probe.as_ref().is_some_and(|(probe, _)| *probe == id) {
            state.probe = None;
        }
        Some((id, reader))
    }

    /// The only request in flight, if it is only one: an answer that names none can be no other's.
    pub(super) fn take_only(&self) -> Option<(RequestId, Reader)> {
        let only = {
            let state = self.lock();
            let mut ids = state.waiting.keys();
            ids.next().filter(|_| state.waiting.len() == 1).cloned()
        };
        self.take(&only?)
    }

    /// When the probe for the era counts as unanswered.
    pub(super) fn probe_deadline(&self) -> Option<Instant> {
        self.lock().probe.as_ref().map(|(_, deadline)| *deadline)
    }

    /// Takes the probe.
    pub(super) fn take_probe(&self) -> Option<(RequestId, Reader)> {
        let id = self.lock().probe.take()?.0;
        self.take(&id)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
