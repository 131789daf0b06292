use std::fmt::Write;

use proem::session::ResourcesReport;

use crate::{
    args::ResourcesArgs,
    choose,
    output::{self, Failure, grouped},
    retriever, sources,
};

/// How many of those that are left out a person is shown.
const SHOWN: usize = 20;

pub(crate) async fn run(args: ResourcesArgs) -> Result<(), Failure> {
    let (host, catalog) =
        sources::open_with(&args.sources, retriever::of(&args.retriever)?, args.resources.rules()?).await?;
    let mut options = args.resources.options(&catalog, args.provider)?;
    if args.pick {
        match choose::choose(&host, &catalog, &args.query, &options).await? {
            Some(picks) => options.pins.extend(picks),
            None => return Err("nothing was picked".into()),
        }
    }
    let attached = host.attach(args.context.query(&args.query), &options).await;
    attached.notes.iter().for_each(|note| eprintln!("note: {note}"));
    let report = ResourcesReport::new(&attached, options.budget);
    if args.json {
        return output::print(serde_json::to_string_pretty(&report)?);
    }
    output::print(shown(&report)?)
}

fn shown(report: &ResourcesReport) -> Result<String, Failure> {
    let mut out = String::new();
    let mut table = output::table(&["resource", "tokens", "value", "why"]);
    for resource in &report.selected {
        let mut why = format!("{}, from {}", resource.reason, resource.server);
        if let Some(cut) = &resource.cut {
            write!(why, ", {cut}")?;
        }
        table.add_row([&resource.uri, &grouped(resource.tokens), &format!("{:.2}", resource.value), &why]);
    }
    if report.selected.is_empty() {
        writeln!(out, " no resource is attached")?;
    } else {
        writeln!(out, "{}", output::text(&table))?;
    }
    writeln!(out, "\n tokens  {} of {}", grouped(report.tokens), grouped(report.budget))?;
    if report.excluded.is_empty() {
        return Ok(out);
    }
    let mut left_out = output::table(&["left out", "server", "why"]);
    for resource in report.excluded.iter().take(SHOWN) {
        left_out.add_row([&resource.uri, &resource.server, &resource.reason]);
    }
    writeln!(out, "\n{}", output::text(&left_out))?;
    if let more @ 1.. = report.excluded.len().saturating_sub(SHOWN) {
        writeln!(out, " and {more} more, with reasons in --json")?;
    }
    Ok(out)
}
