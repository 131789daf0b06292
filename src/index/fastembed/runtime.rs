use std::{
    env::{
        self,
        consts::{DLL_PREFIX, DLL_SUFFIX},
    },
    error::Error as _,
    path::{Path, PathBuf},
};

use ort::LoadDynamicError;

use super::session::guarded;
use crate::{Error, Result, error::excerpt};

/// Loads ONNX Runtime, once in a process: whoever comes later gets the one that is there, whatever
/// the path.
///
/// It must come before anything else of `ort`, which loads the library by itself and panics where
/// that fails.
///
/// # Errors
/// [`Error::File`] if the library is not there, is none, or is too old; another path may be tried then.
pub(super) fn load(path: Option<&Path>) -> Result<()> {
    let path = path.map_or_else(default_path, Path::to_owned);
    let loaded = guarded(|| ort::init_from(&path).map(drop).map_err(reason_of));
    loaded.map_err(|reason| Error::File {
        path,
        reason: format!(
            "ONNX Runtime cannot be loaded ({}): version 1.{} or later is needed. The Python package `onnxruntime` \
             holds it, as do the project's releases; give its path with `OnnxModel::with_runtime` or in ORT_DYLIB_PATH",
            excerpt(&reason),
            ort::MINOR_VERSION
        ),
        source: None,
    })
}

/// What the system's loader said, which `ort` leaves out.
fn reason_of(error: LoadDynamicError) -> String {
    match &error {
        LoadDynamicError::Dlopen { error: opened, .. } => opened.source().unwrap_or(opened).to_string(),
        _ => error.to_string(),
    }
}

/// What `ort` would load: where this variable says, as for every program over `ort`, else where the
/// system's loader finds it.
fn default_path() -> PathBuf {
    let library = || format!("{DLL_PREFIX}onnxruntime{DLL_SUFFIX}").into();
    env::var_os("ORT_DYLIB_PATH").filter(|path| !path.is_empty()).map_or_else(library, PathBuf::from)
}
