//! Reading TOML files with one-sentence errors.

use serde::de::DeserializeOwned;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use switchcost_model::harmless_line;

/// A data file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// Missing or unreadable.
    #[error("cannot read {}: {source}; reinstall switchcost, or let SWITCHCOST_LIBEXEC point to its probes and data", path.display())]
    Unreadable {
        /// File or folder.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// Not of the form it must have.
    #[error("{} is not valid: {what}", path.display())]
    Invalid {
        /// File.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

impl CatalogueError {
    /// A file that is not of the form it must have.
    pub fn invalid(path: &Path, what: impl Into<String>) -> Self {
        Self::Invalid { path: path.to_owned(), what: what.into() }
    }
}

/// Longest data file: the largest of ours has 20 KB.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The text of a regular file of bounded size: a pipe would wait for ever, a device never end. What
/// the system makes up as it is read (/proc/kmsg) passes for a regular file, may wait as well, and
/// has a size of 0: it is taken for empty.
pub(crate) fn text_of(path: &Path) -> Result<String, CatalogueError> {
    let unreadable = |source| CatalogueError::Unreadable { path: path.to_owned(), source };
    let file = fs::metadata(path).map_err(unreadable)?;
    if !file.is_file() {
        return Err(CatalogueError::invalid(path, "it is not a regular file"));
    }
    if file.len() == 0 {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(unreadable)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(CatalogueError::invalid(path, format!("it is longer than {MAX_FILE_BYTES} bytes")));
    }
    switchcost_model::decoded(&bytes).map_err(|what| CatalogueError::invalid(path, what))
}

/// Reads a data file.
///
/// # Errors
/// It is missing, longer than it may be, or not of the form it must have.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, CatalogueError> {
    let text = text_of(path)?;
    toml::from_str(&text).map_err(|error| {
        // The library's message spans several lines with a picture; the last line holds the reason.
        let message = harmless_line(&error.message().replace('\n', " "));
        let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        CatalogueError::invalid(path, format!("line {line}: {message}"))
    })
}

/// Entries of a folder, sorted by name, but for hidden ones: editors keep theirs there.
///
/// # Errors
/// The folder cannot be read.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, CatalogueError> {
    let unreadable = |source| CatalogueError::Unreadable { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}
