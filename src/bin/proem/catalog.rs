use std::{fmt::Write, sync::Arc};

use proem::{
    catalog::Catalog,
    index::{NEAR_DUPLICATE, NearDuplicates, near_duplicates},
    retrieval::{Lexical, Taxonomy},
    selection::catalog_tokens,
};
use serde_json::{Value, json};

use crate::{
    args::CatalogArgs,
    output::{self, Failure, grouped},
    sources,
};

pub(crate) async fn run(args: CatalogArgs) -> Result<(), Failure> {
    let (host, catalog) = sources::open(&args.sources, Arc::new(Lexical::new())).await?;
    if args.outline {
        let outline = args.topics.taxonomy(&catalog)?.outline(args.tokens, host.counts().counter());
        if outline.is_empty() {
            return Err(format!("{} tokens are too few for any outline", args.tokens).into());
        }
        return output::print(outline);
    }
    let tokens = catalog_tokens(&catalog, host.counts());
    let alike = near_duplicates(&catalog, NEAR_DUPLICATE);
    if args.json {
        let taxonomy = args.topics.taxonomy(&catalog)?;
        return output::print(serde_json::to_string_pretty(&as_json(&catalog, &taxonomy, tokens, &alike))?);
    }
    let mut table = output::table(&["server", "tools", "resources", "templates", "prompts", "protocol"]);
    for server in catalog.servers() {
        let count = |n: usize| if n == 0 { String::new() } else { n.to_string() };
        let protocol = match &server.failure {
            Some(_) => "failed".to_owned(),
            None => server.info.protocol_version.clone().unwrap_or_default(),
        };
        table.add_row([
            server.id.to_string(),
            count(catalog.tools().iter().filter(|entry| entry.id.server == server.id).count()),
            count(catalog.resources().iter().filter(|entry| entry.id.server == server.id).count()),
            count(catalog.templates().iter().filter(|entry| entry.id.server == server.id).count()),
            count(catalog.prompts().iter().filter(|entry| entry.id.server == server.id).count()),
            protocol,
        ]);
    }
    let mut out = output::text(&table);
    writeln!(
        out,
        "\n\n {} servers, {} tools of about {} tokens, {} resources, {} prompts, digest {}",
        catalog.servers().len(),
        grouped(catalog.tools().len()),
        grouped(tokens),
        catalog.resources().len(),
        catalog.prompts().len(),
        catalog.digest().short(16),
    )?;
    if !alike.is_empty() {
        let tools: usize = alike.iter().map(|group| group.tools.len()).sum();
        writeln!(out, " {} tools in {} groups say nearly the same", grouped(tools), grouped(alike.len()))?;
    }
    for finding in catalog.findings() {
        writeln!(out, " finding: {finding}")?;
    }
    output::print(out)
}

fn as_json(catalog: &Catalog, taxonomy: &Taxonomy, tool_tokens: usize, alike: &[NearDuplicates]) -> Value {
    let servers: Vec<_> = catalog
        .servers()
        .iter()
        .map(|server| {
            json!({
                "server": server.id,
                "digest": server.digest,
                "protocol": server.info.protocol_version,
                "instructions": server.info.instructions,
                "error": server.failure.as_ref().map(|error| error.to_string()),
                "tools": items(catalog.tools().iter().filter(|e| e.id.server == server.id).map(|entry| {
                    json!({
                        "exposed": entry.exposed,
                        "digest": entry.digest,
                        "kind": taxonomy.kind(&entry.id),
                        "topic": taxonomy.topic(&entry.id),
                        "definition": entry.tool.to_value(),
                    })
                })),
                "resources": items(catalog.resources().iter().filter(|e| e.id.server == server.id).map(|entry| {
                    json!({"digest": entry.digest, "definition": entry.resource.to_value()})
                })),
                "resource_templates": items(catalog.templates().iter().filter(|e| e.id.server == server.id).map(
                    |entry| json!({"digest": entry.digest, "definition": entry.template.to_value()}),
                )),
                "prompts": items(catalog.prompts().iter().filter(|e| e.id.server == server.id).map(|entry| {
                    json!({"digest": entry.digest, "definition": entry.prompt.to_value()})
                })),
            })
        })
        .collect();
    json!({
        "digest": catalog.digest(),
        "tool_tokens": tool_tokens,
        "findings": catalog.findings(),
        "facets": taxonomy.facets(),
        "near_duplicates": alike.iter().map(|group| {
            let tools = group.tools.iter().map(|id| json!({"server": id.server, "name": id.name}));
            json!({"tools": items(tools), "similarity": group.similarity})
        }).collect::<Vec<_>>(),
        "servers": servers,
    })
}

fn items(items: impl Iterator<Item = Value>) -> Value {
    Value::Array(items.collect())
}
