use std::{fmt::Write, sync::Arc};

use proem::{
    prompts::{Command, Commands, shown},
    retrieval::Lexical,
};
use serde_json::{Value, json};

use crate::{
    args::PromptsArgs,
    output::{self, Failure},
    sources,
};

pub(crate) async fn run(args: PromptsArgs) -> Result<(), Failure> {
    let (_, catalog) = sources::open(&args.sources, Arc::new(Lexical::new())).await?;
    let commands = Commands::new(&catalog);
    let found = commands.search(args.query.as_deref().unwrap_or_default(), usize::MAX);
    if args.json {
        let found: Vec<_> = found.into_iter().map(as_json).collect();
        return output::print(serde_json::to_string_pretty(&found)?);
    }
    let mut table = output::table(&["command", "label", "arguments", "server"]);
    for command in &found {
        let server = command.entry.id.server.as_str();
        table.add_row([&command.command, &command.label(), &arguments(command), server]);
    }
    let mut out = output::text(&table);
    writeln!(out, "\n\n {} of {} prompts; [brackets]: may be left out", found.len(), commands.all().len())?;
    output::print(out)
}

fn arguments(command: &Command) -> String {
    let name = |name: &str| shown(name, 40);
    let form = command.form();
    let fields = form.fields().iter().map(|field| match field.required {
        true => name(&field.name),
        false => format!("[{}]", name(&field.name)),
    });
    fields.collect::<Vec<_>>().join(" ")
}

fn as_json(command: &Command) -> Value {
    let entry = &command.entry;
    json!({
        "command": command.command,
        "label": command.label(),
        "server": entry.id.server,
        "name": entry.id.name,
        "digest": entry.digest,
        "definition": entry.prompt.to_value(),
    })
}
