use std::{
    fs, io,
    path::{Path, PathBuf},
};

use fastembed::TokenizerFiles;
use serde_json::{Value, json};

use super::embedder::Pooling;
use crate::{Error, Result, error::BoxError};

/// A model's files, and what they say of its use.
pub(super) struct ModelFiles {
    /// The model's file, for messages.
    pub(super) path: PathBuf,
    pub(super) onnx: Vec<u8>,
    /// Weights that lie beside the model, by file name.
    pub(super) weights: Vec<(String, Vec<u8>)>,
    pub(super) tokenizer: Vec<u8>,
    /// `{}` where there is none.
    pub(super) special_tokens: Vec<u8>,
    pad_token: String,
    /// In tokens, where the tokenizer's configuration tells a limit.
    longest: Option<usize>,
    /// In tokens, as sentence-transformers cuts: that is what the model was trained with.
    pub(super) trained_length: Option<usize>,
    /// Of sentence-transformers; an error if it is one that cannot be computed here.
    pub(super) pooling: Result<Option<Pooling>, String>,
    pub(super) prefixes: Prefixes,
    /// How many pieces the tokenizer knows.
    pub(super) vocabulary: Option<u64>,
}

/// What stands before a query and before a document.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Prefixes {
    pub(super) query: String,
    pub(super) document: String,
}

/// What ONNX files hold at most: the format ends at 2 GiB, the weights of larger models lie beside it.
const MAX_MODEL: u64 = 2 << 30;
const MAX_WEIGHTS: u64 = 16 << 30;
/// The vocabularies of multilingual models have about 20 MB.
const MAX_TOKENIZER: u64 = 128 << 20;
const MAX_JSON: u64 = 4 << 20;

impl ModelFiles {
    /// Reads the model `file` of a folder, or the one that it holds if none is named. `beside` are
    /// weights in other files than those that go by the model's name.
    ///
    /// # Errors
    /// [`Error::File`] that names all that is missing, or the first file that cannot be read.
    pub(super) fn read(folder: &Path, file: Option<&str>, beside: &[String]) -> Result<Self> {
        let model = find_model(folder, file);
        let tokenizer = folder.join("tokenizer.json");
        let no_tokenizer = (!tokenizer.is_file()).then(|| "there is no tokenizer.json".to_owned());
        let missing: Vec<String> = model.as_ref().err().cloned().into_iter().chain(no_tokenizer).collect();
        let path = match model {
            Ok(path) if missing.is_empty() => path,
            _ => return Err(fault(folder, format!("not a model folder: {}", missing.join("; ")), None)),
        };
        let json = |name: &str| read_json(&folder.join(name));
        let settings = json("tokenizer_config.json")?;
        let marks = folder.join("special_tokens_map.json");
        let (special_tokens, config) = (read_json(&marks)?, json("config.json")?);
        let prompts = json("config_sentence_transformers.json")?["prompts"].take();
        let prompt = |names: &[&str]| names.iter().find_map(|name| prompts[name].as_str()).unwrap_or_default().into();
        let pad_token = [&settings, &special_tokens].into_iter().find_map(|file| {
            let token = &file["pad_token"];
            token.as_str().or_else(|| token["content"].as_str())
        });
        Ok(Self {
            weights: weights(&path, beside)?,
            onnx: read(&path, MAX_MODEL)?,
            tokenizer: checked_json(&tokenizer, read(&tokenizer, MAX_TOKENIZER)?)?,
            // Texts go one by one and are never padded: the name matters to nobody.
            pad_token: pad_token.unwrap_or("[PAD]").into(),
            // As they are: the digest of a model must not depend on how JSON is written here.
            special_tokens: if special_tokens.is_object() { read(&marks, MAX_JSON)? } else { b"{}".to_vec() },
            // Some write 10^30 for "no limit".
            longest: settings["model_max_length"].as_f64().filter(|n| (1.0..1e6).contains(n)).map(|n| n as usize),
            trained_length: json("sentence_bert_config.json")?["max_seq_length"].as_u64().map(|n| n as usize),
            pooling: pooling(&json("1_Pooling/config.json")?),
            prefixes: Prefixes { query: prompt(&["query"]), document: prompt(&["document", "passage"]) },
            vocabulary: config["vocab_size"].as_u64(),
            path,
        })
    }

    /// The most tokens of a text: as asked for, else as the model was trained, else 512, which is
    /// where those of the BERT family end. Never more than the tokenizer's own limit.
    pub(super) fn max_length(&self, asked: Option<usize>) -> usize {
        let length = asked.or(self.trained_length).unwrap_or(512);
        length.min(self.longest.unwrap_or(usize::MAX)).max(MIN_LENGTH)
    }

    /// As fastembed wants them, with what it insists on and the files may lack.
    pub(super) fn tokenizer_files(&self) -> TokenizerFiles {
        let longest = self.longest.unwrap_or(1 << 20);
        TokenizerFiles {
            tokenizer_file: self.tokenizer.clone(),
            config_file: b"{}".to_vec(),
            special_tokens_map_file: self.special_tokens.clone(),
            tokenizer_config_file: json!({"model_max_length": longest, "pad_token": self.pad_token}).to_string().into(),
        }
    }

    /// What is wrong with the model's own file.
    pub(super) fn fault(&self, reason: String) -> Error {
        fault(&self.path, reason, None)
    }
}

/// Room for the marks at both ends of a text, or of two.
const MIN_LENGTH: usize = 8;

/// The model to read, or why there is none.
fn find_model(folder: &Path, file: Option<&str>) -> Result<PathBuf, String> {
    if let Some(file) = file {
        let path = folder.join(file);
        return if path.is_file() { Ok(path) } else { Err(format!("there is no {file}")) };
    }
    let usual = ["model.onnx", "onnx/model.onnx"].map(|file| folder.join(file));
    if let Some(path) = usual.into_iter().find(|path| path.is_file()) {
        return Ok(path);
    }
    let mut models: Vec<PathBuf> = ["", "onnx"]
        .iter()
        .filter_map(|sub| fs::read_dir(folder.join(sub)).ok())
        .flat_map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())))
        .filter(|path| path.extension().is_some_and(|extension| extension == "onnx") && path.is_file())
        .collect();
    models.sort();
    match models.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err("there is no model.onnx, onnx/model.onnx or other .onnx file".into()),
        several => {
            let names = several.iter().filter_map(|path| path.strip_prefix(folder).ok());
            let names: Vec<_> = names.map(|name| name.display().to_string()).collect();
            Err(format!("there are several models ({}): choose one with `with_file`", names.join(", ")))
        }
    }
}

/// The files beside a model that go by its name (`model.onnx_data`, `model.onnx.data`) or are told.
fn weights(model: &Path, told: &[String]) -> Result<Vec<(String, Vec<u8>)>> {
    let (Some(folder), Some(name)) = (model.parent(), model.file_name().and_then(|name| name.to_str())) else {
        return Ok(Vec::new());
    };
    let usual = [format!("{name}_data"), format!("{name}.data")];
    let mut names: Vec<&String> = usual.iter().filter(|name| folder.join(name).is_file()).chain(told).collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|name| Ok((name.clone(), read(&folder.join(name), MAX_WEIGHTS)?))).collect()
}

/// What a sentence-transformers pooling module does; `None` without one.
fn pooling(config: &Value) -> Result<Option<Pooling>, String> {
    let Some(config) = config.as_object() else { return Ok(None) };
    let modes = config.iter().filter(|(name, on)| name.starts_with("pooling_mode") && **on == Value::Bool(true));
    let mut modes: Vec<&str> = modes.map(|(name, _)| name.as_str()).collect();
    // Newer files name it in a word.
    modes.extend(config.get("pooling_mode").and_then(Value::as_str));
    match modes.as_slice() {
        [] => Ok(None),
        ["pooling_mode_mean_tokens" | "mean"] => Ok(Some(Pooling::Mean)),
        ["pooling_mode_cls_token" | "cls"] => Ok(Some(Pooling::Cls)),
        other => Err(format!(
            "its pooling ({}) is neither mean nor the first token: choose one with `with_pooling`",
            other.join(", ")
        )),
    }
}

/// A JSON file that may be absent.
fn read_json(path: &Path) -> Result<Value> {
    if !path.is_file() {
        return Ok(Value::Null);
    }
    let bytes = read(path, MAX_JSON)?;
    serde_json::from_slice(&bytes).map_err(|error| not_json(path, error))
}

fn checked_json(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    match serde_json::from_slice::<serde::de::IgnoredAny>(&bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(not_json(path, error)),
    }
}

fn not_json(path: &Path, error: serde_json::Error) -> Error {
    fault(path, format!("not JSON: {error}"), Some(error.into()))
}

fn read(path: &Path, max: u64) -> Result<Vec<u8>> {
    let failed = |error: io::Error| fault(path, error.to_string(), Some(error.into()));
    let size = fs::metadata(path).map_err(failed)?.len();
    if size > max {
        return Err(fault(path, format!("it has {size} bytes; at most {max} are read"), None));
    }
    fs::read(path).map_err(failed)
}

pub(super) fn fault(path: &Path, reason: String, source: Option<BoxError>) -> Error {
    Error::File { path: path.to_owned(), reason, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    /// What is said of a folder, without the folder's path.
    fn said(files: &[(&str, &str)], file: Option<&str>) -> String {
        let folder = folder(files);
        match ModelFiles::read(folder.path(), file, &[]) {
            Ok(files) => files.path.strip_prefix(folder.path()).unwrap().display().to_string(),
            Err(error) => error.to_string().replace(&format!("{}", folder.path().display()), "DIR"),
        }
    }

    const TOKENIZER: (&str, &str) = ("tokenizer.json", "{}");

    #[test]
    fn the_model_is_where_it_usually_lies_or_where_one_says() {
        for (files, file, expected) in [
            (&["model.onnx", "other.onnx"][..], None, "model.onnx"),
            (&["onnx/model.onnx", "onnx/model_quantized.onnx"], None, "onnx/model.onnx"),
            (&["onnx/model_quantized.onnx"], None, "onnx/model_quantized.onnx"),
            (&["model.onnx", "small.onnx"], Some("small.onnx"), "small.onnx"),
            (&["model.onnx"], Some("small.onnx"), "DIR: not a model folder: there is no small.onnx"),
            (
                &["b.onnx", "onnx/a.onnx"],
                None,
                "DIR: not a model folder: there are several models (b.onnx, onnx/a.onnx): choose one with `with_file`",
            ),
        ] {
            let mut files: Vec<_> = files.iter().map(|name| (*name, "")).collect();
            files.push(TOKENIZER);
            assert_eq!(said(&files, file), expected);
        }
    }

    #[test]
    fn faults_name_the_file_and_all_that_is_missing() {
        assert_eq!(
            said(&[], None),
            "DIR: not a model folder: there is no model.onnx, onnx/model.onnx or other .onnx file; \
             there is no tokenizer.json"
        );
        let model = ("model.onnx", "");
        assert_eq!(said(&[model], None), "DIR: not a model folder: there is no tokenizer.json");
        let broken = said(&[model, ("tokenizer.json", "{\"a\"")], None);
        assert!(broken.starts_with("DIR/tokenizer.json: not JSON: EOF"), "{broken}");
        let broken = said(&[model, TOKENIZER, ("1_Pooling/config.json", "no")], None);
        assert!(broken.starts_with("DIR/1_Pooling/config.json: not JSON: expected"), "{broken}");
    }

    #[test]
    fn what_sentence_transformers_wrote_is_read() {
        let folder = folder(&[
            ("model.onnx", ""),
            ("model.onnx_data", "weights"),
            TOKENIZER,
            ("config.json", r#"{"vocab_size": 30522}"#),
            ("tokenizer_config.json", r#"{"model_max_length": 512, "pad_token": {"content": "<pad>"}}"#),
            ("sentence_bert_config.json", r#"{"max_seq_length": 256}"#),
            ("1_Pooling/config.json", r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#),
            ("config_sentence_transformers.json", r#"{"prompts": {"query": "query: ", "passage": "passage: "}}"#),
        ]);
        let files = ModelFiles::read(folder.path(), None, &[]).unwrap();
        assert_eq!(files.weights, [("model.onnx_data".to_owned(), b"weights".to_vec())]);
        assert_eq!((files.pooling.clone(), files.vocabulary), (Ok(Some(Pooling::Cls)), Some(30_522)));
        assert_eq!(files.prefixes, Prefixes { query: "query: ".into(), document: "passage: ".into() });
        assert_eq!([None, Some(100), Some(1_000), Some(0)].map(|asked| files.max_length(asked)), [256, 100, 512, 8]);
        let made = files.tokenizer_files();
        assert_eq!(made.tokenizer_config_file, br#"{"model_max_length":512,"pad_token":"<pad>"}"#);
    }

    #[test]
    fn what_is_not_said_has_defaults() {
        let config = ("tokenizer_config.json", r#"{"model_max_length": 1000000000000000019884624838656}"#);
        for files in [&[("model.onnx", ""), TOKENIZER][..], &[("model.onnx", ""), TOKENIZER, config]] {
            let folder = folder(files);
            let files = ModelFiles::read(folder.path(), None, &[]).unwrap();
            assert_eq!((files.max_length(None), files.pooling.clone(), files.vocabulary), (512, Ok(None), None));
            let made = files.tokenizer_files();
            assert_eq!(made.tokenizer_config_file, br#"{"model_max_length":1048576,"pad_token":"[PAD]"}"#);
            assert_eq!(made.special_tokens_map_file, b"{}");
        }
    }

    #[test]
    fn pooling_that_cannot_be_done_is_told() {
        let max = json!({"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": true});
        let reason = pooling(&max).unwrap_err();
        assert!(reason.starts_with("its pooling (pooling_mode_max_tokens, pooling_mode_mean_tokens)"), "{reason}");
        assert_eq!(pooling(&json!({"pooling_mode": "mean"})), Ok(Some(Pooling::Mean)));
        assert!(pooling(&json!({"pooling_mode": "lasttoken"})).is_err());
    }
}
