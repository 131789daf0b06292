use std::collections::BTreeMap;

use proem::retrieval::{Channel, Origin, Ranking, Tier};
use serde::Serialize;

use crate::{
    args::SearchArgs,
    output::{self, Failure},
    retriever, sources,
};

#[derive(Serialize)]
struct Row<'a> {
    server: &'a str,
    name: &'a str,
    score: f64,
    rank: usize,
    tier: &'static str,
    /// Which part of the query brought it; absent for the query itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    fields: BTreeMap<&'static str, f64>,
    /// Its own score in each channel.
    channels: BTreeMap<&'static str, f64>,
}

pub(crate) async fn run(args: SearchArgs) -> Result<(), Failure> {
    let (host, catalog) = sources::open(&args.sources, retriever::of(&args.retriever)?).await?;
    let index = host.composer().index(&catalog).await?;
    let filter = args.filter.filter(&catalog)?;
    let ranking = index.search(&args.context.query(&args.query), &filter, args.top)?;
    ranking.gates.iter().for_each(|gate| eprintln!("note: {gate}"));
    let rows: Vec<_> = ranking
        .hits
        .iter()
        .map(|hit| Row {
            server: hit.tool.server.as_str(),
            name: &hit.tool.name,
            score: rounded(hit.score),
            rank: hit.rank,
            tier: if hit.tier == Tier::Named { "named" } else { "scored" },
            origin: (hit.origin != Origin::Query).then(|| hit.origin.to_string()),
            fields: hit.fields.iter().map(|(field, score)| (*field, rounded(*score))).collect(),
            channels: hit.channels.iter().map(|(channel, score)| (*channel, rounded(*score))).collect(),
        })
        .collect();
    if args.json {
        return output::print(serde_json::to_string_pretty(&rows)?);
    }
    let mut table = output::table(&["#", "tool", "score", "channels", "fields"]);
    for row in &rows {
        let mut why = scores(&row.fields);
        if row.tier == "named" {
            why.insert(0, "named in the query".to_owned());
        }
        why.extend(row.origin.clone().map(|origin| format!("({origin})")));
        let tool = format!("{}/{}", row.server, row.name);
        let channels = scores(&row.channels).join(", ");
        table.add_row([row.rank.to_string(), tool, format!("{:.2}", row.score), channels, why.join(", ")]);
    }
    output::print(output::text(&table) + &weights(&ranking))
}

/// Scores by name, the greatest first.
fn scores(scores: &BTreeMap<&str, f64>) -> Vec<String> {
    let mut scores: Vec<_> = scores.iter().collect();
    scores.sort_by(|a, b| b.1.total_cmp(a.1));
    scores.into_iter().map(|(name, score)| format!("{name} {score:.2}")).collect()
}

/// What each channel counted for, and what did not work.
fn weights(ranking: &Ranking) -> String {
    let weight = |channel: &Channel| match &channel.trouble {
        Some(trouble) => format!("{} {:.0} % ({trouble})", channel.name, 100.0 * channel.weight),
        None => format!("{} {:.0} %", channel.name, 100.0 * channel.weight),
    };
    let weights: Vec<_> = ranking.channels.iter().map(weight).collect();
    if weights.is_empty() { String::new() } else { format!("\n\n weights: {}", weights.join(", ")) }
}

/// To four places: enough to compare, and the same on every machine.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 10_000.0).round() / 10_000.0
}
