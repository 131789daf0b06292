use std::collections::BTreeMap;

use proem::retrieval::{Origin, Tier};
use serde::Serialize;

use crate::{
    args::SearchArgs,
    output::{self, Failure},
    sources,
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
}

pub(crate) async fn run(args: SearchArgs) -> Result<(), Failure> {
    let (host, catalog) = sources::open(&args.sources).await?;
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
        })
        .collect();
    if args.json {
        return output::print(serde_json::to_string_pretty(&rows)?);
    }
    let mut table = output::table(&["#", "tool", "score", "fields"]);
    for row in &rows {
        let mut fields: Vec<_> = row.fields.iter().collect();
        fields.sort_by(|a, b| b.1.total_cmp(a.1));
        let mut fields: Vec<_> = fields.into_iter().map(|(field, score)| format!("{field} {score:.2}")).collect();
        if row.tier == "named" {
            fields.insert(0, "named in the query".to_owned());
        }
        fields.extend(row.origin.clone().map(|origin| format!("({origin})")));
        let tool = format!("{}/{}", row.server, row.name);
        table.add_row([row.rank.to_string(), tool, format!("{:.2}", row.score), fields.join(", ")]);
    }
    output::print(output::text(&table))
}

/// To four places: enough to compare, and the same on every machine.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 10_000.0).round() / 10_000.0
}
