//! Reading TOML files with one-sentence errors.

use serde::de::DeserializeOwned;
use std::fs;
use std::path::{Path, PathBuf};

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
    pub(crate) fn invalid(path: &Path, what: impl Into<String>) -> Self {
        Self::Invalid { path: path.to_owned(), what: what.into() }
    }
}

pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, CatalogueError> {
    let text =
        fs::read_to_string(path).map_err(|source| CatalogueError::Unreadable { path: path.to_owned(), source })?;
    toml::from_str(&text).map_err(|error| {
        // The library's message spans several lines with a picture; the last line holds the reason.
        let message = error.message().replace('\n', " ");
        let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        CatalogueError::invalid(path, format!("line {line}: {message}"))
    })
}

/// Entries of a folder, sorted by name.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, CatalogueError> {
    let unreadable = |source| CatalogueError::Unreadable { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    Ok(paths)
}
