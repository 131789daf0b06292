//! Prompts as commands: what a person types, fills in and invokes, and what of the answer reaches the model.

mod answers;
mod commands;
mod conversation;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

use proem::{
    Host, TokenBudget,
    catalog::{Catalog, CatalogBuilder},
    client::{Client, ClientResult, ListKind, MemoryClient, Page},
    error::ClientError,
    id::PromptId,
    prompts::{Invocation, PromptAnswer, PromptOptions},
    protocol::{GetPromptResult, InputResponses, Prompt, ServerInfo},
    session::RenderedPrompt,
    tokens::{BytesPerToken, CountCache},
};
use serde_json::{Value, json};

use crate::{fake::id, session::Letters};

/// What a server answers to `prompts/get`, with the input that it asked for.
type Answer = dyn Fn(Option<&InputResponses>) -> Result<Value, ClientError> + Send + Sync;

/// A server of one prompt, `draft`, whose answers are scripted; it keeps what it was asked.
#[derive(Clone)]
struct Desk {
    listed: MemoryClient,
    answer: Arc<Answer>,
    asked: Arc<Mutex<Vec<BTreeMap<String, String>>>>,
}

impl Desk {
    /// Answers these messages.
    fn of(messages: Value) -> Self {
        Self::answering(move |_| Ok(json!({"messages": messages})))
    }

    fn answering(
        answer: impl Fn(Option<&InputResponses>) -> Result<Value, ClientError> + Send + Sync + 'static,
    ) -> Self {
        let prompt = Prompt::new("draft", "Draft a reply").with_argument("ticket", true).with_argument("tone", false);
        let listed = MemoryClient::new().with_prompt(prompt, "");
        Self { listed, answer: Arc::new(answer), asked: Arc::default() }
    }

    async fn host(&self) -> Host {
        let host = Host::builder().retriever(Letters).counter(BytesPerToken::default());
        let host = host.server("desk", self.clone()).build().unwrap();
        host.refresh().await;
        host
    }

    fn result(&self, input: Option<&InputResponses>) -> Result<GetPromptResult, ClientError> {
        let value = (self.answer)(input)?;
        Ok(GetPromptResult::read(value).map_err(ClientError::malformed)?.item)
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Desk")
    }
}

impl Client for Desk {
    fn info(&self) -> ClientResult<'_, ServerInfo> {
        self.listed.info()
    }

    fn list<'a>(&'a self, kind: ListKind, cursor: Option<&'a str>) -> ClientResult<'a, Page> {
        self.listed.list(kind, cursor)
    }

    fn get_prompt<'a>(
        &'a self,
        _: &'a str,
        arguments: &'a BTreeMap<String, String>,
    ) -> ClientResult<'a, GetPromptResult> {
        self.asked.lock().unwrap().push(arguments.clone());
        Box::pin(async { self.result(None) })
    }

    fn get_prompt_with<'a>(
        &'a self,
        _: &'a str,
        arguments: &'a BTreeMap<String, String>,
        input: &'a InputResponses,
    ) -> ClientResult<'a, GetPromptResult> {
        self.asked.lock().unwrap().push(arguments.clone());
        Box::pin(async { self.result(Some(input)) })
    }
}

/// The user invokes `draft`.
fn draft() -> Invocation {
    Invocation::by_user(PromptId::new(id("desk"), "draft")).with_argument("ticket", "T-1")
}

/// What these messages of `draft` become, against a catalog that may list resources too.
fn rendered(catalog: CatalogBuilder, messages: Value, options: &PromptOptions) -> RenderedPrompt {
    let catalog = catalog.prompt(id("desk"), Prompt::new("draft", "Draft a reply")).build();
    let entry = catalog.prompt(&PromptId::new(id("desk"), "draft")).unwrap();
    let result = GetPromptResult::read(json!({"messages": messages})).unwrap().item;
    let answer = PromptAnswer::new(&catalog, entry, result, options).unwrap();
    RenderedPrompt::new(answer, options.budget, &CountCache::new(Arc::new(BytesPerToken::default())))
}

fn rendered_plainly(messages: Value) -> RenderedPrompt {
    rendered(Catalog::builder(), messages, &PromptOptions::new().with_budget(TokenBudget::new(10_000)))
}

/// The texts of a prompt's messages, `user: …` or `assistant: …`.
fn texts(prompt: &RenderedPrompt) -> Vec<String> {
    let value = prompt.to_value();
    let messages = value["messages"].as_array().unwrap().iter();
    let text = |message: &Value| {
        let block = &message["content"][0];
        let text = block["text"].as_str().unwrap_or(block["mimeType"].as_str().unwrap_or_default());
        format!("{}: {text}", message["role"].as_str().unwrap())
    };
    messages.map(text).collect()
}
