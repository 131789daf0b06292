use std::{fmt::Write, sync::Arc};

use proem::{
    catalog::ReadRequest,
    id::ResourceId,
    protocol::{ReadResourceResult, ResourceContents},
    retrieval::Lexical,
};
use serde_json::{Value, json};

use crate::{
    args::ReadArgs,
    output::{self, Failure, grouped},
    reference, sources,
};

pub(crate) async fn run(args: ReadArgs) -> Result<(), Failure> {
    let (host, catalog) = sources::open(&args.sources, Arc::new(Lexical::new())).await?;
    let ids = args.uris.iter().map(|text| reference::resource(&catalog, text)).collect::<Result<Vec<_>, _>>()?;
    let mut read = Vec::with_capacity(ids.len());
    let mut failed = 0;
    for id in ids {
        match host.read(&id, &ReadRequest::new()).await {
            Ok(result) => read.push((id, result)),
            // The others can still be read.
            Err(error) => {
                failed += 1;
                eprintln!("error: {error}");
            }
        }
    }
    if args.json {
        let all: Vec<Value> = read.iter().map(|(id, result)| as_json(id, result)).collect();
        output::print(serde_json::to_string_pretty(&all)?)?;
    } else if !read.is_empty() {
        output::print(shown(&read, host.counts().counter())?)?;
    }
    if failed > 0 { Err(format!("{failed} of {} resources were not read", args.uris.len()).into()) } else { Ok(()) }
}

fn as_json(id: &ResourceId, result: &ReadResourceResult) -> Value {
    let contents = result.contents.iter().map(|content| {
        let mut fields = json!({"uri": content.uri, "mimeType": content.mime_type});
        for (name, value) in [("text", &content.text), ("blob", &content.blob)] {
            if let Some(value) = value {
                fields[name] = value.as_str().into();
            }
        }
        fields
    });
    json!({
        "server": id.server,
        "uri": id.uri,
        "contents": contents.collect::<Vec<_>>(),
        "ttl_ms": result.ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)),
    })
}

/// The texts as they are; a line that tells what is which goes before each where there are several.
fn shown(
    read: &[(ResourceId, Arc<ReadResourceResult>)],
    counter: &dyn proem::tokens::TokenCounter,
) -> Result<String, Failure> {
    let mut out = String::new();
    let alone = read.len() == 1 && read[0].1.contents.len() == 1;
    for (id, result) in read {
        if result.contents.is_empty() {
            writeln!(out, "--- {id}: empty")?;
        }
        for content in &result.contents {
            let text = content.text.as_deref();
            if !alone || text.is_none() {
                writeln!(out, "--- {}", heading(id, content, counter))?;
            }
            if let Some(text) = text {
                writeln!(out, "{}", text.trim_end_matches('\n'))?;
            }
        }
    }
    Ok(out)
}

fn heading(id: &ResourceId, content: &ResourceContents, counter: &dyn proem::tokens::TokenCounter) -> String {
    let mut heading = id.to_string();
    if content.uri != *id.uri {
        heading += &format!(" ({})", content.uri);
    }
    heading += &format!(": {}", content.mime_type.as_deref().unwrap_or("no type"));
    match (&content.text, &content.blob) {
        (Some(text), _) => heading + &format!(", {} tokens", grouped(counter.count(text))),
        (None, Some(blob)) => heading + &format!(", about {} bytes, in --json", grouped(blob.len() / 4 * 3)),
        (None, None) => heading,
    }
}
