use std::{borrow::Cow, collections::BTreeMap};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, PromptMessage,
        PromptsCapability, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        Reference, ResourceContents, ResourcesCapability, ServerCapabilities, ServerConfig, SubscribeRequestMethod,
        SubscribeRequestParams, SubscriptionFilter, Tool, ToolsCapability, UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{
    answer::answer,
    asset::{Era, ToolAsset},
    choices::Choices,
    paging::Paging,
    server::DemoServer,
    template::fill,
};
use crate::templates::UriTemplate;

impl DemoServer {
    fn tools(&self) -> impl Iterator<Item = &ToolAsset> {
        let later = if self.changes.later_tools_shown() { self.asset.later_tools.as_slice() } else { &[] };
        self.asset.tools.iter().chain(later)
    }

    fn page<T: Clone>(
        &self,
        list: &str,
        items: Vec<T>,
        request: Option<PaginatedRequestParams>,
    ) -> Result<(Vec<T>, Option<String>), ErrorData> {
        let size = self.asset.pages.get(list).copied();
        Paging { server: &self.asset.id, list, size, empty_cursor: self.asset.empty_cursor }.page(items, request)
    }

    /// Whether a call may change what a resource holds.
    fn updates_resources(&self) -> bool {
        let mut effects = self.asset.tools.iter().flat_map(|tool| &tool.answer).filter_map(|case| case.effect.as_ref());
        effects.any(|effect| effect.update.is_some())
    }

    fn ttl_ms(&self) -> Option<u64> {
        self.asset.cache.map(|cache| cache.ttl_ms)
    }

    fn cache_scope(&self) -> Option<CacheScope> {
        self.asset.cache.map(|cache| cache.scope)
    }

    /// The contents of a resource, or of an instance of a template.
    fn contents(&self, uri: &str) -> Result<Vec<ResourceContents>, ErrorData> {
        if let Some(contents) = self.changes.contents(uri) {
            return contents.into_iter().map(from_asset).collect();
        }
        if let Some(resource) = self.asset.resources.iter().find(|resource| resource.definition.uri == uri) {
            return resource.contents.iter().cloned().map(repeat).map(from_asset).collect();
        }
        for template in &self.asset.resource_templates {
            let Ok(parsed) = UriTemplate::parse(&template.definition.uri_template) else { continue };
            let Some(matched) = parsed.matches(uri) else { continue };
            let texts = matched.iter().filter_map(|(name, _)| Some((name.to_owned(), matched.text(name)?.to_owned())));
            let variables: BTreeMap<String, String> = texts.collect();
            if variables.len() == parsed.variables().len() && template.choices.allow(&variables) {
                let variables = variables.into_iter().map(|(name, value)| (name, value.into())).collect();
                return template.contents.iter().map(|contents| from_asset(fill(contents, &variables))).collect();
            }
        }
        Err(ErrorData::resource_not_found("resource not found", Some(json!({"uri": uri}))))
    }
}

impl ServerHandler for DemoServer {
    fn get_info(&self) -> ServerConfig {
        let asset = &self.asset;
        let mut tools = ToolsCapability::default();
        tools.list_changed = Some(!asset.later_tools.is_empty());
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(tools);
        if !asset.resources.is_empty() || !asset.resource_templates.is_empty() {
            let mut resources = ResourcesCapability::default();
            resources.subscribe = self.updates_resources().then_some(true);
            capabilities.resources = Some(resources);
        }
        if !asset.prompts.is_empty() {
            capabilities.prompts = Some(PromptsCapability::default());
        }
        let prompt_values = asset.prompts.iter().any(|prompt| !prompt.choices.values.is_empty());
        if prompt_values || !asset.resource_templates.is_empty() {
            capabilities.completions = Some(Map::new());
        }
        let implementation = Implementation::new(format!("demo-{}", asset.id), asset.version.as_str())
            .with_title(asset.title.as_str())
            .with_description(asset.description.as_str());
        let mut config = ServerConfig::new(capabilities).with_server_info(implementation);
        config.instructions.clone_from(&asset.instructions);
        config
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match self.asset.era {
            Era::Legacy => Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25)),
            Era::Modern => Cow::Borrowed(&[ProtocolVersion::V_2026_07_28]),
            Era::Dual => Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools: Vec<Tool> = self.tools().map(|tool| tool.definition.clone()).collect();
        let (tools, next_cursor) = self.page("tools", tools, request)?;
        let (ttl_ms, cache_scope) = (self.ttl_ms(), self.cache_scope());
        Ok(ListToolsResult { tools, next_cursor, ttl_ms, cache_scope, ..Default::default() })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = self.asset.resources.iter().map(|resource| resource.definition.clone()).collect();
        let (resources, next_cursor) = self.page("resources", resources, request)?;
        let (ttl_ms, cache_scope) = (self.ttl_ms(), self.cache_scope());
        Ok(ListResourcesResult { resources, next_cursor, ttl_ms, cache_scope, ..Default::default() })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.asset.resource_templates.iter().map(|template| template.definition.clone()).collect();
        let (resource_templates, next_cursor) = self.page("resourceTemplates", templates, request)?;
        let (ttl_ms, cache_scope) = (self.ttl_ms(), self.cache_scope());
        Ok(ListResourceTemplatesResult { resource_templates, next_cursor, ttl_ms, cache_scope, ..Default::default() })
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = self.asset.prompts.iter().map(|prompt| prompt.definition.clone()).collect();
        let (prompts, next_cursor) = self.page("prompts", prompts, request)?;
        let (ttl_ms, cache_scope) = (self.ttl_ms(), self.cache_scope());
        Ok(ListPromptsResult { prompts, next_cursor, ttl_ms, cache_scope, ..Default::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self
            .tools()
            .find(|tool| tool.definition.name == request.name)
            .ok_or_else(|| ErrorData::invalid_params("unknown tool", None))?;
        let arguments = request.arguments.unwrap_or_default();
        let (result, effect) = answer(tool, &arguments);
        if let Some(effect) = effect {
            self.changes.apply(effect, &arguments, &context).await;
        }
        Ok(result.into())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let mut result = ReadResourceResult::new(self.contents(&request.uri)?);
        (result.ttl_ms, result.cache_scope) = (self.ttl_ms(), self.cache_scope());
        Ok(result.into())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = self
            .asset
            .prompts
            .iter()
            .find(|prompt| prompt.definition.name == request.name)
            .ok_or_else(|| ErrorData::invalid_params("unknown prompt", None))?;
        let arguments = request.arguments.unwrap_or_default();
        for argument in prompt.definition.arguments.iter().flatten() {
            if argument.required == Some(true) && !arguments.contains_key(&argument.name) {
                return Err(ErrorData::invalid_params(format!("missing argument `{}`", argument.name), None));
            }
        }
        let messages = prompt.messages.iter().map(|message| from_asset(fill(message, &arguments)));
        let mut result = GetPromptResult::new(messages.collect::<Result<Vec<PromptMessage>, _>>()?);
        result.description.clone_from(&prompt.definition.description);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let choices: Option<&Choices> = match &request.r#ref {
            Reference::Prompt(prompt) => {
                self.asset.prompts.iter().find(|p| p.definition.name == prompt.name).map(|p| &p.choices)
            }
            Reference::Resource(resource) => {
                let mut templates = self.asset.resource_templates.iter();
                templates.find(|template| template.definition.uri_template == resource.uri).map(|t| &t.choices)
            }
            _ => None,
        };
        let choices = choices.ok_or_else(|| ErrorData::invalid_params("nothing to complete", None))?;
        let known = request.context.and_then(|context| context.arguments).into_iter().flatten().collect();
        let values = choices.of(&request.argument.name, &known).iter();
        let values = values.filter(|value| value.starts_with(&request.argument.value)).cloned().collect();
        let completion = CompletionInfo::with_all_values(values);
        Ok(CompleteResult::new(completion.map_err(|reason| ErrorData::internal_error(reason, None))?))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = (!self.asset.later_tools.is_empty()).then_some(true);
        accepted.resource_subscriptions = requested.resource_subscriptions.clone().filter(|_| self.updates_resources());
        if accepted == SubscriptionFilter::new() {
            return None;
        }
        self.changes.expect_listener();
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.changes.forward(context).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.updates_resources() {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        }
        self.contents(&request.uri)?;
        self.subscriptions.subscribe(request.uri, self.changes.announcements(), context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.unsubscribe(&request.uri);
        Ok(())
    }
}

/// Continues a text as its `repeat` says.
fn repeat(mut contents: Value) -> Value {
    let Some(fields) = contents.as_object_mut() else { return contents };
    let Some(repeat) = fields.remove("repeat") else { return contents };
    let times = repeat.get("times").and_then(Value::as_u64).unwrap_or_default();
    if let (Some(Value::String(text)), Some(Value::String(part))) = (fields.get_mut("text"), repeat.get("text")) {
        for n in 1..=times {
            text.push_str(&part.replace("{n}", &n.to_string()));
        }
    }
    contents
}

fn from_asset<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
