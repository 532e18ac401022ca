//! The files of a store and the folders around them.

use crate::error::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// A write-ahead log with content lies beside the file.
pub fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// The path from the root on: SQLite takes none of these for a name of its own (`:memory:`,
/// `file:…`).
pub fn plain(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The path as SQLite's URI that promises that nobody writes.
pub fn immutable_uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// A folder, a device or a pipe would be waited for or misread, also in the place of what SQLite
/// adds beside the file.
pub fn must_be_a_file(path: &Path) -> Result<(), StoreError> {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut file = path.as_os_str().to_owned();
        file.push(ending);
        let Ok(there) = std::fs::metadata(file) else { continue };
        if !there.is_file() {
            let it = if ending.is_empty() { "it".to_owned() } else { format!("its `{ending}`") };
            let what = if there.is_dir() { "a folder" } else { "a device or a pipe" };
            return Err(StoreError::CannotOpen { path: path.to_path_buf(), reason: format!("{it} is {what}") });
        }
    }
    Ok(())
}

/// Which file a path leads to; none where there is none, or the system does not tell.
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    return std::fs::metadata(path)
        .ok()
        .map(|file| (std::os::unix::fs::MetadataExt::dev(&file), std::os::unix::fs::MetadataExt::ino(&file)));
    #[cfg(not(unix))]
    {
        let _ = path; // What is open cannot be removed there.
        None
    }
}

/// Makes an empty file that only the user may read, unless something is there; also where a link
/// leads to nothing. What SQLite adds beside it has the same mode. A failure shows when it is
/// opened.
pub fn make_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

/// Runs hold personal facts: folders made here are for the user only, as the XDG specification
/// asks.
pub fn create_private_folders(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

pub fn folder_error(path: &Path, folder: &Path, error: &io::Error) -> StoreError {
    let reason = format!("its folder `{}` cannot be made ({error})", folder.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::NotWritable { path: path.to_path_buf(), reason }
        }
        io::ErrorKind::StorageFull => StoreError::DiskFull { path: path.to_path_buf() },
        _ => StoreError::CannotOpen { path: path.to_path_buf(), reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_immutable_uri_keeps_every_byte_of_the_path() {
        assert_eq!(immutable_uri(Path::new("/a b/ü?#%.sqlite")), "file:/a%20b/%c3%bc%3f%23%25.sqlite?immutable=1");
    }
}
