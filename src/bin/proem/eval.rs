use std::sync::Arc;

use proem::{
    eval::{DataSet, EvalOptions, QueryForm, Report, evaluate},
    tokens::{CountCache, Tiktoken},
};

use crate::{
    args::{EvalArgs, QueriesArg},
    output::{self, Failure, grouped},
    retriever,
};

pub(crate) fn run(args: EvalArgs) -> Result<(), Failure> {
    let sets = sets(&args)?;
    let retriever = retriever::of(&args.retriever)?;
    let counts = Arc::new(CountCache::new(Arc::new(Tiktoken::default())));
    let mut options = EvalOptions::new().with_counts(counts).with_queries(match args.queries {
        QueriesArg::Full => QueryForm::Full,
        QueriesArg::Steps => QueryForm::Steps,
    });
    options.split.clone_from(&args.split);
    let mut report = Report::new();
    for set in &sets {
        let bar = output::bar(0).with_message(set.name.clone());
        report.append(evaluate(set, &*retriever, options.clone(), |done, all| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        })?);
        bar.finish_and_clear();
    }
    if args.json {
        let lines: Result<Vec<_>, _> = report.lines().map(|line| serde_json::to_string(&line)).collect();
        return output::print(lines?.join("\n"));
    }
    output::print(shown(&report))
}

/// The sets that have what is asked for; those that do not are told.
fn sets(args: &EvalArgs) -> Result<Vec<DataSet>, Failure> {
    let mut sets = DataSet::open_all(&args.data)?;
    let missing = |set: &DataSet| {
        if args.queries == QueriesArg::Steps && !set.has_steps() {
            return Some("none of its queries has steps".to_owned());
        }
        let split = args.split.as_deref().filter(|split| !set.splits().contains(split))?;
        let splits: Vec<_> = set.splits().into_iter().collect();
        Some(match splits.is_empty() {
            true => format!("it has no split `{split}`, nor any other"),
            false => format!("it has no split `{split}`: {}", splits.join(", ")),
        })
    };
    sets.retain(|set| match missing(set) {
        Some(missing) => {
            eprintln!("note: {} is left out: {missing}", set.name);
            false
        }
        None => true,
    });
    for set in &mut sets {
        if let Some(per_split) = args.sample {
            *set = set.sampled(per_split);
        } else if let Some(count) = args.first {
            // The split first: of a part, its first queries.
            set.queries.retain(|query| args.split.is_none() || query.split == args.split);
            *set = set.first(count);
        }
    }
    if sets.is_empty() { Err("no set has what is asked for".into()) } else { Ok(sets) }
}

fn shown(report: &Report) -> String {
    let mut table = output::table(&[
        "set",
        "tools",
        "queries",
        "recall@1",
        "recall@5",
        "recall@10",
        "ndcg@10",
        "± 95 %",
        "complete@10",
        "mrr",
        "no tool",
        "declined",
        "lost",
        "tokens",
        "p50 us",
        "p99 us",
    ]);
    for (row, measured) in report.rows.iter().zip(&report.measured) {
        let percent = |value: f64| format!("{value:.2}");
        // Half of an interval that need not lie evenly around the mean: the width is what a reader looks for.
        let around = row.ci95.get("ndcg@10").map(|[low, high]| format!("{:.1}", (high - low) / 2.0));
        table.add_row([
            row.set.clone(),
            grouped(row.tools),
            grouped(row.queries),
            percent(row.recall_1),
            percent(row.recall_5),
            percent(row.recall_10),
            percent(row.ndcg_10),
            around.unwrap_or_default(),
            percent(row.completeness_10),
            percent(row.mrr_10),
            row.no_tool_auroc.map_or("-".to_owned(), percent),
            row.cut_off.map_or("-".to_owned(), |cut_off| percent(cut_off.no_tool_empty)),
            row.cut_off.map_or("-".to_owned(), |cut_off| percent(cut_off.fitting_lost)),
            row.tokens.as_ref().map_or("-".to_owned(), |tokens| format!("{:.0}", tokens.selected_mean)),
            format!("{:.0}", measured.latency_us.p50),
            format!("{:.0}", measured.latency_us.p99),
        ]);
    }
    output::text(&table)
}
