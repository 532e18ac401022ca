//! The files of a store and the folders around them.

use crate::StoreError;
use std::io;
use std::path::Path;

/// A write-ahead log with content lies beside the file.
pub fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
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

/// A folder, a device or a pipe would be waited for or misread.
pub fn must_be_a_file(path: &Path) -> Result<(), StoreError> {
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => {
            let reason = if there.is_dir() { "it is a folder" } else { "it is a device or a pipe" };
            Err(StoreError::CannotOpen { path: path.to_path_buf(), reason: reason.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Makes an empty file that only the user may read, unless something is there. What SQLite adds beside it has the same mode. A failure shows when it
/// is opened.
pub fn make_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

/// Runs hold personal facts: folders made here are for the user only, as the XDG specification asks.
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
