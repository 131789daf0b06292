use std::{fs, path::Path};

use crate::{Error, Result, error::BoxError};

/// Reads a text file of at most `max` bytes.
///
/// # Errors
/// [`Error::File`] if it cannot be read, is larger, or is not UTF-8.
pub(crate) fn read_text(path: &Path, max: u64) -> Result<String> {
    let failed = |error: std::io::Error| file_error(path, error.to_string(), Some(error.into()));
    let size = fs::metadata(path).map_err(failed)?.len();
    if size > max {
        return Err(file_error(path, format!("it has {size} bytes; at most {max} are read"), None));
    }
    let bytes = fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| file_error(path, "it is not UTF-8".into(), None))
}

/// What is wrong with a file or folder.
pub(super) fn file_error(path: &Path, reason: String, source: Option<BoxError>) -> Error {
    Error::File { path: path.to_owned(), reason, source }
}
