use std::{path::Path, sync::Arc};

use proem::{
    index::{Embedder, StaticEmbedder},
    retrieval::{Dense, Fusion, Hybrid, Lexical, Retriever},
};

use crate::{
    args::{EmbedderArg, RetrieverArg, RetrieverArgs},
    output::Failure,
};

/// What the arguments describe.
pub(crate) fn of(args: &RetrieverArgs) -> Result<Arc<dyn Retriever>, Failure> {
    if args.retriever == RetrieverArg::Lexical {
        return Ok(Arc::new(Lexical::new()));
    }
    let dense = Dense::shared(match &args.embedder {
        EmbedderArg::Bundled => Arc::new(StaticEmbedder::bundled()),
        EmbedderArg::Local(folder) => local(folder)?,
        EmbedderArg::Named(name) => named(name)?,
    });
    if args.retriever == RetrieverArg::Dense {
        return Ok(Arc::new(dense));
    }
    let mut hybrid = Hybrid::of(Lexical::new(), dense);
    if let Some(dense_weight) = args.dense_weight {
        hybrid = hybrid.with_fusion(Fusion::WeightedSum { dense_weight });
    }
    if let Some(weight) = args.server_weight {
        hybrid = hybrid.with_server_weight(weight);
    }
    Ok(Arc::new(hybrid))
}

#[cfg(feature = "fastembed")]
fn local(folder: &Path) -> Result<Arc<dyn Embedder>, Failure> {
    Ok(Arc::new(proem::index::FastEmbedder::local(folder)?))
}

#[cfg(not(feature = "fastembed"))]
fn local(_: &Path) -> Result<Arc<dyn Embedder>, Failure> {
    Err("this program was built without the feature `fastembed`".into())
}

#[cfg(feature = "fastembed-hub")]
fn named(name: &str) -> Result<Arc<dyn Embedder>, Failure> {
    Ok(Arc::new(proem::index::FastEmbedder::named(name)?))
}

#[cfg(not(feature = "fastembed-hub"))]
fn named(_: &str) -> Result<Arc<dyn Embedder>, Failure> {
    Err("this program was built without the feature `fastembed-hub`".into())
}
