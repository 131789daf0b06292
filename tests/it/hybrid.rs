//! A host whose embedder is a service: it must not hold up other tasks, and a turn goes on without it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use proem::{
    Host,
    client::MemoryClient,
    index::{CallbackEmbedder, DenseOptions, ServiceEmbedder, TextKind},
    retrieval::{Dense, Hybrid, Lexical},
    tokens::BytesPerToken,
};
use tokio::runtime::Handle;

/// Stands for a model: is it about money, is it about weather?
fn topics(text: &str) -> Vec<f32> {
    let about = |words: [&str; 3]| words.iter().any(|word| text.contains(word)) as u8 as f32;
    vec![about(["refund", "payment", "money"]), about(["rain", "weather", "umbrella"])]
}

fn host(dense: Dense) -> Host {
    Host::builder()
        .server("shop", MemoryClient::new().with_tool("reverse", "Undo a payment"))
        .server("sky", MemoryClient::new().with_tool("forecast", "The weather of tomorrow"))
        .retriever(Hybrid::of(Lexical::new(), dense))
        .counter(BytesPerToken::default())
        .build()
        .unwrap()
}

async fn first_tool(host: &Host, text: &str) -> Option<String> {
    let context = host.session().turn(text).build().await.unwrap();
    context.selection().tools.first().map(|tool| tool.id.to_string())
}

// One thread: an embedder that held it up would never get its answer.
#[tokio::test(flavor = "current_thread")]
async fn a_service_runs_beside_the_turn() {
    let (queries, up) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(true)));
    let (asked, works) = (Arc::clone(&queries), Arc::clone(&up));
    let service = ServiceEmbedder::new("topics/1", 2, Handle::current(), move |texts, kind| {
        let (asked, works) = (Arc::clone(&asked), Arc::clone(&works));
        async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            asked.fetch_add(usize::from(kind == TextKind::Query), Ordering::Relaxed);
            if works.load(Ordering::Relaxed) {
                Ok(texts.iter().map(|text| topics(text)).collect())
            } else {
                Err("status 503".into())
            }
        }
    });
    let dense = Dense::new(service).with_options(DenseOptions::default().with_retry_after(Duration::ZERO));
    let host = host(dense);
    host.refresh().await;
    assert_eq!(first_tool(&host, "do I need an umbrella?").await.unwrap(), "sky/forecast");
    assert_eq!(first_tool(&host, "do I need an umbrella?").await.unwrap(), "sky/forecast");
    // Two batches of requests that need no tool, for the confidence, and this one.
    assert_eq!(queries.load(Ordering::Relaxed), 3);

    // The turn goes on by words, and nothing of that is remembered.
    up.store(false, Ordering::Relaxed);
    assert_eq!(first_tool(&host, "money back").await, None);
    assert_eq!(first_tool(&host, "the weather").await.unwrap(), "sky/forecast");
    up.store(true, Ordering::Relaxed);
    assert_eq!(first_tool(&host, "money back").await.unwrap(), "shop/reverse");
}

#[tokio::test(flavor = "current_thread")]
async fn an_embedder_that_was_down_at_the_start_is_used_later() {
    let up = Arc::new(AtomicBool::new(false));
    let works = Arc::clone(&up);
    let embedder = CallbackEmbedder::new("topics/1", 2, move |texts, _| {
        if !works.load(Ordering::Relaxed) {
            return Err("no model yet".into());
        }
        Ok(texts.iter().map(|text| topics(text)).collect())
    });
    let dense = Dense::new(embedder).with_options(DenseOptions::default().with_retry_after(Duration::ZERO));
    let host = host(dense);
    let catalog = host.refresh().await;
    assert_eq!(first_tool(&host, "money back").await, None);
    let index = host.composer().index(&catalog).await.unwrap();
    let ranking = index.search(&"a payment".into(), &Default::default(), 5).unwrap();
    assert_eq!(ranking.hits[0].tool.to_string(), "shop/reverse");
    assert_eq!(ranking.channels[1].trouble.as_deref(), Some("embedder `topics/1`: no model yet"));
    up.store(true, Ordering::Relaxed);
    let context = host.session().turn("money back").build().await.unwrap();
    assert_eq!(context.selection().tools[0].reason.to_string(), "matched dense");
}
