use std::{fs, path::Path, sync::Arc};

use proem::{
    catalog::Catalog,
    cost::PriceSheet,
    eval::{DataSet, QueryForm, SimulationOptions, SimulationReport, Trace, page, simulate},
    tokens::Tiktoken,
};

use crate::{
    args::{QueriesArg, SimulateArgs, SourceArgs, Sources},
    output::{self, Failure, grouped},
    retriever, sources,
};

pub(crate) async fn run(args: SimulateArgs) -> Result<(), Failure> {
    let options = options(&args)?;
    let mut reports = Vec::new();
    for (catalog, trace) in recorded(&args, &options).await? {
        trace.notes.iter().for_each(|note| eprintln!("note: {note}"));
        let bar = output::bar(trace.conversations.len() as u64).with_message(trace.source.clone());
        let simulated = simulate(&catalog, &trace, &options, |done, _| bar.set_position(done as u64));
        bar.finish_and_clear();
        reports.extend(simulated?);
    }
    if let Some(file) = &args.html {
        fs::write(file, page(&reports)).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    if args.json {
        let lines: Result<Vec<_>, _> = reports.iter().map(serde_json::to_string).collect();
        return output::print(lines?.join("\n"));
    }
    output::print(reports.iter().map(shown).collect::<Vec<_>>().join("\n\n"))
}

fn options(args: &SimulateArgs) -> Result<SimulationOptions, Failure> {
    let mut options = SimulationOptions::new()
        .with_pause_seconds(args.pause)
        .with_retriever(retriever::of(&args.retriever)?)
        .with_counter(Arc::new(Tiktoken::default()));
    if !args.policy.is_empty() {
        options = options.with_policies(args.policy.iter().copied());
    }
    if !args.prices.is_empty() {
        options.sheets.clear();
        for prices in &args.prices {
            match Path::new(prices).is_file() {
                true => options.sheets.extend(PriceSheet::open(prices)?),
                false => options.sheets.push(PriceSheet::named(prices)?.clone()),
            }
        }
    }
    let session = &mut options.session;
    session.first = args.first.unwrap_or(session.first);
    session.later = args.later.unwrap_or(session.later);
    session.outline = args.outline.unwrap_or(session.outline);
    Ok(options)
}

/// The conversations, each source with the tools that it needs.
async fn recorded(args: &SimulateArgs, options: &SimulationOptions) -> Result<Vec<(Catalog, Trace)>, Failure> {
    let Some(data) = &args.recorded.data else {
        let (demo, config, catalog) = (args.tools.demo, args.tools.config.clone(), args.tools.catalog.clone());
        let from = SourceArgs { sources: Sources { demo, config, catalog }, timeout: args.timeout };
        let retriever = options.retriever.clone().ok_or("no retriever")?;
        let (_, catalog) = sources::open(&from, retriever).await?;
        let trace = Trace::open(&args.recorded.trace, &catalog)?;
        return Ok(vec![(catalog, trace)]);
    };
    let mut sets = DataSet::open_all(data)?;
    if args.turns_from == QueriesArg::Steps {
        sets.retain(|set| {
            if !set.has_steps() {
                eprintln!("note: {} is left out: none of its queries has steps", set.name);
            }
            set.has_steps()
        });
    }
    if sets.is_empty() {
        return Err("no set has steps; --turns-from full takes each query as one turn".into());
    }
    let form = match args.turns_from {
        QueriesArg::Full => QueryForm::Full,
        QueriesArg::Steps => QueryForm::Steps,
    };
    let sets = sets.into_iter().map(|set| match args.sample {
        Some(per_split) => set.sampled(per_split),
        None => set,
    });
    Ok(sets.map(|set| (set.catalog.clone(), set.trace(form))).collect())
}

fn shown(report: &SimulationReport) -> String {
    let mut table = output::table(&[
        "policy",
        "as",
        "prefix changed",
        "offered",
        "written",
        "read",
        "uncached",
        "hits",
        "cost $",
        "of all",
        "tools/turn",
        "rejected",
    ]);
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let tokens = |tokens: u64| usize::try_from(tokens).map_or_else(|_| tokens.to_string(), grouped);
    for row in &report.policies {
        let became: Vec<_> = row.delivery.keys().filter(|delivery| **delivery != row.policy).collect();
        table.add_row([
            row.policy.to_string(),
            became.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            percent(row.prefix_changed_ratio),
            percent(row.tools_offered_ratio),
            tokens(row.tokens.written),
            tokens(row.tokens.read),
            tokens(row.tokens.uncached),
            percent(row.hit_ratio),
            format!("{:.4}", row.cost),
            row.cost_ratio_to_all.map_or("-".to_owned(), percent),
            format!("{:.0}", row.tool_tokens),
            match row.rejected {
                0 => "-".to_owned(),
                rejected => format!("{rejected} of {}", row.requests),
            },
        ]);
    }
    let SimulationReport { source, conversations, turns, price_sheet, .. } = report;
    let title = format!("{source}: {conversations} conversations, {turns} turns, {price_sheet}");
    format!("{title}\n\n{}\n\n{}", output::text(&table), chart(report))
}

/// Costs as bars, the highest over the whole width.
fn chart(report: &SimulationReport) -> String {
    const WIDTH: f64 = 60.0;
    let most = report.policies.iter().map(|row| row.cost).fold(0.0, f64::max);
    let line = |policy: &str, cost: f64| {
        let eighths = if most > 0.0 { (8.0 * WIDTH * cost / most).ceil() as usize } else { 0 };
        let part = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'].get(eighths % 8).filter(|part| **part != ' ');
        let bar: String = std::iter::repeat_n('█', eighths / 8).chain(part.copied()).collect();
        format!("{policy:8}  {bar} ${cost:.4}")
    };
    report.policies.iter().map(|row| line(row.policy.as_str(), row.cost)).collect::<Vec<_>>().join("\n")
}
