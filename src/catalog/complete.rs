use tokio::time::timeout;

use super::aggregator::Aggregator;
use crate::{
    Result,
    error::ClientError,
    id::ServerId,
    protocol::{Completion, CompletionRequest},
};

impl Aggregator {
    /// Asks a server what values an argument may have. Ends within [`Limits::request`](crate::client::Limits::request).
    ///
    /// # Errors
    /// [`Error::UnknownServer`](crate::Error::UnknownServer); [`Error::Server`](crate::Error::Server) for
    /// all else, with [`ClientError::Unsupported`] for a server that completes nothing: by what it says
    /// of itself it is not even asked.
    pub async fn complete(&self, server: &ServerId, request: &CompletionRequest) -> Result<Completion> {
        let failed = |error: ClientError| error.at(server, "completion/complete");
        let client = self.client(server)?;
        if self.catalog().server(server).is_some_and(|known| !known.info.offers_completion()) {
            return Err(failed(ClientError::Unsupported));
        }
        let limits = self.limits();
        let completion = match timeout(limits.request, client.complete(request)).await {
            Ok(completion) => completion.map_err(failed)?,
            Err(_) => return Err(failed(ClientError::Timeout { after: limits.request })),
        };
        let bytes: usize = completion.values.iter().map(String::len).sum();
        if bytes > limits.item_bytes {
            let reason = format!("it is too large: {bytes} bytes of values, more than {}", limits.item_bytes);
            return Err(failed(ClientError::malformed(reason)));
        }
        Ok(completion)
    }
}
