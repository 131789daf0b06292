//! Models by name, from a server in this process that answers as the Hugging Face Hub does.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use proem::{
    index::{Embedder, FastEmbedder, OnnxModel, TextKind},
    retrieval::FastReranker,
};

use crate::fastembed::{library, mini_lm, overlap};

/// Serves `repository/resolve/main/FILE` from a folder; gives its address, and counts requests.
fn hub(repository: &'static str, folder: PathBuf) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            // Who asked may have gone.
            let _ = answer(stream.unwrap(), repository, &folder);
        }
    });
    (address, requests)
}

fn answer(mut stream: TcpStream, repository: &str, folder: &Path) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let mut first_byte = false;
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        first_byte |= line.eq_ignore_ascii_case("range: bytes=0-0");
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let file = path.strip_prefix(&format!("/{repository}/resolve/main/"));
    let Some(bytes) = file.and_then(|file| fs::read(folder.join(file)).ok()) else {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let (status, part) = if first_byte { ("206 Partial Content", &bytes[..1]) } else { ("200 OK", &bytes[..]) };
    let etag = path.replace('/', "-");
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nContent-Range: bytes 0-{}/{}\r\nETag: \"{etag}\"\r\n\
         X-Repo-Commit: 0123456789abcdef\r\nConnection: close\r\n\r\n",
        part.len(),
        part.len() - 1,
        bytes.len(),
    )?;
    stream.write_all(part)
}

#[test]
fn a_model_by_name_is_downloaded_once() {
    let (Some(folder), Some(library)) = (mini_lm(), library()) else { return };
    let (address, requests) = hub("Qdrant/all-MiniLM-L6-v2-onnx", folder.clone());
    let cache = tempfile::tempdir().unwrap();
    let named = |mirror: &str| {
        let model = OnnxModel::named("sentence-transformers/all-MiniLM-L6-v2");
        let model = model.with_runtime(library.clone()).with_cache(cache.path()).with_mirror(mirror);
        FastEmbedder::builder(model).build()
    };
    let first = named(&address).unwrap();
    let asked = requests.load(Ordering::SeqCst);
    assert!(asked >= 5, "{asked}");
    // Now without a network.
    let second = named("http://127.0.0.1:9").unwrap();
    assert_eq!(first.identity(), second.identity());
    // The same model from its folder is cut at the same length only if that is said.
    let model = OnnxModel::folder(folder).with_runtime(library.clone()).with_max_length(512);
    let local = FastEmbedder::builder(model).build().unwrap();
    assert_eq!(first.identity(), local.identity());
    let vector = |embedder: &FastEmbedder| embedder.embed(&["refund"], TextKind::Query).unwrap();
    assert_eq!(vector(&first), vector(&local));
}

#[test]
fn a_download_that_fails_says_what_to_do() {
    let (Some(folder), Some(library)) = (mini_lm(), library()) else { return };
    let cache = tempfile::tempdir().unwrap();
    let said = |name: &str, mirror: &str| {
        let model = OnnxModel::named(name).with_runtime(library.clone()).with_cache(cache.path()).with_mirror(mirror);
        FastEmbedder::builder(model).build().unwrap_err().to_string()
    };
    let error = said("BGESmallENV15", "http://127.0.0.1:9");
    assert!(error.contains("Xenova/bge-small-en-v1.5 cannot be downloaded (tokenizer.json: "), "{error}");
    assert!(error.ends_with("use `OnnxModel::folder` where there is no network"), "{error}");
    // A mirror that has not all of it.
    let (address, _) = hub("Xenova/bge-small-en-v1.5", folder.clone());
    let error = said("BGESmallENV15", &address);
    assert!(error.contains("onnx/model.onnx: ") && error.contains("404"), "{error}");
    let error = said("BGESmallENV15", "no address");
    assert!(error.contains("cannot be downloaded"), "{error}");
    let error = said("no-such-model", &address);
    assert!(
        error.starts_with("invalid model name: fastembed knows no `no-such-model`, but AllMiniLML12V2, "),
        "{error}"
    );
}

#[test]
fn a_reranker_by_name_is_downloaded_too() {
    let Some(library) = library() else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("onnx")).unwrap();
    fs::copy(overlap().join("model.onnx"), folder.path().join("onnx/model.onnx")).unwrap();
    fs::copy(overlap().join("tokenizer.json"), folder.path().join("tokenizer.json")).unwrap();
    for file in ["config.json", "tokenizer_config.json", "special_tokens_map.json"] {
        fs::write(folder.path().join(file), "{}").unwrap();
    }
    let (address, _) = hub("BAAI/bge-reranker-base", folder.path().to_owned());
    let cache = tempfile::tempdir().unwrap();
    let model =
        OnnxModel::named("bge-reranker-base").with_runtime(library).with_cache(cache.path()).with_mirror(address);
    FastReranker::new(&model).unwrap();
}
