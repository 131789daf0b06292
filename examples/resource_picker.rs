//! A resource picker on the terminal, over the demo servers: search as you type, choose, attach.
//!
//! Where there is no terminal it is played: some keys, and the screens that they lead to. What was
//! chosen is read and counted then, which says what the estimates are worth.
//! Run it with `cargo run --example resource_picker --features cli`.

#[allow(dead_code, reason = "the program uses the rest")]
#[path = "../src/bin/proem/picker.rs"]
mod screen;

use std::error::Error;

use proem::{
    Host, TokenBudget,
    client::StreamClient,
    demo,
    picker::{Picker, PickerOptions, Preferences, mentions, write_mention},
    resources::ResourceOptions,
};
use ratatui::{
    Terminal,
    backend::TestBackend,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut builder = Host::builder();
    for server in demo::servers() {
        let name = server.id().to_string();
        let (read, write) = tokio::io::split(server.serve());
        builder = builder.server(name, StreamClient::new(read, write));
    }
    let host = builder.build()?;
    let catalog = host.refresh().await;

    let options = PickerOptions::new().with_cap(3).with_budget(TokenBudget::new(600));
    let mut picker = Picker::new(&catalog, options, Preferences::new());
    let title = "Attach to your question";
    if screen::is_possible() {
        if !screen::pick(&mut picker, title, &mut |_| {})? {
            return Ok(());
        }
    } else {
        play(&mut picker, title)?;
    }

    // Only now is anything read, and only what was chosen.
    let now = "2026-11-30T00:00:00Z".parse()?;
    let options = ResourceOptions::new(now).with_budget(TokenBudget::new(600)).with_top(0);
    let options = picker.picks().into_iter().fold(options, ResourceOptions::with_pin);
    let attached = host.attach("", &options).await;
    println!("Attached:");
    for resource in &attached.resources {
        println!("  {}: {} tokens", write_mention(&resource.id, &catalog), resource.tokens);
    }
    println!("{} tokens with their delimiters, estimated {} without", attached.tokens, picker.tokens());
    for item in picker.chosen().iter().filter(|item| !item.for_model) {
        println!("Not attached, since its server says it is for you only: {}", item.label);
    }
    for id in picker.picks() {
        if let Some(left_out) = attached.excluded.iter().find(|excluded| excluded.id == id) {
            println!("Not attached: {}: {}", left_out.id, left_out.reason);
        }
    }
    for template in picker.templates() {
        println!("To be filled first: {template}");
    }

    // The same without a picker: a person writes it, or a host's typeahead does.
    let text = "Does @Refund policy (September 2026) fit our @release calendar? Ask mira@example.org.";
    println!("\n{text}");
    for mention in mentions(text, &catalog) {
        println!("  {}: {:?}", &text[mention.range], mention.target);
    }
    Ok(())
}

/// Types some keys and prints the screens.
fn play(picker: &mut Picker, title: &str) -> Result<(), Box<dyn Error>> {
    let mut terminal = Terminal::new(TestBackend::new(100, 16))?;
    let mut view = screen::View::new(title);
    let text = |text: &str| text.chars().map(KeyCode::Char).collect::<Vec<_>>();
    for (what, keys) in [
        ("The picker opens.", Vec::new()),
        ("Two words of a title, in any order:", text("2026 refund")),
        ("It is chosen. Another search, by the server, and everything that is shown there:", {
            [vec![KeyCode::Tab, KeyCode::Esc], text("people:")].concat()
        }),
        ("The notice for the user is chosen too, and costs nothing. Letters may be left out:", {
            [vec![KeyCode::Tab, KeyCode::Down, KeyCode::Tab, KeyCode::Esc], text("hndbk"), vec![KeyCode::Tab]].concat()
        }),
        ("That was too much, so not. At the end are templates; \"1 more\" shows the last one, which is chosen:", {
            vec![KeyCode::Tab, KeyCode::Esc, KeyCode::End, KeyCode::Tab, KeyCode::Tab]
        }),
    ] {
        for code in keys {
            view.key(picker, KeyEvent::new(code, KeyModifiers::NONE));
        }
        terminal.draw(|frame| view.draw(picker, frame))?;
        println!("{what}\n");
        for line in terminal.backend().to_string().lines() {
            println!("    {}", line.trim_matches('"').trim_end());
        }
        println!();
    }
    picker.accept();
    Ok(())
}
