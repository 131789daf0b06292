use std::sync::Arc;

use proem::{
    Context, Host, Session, TokenBudget,
    catalog::Catalog,
    client::{Change, Client, ListKind, MemoryClient},
    id::PromptId,
    json::Digest,
    prompts::{DriftKind, Invocation, Invoked, PromptAnswer, PromptOptions, drift},
    protocol::{GetPromptResult, Prompt},
    render::Anthropic,
    session::RenderedPrompt,
    tokens::BytesPerToken,
};
use serde_json::{Value, json};

use super::{Desk, draft};
use crate::{
    fake::{Fake, Step, id},
    session::Letters,
};

fn now() -> jiff::Timestamp {
    "2026-10-01T00:00:00Z".parse().unwrap()
}

fn said(context: &Context) -> Value {
    context.render(&Anthropic::new()).to_value()["messages"].clone()
}

#[tokio::test]
async fn a_prompt_stands_where_it_was_invoked_and_before_the_newest_message() {
    let messages = json!([
        {"role": "user", "content": {"type": "text", "text": "Review T-1."}},
        {"role": "assistant", "content": {"type": "text", "text": "I read it."}},
    ]);
    let host = Desk::of(messages).host().await;
    let prompt = host.prompt(&draft()).await.unwrap();
    let mut session = host.session_at(now());
    let context = session.turn("Go on.").prompt(&prompt).build().await.unwrap();
    let said = said(&context);
    let texts: Vec<_> = said.as_array().unwrap().iter().map(|message| &message["content"][0]["text"]).collect();
    assert_eq!(texts, ["Review T-1.", "I read it.", "Go on."]);
    assert_eq!(session.invoked()[0].entry.id.to_string(), "desk/draft");
    assert_eq!(session.invoked()[0].result, prompt.digest);
    assert!(session.drift().is_empty() && context.notes().is_empty());
}

#[tokio::test]
async fn a_prompt_alone_finds_the_tools_that_its_words_ask_for() {
    let answer = json!([
        {"role": "user", "content": {"type": "resource", "resource": {"uri": "x:1", "text": "not a request"}}},
        {"role": "user", "content": {"type": "text", "text": "merge it"}},
        {"role": "assistant", "content": {"type": "text", "text": "not mine"}},
    ]);
    let host = Host::builder()
        .retriever(Letters)
        .counter(BytesPerToken::default())
        .server("desk", Desk::of(answer))
        .server("git", MemoryClient::new().with_tool("merge", "Merge"))
        .build()
        .unwrap();
    host.refresh().await;
    let prompt = host.prompt(&draft()).await.unwrap();
    let context = host.session_at(now()).turn("").prompt(&prompt).build().await.unwrap();
    assert_eq!(context.query().text, "merge it");
    assert_eq!(context.route("merge").unwrap().to_string(), "git/merge");
    // It is said once.
    assert_eq!(said(&context).to_string().matches("merge it").count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_says_that_a_prompt_changed_and_keeps_what_it_said() {
    let listed = |description: &str| Step::items([json!({"name": "draft", "description": description})]);
    let fake = Fake::new().with(ListKind::Prompts, [listed("Draft"), listed("Send"), Step::items([])]);
    let host = Host::builder().retriever(Letters).counter(BytesPerToken::default());
    let host = host.shared_server("desk", Arc::new(fake.clone()) as Arc<dyn Client>).build().unwrap();
    let catalog = host.refresh().await;
    let entry = catalog.prompt(&PromptId::new(id("desk"), "draft")).unwrap();
    let said_then = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Draft it."}}]});
    let result = GetPromptResult::read(said_then).unwrap().item;
    let answer = PromptAnswer::new(&catalog, entry, result, &PromptOptions::new()).unwrap();
    let prompt = RenderedPrompt::new(answer, TokenBudget::ZERO, host.counts());

    let mut session = host.session_at(now());
    let first = session.turn("").prompt(&prompt).build().await.unwrap();
    assert!(first.notes().is_empty());
    let history = || prompt.messages.clone();
    for expected in [
        "prompt desk/draft changed since it was invoked (description); the conversation holds what it said before",
        "prompt desk/draft is not listed any more; the conversation holds what it said before",
    ] {
        fake.say(Change::List(ListKind::Prompts));
        host.changed().await;
        let context = session.turn("Go on.").messages(history()).build().await.unwrap();
        assert_eq!(context.notes(), [expected]);
        assert_eq!(context.report(&Anthropic::new()).notes, [expected]);
        assert_eq!(session.drift()[0].result, prompt.digest);
        assert!(said(&context).to_string().contains("Draft it."));
    }
}

#[test]
fn drift_is_told_once_for_each_definition_that_is_not_the_present_one() {
    let catalog = |prompts: &[(&str, Prompt)]| {
        prompts
            .iter()
            .fold(Catalog::builder(), |catalog, (server, prompt)| catalog.prompt(id(server), prompt.clone()))
            .build()
    };
    let old = catalog(&[("b", Prompt::new("p", "one")), ("a", Prompt::new("q", "same"))]);
    let new = catalog(&[("b", Prompt::new("p", "two").with_argument("x", true)), ("a", Prompt::new("q", "same"))]);
    let invoked = |catalog: &Catalog, server: &str, name: &str, result: &str| {
        let entry = catalog.prompt(&PromptId::new(id(server), name)).unwrap();
        Invoked::new(Arc::clone(entry), Digest::of_bytes(result))
    };
    let all = [
        invoked(&old, "b", "p", "1"),
        invoked(&old, "a", "q", "2"),
        invoked(&old, "b", "p", "3"),
        invoked(&new, "b", "p", "4"),
    ];
    let drifted = drift(&new, &all);
    assert_eq!(drifted.len(), 1);
    assert_eq!(drifted[0].result, Digest::of_bytes("3"));
    assert_eq!(drifted[0].kind, DriftKind::Changed { fields: vec!["arguments".into(), "description".into()] });
    let gone = drift(&catalog(&[]), &all);
    assert_eq!(gone.iter().map(|drift| drift.prompt.to_string()).collect::<Vec<_>>(), ["a/q", "b/p", "b/p"]);
    assert_eq!(
        serde_json::to_value(&drifted[0]).unwrap()["kind"],
        json!({"changed": {"fields": ["arguments", "description"]}})
    );
}

#[tokio::test]
async fn a_session_remembers_so_many_prompts_and_no_more() {
    let host = Desk::of(json!([])).host().await;
    let prompt = host.prompt(&draft()).await.unwrap();
    let mut session = host.session_at(now());
    let many = Session::MAX_INVOKED + 10;
    let mut turn = session.turn("Go on.");
    for _ in 0..many {
        turn = turn.prompt(&prompt);
    }
    turn.build().await.unwrap();
    assert_eq!(session.invoked().len(), Session::MAX_INVOKED);
}

#[tokio::test]
async fn a_prompt_of_one_server_is_never_asked_of_another() {
    let (a, b) = (Desk::of(json!([])), Desk::of(json!([])));
    let host = Host::builder().retriever(Letters).counter(BytesPerToken::default());
    let host = host.server("a", a.clone()).server("b", b.clone()).build().unwrap();
    host.refresh().await;
    assert!(host.commands().parse("/draft T-1").is_err());
    let invocation: Invocation = host.commands().parse("/b:draft T-1").unwrap();
    host.prompt(&invocation).await.unwrap();
    assert_eq!((a.asked.lock().unwrap().len(), b.asked.lock().unwrap().len()), (0, 1));
}
