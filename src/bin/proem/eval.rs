use proem::{
    eval::{DataSet, Row, Timing, evaluate},
    retrieval::{Lexical, Retriever},
};

use crate::{
    args::{EvalArgs, RetrieverArg},
    output::{self, Failure, grouped},
};

pub(crate) fn run(args: EvalArgs) -> Result<(), Failure> {
    let sets = DataSet::open_all(&args.data)?;
    let retriever: Box<dyn Retriever> = match args.retriever {
        RetrieverArg::Lexical => Box::new(Lexical::default()),
    };
    let mut measured = Vec::new();
    for set in &sets {
        let bar = output::bar(0).with_message(set.name.clone());
        let report = evaluate(set, &*retriever, 10, |done, all| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        })?;
        bar.finish_and_clear();
        measured.extend(report.rows.into_iter().zip(report.timings));
    }
    if args.json {
        let lines: Result<Vec<_>, _> = measured.iter().map(|(row, _)| serde_json::to_string(row)).collect();
        return output::print(lines?.join("\n"));
    }
    output::print(shown(&measured))
}

fn shown(measured: &[(Row, Timing)]) -> String {
    let mut table = output::table(&[
        "set",
        "tools",
        "queries",
        "recall@1",
        "recall@5",
        "recall@10",
        "ndcg@10",
        "complete@10",
        "p50 us",
        "p99 us",
    ]);
    for (row, timing) in measured {
        let percent = |value: f64| format!("{value:.2}");
        table.add_row([
            row.set.clone(),
            grouped(row.tools),
            grouped(row.queries),
            percent(row.recall_1),
            percent(row.recall_5),
            percent(row.recall_10),
            percent(row.ndcg_10),
            percent(row.completeness_10),
            timing.p50.as_micros().to_string(),
            timing.p99.as_micros().to_string(),
        ]);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
