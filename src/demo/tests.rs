use std::{collections::BTreeSet, time::Duration};

use rmcp::{
    ClientHandler, ClientServiceExt, RoleClient, ServiceError,
    model::{
        ArgumentInfo, CallToolRequestParams, ClientConfig, CompleteRequestParams, CompletionContext, ErrorCode,
        GetPromptRequestParams, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, Reference,
        ResourceContents, ResourceUpdatedNotificationParam, ServerNotification, SubscribeRequestParams,
        SubscriptionFilter, UnsubscribeRequestParams,
    },
    service::{ClientLifecycleMode, NotificationContext, RunningService, Service},
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    QUESTIONS,
    asset::{ASSETS, Asset, Era},
    servers,
};

/// A demo server must answer within this, or the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(20);

fn auto() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None }
}

async fn connect(id: &str) -> RunningService<RoleClient, ()> {
    let server = servers().into_iter().find(|server| server.id() == id).unwrap();
    ().serve_with_lifecycle(server.serve(), auto()).await.unwrap()
}

fn arguments(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn call(name: &str, with: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(name.to_owned()).with_arguments(arguments(with))
}

fn assets() -> Vec<Asset> {
    ASSETS.iter().map(|(id, text)| serde_json::from_str(text).unwrap_or_else(|e| panic!("{id}: {e}"))).collect()
}

#[test]
fn every_file_reads_and_the_workplace_is_large() {
    let assets = assets();
    assert!(ASSETS.iter().zip(&assets).all(|((id, _), asset)| *id == asset.id));
    assert_eq!(servers().len(), assets.len());
    assert!(servers().iter().map(super::DemoServer::id).is_sorted());

    let mut sizes = Vec::new();
    for asset in &assets {
        let mut names = BTreeSet::new();
        for tool in asset.tools.iter().chain(&asset.later_tools) {
            let definition = &tool.definition;
            assert!(names.insert(definition.name.clone()), "{} twice on {}", definition.name, asset.id);
            assert_eq!(definition.input_schema.get("type"), Some(&json!("object")), "{}", definition.name);
            assert!(tool.answer.last().is_some_and(|case| case.when.is_empty()), "{} may not answer", definition.name);
            if definition.output_schema.is_some() {
                assert!(tool.answer.iter().all(|case| case.error || case.data.is_some()), "{}", definition.name);
            }
            sizes.push(serde_json::to_vec(definition).unwrap().len());
        }
    }
    sizes.sort_unstable();
    let (median, total) = (sizes[sizes.len() / 2], sizes.iter().sum::<usize>());
    let resources: usize = assets.iter().map(|asset| asset.resources.len()).sum();
    let templates: usize = assets.iter().map(|asset| asset.resource_templates.len()).sum();
    let prompts: usize = assets.iter().map(|asset| asset.prompts.len()).sum();
    println!(
        "{} servers, {} tools (median {median} B, {}..{} B, {total} B), {resources} resources, \
         {templates} templates, {prompts} prompts",
        assets.len(),
        sizes.len(),
        sizes[0],
        sizes[sizes.len() - 1],
    );
    assert!(assets.len() >= 30 && sizes.len() >= 120 && resources >= 30 && templates >= 4 && prompts >= 10);
    assert!((1_000..1_400).contains(&median), "median {median}");
    assert!(sizes.last().is_some_and(|largest| *largest >= 3_000));
    assert!(ASSETS.iter().map(|(_, text)| text.len()).sum::<usize>() < 350_000);
    assert!(assets.iter().filter(|asset| asset.instructions.is_some()).count() >= 6);
    for era in [Era::Legacy, Era::Modern, Era::Dual] {
        assert!(assets.iter().filter(|asset| asset.era == era).count() >= 4, "{era:?}");
    }
}

#[test]
fn questions_name_tools_that_exist() {
    let assets = assets();
    assert!(QUESTIONS.len() >= 25);
    for question in QUESTIONS {
        let asset = assets.iter().find(|asset| asset.id == question.server).unwrap();
        assert!(asset.tools.iter().any(|tool| tool.definition.name == question.tool), "{question:?}");
    }
}

#[tokio::test]
async fn everything_listed_can_be_used() {
    for (server, asset) in servers().into_iter().zip(assets()) {
        let id = server.id();
        let client = ().serve_with_lifecycle(server.serve(), auto()).await.unwrap();
        let info = client.peer_info().unwrap();
        let modern = info.protocol_version == ProtocolVersion::V_2026_07_28;
        assert_eq!(modern, asset.era != Era::Legacy, "{id}: {}", info.protocol_version);
        assert_eq!(info.instructions, asset.instructions, "{id}");

        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools.len(), asset.tools.len(), "{id}");
        assert!(tools.iter().zip(&asset.tools).all(|(listed, tool)| *listed == tool.definition), "{id}");

        if info.capabilities.resources.is_some() {
            let resources = client.list_all_resources().await.unwrap();
            assert_eq!(resources.len(), asset.resources.len(), "{id}");
            for resource in resources {
                let read = client.read_resource(ReadResourceRequestParams::new(resource.uri.clone())).await.unwrap();
                assert!(!read.contents.is_empty(), "{}", resource.uri);
                let bytes: usize = read.contents.iter().map(raw_len).sum();
                assert!(resource.size.is_none_or(|size| size == bytes as u64), "{}: {bytes}", resource.uri);
            }
            for (listed, template) in
                client.list_all_resource_templates().await.unwrap().iter().zip(&asset.resource_templates)
            {
                let first = template.choices.values.iter().fold(listed.uri_template.clone(), |uri, (name, values)| {
                    uri.replace(&format!("{{{name}}}"), &values[0])
                });
                client.read_resource(ReadResourceRequestParams::new(first)).await.unwrap();
            }
        }
        if info.capabilities.prompts.is_some() {
            for prompt in client.list_all_prompts().await.unwrap() {
                let required = prompt.arguments.iter().flatten().filter(|argument| argument.required == Some(true));
                let given = required.map(|argument| (argument.name.clone(), json!("T-4711"))).collect();
                let request = GetPromptRequestParams::new(prompt.name).with_arguments(given);
                assert!(!client.get_prompt(request).await.unwrap().messages.is_empty());
            }
        }
        client.cancel().await.unwrap();
    }
}

fn raw_len(contents: &ResourceContents) -> usize {
    match contents {
        ResourceContents::TextResourceContents { text, .. } => text.len(),
        ResourceContents::BlobResourceContents { blob, .. } => {
            blob.len() / 4 * 3 - blob.bytes().rev().take_while(|byte| *byte == b'=').count()
        }
        _ => 0,
    }
}

#[tokio::test]
async fn an_empty_cursor_is_followed_and_a_wrong_one_refused() {
    let wiki = connect("wiki").await;
    let first = wiki.list_tools(None).await.unwrap();
    assert_eq!(first.next_cursor.as_deref(), Some(""));
    let next = |cursor: &str| Some(PaginatedRequestParams::default().with_cursor(Some(cursor.into())));
    let second = wiki.list_tools(next("")).await.unwrap();
    assert_eq!(second.next_cursor, None);
    assert_ne!(first.tools, second.tools);
    let ServiceError::McpError(error) = wiki.list_tools(next("7")).await.unwrap_err() else { panic!() };
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
}

#[tokio::test]
async fn calls_answer_by_their_arguments() {
    let support = connect("support").await;
    let ticket = support.call_tool(call("tickets.get", json!({"ticket_id": "T-4711"}))).await.unwrap();
    assert_eq!(ticket.structured_content.unwrap()["customer"], "Ines Albrecht");

    let draft = json!({"ticket_id": "T-4711", "reason": "damaged"});
    let draft = support.call_tool(call("refunds.create_draft", draft)).await.unwrap().structured_content.unwrap();
    assert_eq!((&draft["rule"], &draft["needs_approval"]), (&json!("1"), &json!(false)));

    for wrong in [json!({"ticket_id": "T-1"}), json!({})] {
        assert_eq!(support.call_tool(call("tickets.get", wrong)).await.unwrap().is_error, Some(true));
    }
    let wrong = json!({"ticket_id": "T-4711", "reason": "because"});
    assert_eq!(support.call_tool(call("refunds.create_draft", wrong)).await.unwrap().is_error, Some(true));
    assert!(support.call_tool(call("tickets.burn", json!({}))).await.is_err());
}

#[tokio::test]
async fn a_review_prompt_holds_the_policy_and_completes_its_ticket() {
    let support = connect("support").await;
    let request = GetPromptRequestParams::new("draft_refund_review");
    assert!(support.get_prompt(request.clone()).await.is_err());
    let prompt = support.get_prompt(request.with_arguments(arguments(json!({"ticket_id": "T-4711"})))).await.unwrap();
    let text = serde_json::to_string(&prompt).unwrap();
    assert!(text.contains("support://policies/refunds/2026-09") && text.contains("ticket T-4711"));
    assert!(text.contains("neutral tone"));

    let argument = ArgumentInfo::new("ticket_id", "T-47");
    let request = CompleteRequestParams::new(Reference::for_prompt("draft_refund_review"), argument);
    assert_eq!(support.complete(request).await.unwrap().completion.values, ["T-4711", "T-4730"]);
}

#[tokio::test]
async fn what_is_settled_narrows_what_is_completed() {
    let deploy = connect("deploy").await;
    let services = |environment: Option<&str>| {
        let target = Reference::for_resource("deploy://{environment}/{service}/env");
        let mut request = CompleteRequestParams::new(target, ArgumentInfo::new("service", ""));
        request.context = environment.map(|environment| {
            CompletionContext::with_arguments([("environment".to_owned(), environment.to_owned())].into())
        });
        deploy.complete(request)
    };
    assert_eq!(services(None).await.unwrap().completion.values.len(), 5);
    assert!(services(Some("staging")).await.unwrap().completion.values.contains(&"preview".to_owned()));
    assert!(!services(Some("production")).await.unwrap().completion.values.contains(&"preview".to_owned()));
    for (uri, there) in [("deploy://staging/preview/env", true), ("deploy://production/preview/env", false)] {
        let read = deploy.read_resource(ReadResourceRequestParams::new(uri)).await;
        assert_eq!(read.is_ok(), there, "{uri}");
    }
}

#[tokio::test]
async fn unknown_resources_are_not_found() {
    let board = connect("sprint-board").await;
    for uri in ["sprint://7", "config://nothing"] {
        let error = board.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap_err();
        let ServiceError::McpError(error) = error else { panic!("{error}") };
        assert_eq!((error.code, error.data), (ErrorCode::INVALID_PARAMS, Some(json!({"uri": uri}))));
    }
}

#[tokio::test]
async fn a_subscription_hears_every_announcement() {
    let flags = connect("feature-flags").await;
    let before = flags.list_all_tools().await.unwrap().len();
    let mut heard = flags.listen(SubscriptionFilter::builder().tools_list_changed().build()).await.unwrap();
    flags.call_tool(call("enable_beta_tools", json!({"announcements": 3}))).await.unwrap();
    for _ in 0..3 {
        assert!(tokio::time::timeout(PATIENCE, heard.next()).await.unwrap().unwrap().is_some());
    }
    let after = flags.list_all_tools().await.unwrap();
    assert_eq!(after.len(), before + 2);
    assert!(after.iter().any(|tool| tool.name == "beta.rollout_plan"));
}

async fn one_click_refund<S: Service<RoleClient>>(flags: &RunningService<RoleClient, S>) -> String {
    let read = flags.read_resource(ReadResourceRequestParams::new("flags://one-click-refund")).await.unwrap();
    let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else { panic!() };
    text.clone()
}

fn switch_on() -> CallToolRequestParams {
    let arguments =
        json!({"name": "one-click-refund", "environment": "production", "state": "on", "comment": "It works."});
    call("flags.set", arguments)
}

#[tokio::test]
async fn a_call_changes_a_resource_and_its_subscription_hears_of_it() {
    let flags = connect("feature-flags").await;
    let uris = ["flags://one-click-refund", "flags://another"];
    let filter = SubscriptionFilter::builder().tools_list_changed().resource_subscriptions(uris).build();
    let mut heard = flags.listen(filter).await.unwrap();
    assert!(one_click_refund(&flags).await.contains("share (10 %)"));
    flags.call_tool(switch_on()).await.unwrap();
    let news = tokio::time::timeout(PATIENCE, heard.next()).await.unwrap().unwrap();
    let Some(ServerNotification::ResourceUpdatedNotification(updated)) = news else { panic!("{news:?}") };
    assert_eq!(updated.params.uri, "flags://one-click-refund");
    assert!(one_click_refund(&flags).await.contains("on (100 %) in production\nIt works."));

    let calendar = connect("calendar").await;
    let filter = SubscriptionFilter::builder().resource_subscription("calendar://today").build();
    let mut heard = calendar.listen(filter).await.unwrap();
    calendar.call_tool(call("createEvent", json!({"title": "Lunch", "start": "12:00"}))).await.unwrap();
    assert!(tokio::time::timeout(PATIENCE, heard.next()).await.unwrap().unwrap().is_some());
}

#[tokio::test]
#[allow(deprecated, reason = "that era has no other way to subscribe")]
async fn a_legacy_client_hears_of_a_resource_while_it_is_subscribed() {
    for id in ["feature-flags", "ci-pipelines"] {
        let (uri, change) = match id {
            "feature-flags" => ("flags://one-click-refund", switch_on()),
            _ => ("ci://runners/status.csv", call("pipeline_run", json!({"repository": "shop/api"}))),
        };
        let server = servers().into_iter().find(|server| server.id() == id).unwrap();
        let (sender, mut heard) = mpsc::unbounded_channel();
        let client = EarlyClient(sender);
        let client = client.serve_with_lifecycle(server.serve(), ClientLifecycleMode::Initialize).await.unwrap();
        assert!(client.subscribe(SubscribeRequestParams::new("flags://another")).await.is_err());
        client.subscribe(SubscribeRequestParams::new(uri)).await.unwrap();
        client.call_tool(change.clone()).await.unwrap();
        assert!(tokio::time::timeout(PATIENCE, heard.recv()).await.unwrap().is_some(), "{id}");
        client.unsubscribe(UnsubscribeRequestParams::new(uri)).await.unwrap();
        client.call_tool(change).await.unwrap();
        client.list_all_tools().await.unwrap();
        assert!(heard.try_recv().is_err(), "{id}");
    }
}

struct EarlyClient(mpsc::UnboundedSender<()>);

impl ClientHandler for EarlyClient {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::default().with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn on_resource_updated(
        &self,
        _: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.0.send(()).unwrap();
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.send(()).unwrap();
    }
}

#[tokio::test]
async fn a_legacy_client_hears_every_announcement() {
    let server = servers().into_iter().find(|server| server.id() == "feature-flags").unwrap();
    let (sender, mut heard) = mpsc::unbounded_channel();
    let client = EarlyClient(sender);
    let flags = client.serve_with_lifecycle(server.serve(), ClientLifecycleMode::Initialize).await.unwrap();
    flags.call_tool(call("enable_beta_tools", json!({}))).await.unwrap();
    for _ in 0..5 {
        assert!(tokio::time::timeout(PATIENCE, heard.recv()).await.unwrap().is_some());
    }
}

#[test]
fn outside_a_runtime_the_connection_is_closed() {
    use tokio::io::AsyncReadExt;

    let mut stream = servers().remove(0).serve();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(stream.read(&mut [0; 8])).unwrap(), 0);
}

/// Required properties with plain values: the first of an enumeration, a small number within its bounds.
fn example(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("string") => "example".into(),
        Some("integer" | "number") => {
            let bound = |name: &str, none| schema[name].as_u64().unwrap_or(none);
            7.clamp(bound("minimum", 0), bound("maximum", u64::MAX)).into()
        }
        Some("boolean") => true.into(),
        Some("array") => json!([example(&schema["items"])]),
        _ => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            required.map(|name| (name.to_owned(), example(&schema["properties"][name]))).collect()
        }
    }
}

#[test]
fn every_case_of_every_tool_answers_in_the_form_that_it_promises() {
    for asset in assets() {
        for tool in asset.tools.iter().chain(&asset.later_tools) {
            let name = &tool.definition.name;
            for case in &tool.answer {
                let mut given = arguments(example(&Value::Object((*tool.definition.input_schema).clone())));
                given.extend(case.when.clone());
                given.retain(|_, value| !value.is_null());
                let (result, _) = super::answer::answer(tool, &given);
                let text = serde_json::to_string(&result.content).unwrap();
                assert!(text.len() > 30, "{name}: {text}");
                assert_eq!(result.is_error.unwrap_or(false), case.error, "{name}: {text}");
                let Some(promised) = tool.definition.output_schema.as_ref().filter(|_| !case.error) else { continue };
                let data = result.structured_content.unwrap();
                for key in promised["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                    let fits = match promised["properties"][key]["type"].as_str().unwrap() {
                        "string" => data[key].is_string(),
                        "integer" => data[key].is_u64(),
                        "number" => data[key].is_number(),
                        "boolean" => data[key].is_boolean(),
                        "array" => data[key].is_array(),
                        other => panic!("{name}: {other}"),
                    };
                    assert!(fits, "{name}: {key} of {data}");
                }
            }
        }
    }
}

#[tokio::test]
async fn eras_keep_to_their_handshake() {
    for (server, asset) in servers().into_iter().zip(assets()) {
        let id = server.id();
        let early = EarlyClient(mpsc::unbounded_channel().0);
        let initialized = early.serve_with_lifecycle(server.clone().serve(), ClientLifecycleMode::Initialize).await;
        assert_eq!(initialized.is_ok(), asset.era != Era::Modern, "{id}");
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        let mode = ClientLifecycleMode::Discover { preferred_versions };
        let discovered = ().serve_with_lifecycle(server.serve(), mode).await;
        assert_eq!(discovered.is_ok(), asset.era != Era::Legacy, "{id}");
    }
}

#[test]
fn the_workplace_holds_the_cases_that_hosts_get_wrong() {
    let assets = assets();
    let named = |name: &str| {
        let tools = assets.iter().flat_map(|asset| &asset.tools);
        tools.filter(|tool| tool.definition.name == name).count()
    };
    assert_eq!((named("search"), named("list_projects"), named("create_issue")), (3, 2, 2));

    let tools: Vec<_> = assets.iter().flat_map(|asset| &asset.tools).collect();
    assert!(tools.iter().any(|tool| tool.definition.name.len() > 63));
    assert!(tools.iter().any(|tool| !tool.definition.name.is_ascii()));
    assert!(tools.iter().any(|tool| tool.definition.annotations.is_none()));

    let resources: Vec<_> = assets.iter().flat_map(|asset| &asset.resources).collect();
    let priority = |wanted| {
        move |r: &&&super::asset::ResourceAsset| {
            r.definition.annotations.as_ref().and_then(|annotations| annotations.priority) == wanted
        }
    };
    for wanted in [None, Some(0.0), Some(1.0)] {
        assert!(resources.iter().filter(priority(wanted)).count() >= 2, "{wanted:?}");
    }
    assert!(resources.iter().any(|resource| resource.contents.len() == 2));
    let blobs =
        || resources.iter().flat_map(|resource| &resource.contents).filter(|contents| contents.get("blob").is_some());
    let of_kind = |kind: &'static str| {
        move |contents: &&Value| contents["mimeType"].as_str().is_some_and(|mime_type| mime_type.starts_with(kind))
    };
    assert!(blobs().any(|contents| of_kind("image/")(&contents)), "a picture");
    assert!(blobs().any(|contents| of_kind("application/xml")(&contents)), "a text that comes as a blob");
    assert!(resources.iter().any(|resource| resource.definition.size.is_some_and(|size| size >= 30_000)));
    assert!(resources.iter().any(|resource| resource.definition.size.is_none()));
    assert!(assets.iter().filter(|asset| asset.pages.contains_key("tools")).count() >= 2);
}
