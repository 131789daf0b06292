use std::{sync::Arc, time::Duration};

use proem::{
    Host,
    catalog::{Catalog, Progress, TrustTier},
    client::{CaptureClient, Client, Config, Limits, StreamClient},
    demo,
    id::ServerId,
    resources::Governance,
    retrieval::Retriever,
};

use crate::{
    args::SourceArgs,
    output::{self, Failure},
};

/// Opens all sources, asks their servers, and warns of what failed.
///
/// Fails if there is nothing to go on with: no server at all, or none that answered.
pub(crate) async fn open(args: &SourceArgs, retriever: Arc<dyn Retriever>) -> Result<(Host, Catalog), Failure> {
    open_with(args, retriever, Governance::default()).await
}

/// As [`open`], with the host's rules for resources.
pub(crate) async fn open_with(
    args: &SourceArgs,
    retriever: Arc<dyn Retriever>,
    rules: Governance,
) -> Result<(Host, Catalog), Failure> {
    let limits = Limits::default().with_request(Duration::from_secs(args.timeout));
    let servers = servers(args, &limits)?;
    let count = servers.len();
    let mut host = Host::builder().servers(servers).limits(limits).shared_retriever(retriever).governance(rules);
    if args.sources.demo {
        // They are part of this program.
        host = demo::servers().iter().fold(host, |host, demo| host.trust(demo.id().to_string(), TrustTier::Trusted));
    }
    let host = host.build()?;
    let spinner = output::spinner(format!("asking {count} servers"));
    let catalog = host
        .refresh_with(&|progress| match progress {
            Progress::Answered(server, tools) => spinner.set_message(format!("{server}: {tools} tools")),
            Progress::Failed(server, _) => spinner.set_message(format!("{server}: failed")),
            _ => {}
        })
        .await;
    spinner.finish_and_clear();
    for (_, error) in catalog.failures() {
        warn(error);
    }
    for finding in catalog.findings() {
        tracing::info!(%finding, "finding");
    }
    match catalog.findings().len() {
        0 => {}
        findings => eprintln!("note: {findings} findings in what servers sent (`proem catalog` lists them)"),
    }
    if catalog.failures().count() == count {
        return Err(format!("none of {count} servers answered").into());
    }
    Ok((host, catalog))
}

type Servers = Vec<(ServerId, Arc<dyn Client>)>;

fn servers(args: &SourceArgs, limits: &Limits) -> Result<Servers, Failure> {
    let mut servers = Servers::new();
    if args.sources.demo {
        for server in demo::servers() {
            let id = server.id();
            let (read, write) = tokio::io::split(server.serve());
            servers.push((id, Arc::new(StreamClient::with_limits(read, write, limits))));
        }
    }
    for path in &args.sources.config {
        let config = Config::open(path)?;
        config.failures.iter().for_each(warn);
        for (id, server) in config.servers {
            match server.client(limits) {
                Ok(client) => servers.push((id, client)),
                Err(error) => warn(&error),
            }
        }
    }
    for path in &args.sources.catalog {
        let captures = CaptureClient::open(path)?;
        captures.failures.iter().for_each(warn);
        for (id, client) in captures.servers {
            servers.push((id, Arc::new(client)));
        }
    }
    if servers.is_empty() {
        return Err("no server to ask: the sources hold none that can be used".into());
    }
    Ok(servers)
}

fn warn(error: &proem::Error) {
    eprintln!("warning: {error}");
}
