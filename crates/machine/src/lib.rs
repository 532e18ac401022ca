//! What the host knows of the machine it runs on, and what it does to it: pinning, starting probes,
//! watching for disturbances.
//!
//! Everything particular to an operating system lies in `linux/` and `windows/`; `other/` answers
//! with reasons, so that the rest of the host compiles and runs anywhere. All unsafe code of the
//! host is in this crate, in `linux/sys.rs`, `linux/cpus.rs`, `linux/inherited.rs`,
//! `linux/spawn.rs`, `linux/hogs.rs`, `linux/scheduling.rs`, `linux/memory.rs` and
//! `windows/sys.rs`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod cause;
pub mod cpus;
pub mod interrupt;
mod limits;
pub mod load;
mod locks;
pub mod program;
pub mod spawn;
pub mod trace;
pub mod watch;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod os;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod os;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "other/mod.rs"]
mod os;

pub use cause::cause;
pub use limits::{tight_limits, with_room};
pub use locks::Locks;
pub use os::counters::Counters;
#[cfg(target_os = "linux")]
pub use os::memory::OrEnd;

use crate::watch::Watch;
use std::path::PathBuf;
use std::time::Duration;
use switchcost_model::cpu_list as list;
use switchcost_model::{Finding, Machine};

/// The machine's fingerprint. `findings` is empty: [`doctor`] takes most of a second and is asked
/// for separately.
///
/// A fact that cannot be read is there as `unknown: reason`, never missing.
#[must_use]
pub fn fingerprint() -> Machine {
    os::fingerprint()
}

/// Looks at everything that makes numbers on this machine untrustworthy or hard to compare; takes
/// less than a second.
///
/// `since`: a watch on the allowed CPUs, begun before what the caller read meanwhile, which is then
/// no time lost. `machine`: its [`fingerprint`], which says who watches. `stored_mhz`: the highest
/// clock of the core that is known of this machine, beside which today's is held. Call it before
/// [`cpus::pin_self`], which would look like a restriction. Sizes named in `effect` are estimates
/// made on the spot by helper threads of the host; they are never results.
#[must_use]
pub fn doctor(since: Watch, machine: &Machine, stored_mhz: Option<f64>) -> Vec<Finding> {
    os::doctor(&|| since.so_far(), machine, stored_mhz)
}

/// Looks once more who watches, after a run that lasted so long, and adds to what is known of the
/// machine who came since. A short one is not worth the milliseconds that reading others' files
/// takes.
pub fn look_again(machine: &mut Machine, lasted: Duration) {
    if lasted >= Duration::from_secs(1) {
        os::look_again(machine);
    }
}

/// A variable of the host's own environment, if it is set and is text.
#[must_use]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Folders in which runtimes are installed beside the path: what is found there decides what a
/// probe answers.
pub const RUNTIME_FOLDERS: &[&str] = os::RUNTIME_FOLDERS;

/// What decides beside its files whether a program starts here: limits, rights and filters of this
/// process. For comparison only.
#[must_use]
pub fn surroundings() -> String {
    const OF_STATUS: [&str; 7] = ["Uid", "Gid", "Groups", "CapEff", "NoNewPrivs", "Seccomp", "Seccomp_filters"];
    let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
    let status = read("status");
    let of = |line: &&str| line.split_once(':').is_some_and(|(name, _)| OF_STATUS.contains(&name));
    let status: Vec<&str> = status.lines().filter(of).collect();
    format!("{}{}{}", read("limits"), status.join("\n"), os::may_execute_what_it_wrote())
}

/// Folder in which programs of this user keep data, if the environment names one.
#[must_use]
pub fn data_home() -> Option<PathBuf> {
    first_folder(os::DATA_HOME)
}

/// Folder in which programs of this user keep settings, if the environment names one.
#[must_use]
pub fn config_home() -> Option<PathBuf> {
    first_folder(os::CONFIG_HOME)
}

/// Folder for what may be forgotten, if the environment names one.
#[must_use]
pub fn cache_home() -> Option<PathBuf> {
    first_folder(os::CACHE_HOME)
}

/// What becomes of locks where a file lies, or would, were it made.
#[must_use]
pub fn locks(path: &std::path::Path) -> Locks {
    os::locks(path)
}

/// Does what makes these files. What root makes of them and their folders in another user's folder
/// is given to that user, who could else neither write nor remove it.
pub fn making<T>(paths: &[PathBuf], make: impl FnOnce() -> T) -> T {
    let absent = |path: &&std::path::Path| path.symlink_metadata().is_err();
    let mut missing: Vec<_> = paths.iter().flat_map(|path| path.ancestors().take_while(absent)).collect();
    let made = make();
    // Outer folders are shorter.
    missing.sort_by_key(|path| path.as_os_str().len());
    missing.into_iter().for_each(os::hand_over);
    made
}

/// Writes a file of a cache, whole or not at all. One that cannot be written is not a fault: the
/// next command only takes longer.
pub fn remember(path: &std::path::Path, content: &[u8]) {
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    // Root may have the folder of a user (sudo), who can foresee the name: nothing that stands
    // there is followed or taken.
    let create = |()| std::fs::File::create_new(&partial);
    let make = || path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(create);
    let Ok(mut file) = making(std::slice::from_ref(&partial), make) else { return };
    let written = std::io::Write::write_all(&mut file, content);
    if written.and_then(|()| std::fs::rename(&partial, path)).is_err() {
        let _ = std::fs::remove_file(&partial);
    }
}

/// Whether probes can be looked at while they run: without that every claim of theirs would seem
/// false.
///
/// # Errors
/// A clause that says why not, and the cure.
pub fn can_observe() -> Result<(), String> {
    os::can_observe()
}

/// Refuses a file or folder of programs that somebody else than root and this user may change.
///
/// # Errors
/// A sentence that names it, why, and the cure.
pub fn only_owner_writes(path: &std::path::Path) -> Result<(), String> {
    os::only_owner_writes(path)
}

/// Under root: refuses a file or folder of programs that somebody may change who may not change
/// `program`, which runs already. To others it is one user's choice whose programs to start.
///
/// # Errors
/// A sentence that names it, why, and the cure.
pub fn root_may_start(path: &std::path::Path, program: Option<&std::path::Path>) -> Result<(), String> {
    os::root_may_start(path, program)
}

/// Under root: refuses a program that somebody may change, or whose folder, who may not change this
/// one, which runs already. A probe passes it whenever it is started; what starts a program
/// otherwise asks first.
///
/// # Errors
/// A sentence that names it, why, and the cure.
pub fn root_may_run(program: &std::path::Path) -> Result<(), String> {
    os::root_may_run(program)
}

/// Makes a symbolic link to a folder.
///
/// # Errors
/// It cannot be made, as where the system or the file system has none.
pub fn link(folder: &std::path::Path, at: &std::path::Path) -> std::io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(folder, at);
    #[cfg(windows)]
    return std::os::windows::fs::symlink_dir(folder, at);
}

/// It names a descriptor of this process.
#[must_use]
pub fn is_descriptor(path: &std::path::Path) -> bool {
    ["/dev/fd", "/dev/stdin", "/proc/self/fd"].iter().any(|own| path.starts_with(own))
}

/// Opens a regular file for reading. A pipe would be waited for, and a device never end; some files
/// of /proc that pass for regular ones let their reader wait as well (`kmsg`), which is refused
/// them. A descriptor of this process has somebody who writes, such as a shell's `<(zcat run.gz)`.
///
/// # Errors
/// It cannot be opened, or is something else.
pub fn open_file(path: &std::path::Path) -> std::io::Result<std::fs::File> {
    let regular = |facts: std::fs::Metadata| {
        let what = if facts.is_dir() { "it is a folder" } else { "it is not a regular file" };
        if facts.is_file() { Ok(()) } else { Err(std::io::Error::other(what)) }
    };
    if is_descriptor(path) {
        return std::fs::File::open(path);
    }
    regular(std::fs::metadata(path)?)?;
    let mut options = std::fs::File::options();
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits() as i32);
    let file = options.read(true).open(path)?;
    // Another may stand there by now.
    regular(file.metadata()?)?;
    Ok(file)
}

/// As the XDG base directory specification asks, a folder that is empty or relative is ignored.
fn first_folder(variables: &[&str]) -> Option<PathBuf> {
    variables.iter().filter_map(std::env::var_os).map(PathBuf::from).find(|folder| folder.is_absolute())
}
