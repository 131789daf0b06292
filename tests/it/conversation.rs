//! Turns that lean on the turns before them, and turns that do not.

use proem::{
    Host, Session,
    client::{BoxFuture, MemoryClient},
    error::BoxError,
    id::ToolId,
    render::Anthropic,
    retrieval::{Candidate, Filter, Lexical, Query, Reranker, Rewriter},
    selection::SelectionOptions,
    session::Context,
    tokens::BytesPerToken,
};

async fn session() -> Session {
    let git = MemoryClient::new()
        .with_tool("merge", "Merge a branch into the current one")
        .with_tool("tag", "Tag a commit as a release");
    let mail = MemoryClient::new()
        .with_tool("list_mails", "List the unread mails of the inbox")
        .with_tool("send_mail", "Send an e-mail to a person");
    let text = MemoryClient::new()
        .with_tool("summarize", "Summarize a long text")
        .with_tool("ensure", "Make sure that yes and no are spelled right, and go ahead");
    let weather = MemoryClient::new().with_tool("forecast", "Weather forecast for a city");
    let host = Host::builder()
        .retriever(Lexical::new())
        .counter(BytesPerToken::default())
        .server("git", git)
        .server("mail", mail)
        .server("text", text)
        .server("weather", weather)
        .build()
        .unwrap();
    host.refresh().await;
    host.session_at("2026-10-01T00:00:00Z".parse().unwrap())
}

fn offered(context: &Context) -> Vec<String> {
    context.selection().tools.iter().map(|tool| tool.id.to_string()).collect()
}

async fn turn(session: &mut Session, query: &str) -> Vec<String> {
    offered(&session.turn(query).build().await.unwrap())
}

#[tokio::test]
async fn a_terse_follow_up_keeps_the_tools() {
    for follow_up in ["yes, do it", "u sure?", "ok go ahead", "好的"] {
        let mut session = session().await;
        let before = turn(&mut session, "merge the hotfix branch into main").await;
        assert_eq!(before[0], "git/merge");
        assert_eq!(turn(&mut session, follow_up).await, before, "{follow_up}");
        assert_eq!(turn(&mut session, follow_up).await, before, "and again");
    }
}

#[tokio::test]
async fn a_follow_up_with_a_word_of_its_own_adds_to_them() {
    let mut session = session().await;
    turn(&mut session, "show me the unread mails in my inbox").await;
    let tools = turn(&mut session, "summarize that").await;
    assert_eq!(tools[..2], ["text/summarize", "mail/list_mails"]);
}

#[tokio::test]
async fn what_was_used_is_kept_though_nothing_was_asked_that_finds_it() {
    let mut session = session().await;
    turn(&mut session, "merge the hotfix branch into main").await;
    let forecast = ToolId::new("weather".parse().unwrap(), "forecast");
    session.used(&forecast);
    let context = session.turn("yes, again").build().await.unwrap();
    assert_eq!(offered(&context)[..2], ["weather/forecast", "git/merge"]);
    let report = context.report(&Anthropic::new());
    let reasons: Vec<_> = report.selection.tools.iter().map(|tool| &*tool.reason).collect();
    assert_eq!(reasons[0], "used before");
    assert!(reasons[1].ends_with("(the turn before)"), "{reasons:?}");
    // Not against the filter.
    session.used(&forecast);
    let filter = Filter::new().deny("weather".parse().unwrap());
    let context = session.turn("yes, again").filter(filter).build().await.unwrap();
    assert_eq!(offered(&context)[0], "git/merge");
}

#[tokio::test]
async fn a_new_topic_is_not_dragged_back() {
    let topic = "what is the weather in Oslo tomorrow?";
    let fresh = turn(&mut session().await, topic).await;
    assert_eq!(fresh, ["weather/forecast"]);
    let mut later = session().await;
    turn(&mut later, "merge the hotfix branch into main").await;
    later.used(&ToolId::new("git".parse().unwrap(), "merge"));
    assert_eq!(turn(&mut later, topic).await, fresh);
    // Nor does what was left behind come back later.
    assert_eq!(turn(&mut later, "thanks, and in Bergen?").await[0], "weather/forecast");
    // And one of a single word comes first.
    turn(&mut later, "merge the hotfix branch into main").await;
    assert_eq!(turn(&mut later, "weather?").await[0], "weather/forecast");
}

#[tokio::test]
async fn a_host_may_bring_the_turns_itself() {
    let mut session = session().await;
    let query = Query::new("do it").with_turns(["send a mail to Anna"]);
    let context = session.turn(query).build().await.unwrap();
    assert_eq!(offered(&context)[0], "mail/send_mail");
    // They are searched with, and are no messages.
    assert!(!context.render(&Anthropic::new()).as_str().contains("Anna"));
}

#[tokio::test]
async fn parts_are_one_message_and_each_has_its_tools() {
    let mut session = session().await;
    let query = Query::of_parts(["merge the hotfix branch", "send a mail to Anna"]);
    let turn = session.turn(query).selection(SelectionOptions::default().with_top(2));
    let context = turn.build().await.unwrap();
    assert_eq!(offered(&context), ["git/merge", "mail/send_mail"]);
    let body = context.render(&Anthropic::new()).to_value();
    assert!(body["messages"].to_string().contains(r"merge the hotfix branch\nsend a mail to Anna"), "{body:#}");
    let reasons = context.report(&Anthropic::new()).selection.tools.into_iter().map(|tool| tool.reason);
    assert!(reasons.zip(1..).all(|(reason, at)| reason.ends_with(&format!("(sub-query {at})"))));
    // What was offered last stands in for parts that a follow-up does not know.
    assert_eq!(offered(&session.turn("yes").build().await.unwrap())[..2], ["git/merge", "mail/send_mail"]);
}

/// Splits at "and", orders by name, or fails, or never ends.
#[derive(Clone, Copy, Debug)]
enum Hook {
    Works,
    Fails,
    Hangs,
}

impl Hook {
    async fn answer<T>(self, works: T) -> Result<T, BoxError> {
        match self {
            Self::Works => Ok(works),
            Self::Fails => Err("out of credits".into()),
            Self::Hangs => std::future::pending().await,
        }
    }
}

impl Rewriter for Hook {
    fn name(&self) -> &str {
        "splitter"
    }

    fn rewrite<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Vec<String>, BoxError>> {
        Box::pin(self.answer(query.text.split(" and ").map(str::to_owned).chain([" ".to_owned()]).collect()))
    }
}

impl Reranker for Hook {
    fn name(&self) -> &str {
        "by name"
    }

    fn rerank<'a>(&'a self, _: &'a Query, candidates: &'a [Candidate]) -> BoxFuture<'a, Result<Vec<usize>, BoxError>> {
        let mut places: Vec<usize> = (0..candidates.len()).collect();
        places.sort_by_key(|place| candidates[*place].text.clone());
        Box::pin(self.answer(places))
    }
}

async fn hooked(rewriter: Option<Hook>, reranker: Option<Hook>, query: &str) -> Context {
    let work = MemoryClient::new()
        .with_tool("merge", "Merge a branch into the current one")
        .with_tool("append", "Append a branch to the current one")
        .with_tool("send_mail", "Send an e-mail to a person");
    let mut builder = Host::builder().retriever(Lexical::new()).counter(BytesPerToken::default()).server("work", work);
    if let Some(rewriter) = rewriter {
        builder = builder.rewriter(rewriter);
    }
    if let Some(reranker) = reranker {
        builder = builder.reranker(reranker);
    }
    let host = builder.build().unwrap();
    host.refresh().await;
    let mut session = host.session_at("2026-10-01T00:00:00Z".parse().unwrap());
    session.turn(query).build().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn hooks_rewrite_and_rerank() {
    let query = "merge the hotfix branch and send an email to Anna";
    let context = hooked(Some(Hook::Works), None, query).await;
    assert_eq!(context.query().sub_queries, ["merge the hotfix branch", "send an email to Anna"]);
    assert_eq!(offered(&context), ["work/merge", "work/send_mail", "work/append"]);
    let context = hooked(None, Some(Hook::Works), "merge the hotfix branch").await;
    assert_eq!(offered(&context), ["work/append", "work/merge"]);
    assert!(context.notes().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_is_a_note() {
    let query = "merge the hotfix branch and send an email to Anna";
    let plain = hooked(None, None, query).await;
    for (hook, why) in [(Hook::Fails, "out of credits"), (Hook::Hangs, "no answer within 5s")] {
        let context = hooked(Some(hook), Some(hook), query).await;
        assert_eq!(context.render(&Anthropic::new()).as_str(), plain.render(&Anthropic::new()).as_str());
        let report = context.report(&Anthropic::new());
        assert_eq!(
            report.notes,
            [
                format!("rewriter splitter: {why}; the request is searched as it is"),
                format!("reranker by name: {why}; the ranking stays as it is"),
            ]
        );
    }
}
