//! What a simulation plays on: a host of the catalog's servers, and the renderer of a price sheet.

use std::sync::Arc;

use super::SimulationOptions;
use crate::{
    Error, Host, Result,
    catalog::Catalog,
    client::MemoryClient,
    cost::{Kept, PriceSheet},
    render::{Anthropic, BedrockConverse, Gemini, OpenAiChat, OpenAiResponses, Provider},
};

/// A host whose servers offer the tools of a catalog, and nothing else. Its index is made by the first
/// turn, once for all sessions.
pub(super) async fn host(catalog: &Catalog, options: &SimulationOptions) -> Result<Host> {
    let mut host = Host::builder();
    for server in catalog.servers() {
        let tools = catalog.tools().iter().filter(|entry| entry.id.server == server.id);
        let client = tools.fold(MemoryClient::new().with_info(server.info.clone()), |client, entry| {
            client.with_definition((*entry.tool).clone())
        });
        host = host.server(server.id.to_string(), client).trust(server.id.to_string(), server.trust);
    }
    if let Some(retriever) = &options.retriever {
        host = host.shared_retriever(Arc::clone(retriever));
    }
    if let Some(counter) = &options.counter {
        host = host.shared_counter(Arc::clone(counter));
    }
    let host = host.build()?;
    let listed = host.refresh().await.tools().len();
    if listed != catalog.tools().len() {
        let reason = format!("of its {} tools, {listed} can be listed again", catalog.tools().len());
        return Err(Error::invalid("catalog", reason));
    }
    Ok(host)
}

/// What renders for the model of a sheet, by its provider and the rules of its cache.
pub(super) fn provider(sheet: &PriceSheet) -> Arc<dyn Provider> {
    match sheet.provider.as_str() {
        "anthropic" => Arc::new(Anthropic::new()),
        "openai" => {
            let mut responses = OpenAiResponses::new();
            // Where only the newest prefix is kept by itself, the front has to be marked.
            if sheet.cache.kept == Kept::Newest {
                responses = responses.with_breakpoints();
            }
            if knows_tool_search(&sheet.model) {
                responses = responses.with_tool_search();
            }
            Arc::new(responses)
        }
        "gemini" if sheet.model.starts_with("gemini-2") => Arc::new(Gemini::new().with_earlier_models()),
        "gemini" => Arc::new(Gemini::new()),
        "bedrock" if sheet.model.starts_with("amazon.") => Arc::new(BedrockConverse::new().without_tool_breakpoint()),
        "bedrock" => Arc::new(BedrockConverse::new()),
        // What most others speak too.
        _ => Arc::new(OpenAiChat::new()),
    }
}

/// GPT-5.4 and later (OpenAI, tool search).
fn knows_tool_search(model: &str) -> bool {
    let version = model.strip_prefix("gpt-").unwrap_or_default();
    let mut parts = version.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or_default());
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default()) >= (5, 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Deferral;

    #[test]
    fn a_sheet_says_who_renders() {
        for (sheet, name, deferral) in [
            ("anthropic/claude-sonnet-4-6", "anthropic", Deferral::Results),
            ("openai/gpt-5.4", "openai-responses", Deferral::Anywhere),
            ("openai/gpt-6.2-sol", "openai-responses", Deferral::Anywhere),
            ("gemini/gemini-2.5-flash", "gemini", Deferral::None),
            ("bedrock/amazon.nova-pro", "bedrock", Deferral::None),
        ] {
            let provider = provider(PriceSheet::named(sheet).unwrap());
            assert_eq!((provider.name(), provider.deferral()), (name, deferral), "{sheet}");
        }
        let models = ["gpt-5.3", "gpt-5", "gpt-4.1-mini", "o4-mini", "gpt-5.4-mini", "gpt-10"];
        assert_eq!(models.map(knows_tool_search), [false, false, false, false, true, true]);
    }
}
