//! A conversation whose prefix never changes: tools join at its tail, by the host and by a search of the model.
//!
//! Run it with `cargo run --example conversation`: it needs no network and no model.
//! What a model would answer is written down here.

use jiff::{SignedDuration, Timestamp};
use proem::{
    Host, Result, Session, TokenBudget,
    client::MemoryClient,
    cost::PriceSheet,
    protocol::Role,
    render::{Anthropic, Block, Message},
    session::{Delivery, Dispatched, Sent, SessionOptions},
};
use serde_json::{Map, Value, json};

const SERVERS: [(&str, &[(&str, &str)]); 5] = [
    (
        "git",
        &[
            ("merge", "Merge a branch into another one"),
            ("tag", "Tag a commit as a release"),
            ("blame", "Who changed a line"),
        ],
    ),
    ("mail", &[("send_mail", "Send a mail to people or a team"), ("list_mails", "List the mails of an inbox")]),
    (
        "rooms",
        &[("find_room", "Find a meeting room that is free"), ("book_room", "Book a meeting room for a day and time")],
    ),
    ("travel", &[("find_flights", "Find flights between two cities"), ("book_hotel", "Book a hotel room in a city")]),
    ("tickets", &[("open_ticket", "Open a support ticket"), ("close_ticket", "Close a support ticket")]),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let host = SERVERS.iter().fold(Host::builder(), |host, (server, tools)| {
        let client = tools.iter().fold(MemoryClient::new(), |client, (name, does)| client.with_tool(*name, *does));
        host.server(*server, client)
    });
    let host = host.build()?;
    host.refresh().await;

    let provider = Anthropic::new();
    let prices = PriceSheet::named("anthropic/claude-sonnet-4-6")?;
    let options = || {
        // `Auto` would put so few tools into the array for good.
        SessionOptions::new()
            .with_delivery(Delivery::Deferred)
            .with_first(3)
            .with_later(2)
            .with_provider(Anthropic::new())
            .with_prices(prices.clone())
    };
    let mut session = host.session_with(options());
    let mut history: Vec<Message> = Vec::new();
    let mut now = Timestamp::UNIX_EPOCH;

    for question in ["merge the release branch", "and tell the team by mail", "is there a room free on Friday?"] {
        let turn = session.turn(question).messages(history.clone()).system("You help a team ship its software.");
        let mut context = turn.tools(TokenBudget::new(3_000)).build().await?;
        history.push(Message::user(question));
        println!("\n> {question}");
        let delivered = context.delivered();
        println!(
            "  {}: {} tools before the model, {} of them new",
            delivered.policy,
            delivered.offered.len(),
            delivered.joined.len()
        );
        now += SignedDuration::from_secs(40);
        show(&session.sent(&context.render(&provider), now)?);

        if question.contains("room") {
            // The model has no tool for it yet, and searches: its own call, and the answer to it.
            let arguments = json!({"query": "book a meeting room"}).as_object().cloned().unwrap_or_default();
            for message in call(&mut session, "call_1", "search_tools", arguments).await? {
                context.add(message.clone());
                history.push(message);
            }
            now += SignedDuration::from_secs(10);
            show(&session.sent(&context.render(&provider), now)?);
        }
        history.push(Message::assistant("Done."));
    }

    // A host that starts again goes on with the same bytes.
    let saved = session.to_json();
    let mut session = host.restore_session(options(), &saved)?;
    let context =
        session.turn("thank you").messages(history).system("You help a team ship its software.").build().await?;
    println!("\n> thank you (after a restart, {} bytes of session)", saved.len());
    show(&session.sent(&context.render(&provider), now + SignedDuration::from_secs(20))?);
    Ok(())
}

/// What the model calls, and what becomes of it: two messages of the conversation.
async fn call(session: &mut Session, id: &str, name: &str, arguments: Map<String, Value>) -> Result<[Message; 2]> {
    let result = match session.dispatch(id, name, &arguments).await? {
        Dispatched::Answer(result) => result,
        Dispatched::Call { tool, .. } => {
            println!("  the host calls {tool}");
            Block::ToolResult { call_id: id.into(), content: vec![Block::Text("Done.".into())], is_error: false }
        }
        other => Block::Text(format!("{other:?}")),
    };
    println!("  the model calls {name}");
    let call = Block::ToolCall { id: id.into(), name: name.into(), arguments };
    Ok([Message::new(Role::Assistant).with_block(call), Message::new(Role::User).with_block(result)])
}

fn show(sent: &Sent) {
    let Some(usage) = &sent.predicted else { return };
    println!(
        "  about {} tokens read from the cache, {} written: ${:.4}",
        usage.read,
        usage.total_written(),
        sent.cost.unwrap_or_default()
    );
    if let Some(diff) = sent.diff.as_ref().filter(|diff| !diff.extends) {
        println!("  {diff}");
    }
}
