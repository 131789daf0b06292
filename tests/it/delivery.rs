//! Conversations under every delivery policy: what the prefix holds, and what a restored one renders.

use std::{collections::BTreeMap, sync::Arc};

use proem::{
    Host, Session, TokenBudget,
    client::MemoryClient,
    cost::{MissReason, PriceSheet, Verdict},
    id::{ResourceId, ToolId},
    prefix::{Prefix, PrefixDiff},
    protocol::{Resource, Tool},
    render::{Anthropic, Message, OpenAiChat, Request, SectionKind, ToolKind},
    retrieval::{Filter, Lexical},
    session::{Context, Delivery, SessionEvent, SessionOptions},
    tokens::BytesPerToken,
};
use serde_json::json;

const TOOLS: [(&str, &str, &str); 12] = [
    ("git", "merge", "Merge a branch into the current branch"),
    ("git", "rebase", "Rebase a branch onto another branch"),
    ("git", "tag", "Tag a commit of a branch"),
    ("mail", "send_mail", "Send an e-mail to a person"),
    ("mail", "list_mails", "List the e-mails of the inbox"),
    ("mail", "delete_mail", "Delete an e-mail from the inbox"),
    ("files", "read_file", "Read a file from the disk"),
    ("files", "write_file", "Write a file to the disk"),
    ("weather", "forecast", "Weather forecast of a city"),
    ("weather", "warnings", "Storm warnings of a city"),
    ("calendar", "add_event", "Add an event to the calendar"),
    ("calendar", "list_events", "List the events of the calendar"),
];

fn clients() -> BTreeMap<&'static str, MemoryClient> {
    let mut clients: BTreeMap<&str, MemoryClient> = BTreeMap::new();
    for (server, name, description) in TOOLS {
        let client = clients.remove(server).unwrap_or_default();
        let schema = json!({"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]});
        clients.insert(server, client.with_definition(Tool::new(name, description).with_input_schema(schema)));
    }
    for (server, client) in &mut clients {
        *client = std::mem::take(client).with_instructions(format!("Use {server} with care."));
    }
    clients
}

async fn host_of(clients: impl IntoIterator<Item = (&'static str, MemoryClient)>) -> Host {
    let builder = Host::builder().retriever(Lexical::new()).counter(BytesPerToken::default());
    let host =
        clients.into_iter().fold(builder, |builder, (name, client)| builder.server(name, client)).build().unwrap();
    host.refresh().await;
    host
}

fn options(delivery: Delivery) -> SessionOptions {
    SessionOptions::new().with_delivery(delivery).with_provider(Anthropic::new())
}

fn start(host: &Host, options: SessionOptions) -> Session {
    Session::with_options(Arc::clone(host.composer()), "2026-10-01T00:00:00Z".parse().unwrap(), options)
}

/// A conversation as a host carries it on.
struct Talk {
    session: Session,
    history: Vec<Message>,
}

impl Talk {
    fn new(session: Session) -> Self {
        Self { session, history: Vec::new() }
    }

    async fn turn(&mut self, query: &str) -> Context {
        let turn = self.session.turn(query).messages(self.history.clone()).tools(TokenBudget::new(2_000));
        let context = turn.resources(TokenBudget::new(500)).build().await.unwrap();
        self.history.push(Message::user(query));
        self.history.push(Message::assistant("Done."));
        context
    }
}

fn front(request: &Request) -> String {
    let section = |kind| request.section_str(kind).unwrap_or_default().to_owned();
    section(SectionKind::Tools) + &section(SectionKind::System)
}

fn array(context: &Context) -> Vec<&str> {
    context.layout().tools.iter().map(|tool| tool.exposed.as_str()).collect()
}

const QUESTIONS: [&str; 3] = ["merge the branch", "send an e-mail to Ada", "storm warnings for the city"];

#[tokio::test]
async fn what_each_policy_offers_and_what_it_leaves_as_it_is() {
    let host = host_of(clients()).await;
    let mut offered = BTreeMap::new();
    for delivery in Delivery::ALL {
        let mut talk = Talk::new(start(&host, options(delivery)));
        let mut fronts = Vec::new();
        for question in QUESTIONS {
            let context = talk.turn(question).await;
            fronts.push(front(&context.render(&Anthropic::new())));
            offered.insert(delivery, context.delivered().offered.len());
            let has = |name: &str| context.delivered().offered.contains_key(name);
            let needed = [has("merge"), has("send_mail"), has("warnings")];
            let asked = fronts.len();
            match delivery {
                Delivery::PerTurn => assert!(needed[asked - 1]),
                Delivery::All => assert_eq!(needed, [true; 3]),
                Delivery::Frozen => {
                    assert_eq!((needed[0], context.delivered().withheld.is_empty()), (true, asked == 1))
                }
                _ => assert!(needed[..asked].iter().all(|has| *has), "{delivery}: {needed:?}"),
            }
        }
        let stays = fronts.iter().all(|front| *front == fronts[0]);
        assert_eq!(stays, !matches!(delivery, Delivery::PerTurn | Delivery::Append), "{delivery}");
    }
    assert_eq!(offered[&Delivery::All], TOOLS.len());
}

#[tokio::test]
async fn own_tools_come_first_and_only_where_the_model_can_search() {
    let host = host_of(clients()).await;
    for (delivery, own) in [
        (Delivery::PerTurn, vec![]),
        (Delivery::Frozen, vec![]),
        (Delivery::Deferred, vec![ToolKind::Search]),
        (Delivery::Bridge, vec![ToolKind::Search, ToolKind::Call]),
    ] {
        let context = Talk::new(start(&host, options(delivery))).turn(QUESTIONS[0]).await;
        let mut kinds: Vec<_> =
            context.layout().tools.iter().map(|tool| tool.kind).filter(|kind| *kind != ToolKind::Server).collect();
        kinds.sort();
        assert_eq!(kinds, own, "{delivery}");
        assert_eq!(
            context.layout().system.len(),
            usize::from(!own.is_empty()),
            "the outline stands in the system text"
        );
    }
    // Without a place where tools can join, definitions are text.
    let unknown = SessionOptions::new().with_delivery(Delivery::Deferred);
    let mut session = start(&host, unknown);
    session.turn(QUESTIONS[0]).build().await.unwrap();
    assert_eq!(session.delivery(), Some(Delivery::Bridge));
}

#[tokio::test]
async fn a_restored_session_renders_the_same_bytes_whatever_the_servers_list_now() {
    for delivery in Delivery::ALL {
        let host = host_of(clients()).await;
        let mut talk = Talk::new(start(&host, options(delivery)));
        talk.turn(QUESTIONS[0]).await;
        let before = talk.turn(QUESTIONS[1]).await;
        let saved = talk.session.to_json();

        // Another program, other servers: all tools but one are gone, and that one changed.
        let other = MemoryClient::new().with_tool("merge", "Something else");
        let host = if delivery == Delivery::PerTurn { host } else { host_of([("git", other)]).await };
        let restored = host.restore_session(options(delivery), &saved).unwrap();
        assert_eq!(restored.to_json(), saved);
        let mut again = Talk { session: restored, history: talk.history[..2].to_vec() };
        let context = again.turn(QUESTIONS[1]).await;
        let (old, new) = (before.render(&Anthropic::new()), context.render(&Anthropic::new()));
        assert_eq!(old.as_str(), new.as_str(), "{delivery}");
        if delivery != Delivery::PerTurn {
            assert_eq!(context.delivered().changed.len(), 1, "{delivery}");
            assert!(context.route("rebase").is_err() && context.route("merge").is_ok(), "{delivery}");
        }
    }
}

#[tokio::test]
async fn a_text_that_is_no_session_is_refused() {
    let host = host_of(clients()).await;
    for (json, reason) in
        [("", "EOF"), ("[]", "invalid"), (r#"{"version":2}"#, "version 2"), (r#"{"version":1}"#, "now")]
    {
        let error = host.restore_session(SessionOptions::new(), json).unwrap_err().to_string();
        assert!(error.contains("saved session") && error.contains(reason), "{error}");
    }
}

#[tokio::test]
async fn at_an_event_what_was_called_goes_on_and_the_rest_may_go() {
    let host = host_of(clients()).await;
    for delivery in [Delivery::Append, Delivery::Deferred, Delivery::Bridge] {
        let mut talk = Talk::new(start(&host, options(delivery)));
        for question in QUESTIONS {
            talk.turn(question).await;
        }
        talk.session.used(&ToolId::new("mail".parse().unwrap(), "send_mail"));
        talk.session.event(SessionEvent::Compacted);
        talk.history = vec![Message::user("What was said so far, in short."), Message::assistant("I see.")];
        let context = talk.turn("add an event to the calendar").await;
        let names = array(&context);
        assert!(names.contains(&"send_mail") && names.contains(&"add_event"), "{delivery}: {names:?}");
        assert!(!names.contains(&"merge") && !names.contains(&"warnings"), "{delivery}: {names:?}");
        assert_eq!(context.layout().messages.len(), 3, "what was inserted is gone");
    }
}

#[tokio::test]
async fn a_conversation_that_was_rewritten_keeps_what_joined_before() {
    let host = host_of(clients()).await;
    let mut talk = Talk::new(start(&host, options(Delivery::Bridge)));
    for question in QUESTIONS {
        talk.turn(question).await;
    }
    let kept = talk.history[..3].to_vec();
    talk.history = kept;
    talk.history.push(Message::assistant("Another answer."));
    let context = talk.turn("list the events of the calendar").await;
    let has = |name: &str| context.delivered().offered.contains_key(name);
    assert!(has("merge") && has("send_mail") && has("list_events") && !has("warnings"));
    assert!(context.notes().iter().any(|note| note.contains("another one from message 3 on")), "{:?}", context.notes());
}

#[tokio::test]
async fn a_turn_that_is_asked_again_renders_the_same_bytes() {
    let host = host_of(clients()).await;
    for delivery in Delivery::ALL {
        let mut talk = Talk::new(start(&host, options(delivery)));
        talk.turn(QUESTIONS[0]).await;
        let once = talk.turn(QUESTIONS[1]).await;
        talk.history.truncate(2);
        let again = talk.turn(QUESTIONS[1]).await;
        let provider = Anthropic::new();
        assert_eq!(once.render(&provider).as_str(), again.render(&provider).as_str(), "{delivery}");
    }
}

#[tokio::test]
async fn what_a_later_filter_keeps_back_stays_in_the_prefix_and_is_not_called() {
    let host = host_of(clients()).await;
    let mut talk = Talk::new(start(&host, options(Delivery::Deferred)));
    let first = talk.turn(QUESTIONS[0]).await;
    let turn = talk.session.turn(QUESTIONS[0]).messages(talk.history.clone());
    let later = turn.filter(Filter::new().deny("git/merge".parse().unwrap())).build().await.unwrap();
    assert_eq!(front(&first.render(&Anthropic::new())), front(&later.render(&Anthropic::new())));
    assert!(later.route("merge").is_err() && later.route("rebase").is_ok());
    let allowed = later.layout().allowed.as_ref().unwrap();
    assert!(!allowed.contains("merge") && allowed.contains("rebase") && allowed.contains("search_tools"));
}

#[tokio::test]
async fn resources_join_at_the_tail_and_supersede_what_changed() {
    let mut clients = clients();
    let notes = MemoryClient::new().with_resource("notes://release", "The release is on Friday.");
    let notes = notes.with_resource("notes://storm", "Storm warnings are checked by Ada.");
    clients.insert("notes", notes.clone());
    let host = host_of(clients).await;
    let mut talk = Talk::new(start(&host, options(Delivery::Deferred)));
    let ask = async |talk: &mut Talk, query: &str, uri: &str| {
        let id = ResourceId::new("notes".parse().unwrap(), uri);
        let turn = talk.session.turn(query).messages(talk.history.clone()).resources(TokenBudget::new(400)).pick(id);
        let context = turn.build().await.unwrap();
        talk.history.push(Message::user(query));
        talk.history.push(Message::assistant("Done."));
        context.render(&Anthropic::new())
    };
    let first = ask(&mut talk, "when is the release?", "notes://release").await;
    let same = ask(&mut talk, "and where?", "notes://release").await;
    let other = ask(&mut talk, "who checks storm warnings?", "notes://storm").await;
    notes.set_resource("notes://release", "The release is on Monday.");
    let changed = ask(&mut talk, "when is the release again?", "notes://release").await;
    for (request, friday, monday, ada) in [(&first, 1, 0, 0), (&same, 1, 0, 0), (&other, 1, 0, 1), (&changed, 1, 1, 1)]
    {
        let count = |text: &str| request.as_str().matches(text).count();
        assert_eq!((count("on Friday."), count("on Monday."), count("by Ada.")), (friday, monday, ada), "{request}");
        assert_eq!(
            request.section_str(SectionKind::Attachments).map(|text| text.replace("cache_control", "")),
            first.section_str(SectionKind::Attachments).map(|text| text.replace("cache_control", "")),
        );
    }
    assert_eq!(changed.as_str().matches("supersedes=").count(), 1, "{changed}");
}

#[tokio::test]
async fn a_resource_that_its_server_lists_otherwise_is_read_again_though_nobody_asks_for_it() {
    let listed = |modified: &str| {
        let mut resource = Resource::new("notes://release", "release");
        resource.annotations.last_modified = Some(modified.into());
        resource
    };
    let notes =
        MemoryClient::new().with_described_resource(listed("2026-09-01T00:00:00Z"), "The release is on Friday.");
    let mut clients = clients();
    clients.insert("notes", notes.clone());
    let host = host_of(clients).await;
    let mut talk = Talk::new(start(&host, options(Delivery::Frozen)));
    let turn = talk.session.turn("when is the release?").resources(TokenBudget::new(400));
    turn.pick(ResourceId::new("notes".parse().unwrap(), "notes://release")).build().await.unwrap();
    talk.history.extend([Message::user("when is the release?"), Message::assistant("On Friday.")]);
    let quiet = talk.turn("storm warnings for the city").await.render(&Anthropic::new());
    assert!(!quiet.as_str().contains("supersedes="));

    let changed =
        MemoryClient::new().with_described_resource(listed("2026-09-02T00:00:00Z"), "The release is on Monday.");
    let mut clients = self::clients();
    clients.insert("notes", changed);
    let host = host_of(clients).await;
    talk.session = host.restore_session(options(Delivery::Frozen), &talk.session.to_json()).unwrap();
    let told = talk.turn("add an event to the calendar").await;
    let resource = &told.attached().resources[0];
    assert_eq!(resource.reason, "the conversation has it, and it may have changed");
    let request = told.render(&Anthropic::new());
    assert_eq!(request.as_str().matches("supersedes=").count(), 1, "{request}");
    let once = talk.turn("and another one").await.render(&Anthropic::new());
    assert_eq!(once.as_str().matches("on Monday").count(), 1, "{once}");
}

#[tokio::test]
async fn a_conversation_goes_on_with_another_provider() {
    let host = host_of(clients()).await;
    let mut talk = Talk::new(start(&host, options(Delivery::Deferred)));
    talk.turn(QUESTIONS[0]).await;
    let joined = talk.turn(QUESTIONS[1]).await.render(&Anthropic::new());
    assert!(joined.as_str().contains("tool_reference"), "{joined}");
    talk.session.used(&ToolId::new("mail".parse().unwrap(), "send_mail"));
    talk.session.switch(SessionOptions::new().with_delivery(Delivery::Deferred).with_provider(OpenAiChat::new()));
    let context = talk.turn(QUESTIONS[2]).await;
    assert_eq!(talk.session.delivery(), Some(Delivery::Bridge));
    let request = context.render(&OpenAiChat::new());
    assert!(array(&context).contains(&"send_mail") && array(&context).contains(&"call_tool"), "{request}");
    let sent = talk.session.sent(&request, "2026-10-01T00:00:00Z".parse().unwrap()).unwrap();
    assert_eq!(sent.diff, None);
}

#[tokio::test]
async fn usage_is_compared_with_what_was_expected_and_a_missed_hit_is_told() {
    let host = host_of(clients()).await;
    let prices = PriceSheet::named("anthropic/claude-sonnet-4-6").unwrap().clone();
    let mut session = start(&host, options(Delivery::Deferred).with_prices(prices));
    let error = session.observe_usage(&json!({"input_tokens": 1, "output_tokens": 1})).unwrap_err().to_string();
    assert!(error.contains("no request"), "{error}");
    // Long enough to be kept.
    let system = "Be careful with what is not yours. ".repeat(300);
    let (mut history, mut now) = (Vec::new(), jiff::Timestamp::UNIX_EPOCH);
    for (i, question) in QUESTIONS.into_iter().enumerate() {
        let turn = session.turn(question).messages(history.clone()).system(&system);
        let request = turn.build().await.unwrap().render(&Anthropic::new());
        now += jiff::SignedDuration::from_secs(60);
        let sent = session.sent(&request, now).unwrap();
        let predicted = sent.predicted.unwrap();
        assert_eq!((sent.diff.is_some(), predicted.read > 0), (i > 0, i > 0), "{predicted:?}");
        assert!(sent.diff.is_none_or(|diff| diff.extends) && sent.decision.is_none());
        history.extend([Message::user(question), Message::assistant("Done.")]);
        // The last one is billed as if nothing had been there.
        let read = if i < 2 { predicted.read } else { 0 };
        let written = predicted.total_written() + predicted.read - read;
        let billed = json!({"usage": {
            "input_tokens": predicted.uncached, "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written, "output_tokens": 10,
        }});
        let observed = session.observe_usage(&billed).unwrap();
        match observed.verdict.unwrap() {
            Verdict::AsPredicted => assert!(i < 2),
            Verdict::Colder { missed, reason: MissReason::Dropped } => assert_eq!((i, missed), (2, predicted.read)),
            other => panic!("{other:?}"),
        }
        assert!((0.9..1.1).contains(&observed.factor) && observed.cost.unwrap() > 0.0);
    }
    // Ten minutes later nothing is left of it, and the prefix is made anew.
    let turn = session.turn("add an event to the calendar").messages(history).system(&system);
    let late = now + jiff::SignedDuration::from_secs(600);
    let context = turn.sending(late).build().await.unwrap();
    assert!(!array(&context).contains(&"merge"), "{:?}", array(&context));
    let sent = session.sent(&context.render(&Anthropic::new()), late).unwrap();
    assert_eq!(sent.decision.as_deref(), Some("the prefix was made anew: the provider forgot the prefix"));
    assert_eq!(sent.predicted.unwrap().read, 0);
}

#[test]
fn a_reference_stands_for_the_definition_that_the_provider_puts_there() {
    let body = |description: &str| {
        json!({
            "tools": [
                {"name": "search_tools", "input_schema": {}},
                {"name": "merge", "description": description, "input_schema": {}, "defer_loading": true},
            ],
            "messages": [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "search_tools", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1",
                    "content": [{"type": "tool_reference", "tool_name": "merge"}]}]},
            ],
        })
        .to_string()
    };
    let prefix = |description| Prefix::read(&body(description)).unwrap();
    let (one, two) = (prefix("Merge a branch"), prefix("Merge two branches"));
    assert!(one.segments.last().unwrap().text.contains("Merge a branch"), "{one:?}");
    let first = PrefixDiff::between(&one, &two).first.unwrap();
    assert_eq!(first.old.unwrap().path, "messages[2].content[0]");
}
