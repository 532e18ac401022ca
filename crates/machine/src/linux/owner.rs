//! Whose a file is.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// See [`crate::only_owner_writes`].
pub(crate) fn only_owner_writes(path: &Path) -> Result<(), String> {
    let seen = std::fs::metadata(path)
        .map_err(|error| format!("{} cannot be read: {}", path.display(), crate::cause(&error)))?;
    let own = rustix::process::geteuid().as_raw();
    if seen.uid() != 0 && seen.uid() != own {
        return Err(format!("{} belongs to another user and is not used; chown it to yourself", path.display()));
    }
    if seen.mode() & 0o022 != 0 {
        return Err(format!("{} can be written by others and is not used; chmod go-w it", path.display()));
    }
    Ok(())
}
