use std::{fmt::Write, sync::Arc};

use proem::{
    prompts::{Commands, PromptOptions, shown},
    render::{Block, Layout},
    resources::Destination,
    retrieval::Lexical,
    session::RenderedPrompt,
};

use crate::{
    args::PromptArgs,
    output::{self, Failure, grouped},
    sources,
};

pub(crate) async fn run(args: PromptArgs) -> Result<(), Failure> {
    let (host, catalog) = sources::open(&args.sources, Arc::new(Lexical::new())).await?;
    let commands = Commands::new(&catalog);
    let invocation = match args.arguments.is_empty() && args.name.starts_with('/') {
        true => commands.parse(&args.name)?,
        false => commands.invoke(&args.name, &args.arguments)?,
    };
    let provider = args.provider.provider();
    let options = PromptOptions::new()
        .with_budget(args.budget)
        .with_destination(Destination::new().with_provider(provider.name()));
    let prompt = host.prompt_with(&invocation, &options).await?;
    prompt.notes.iter().for_each(|note| eprintln!("note: {}", shown(note, 400)));
    if args.json {
        return output::print(serde_json::to_string_pretty(&prompt.to_value())?);
    }
    if args.request {
        let mut layout = Layout::new();
        layout.model.clone_from(&args.model);
        layout.messages.clone_from(&prompt.messages);
        let request = provider.render(&layout);
        request.report().notes.iter().for_each(|note| eprintln!("note: {note}"));
        return output::print(request.as_str());
    }
    output::print(readable(&prompt)?)
}

fn readable(prompt: &RenderedPrompt) -> Result<String, Failure> {
    let mut out = String::new();
    let id = prompt.id();
    let description = prompt.description.as_deref().map(|text| format!(": {}", shown(text, 400))).unwrap_or_default();
    writeln!(out, " {}/{}{description}", id.server, shown(&id.name, 128))?;
    for message in &prompt.messages {
        writeln!(out, "\n {}", message.role.as_str())?;
        for block in &message.content {
            match block {
                // Line by line: a server's text must not move the cursor.
                Block::Text(text) => {
                    text.lines().try_for_each(|line| writeln!(out, "   {}", shown(line, usize::MAX)))?;
                }
                Block::Image { mime_type, data } => {
                    writeln!(out, "   [image, {}, about {} bytes]", shown(mime_type, 80), grouped(data.len() / 4 * 3))?;
                }
                _ => {}
            }
        }
    }
    writeln!(out, "\n tokens  about {}", grouped(prompt.tokens))?;
    writeln!(out, " digest  {}", prompt.digest.short(16))?;
    for link in prompt.linked() {
        writeln!(out, " link    {}", shown(&link.to_string(), 400))?;
    }
    for piece in &prompt.left_out {
        let resource =
            piece.resource.as_ref().map(|id| format!(" {}", shown(&id.to_string(), 400))).unwrap_or_default();
        writeln!(out, " left out: message {}, {}{resource}: {}", piece.message + 1, piece.kind, piece.reason)?;
    }
    Ok(out)
}
