//! Lists that change while a host runs: bursts, differences, and requests that stay the same.
//!
//! Run it with `cargo run --example changes --features demo`.

use std::{error::Error, time::Duration};

use proem::{Host, client::StreamClient, demo, id::ServerId, render::Anthropic};
use serde_json::Map;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut builder = Host::builder();
    for server in demo::servers() {
        let name = server.id().to_string();
        let (read, write) = tokio::io::split(server.serve());
        builder = builder.server(name, StreamClient::new(read, write));
    }
    let host = builder.build()?;
    let before = host.refresh().await;
    println!("{} tools, digest {}", before.tools().len(), before.digest().short(12));

    // Refreshing again changes nothing: the same servers give the same bytes.
    let again = host.refresh().await;
    println!("refreshed, digest {}", again.digest().short(12));
    assert_eq!(before.digest(), again.digest());

    // A call makes one server offer more, and it says so several times in a row.
    let flags = ServerId::new("feature-flags")?;
    host.client(&flags)?.call_tool("enable_beta_tools", Map::new()).await?;
    let (after, changes) = tokio::time::timeout(Duration::from_secs(10), host.changed()).await?;
    println!("changed: {:?}", changes.lists);
    let diff = after.diff(&before);
    for item in &diff.added {
        println!("added: {item}");
    }
    for (item, fields) in &diff.changed {
        println!("changed: {item} ({})", fields.join(", "));
    }

    let context = host.session().turn("roll the new checkout out to a tenth of our customers").build().await?;
    println!("{}", context.report(&Anthropic::new()));
    Ok(())
}
