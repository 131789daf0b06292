use std::fmt::Write;

use proem::session::{Report, Sent};
use serde::Serialize;

use crate::{
    args::PlanArgs,
    conversation::Conversation,
    output::{self, Failure, grouped},
    retriever, sources,
};

pub(crate) async fn run(args: PlanArgs) -> Result<(), Failure> {
    let (host, catalog) =
        sources::open_with(&args.sources, retriever::of(&args.retriever)?, args.resources.rules()?).await?;
    let now = args.resources.now();
    let options = args.conversation.options(args.provider)?;
    let mut conversation = Conversation::open(args.conversation.session.as_deref(), &host, options, now)?;
    let mut turn = conversation
        .session
        .turn(args.context.query(&args.query))
        .messages(conversation.messages.clone())
        .sending(now)
        .selection(args.selection())
        .filter(args.filter.filter(&catalog)?)
        .resource_options(args.resources.options(&catalog, args.provider)?)
        .instructions(args.instructions_budget);
    if let Some(model) = &args.model {
        turn = turn.model(model);
    }
    let context = turn.build().await?;
    context.notes().iter().for_each(|note| eprintln!("note: {note}"));
    let provider = args.provider.provider();
    let request = context.render(&*provider);
    let sent = conversation.close(&args.query, &request, now)?;
    if args.request {
        return output::print(request.as_str());
    }
    let report = context.report(&*provider);
    if args.json {
        return output::print(serde_json::to_string_pretty(&Plan { report, sent })?);
    }
    let mut text = shown(&report, args.min_confidence)?;
    if let Some(sent) = sent {
        text.push_str(&shown_sent(&report, &sent)?);
    }
    output::print(text)
}

/// A plan, and where a conversation goes on, what the provider's cache makes of it.
#[derive(Serialize)]
struct Plan {
    #[serde(flatten)]
    report: Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<Sent>,
}

/// The turn of a conversation as a person reads it.
fn shown_sent(report: &Report, sent: &Sent) -> Result<String, Failure> {
    let mut out = String::new();
    let delivery = &report.delivery;
    writeln!(
        out,
        " turn    {}, delivery {}: {} tools before the model, {} of them new",
        delivery.turn,
        delivery.policy,
        delivery.offered,
        delivery.joined.len(),
    )?;
    if let Some(predicted) = &sent.predicted {
        let count = |tokens: u64| grouped(usize::try_from(tokens).unwrap_or(usize::MAX));
        write!(
            out,
            " cache   about {} tokens read, {} written, {} neither",
            count(predicted.read),
            count(predicted.total_written()),
            count(predicted.uncached),
        )?;
        writeln!(out, ": ${:.5}", sent.cost.unwrap_or_default())?;
    }
    if let Some(diff) = sent.diff.as_ref().filter(|diff| !diff.extends) {
        writeln!(out, " missed  {}", diff.to_string().lines().next().unwrap_or_default())?;
        if let Some(decision) = &sent.decision {
            writeln!(out, "         {decision}")?;
        }
    }
    Ok(out)
}

/// The plan as a person reads it: the tools, the resources, what is saved.
fn shown(report: &Report, min_confidence: f32) -> Result<String, Failure> {
    let mut out = String::new();
    let mut tools = output::table(&["#", "tool", "tokens", "why"]);
    for tool in &report.selection.tools {
        let rank = tool.rank.map_or("-".to_owned(), |rank| rank.to_string());
        let name = match tool.exposed == tool.name {
            true => format!("{}/{}", tool.server, tool.name),
            false => format!("{}/{} as {}", tool.server, tool.name, tool.exposed),
        };
        let why = match tool.form {
            "full" => tool.reason.clone(),
            form => format!("{} ({})", tool.reason, form.replace('_', " ")),
        };
        tools.add_row([rank, name, grouped(tool.tokens), why]);
    }
    writeln!(out, "{}", output::text(&tools))?;
    if report.selection.tools.is_empty() {
        match report.selection.confidence {
            Some(confidence) if confidence < f64::from(min_confidence) => {
                let likely = format!("{:.0} % likely that one does", 100.0 * confidence);
                writeln!(out, " no tool fits this request: {likely}; --min-confidence 0 offers the best")?;
            }
            _ => writeln!(out, " no tool fits this request")?,
        }
    }
    if !report.resources.is_empty() {
        let mut resources = output::table(&[" ", "resource", "tokens", "why"]);
        for resource in &report.resources {
            let tokens = grouped(resource.tokens);
            let cut = resource.cut.as_ref().map(|cut| format!(", {cut}")).unwrap_or_default();
            let why = format!("{}, from {}{cut}", resource.reason, resource.server);
            resources.add_row([" ", &resource.uri, &tokens, &why]);
        }
        writeln!(out, "\n{}", output::text(&resources))?;
    }
    let tokens = &report.tokens;
    let about = if tokens.estimated { "about " } else { "" };
    writeln!(
        out,
        "\n tools   {} of {} from {} servers",
        report.selection.tools.len(),
        grouped(report.catalog.tools),
        report.catalog.servers,
    )?;
    writeln!(
        out,
        " tokens  {about}{} of {}: {:.1} % saved ({})",
        grouped(tokens.selected),
        grouped(tokens.catalog),
        100.0 * tokens.saved_ratio,
        tokens.counter,
    )?;
    let sections: Vec<_> = report.prefix.sections.iter().map(|s| format!("{} {}", s.name, grouped(s.tokens))).collect();
    writeln!(out, " prefix  {} ({} tokens)", report.prefix.digest.short(16), sections.join(", "))?;
    let time = |name: &str| report.timings_us.get(name).copied().unwrap_or_default() as f64 / 1_000.0;
    writeln!(
        out,
        " time    {:.1} ms: index {:.1}, search {:.1}, select {:.1}, attach {:.1}, render {:.1}",
        time("total"),
        time("index"),
        time("search"),
        time("select"),
        time("attach"),
        time("render"),
    )?;
    let left_out = report.selection.excluded.len();
    if left_out > 0 {
        writeln!(out, " left out: {left_out} tools, with reasons in --json")?;
    }
    Ok(out)
}
