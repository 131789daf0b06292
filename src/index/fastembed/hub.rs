use std::path::{Path, PathBuf};

use fastembed::{OutputKey, QuantizationMode, TextEmbedding, TextRerank};
use hf_hub::{Cache, api::sync::ApiBuilder};

use super::{
    embedder::Pooling,
    family::Family,
    files::fault,
    model::{Known, Use},
    session::guarded,
};
use crate::{Error, Result, error::excerpt};

/// A model on the Hugging Face Hub, one of those that fastembed knows.
#[derive(Clone, Debug)]
pub(super) struct Hub {
    pub(super) name: String,
    pub(super) cache: Option<PathBuf>,
    pub(super) mirror: Option<String>,
}

/// What all of fastembed's models have beside the tokenizer.
const SETTINGS: [&str; 3] = ["config.json", "tokenizer_config.json", "special_tokens_map.json"];

/// An entry of one of fastembed's lists.
struct Entry {
    /// fastembed's own name.
    name: String,
    /// The name on the Hub, with its owner.
    code: String,
    file: String,
    beside: Vec<String>,
    is_quantized: bool,
    pooling: Option<Pooling>,
    output: Option<OutputKey>,
}

impl Hub {
    pub(super) fn new(name: String) -> Self {
        Self { name, cache: None, mirror: None }
    }

    /// The folder that the model's files are in, its file there, and what is known of it.
    pub(super) fn fetch(&self, purpose: Use, file: Option<&str>) -> Result<(PathBuf, String, Known)> {
        let entry = find(&self.name, entries(purpose))?;
        let cache = match &self.cache {
            Some(folder) => Cache::new(folder.clone()),
            None => guarded(|| Ok::<_, String>(Cache::default())).map_err(|reason| {
                fault(Path::new("~"), format!("no home for downloads: {}", excerpt(&reason)), None)
            })?,
        };
        let folder = cache.path().clone();
        let failed = |reason: String| {
            let why = "put the model's files into a folder and use `OnnxModel::folder` where there is no network";
            fault(&folder, format!("{} cannot be downloaded ({}): {why}", entry.code, excerpt(&reason)), None)
        };
        let builder = ApiBuilder::from_cache(cache).with_progress(false).with_token(None).with_retries(2);
        let builder = match &self.mirror {
            Some(address) => builder.with_endpoint(address.trim_end_matches('/').to_owned()),
            None => builder,
        };
        let fetched = guarded(|| -> Result<PathBuf, String> {
            let repository = builder.build().map_err(|error| error.to_string())?.model(entry.code.clone());
            let get = |file: &str| repository.get(file).map_err(|error| format!("{file}: {error}"));
            let tokenizer = get("tokenizer.json")?;
            let beside = entry.beside.iter().map(String::as_str);
            for file in SETTINGS.into_iter().chain([file.unwrap_or(&entry.file)]).chain(beside) {
                get(file)?;
            }
            Ok(tokenizer.parent().unwrap_or(Path::new("")).to_owned())
        });
        let folder = fetched.map_err(failed)?;
        let family = Family::of(base(&entry.code));
        let known = Known {
            weights: entry.beside.iter().filter_map(|file| file.rsplit('/').next()).map(str::to_owned).collect(),
            pooling: entry.pooling,
            prefixes: family.map(Family::prefixes),
            languages: family.map(Family::languages),
            output: entry.output,
        };
        Ok((folder, entry.file, known))
    }
}

fn entries(purpose: Use) -> Vec<Entry> {
    let mut entries: Vec<Entry> = match purpose {
        Use::Embed => TextEmbedding::list_supported_models()
            .into_iter()
            .map(|info| Entry {
                name: format!("{:?}", info.model),
                is_quantized: !matches!(TextEmbedding::get_quantization_mode(&info.model), QuantizationMode::None)
                    || info.model_file.contains("_q"),
                pooling: TextEmbedding::get_default_pooling_method(&info.model).map(|pooling| match pooling {
                    fastembed::Pooling::Cls => Pooling::Cls,
                    fastembed::Pooling::Mean => Pooling::Mean,
                }),
                code: info.model_code,
                file: info.model_file,
                beside: info.additional_files,
                output: info.output_key,
            })
            .collect(),
        Use::Rerank => TextRerank::list_supported_models()
            .into_iter()
            .map(|info| Entry {
                name: format!("{:?}", info.model),
                code: info.model_code,
                file: info.model_file,
                beside: info.additional_files,
                is_quantized: false,
                pooling: None,
                output: None,
            })
            .collect(),
    };
    entries.sort_by(|a, b| (a.is_quantized, &a.name).cmp(&(b.is_quantized, &b.name)));
    entries
}

/// The entry that a name means: fastembed's name for it, its name on the Hub, its maker's.
fn find(name: &str, mut entries: Vec<Entry>) -> Result<Entry> {
    let name = name.trim();
    let (owner, own) = name.split_once('/').map_or((None, name), |(owner, own)| (Some(owner), own));
    let by_maker = |entry: &Entry| {
        let is_maker = |owner| Family::of(base(&entry.code)).is_some_and(|family| family.is_by(owner));
        base(&entry.code).eq_ignore_ascii_case(own) && owner.is_none_or(is_maker)
    };
    let ways: [&dyn Fn(&Entry) -> bool; 3] =
        [&|entry| entry.name.eq_ignore_ascii_case(name), &by_maker, &|entry| entry.code.eq_ignore_ascii_case(name)];
    match ways.iter().find_map(|means| entries.iter().position(means)) {
        Some(at) => Ok(entries.swap_remove(at)),
        None => Err(unknown(name, &entries)),
    }
}

fn unknown(name: &str, entries: &[Entry]) -> Error {
    let mut known: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    known.sort_unstable();
    Error::invalid("model name", format!("fastembed knows no `{}`, but {}", excerpt(name), known.join(", ")))
}

/// A model's name without its owner and without what exports add.
fn base(code: &str) -> &str {
    let name = code.rsplit('/').next().unwrap_or(code);
    ["-onnx-Q", "-onnx", "-ONNX"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_several_names() {
        for (name, expected) in [
            ("BGESmallENV15", "BGESmallENV15"),
            ("bgesmallenv15q", "BGESmallENV15Q"),
            ("BAAI/bge-small-en-v1.5", "BGESmallENV15"),
            ("bge-small-en-v1.5", "BGESmallENV15"),
            (" Xenova/bge-small-en-v1.5", "BGESmallENV15"),
            ("Qdrant/bge-small-en-v1.5-onnx-Q", "BGESmallENV15Q"),
            ("sentence-transformers/all-MiniLM-L6-v2", "AllMiniLML6V2"),
            ("Xenova/all-MiniLM-L6-v2", "AllMiniLML6V2Q"),
            ("nomic-ai/nomic-embed-text-v1.5", "NomicEmbedTextV15"),
            ("intfloat/multilingual-e5-large", "MultilingualE5Large"),
            ("google/embeddinggemma-300m", "EmbeddingGemma300M"),
        ] {
            assert_eq!(find(name, entries(Use::Embed)).unwrap().name, expected, "{name}");
        }
        assert_eq!(find("BAAI/bge-reranker-base", entries(Use::Rerank)).unwrap().name, "BGERerankerBase");
    }

    #[test]
    fn a_name_that_is_not_known_is_told_the_known_ones() {
        for name in ["", "/", "somebody/bge-small-en-v1.5", "bge-reranker-base", "BGE"] {
            let error = find(name, entries(Use::Embed)).err().unwrap().to_string();
            assert!(
                error.starts_with(&format!("invalid model name: fastembed knows no `{name}`, but AllMini")),
                "{error}"
            );
        }
        let error = find("bge-small-en-v1.5", entries(Use::Rerank)).err().unwrap().to_string();
        assert!(error.contains("BGERerankerBase, BGERerankerV2M3"), "{error}");
    }

    #[test]
    fn every_model_is_found_by_its_own_names() {
        for entry in entries(Use::Embed).iter().chain(&entries(Use::Rerank)) {
            let purpose = if entry.name.contains("Reranker") { Use::Rerank } else { Use::Embed };
            assert_eq!(find(&entry.name, entries(purpose)).unwrap().name, entry.name);
            assert_eq!(base(&find(&entry.code, entries(purpose)).unwrap().code), base(&entry.code));
        }
    }
}
