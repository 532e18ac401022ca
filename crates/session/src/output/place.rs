//! What stands where a result is to go is written as what it is.

use crate::random;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Read as _, Result, Write};
use std::path::{Path, PathBuf};

/// As many links as Linux follows.
const LINKS: usize = 40;

/// What a store begins with, and its write-ahead log.
const STORE: [&[u8]; 2] = [b"SQLite format 3\0", &[0x37, 0x7f, 0x06]];

/// Where files that a process has open stand under names of their own.
const OPEN: [&str; 2] = ["/proc", "/dev/fd"];

/// A file is written whole or not at all: what stood there before is replaced at once, keeping its
/// mode and, where permitted, its owner. What cannot be replaced but written (a single file that is
/// mounted, one in a folder that may not be written) is written in place; the answer is what is to
/// be said of that. A store is never replaced. A link is followed. Devices, pipes and what a
/// process has open (`/dev/stdout`) are written to; if their reader has gone, that is not a fault.
pub fn write(path: &Path, text: &[u8]) -> Result<Option<String>> {
    let There { target, old, replaced } = looked_at(path)?;
    if replaced {
        return replace(&target, old.as_ref(), text);
    }
    let written = if is_standard_output(&target) {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text).and_then(|()| stdout.flush())
    } else {
        // At the end, if it is a file that somebody has open.
        File::options().append(is_open(&target)).write(true).open(path).and_then(|mut file| file.write_all(text))
    };
    written.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })?;
    Ok(None)
}

/// Whether a file could be written there now; nothing is changed by that.
pub fn check(path: &Path) -> Result<()> {
    let There { target, old, replaced } = looked_at(path)?;
    if !replaced {
        return Ok(());
    }
    match beside(&target, old.as_ref()) {
        Ok((_, new)) => fs::remove_file(new),
        Err(why) => writable(&target, old.as_ref(), why).map(drop),
    }
}

/// What stands where a result is to go.
struct There {
    /// Where links lead.
    target: PathBuf,
    old: Option<Metadata>,
    /// A new file takes its place; else it is written to.
    replaced: bool,
}

fn looked_at(path: &Path) -> Result<There> {
    let old = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        answer => Some(answer?),
    };
    if old.as_ref().is_some_and(Metadata::is_dir) {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    let target = followed(path)?;
    let replaced = !old.as_ref().is_some_and(|old| is_open(&target) || !old.is_file());
    if replaced && old.is_some() && is_store(path) {
        return Err(Error::new(ErrorKind::AlreadyExists, "it is a store, whose runs would be lost"));
    }
    Ok(There { target, old, replaced })
}

fn is_open(target: &Path) -> bool {
    OPEN.iter().any(|folder| target.starts_with(folder))
}

/// Where `--store` and `-o` are mixed up, all runs would go.
fn is_store(path: &Path) -> bool {
    let mut begin = [0; 16];
    let read = File::open(path).is_ok_and(|mut file| file.read_exact(&mut begin).is_ok());
    read && STORE.iter().any(|of_a_store| begin.starts_with(of_a_store))
}

/// Where links lead, whether or not there is anything. Not beyond the names of open files: those
/// only look like links.
fn followed(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let name = path.file_name().ok_or(ErrorKind::InvalidInput)?.to_owned();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = fs::canonicalize(folder).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::new(error.kind(), format!("there is no folder {}", folder.display())),
            _ => error,
        })?;
        path = folder.join(name);
        if is_open(&folder) {
            return Ok(path);
        }
        match fs::read_link(&path) {
            Ok(to) => path = folder.join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(Error::other("too many links"))
}

fn is_standard_output(target: &Path) -> bool {
    ["/proc/self/fd", "/dev/fd"].iter().any(|own| fs::canonicalize(own).is_ok_and(|own| target == own.join("1")))
}

/// A new file beside the old one, under a name that nobody can foresee or have taken.
fn beside(target: &Path, old: Option<&Metadata>) -> Result<(File, PathBuf)> {
    let new = target.with_file_name(format!(".switchcost-{:016x}", random::number()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if old.is_some() { 0o600 } else { 0o640 });
    Ok((options.open(&new)?, new))
}

/// Writes a new file and renames it.
fn replace(target: &Path, old: Option<&Metadata>, text: &[u8]) -> Result<Option<String>> {
    let (mut file, new) = match beside(target, old) {
        Ok(new) => new,
        Err(error) => return in_place(target, old, text, error),
    };
    let written = file.write_all(text).and_then(|()| old.map_or(Ok(()), |old| keep(&file, old)));
    drop(file);
    let renamed = written.map(|()| fs::rename(&new, target));
    if !matches!(renamed, Ok(Ok(()))) {
        let _ = fs::remove_file(&new); // The error says what matters.
    }
    renamed?.map_or_else(|error| in_place(target, old, text, error), |()| Ok(None))
}

/// The old file, and why it cannot be exchanged: nothing but the folder, or that it is mounted,
/// stands in the way.
fn writable(target: &Path, old: Option<&Metadata>, why: Error) -> Result<(File, Error)> {
    use ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    let of_the_folder = matches!(why.kind(), CrossesDevices | PermissionDenied | ReadOnlyFilesystem | ResourceBusy);
    let file = old.filter(|_| of_the_folder).and_then(|_| File::options().write(true).open(target).ok());
    match file {
        Some(file) => Ok((file, why)),
        None => Err(why),
    }
}

/// Where the file cannot be exchanged, its content is. The answer says so.
fn in_place(target: &Path, old: Option<&Metadata>, text: &[u8], why: Error) -> Result<Option<String>> {
    let (mut file, why) = writable(target, old, why)?;
    let length = text.len() as u64;
    file.write_all(text).and_then(|()| file.set_len(length)).and_then(|()| file.sync_all()).map_err(|error| {
        Error::new(error.kind(), format!("{error}, amidst writing in place: what is there now is only a part"))
    })?;
    Ok(Some(format!("{} cannot be replaced ({why}), so it was written in place", target.display())))
}

/// Owner and mode of the file that is replaced. Where the owner cannot be given, his group may be.
#[cfg(unix)]
fn keep(file: &File, old: &Metadata) -> Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let _ = fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid())));
    file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
}

#[cfg(not(unix))]
fn keep(_: &File, _: &Metadata) -> Result<()> {
    Ok(())
}
