use tokio::time::timeout;

use super::{answer::PromptAnswer, argument::check_arguments, invocation::Invocation, options::PromptOptions};
use crate::{
    Error, Result,
    catalog::{Aggregator, Catalog},
    error::ClientError,
};

/// Gets a prompt that a person invoked, and checks what its server answers. Nothing is kept for a
/// second time: `prompts/get` cannot be cached.
///
/// A server that wants input first fails with [`ClientError::InputRequired`]; the host asks the
/// user and gets the same invocation again [with the answers](Invocation::with_input).
///
/// # Errors
/// [`Error::NotFound`] if the catalog does not list it, [`Error::Invalid`] for its arguments
/// before the server is asked, [`Error::UnknownServer`], and [`Error::Server`] if the server fails,
/// takes longer than [`Limits::request`](crate::client::Limits::request) or answers more than
/// `options` take.
pub async fn get(
    servers: &Aggregator,
    catalog: &Catalog,
    invocation: &Invocation,
    options: &PromptOptions,
) -> Result<PromptAnswer> {
    let id = invocation.id();
    let entry = catalog.prompt(id).ok_or_else(|| Error::NotFound {
        server: id.server.clone(),
        kind: "prompt",
        item: id.name.to_string(),
    })?;
    let arguments = invocation.arguments();
    check_arguments(&entry.prompt, arguments)?;
    let client = servers.client(&id.server)?;
    let limit = servers.limits().request;
    let answer = match invocation.input() {
        None => timeout(limit, client.get_prompt(&id.name, arguments)).await,
        Some(input) => timeout(limit, client.get_prompt_with(&id.name, arguments, input)).await,
    };
    let answer = answer.unwrap_or(Err(ClientError::Timeout { after: limit }));
    let result = answer.map_err(|error| error.at(&id.server, "prompts/get"))?;
    PromptAnswer::new(catalog, entry, result, options)
}
