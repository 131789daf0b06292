//! What some tests need from outside the repository, and what they do without it.

use std::{env, path::PathBuf};

/// A file or folder of `../shared/data`, or of `data` in the folder that `PROEM_SHARED` names: captures
/// of real servers may lie there.
///
/// Without it the test is skipped, unless `PROEM_REQUIRE_SHARED` is 1.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let shared = env::var_os("PROEM_SHARED").map_or_else(|| PathBuf::from("../shared"), PathBuf::from);
    found(shared.join("data").join(path), "PROEM_REQUIRE_SHARED")
}

/// A file or folder of `.servers`, which `scripts/real-servers` writes.
///
/// Without it the test is skipped, unless `PROEM_REQUIRE_SERVERS` is 1.
#[cfg(feature = "cli")]
pub(crate) fn servers(file: &str) -> Option<PathBuf> {
    found(PathBuf::from(".servers").join(file), "PROEM_REQUIRE_SERVERS")
}

/// A file or folder of `.models`, which `scripts/onnx-models` fetches.
///
/// Without it the test is skipped, unless `PROEM_REQUIRE_MODELS` is 1.
#[cfg(all(feature = "cli", feature = "eval", feature = "fastembed"))]
pub(crate) fn models(path: &str) -> Option<PathBuf> {
    found(PathBuf::from(".models").join(path), "PROEM_REQUIRE_MODELS")
}

fn found(path: PathBuf, required: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    if path.exists() {
        return Some(path);
    }
    let is_required = env::var(required).is_ok_and(|value| value == "1");
    assert!(!is_required, "{} is missing, and {required} is 1", path.display());
    println!("skipped: {} is missing", path.display());
    None
}
