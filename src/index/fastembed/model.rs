use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    thread::available_parallelism,
};

use fastembed::{
    AutoDevicePolicy, InitOptionsUserDefined, OutputKey, RerankInitOptionsUserDefined, TextEmbedding, TextRerank,
    UserDefinedEmbeddingModel, UserDefinedRerankingModel,
};

use super::{
    embedder::Pooling,
    files::{ModelFiles, Prefixes},
    languages::Languages,
    runtime,
    session::{Session, guarded},
};
use crate::{Result, error::excerpt};

/// Where a model in ONNX form comes from, and how it is run: for a
/// [`FastEmbedder`](super::FastEmbedder) or a [`FastReranker`](crate::retrieval::FastReranker).
///
/// A folder holds the model and `tokenizer.json`, as exports for ONNX Runtime do. What lies beside
/// them is heeded: `config.json`, `tokenizer_config.json`, `special_tokens_map.json`, and the
/// pooling, length and prompts of sentence-transformers (`1_Pooling/config.json`,
/// `sentence_bert_config.json`, `config_sentence_transformers.json`).
///
/// ```no_run
/// use proem::index::{FastEmbedder, OnnxModel, Pooling};
///
/// let model = OnnxModel::folder("models/all-MiniLM-L6-v2").with_file("onnx/model_quantized.onnx").with_threads(2);
/// let embedder = FastEmbedder::builder(model).with_pooling(Pooling::Mean).build()?;
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct OnnxModel {
    source: Source,
    file: Option<String>,
    max_length: Option<usize>,
    threads: Option<usize>,
    runtime: Option<PathBuf>,
}

#[derive(Clone, Debug)]
enum Source {
    Folder(PathBuf),
    #[cfg(feature = "fastembed-hub")]
    Hub(super::hub::Hub),
}

/// What is known of a model beside its files.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Files with weights that do not go by the model's name.
    pub(super) weights: Vec<String>,
    pub(super) pooling: Option<Pooling>,
    pub(super) prefixes: Option<Prefixes>,
    pub(super) languages: Option<Languages>,
    pub(super) output: Option<OutputKey>,
}

/// What a model is used for: each has its own list of names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Use {
    Embed,
    Rerank,
}

impl OnnxModel {
    /// A model in a folder. Nothing is read before an embedder or reranker is made of it.
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self::of(Source::Folder(path.into()))
    }

    /// A model that fastembed knows, by fastembed's name for it (`BGESmallENV15`), by its name on
    /// the Hugging Face Hub (`Xenova/bge-small-en-v1.5`) or by its maker's (`BAAI/bge-small-en-v1.5`,
    /// `bge-small-en-v1.5`), without regard to case. Where a name stands for several forms, the one
    /// that is not quantized is meant.
    ///
    /// It is downloaded when an embedder or reranker is made of it, once: after that the files are
    /// taken from the cache, without a network. No token is sent.
    #[cfg(feature = "fastembed-hub")]
    pub fn named(name: impl Into<String>) -> Self {
        Self::of(Source::Hub(super::hub::Hub::new(name.into())))
    }

    fn of(source: Source) -> Self {
        Self { source, file: None, max_length: None, threads: None, runtime: None }
    }

    /// Sets the model's file, relative to its folder. Default: `model.onnx`, `onnx/model.onnx`, or
    /// the only file that ends in `.onnx`; of a named model, the one that fastembed takes.
    pub fn with_file(mut self, file: impl Into<String>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Sets after how many tokens texts are cut, at least 8. Default: as the model was trained,
    /// where its files say that, else 512; never more than its tokenizer allows.
    pub fn with_max_length(mut self, tokens: usize) -> Self {
        self.max_length = Some(tokens);
        self
    }

    /// Sets how many threads run the model, at least 1. Default: all processors, at most 4; one
    /// short text cannot keep more of them busy.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Sets the path of the ONNX Runtime library (`libonnxruntime.so`, `onnxruntime.dll`,
    /// `libonnxruntime.dylib`), version 1.24 or later. Default: what the environment variable
    /// `ORT_DYLIB_PATH` holds, else the one that the system's loader finds.
    ///
    /// A process has one ONNX Runtime: the first that is loaded stays, whatever later models say.
    pub fn with_runtime(mut self, library: impl Into<PathBuf>) -> Self {
        self.runtime = Some(library.into());
        self
    }

    /// Sets where downloads are kept, in the layout of the Hub's own tools. Default:
    /// `.cache/huggingface/hub` in the user's home.
    #[cfg(feature = "fastembed-hub")]
    pub fn with_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Source::Hub(hub) = &mut self.source {
            hub.cache = Some(folder.into());
        }
        self
    }

    /// Sets the address of a mirror of the Hugging Face Hub. Default: the Hub's own.
    #[cfg(feature = "fastembed-hub")]
    pub fn with_mirror(mut self, address: impl Into<String>) -> Self {
        if let Source::Hub(hub) = &mut self.source {
            hub.mirror = Some(address.into());
        }
        self
    }

    /// A short name: the folder's, or the model's.
    pub(crate) fn label(&self) -> String {
        match &self.source {
            Source::Folder(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            #[cfg(feature = "fastembed-hub")]
            Source::Hub(hub) => hub.name.clone(),
        }
    }

    /// The files, downloaded if need be, with ONNX Runtime loaded for them.
    pub(super) fn open(&self, purpose: Use) -> Result<(ModelFiles, Known)> {
        #[cfg(not(feature = "fastembed-hub"))]
        let _ = purpose;
        let read = |folder: &Path, file: Option<&str>, known: Known| {
            let files = ModelFiles::read(folder, self.file.as_deref().or(file), &known.weights)?;
            Ok((files, known))
        };
        runtime::load(self.runtime.as_deref())?;
        match &self.source {
            Source::Folder(folder) => read(folder, None, Known::default()),
            #[cfg(feature = "fastembed-hub")]
            Source::Hub(hub) => {
                let (folder, file, known) = hub.fetch(purpose, self.file.as_deref())?;
                read(&folder, Some(&file), known)
            }
        }
    }

    pub(super) fn embedding(
        &self,
        files: ModelFiles,
        pooling: Pooling,
        output: Option<OutputKey>,
    ) -> Result<Session<TextEmbedding>> {
        let options = InitOptionsUserDefined::new()
            .with_max_length(files.max_length(self.max_length))
            .with_intra_threads(self.threads())
            .with_auto_device(AutoDevicePolicy::PreferCPU)
            .with_session_config(SPINNING.0, SPINNING.1);
        let tokenizer = files.tokenizer_files();
        let ModelFiles { path, onnx, weights, .. } = files;
        let mut model = UserDefinedEmbeddingModel::new(onnx, tokenizer).with_pooling(pooling.into());
        model.output_key = output;
        for (name, bytes) in weights {
            model = model.with_external_initializer(name, bytes);
        }
        let session = guarded(|| TextEmbedding::try_new_from_user_defined(model, options));
        session.map(Session::new).map_err(|reason| unreadable(&path, &reason))
    }

    /// A cross-encoder.
    pub(crate) fn rerank(&self) -> Result<Session<TextRerank>> {
        let (files, _) = self.open(Use::Rerank)?;
        let options = RerankInitOptionsUserDefined::new()
            .with_max_length(files.max_length(self.max_length))
            .with_intra_threads(self.threads())
            .with_auto_device(AutoDevicePolicy::PreferCPU)
            .with_session_config(SPINNING.0, SPINNING.1);
        let tokenizer = files.tokenizer_files();
        // From its path: the reader finds weights that lie beside it.
        let model = UserDefinedRerankingModel::new(files.path.clone(), tokenizer);
        let session = guarded(|| TextRerank::try_new_from_user_defined(model, options));
        session.map(Session::new).map_err(|reason| unreadable(&files.path, &reason))
    }

    pub(super) fn max_length(&self, files: &ModelFiles) -> usize {
        files.max_length(self.max_length)
    }

    fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| available_parallelism().map_or(1, NonZeroUsize::get).min(4))
    }
}

/// Threads sleep between texts. By default they spin, for work that comes without a pause.
const SPINNING: (&str, &str) = ("session.intra_op.allow_spinning", "0");

fn unreadable(path: &Path, reason: &str) -> crate::Error {
    super::files::fault(path, format!("no model that can be run: {}", excerpt(reason)), None)
}
