use std::{path::PathBuf, str::FromStr};

use clap::{Args, ValueEnum};

/// What ranks the tools.
#[derive(Args, Debug)]
pub(crate) struct RetrieverArgs {
    /// What retrieves
    #[arg(long, value_enum, default_value_t = RetrieverArg::Hybrid)]
    pub(crate) retriever: RetrieverArg,
    /// What turns texts into vectors: `bundled`, `local:DIR` for a folder with an ONNX model and
    /// its tokenizer, `fastembed:NAME` for a model of the Hugging Face Hub
    #[arg(long, value_name = "EMBEDDER", default_value = "bundled")]
    pub(crate) embedder: EmbedderArg,
    /// The share of vectors in a hybrid score, 0 to 1 [default: what suits most catalogs]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) dense_weight: Option<f32>,
    /// How much a tool gains in a hybrid score where its server as a whole fits, 0 to 1
    #[arg(long, value_name = "WEIGHT", value_parser = share)]
    pub(crate) server_weight: Option<f32>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum RetrieverArg {
    /// Words: combined-fields BM25F
    Lexical,
    /// Vectors of meaning
    Dense,
    /// Both
    Hybrid,
}

#[derive(Clone, Debug)]
pub(crate) enum EmbedderArg {
    Bundled,
    Local(PathBuf),
    Named(String),
}

impl FromStr for EmbedderArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "bundled" => Ok(Self::Bundled),
            Some(("local", folder)) if !folder.is_empty() => Ok(Self::Local(folder.into())),
            Some(("fastembed", name)) if !name.is_empty() => Ok(Self::Named(name.into())),
            _ => Err("neither `bundled`, `local:DIR` nor `fastembed:NAME`".into()),
        }
    }
}

/// A number from 0 to 1.
pub(super) fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("not a number from 0 to 1".into()),
    }
}
