//! Whose a file is.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bits of a mode: may be written by the group, by all others.
const GROUP: u32 = 0o020;
const OTHERS: u32 = 0o002;

/// See [`crate::only_owner_writes`].
pub(crate) fn only_owner_writes(path: &Path) -> Result<(), String> {
    no_freer(path, None)
}

/// See [`crate::root_may_start`].
pub(crate) fn root_may_start(path: &Path, program: Option<&Path>) -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    no_freer(path, program.and_then(|program| std::fs::metadata(program).ok()).as_ref())
}

/// Root, this user and whoever may write `than` may write it, and nobody else.
fn no_freer(path: &Path, than: Option<&Metadata>) -> Result<(), String> {
    let seen = std::fs::metadata(path)
        .map_err(|error| format!("{} cannot be read: {}", path.display(), crate::cause(&error)))?;
    let own = rustix::process::geteuid().as_raw();
    if seen.uid() != 0 && seen.uid() != own && than.is_none_or(|than| than.uid() != seen.uid()) {
        return Err(format!("{} belongs to another user and is not used; chown it to yourself", path.display()));
    }
    let same_group = than.filter(|than| than.gid() == seen.gid());
    let allowed = than.map_or(0, |than| than.mode() & OTHERS) | same_group.map_or(0, |than| than.mode() & GROUP);
    if seen.mode() & (GROUP | OTHERS) & !allowed != 0 {
        return Err(format!("{} can be written by others and is not used; chmod go-w it", path.display()));
    }
    Ok(())
}
