//! Whose a file is, and on what it lies.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bits of a mode: may be written by the group, by all others.
const GROUP: u32 = 0o020;
const OTHERS: u32 = 0o002;

/// See [`crate::network_file_system`].
pub(crate) fn network_file_system(path: &Path) -> Option<&'static str> {
    let absolute = std::path::absolute(path).ok()?;
    let there = absolute.ancestors().find(|folder| folder.exists())?;
    match rustix::fs::statfs(there).ok()?.f_type as u64 & 0xffff_ffff {
        FUSE => {
            let device = std::fs::metadata(there).ok()?.dev();
            let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
            name_of_program(&mounts, &format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device)))
        }
        magic => name_of(magic),
    }
}

/// The number of every file system that a program of the user serves.
const FUSE: u64 = 0x6573_5546;

/// By who serves the device, of those that fetch files from elsewhere.
fn name_of_program(mounts: &str, device: &str) -> Option<&'static str> {
    const KNOWN: [(&str, &str); 7] = [
        ("fuse.sshfs", "SSHFS"),
        ("fuse.glusterfs", "GlusterFS"),
        ("fuse.ceph-fuse", "Ceph"),
        ("fuse.s3fs", "S3"),
        ("fuse.gcsfuse", "Cloud Storage"),
        ("fuse.rclone", "rclone"),
        ("fuse.juicefs", "JuiceFS"),
    ];
    let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some(device))?;
    let kind = line.split_once(" - ")?.1.split(' ').next()?;
    KNOWN.into_iter().find(|(known, _)| *known == kind).map(|(_, name)| name)
}

/// By the numbers of linux/magic.h and of the file systems themselves.
fn name_of(magic: u64) -> Option<&'static str> {
    match magic & 0xffff_ffff {
        0x6969 => Some("NFS"),
        0xff53_4d42 | 0xfe53_4d42 | 0x517b => Some("SMB"),
        0x00c3_6400 => Some("Ceph"),
        0x0bd0_0bd0 => Some("Lustre"),
        0x4750_4653 => Some("GPFS"),
        0x5346_414f | 0x6b41_4653 => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        _ => None,
    }
}

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

/// See [`crate::root_may_run`].
pub(crate) fn root_may_run(program: &Path) -> Result<(), String> {
    const STICKY: u32 = 0o1000;
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let own = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    let facts = |path: Option<&Path>| path.and_then(|path| std::fs::metadata(path).ok());
    let own_folder = facts(own.as_deref().and_then(Path::parent));
    // Whoever may write the folder of a link, or of what it leads to, chooses the program. What is not there, the start says.
    let Ok(file) = std::fs::canonicalize(program) else { return Ok(()) };
    no_freer(&file, facts(own.as_deref()).as_ref())?;
    for folder in [program.parent(), file.parent()].into_iter().flatten() {
        if facts(Some(folder)).is_some_and(|folder| folder.mode() & STICKY == 0) {
            no_freer(folder, own_folder.as_ref())?;
        }
    }
    Ok(())
}

/// In a namespace that knows only some users, those of the system and all others look alike; root is no more there than who made it.
fn unknown_user(uid: u32) -> bool {
    const NOBODY: u32 = 65534;
    let map = || std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    uid == NOBODY && map().split_whitespace().ne(["0", "0", "4294967295"])
}

/// Root, this user and whoever may write `than` may write it, and nobody else.
fn no_freer(path: &Path, than: Option<&Metadata>) -> Result<(), String> {
    let seen = std::fs::metadata(path)
        .map_err(|error| format!("{} cannot be read: {}", path.display(), crate::cause::cause(&error)))?;
    let own = rustix::process::geteuid().as_raw();
    let mut known = [0, own].into_iter().chain(than.map(Metadata::uid));
    if !known.any(|uid| uid == seen.uid()) && !unknown_user(seen.uid()) {
        return Err(format!("{} belongs to another user and is not used; chown it to yourself", path.display()));
    }
    let same_group = than.filter(|than| than.gid() == seen.gid());
    let allowed = than.map_or(0, |than| than.mode() & OTHERS) | same_group.map_or(0, |than| than.mode() & GROUP);
    if seen.mode() & (GROUP | OTHERS) & !allowed != 0 {
        return Err(format!("{} can be written by others and is not used; chmod go-w it", path.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{name_of, name_of_program, network_file_system};

    #[test]
    fn network_file_systems_are_known_and_local_ones_are_not_taken_for_them() {
        assert_eq!(name_of(0x6969), Some("NFS"));
        // As a 32-bit f_type, negative, arrives.
        assert_eq!(name_of(i64::from(0xff53_4d42_u32 as i32) as u64), Some("SMB"));
        // ext4, xfs, btrfs, tmpfs, overlay.
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630] {
            assert_eq!(name_of(local), None);
        }
        assert_eq!(network_file_system(std::path::Path::new("/proc/self/no/such/folder")), None);
        let mounts = "29 1 254:0 / / rw,relatime - ext4 /dev/root rw\n\
                      91 29 0:52 / /home/user/far\\040away rw,nosuid shared:9 - fuse.sshfs host:/home rw,user_id=0\n\
                      92 29 0:53 / /mnt/image rw - fuse.squashfuse squashfuse ro\n";
        let named = |device| name_of_program(mounts, device);
        assert_eq!(["0:52", "0:53", "254:0", "0:5"].map(named), [Some("SSHFS"), None, None, None]);
    }
}
