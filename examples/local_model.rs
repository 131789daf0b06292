//! Tools found by meaning, with an embedding model in a folder that runs in this process.
//!
//! Run it with `cargo run --features demo,fastembed --example local_model -- FOLDER`: see
//! `docs/fastembed.md` for what the folder holds, and how to get ONNX Runtime. `scripts/onnx-models`
//! fetches both; then no folder need be given.

use std::{
    env::{
        self,
        consts::{DLL_PREFIX, DLL_SUFFIX},
    },
    path::PathBuf,
    time::Instant,
};

use proem::{
    Host, Result,
    client::StreamClient,
    demo,
    index::{Embedder, FastEmbedder, OnnxModel},
    retrieval::{Filter, Hybrid},
};

#[tokio::main]
async fn main() -> Result<()> {
    let fetched = PathBuf::from(".models");
    let folder = env::args_os().nth(1).map_or_else(|| fetched.join("all-MiniLM-L6-v2"), PathBuf::from);
    if !folder.is_dir() {
        println!("{} is missing: give a model's folder, or run scripts/onnx-models", folder.display());
        return Ok(());
    }
    let mut model = OnnxModel::folder(folder);
    // What the script fetched. A host says where its library is, or leaves it to ORT_DYLIB_PATH.
    let library = fetched.join(format!("{DLL_PREFIX}onnxruntime{DLL_SUFFIX}"));
    if let (None, Ok(library)) = (env::var_os("ORT_DYLIB_PATH"), library.canonicalize()) {
        model = model.with_runtime(library);
    }
    let embedder = FastEmbedder::builder(model).build()?;
    println!("{}: {} dimensions", embedder.identity(), embedder.dimensions());

    let mut host = Host::builder().retriever(Hybrid::new(embedder));
    for server in demo::servers() {
        let name = server.id().to_string();
        let (read, write) = tokio::io::split(server.serve());
        host = host.server(name, StreamClient::new(read, write));
    }
    let host = host.build()?;
    let catalog = host.refresh().await;
    let started = Instant::now();
    let index = host.composer().index(&catalog).await?;
    println!("{} tools indexed in {:.1?}", catalog.tools().len(), started.elapsed());

    for text in ["where can I sleep in Lyon?", "wake up the person on duty", "give me the plane with the lowest price"]
    {
        let ranking = index.search(&text.into(), &Filter::new(), 3)?;
        println!("\n{text}");
        for hit in &ranking.hits {
            println!("  {} {:.2} {:?}", hit.tool, hit.score, hit.channels);
        }
    }
    Ok(())
}
