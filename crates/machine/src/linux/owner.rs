//! Whose a file is, and on what it lies.

use crate::locks::Locks;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bits of a mode: may be written by the group, by all others.
const GROUP: u32 = 0o020;
const OTHERS: u32 = 0o002;

/// See [`crate::locks`].
pub(crate) fn locks(path: &Path) -> Locks {
    let absolute = std::path::absolute(path).unwrap_or_default();
    let Some(there) = absolute.ancestors().find(|folder| folder.exists()) else { return Locks::Kept };
    let Ok(facts) = rustix::fs::statfs(there) else { return Locks::Kept };
    let device = std::fs::metadata(there).map_or(0, |facts| facts.dev());
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let kind = kind_of(&mounts, &format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device)));
    locks_of(facts.f_type as u64 & 0xffff_ffff, kind)
}

/// The number of every file system that a program serves: the user's own, or one of the host of a
/// guest.
const FUSE: u64 = 0x6573_5546;

/// By these kinds of FUSE, files come from elsewhere.
const SERVED: [(&str, &str); 8] = [
    ("virtiofs", "virtiofs"),
    ("fuse.sshfs", "SSHFS"),
    ("fuse.glusterfs", "GlusterFS"),
    ("fuse.ceph-fuse", "Ceph"),
    ("fuse.s3fs", "S3"),
    ("fuse.gcsfuse", "Cloud Storage"),
    ("fuse.rclone", "rclone"),
    ("fuse.juicefs", "JuiceFS"),
];

/// And by these from this machine's own disks.
const SERVED_HERE: [&str; 6] =
    ["fuseblk", "fuse.fuse-overlayfs", "fuse.gocryptfs", "fuse.encfs", "fuse.bindfs", "fuse.mergerfs"];

/// The kind of file system that is mounted of a device.
fn kind_of<'m>(mounts: &'m str, device: &str) -> Option<&'m str> {
    let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some(device))?;
    line.split_once(" - ")?.1.split(' ').next()
}

/// By the numbers of linux/magic.h and of the file systems themselves.
fn locks_of(magic: u64, kind: Option<&str>) -> Locks {
    let lost = match magic {
        FUSE => SERVED.into_iter().find(|(known, _)| Some(*known) == kind).map(|(_, name)| name),
        0x6969 => Some("NFS"),
        0xff53_4d42 | 0xfe53_4d42 | 0x517b => Some("SMB"),
        0x00c3_6400 => Some("Ceph"),
        0x0bd0_0bd0 => Some("Lustre"),
        0x4750_4653 => Some("GPFS"),
        0x5346_414f | 0x6b41_4653 => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        0x0102_1997 => Some("9p"),
        0x1983_0326 => Some("BeeGFS"),
        0x786f_4256 => Some("vboxsf"),
        0xbacb_acbc => Some("vmhgfs"),
        _ => None,
    };
    let kept = match magic {
        FUSE => kind.is_some_and(|kind| SERVED_HERE.contains(&kind)),
        // ext, XFS, Btrfs, Bcachefs, ZFS, F2FS, JFS, ReiserFS, NILFS, UBIFS, NTFS, exFAT, FAT,
        // HFS+, eCryptfs; in memory; what lies over others.
        0xef53 | 0x5846_5342 | 0x9123_683e | 0xca45_1a4e | 0x2fc1_2fc1 | 0xf2f5_2010 | 0x3153_464a | 0x5265_4973
        | 0x3434 | 0x2405_1905 | 0x7366_746e | 0x2011_bab0 | 0x4d44 | 0x482b | 0xf15f | 0x0102_1994 | 0x8584_58f6
        | 0x794c_7630 | 0x6175_6673 => true,
        // Read only, and those of the kernel itself: that nothing can be stored there is said by
        // who tries.
        0x9fa0 | 0x6265_6572 | 0x7371_7368 | 0x9660 | 0xe0f5_e1e2 | 0x1cd1 | 0x0027_e0eb => true,
        _ => false,
    };
    match lost {
        Some(name) => Locks::Lost(name),
        None if kept => Locks::Kept,
        None => Locks::Unknown(kind.map_or_else(|| format!("number {magic:#x}"), str::to_owned)),
    }
}

/// See [`crate::making`].
pub(crate) fn hand_over(path: &Path) {
    use rustix::fs::{AtFlags, Mode, OFlags, chownat, fstat, open};
    let own = rustix::process::geteuid();
    let Some(owner) = path.parent().and_then(|folder| std::fs::metadata(folder).ok()) else { return };
    if !own.is_root() || owner.uid() == own.as_raw() {
        return;
    }
    // By descriptor, and only what is root's and has this one name: the owner of the folder may
    // exchange what stands there.
    let Ok(file) = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) else { return };
    let one = |facts: &rustix::fs::Stat| facts.st_nlink == 1 || facts.st_mode & 0o170_000 == 0o040_000;
    if fstat(&file).is_ok_and(|facts| facts.st_uid == own.as_raw() && one(&facts)) {
        let (uid, gid) = (rustix::fs::Uid::from_raw(owner.uid()), rustix::fs::Gid::from_raw(owner.gid()));
        let _ = chownat(&file, "", Some(uid), Some(gid), AtFlags::EMPTY_PATH);
    }
}

/// Folders of which the user says that nobody else can act on them, whatever their modes say:
/// `SWITCHCOST_TRUST`.
const TRUST: &str = "SWITCHCOST_TRUST";

/// The path lies in a folder that is trusted by name. Links count as what they lead to.
fn trusted_by_name(path: &Path) -> bool {
    let named = std::env::var_os(TRUST).unwrap_or_default();
    let Ok(path) = std::fs::canonicalize(path) else { return false };
    let folders = std::env::split_paths(&named).filter(|folder| folder.is_absolute());
    folders.filter_map(|folder| std::fs::canonicalize(folder).ok()).any(|folder| path.starts_with(folder))
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
    // Whoever may write the folder of a link, or of what it leads to, chooses the program. What is
    // not there, the start says.
    let Ok(file) = std::fs::canonicalize(program) else { return Ok(()) };
    no_freer(&file, facts(own.as_deref()).as_ref())?;
    for folder in [program.parent(), file.parent()].into_iter().flatten() {
        if facts(Some(folder)).is_some_and(|folder| folder.mode() & STICKY == 0) {
            no_freer(folder, own_folder.as_ref())?;
        }
    }
    Ok(())
}

/// In a namespace that knows only some users, those of the system and all others look alike; root
/// is no more there than who made it.
fn unknown_user(uid: u32) -> bool {
    const NOBODY: u32 = 65534;
    let map = || std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    uid == NOBODY && map().split_whitespace().ne(["0", "0", "4294967295"])
}

/// Root, this user and whoever may write `than` may write it, and nobody else; or the user trusts
/// the folder by name.
fn no_freer(path: &Path, than: Option<&Metadata>) -> Result<(), String> {
    match refused(path, than) {
        Err(_) if trusted_by_name(path) => Ok(()),
        answer => answer,
    }
}

fn refused(path: &Path, than: Option<&Metadata>) -> Result<(), String> {
    let seen = std::fs::metadata(path)
        .map_err(|error| format!("{} cannot be read: {}", path.display(), crate::cause::cause(&error)))?;
    let own = rustix::process::geteuid().as_raw();
    let mut known = [0, own].into_iter().chain(than.map(Metadata::uid));
    if !known.any(|uid| uid == seen.uid()) && !unknown_user(seen.uid()) {
        let cure = "chown it to yourself, or name its folder in SWITCHCOST_TRUST if nobody else can act here";
        return Err(format!("{} belongs to another user and is not used; {cure}", path.display()));
    }
    let same_group = than.filter(|than| than.gid() == seen.gid());
    let allowed = than.map_or(0, |than| than.mode() & OTHERS) | same_group.map_or(0, |than| than.mode() & GROUP);
    if seen.mode() & (GROUP | OTHERS) & !allowed != 0 {
        let cure = "chmod go-w it, or name its folder in SWITCHCOST_TRUST if nobody else can act here";
        return Err(format!("{} can be written by others and is not used; {cure}", path.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FUSE, kind_of, locks, locks_of};
    use crate::locks::Locks;

    #[test]
    fn file_systems_that_lose_locks_are_known_and_others_are_not_taken_for_them() {
        for (magic, name) in [(0x6969, "NFS"), (0x0102_1997, "9p"), (0x1983_0326, "BeeGFS"), (0x786f_4256, "vboxsf")] {
            assert_eq!(locks_of(magic, None), Locks::Lost(name));
        }
        // As a 32-bit f_type, negative, arrives.
        assert_eq!(locks_of(i64::from(0xff53_4d42_u32 as i32) as u64 & 0xffff_ffff, None), Locks::Lost("SMB"));
        // ext4, xfs, btrfs, tmpfs, overlay.
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630] {
            assert_eq!(locks_of(local, None), Locks::Kept);
        }
        assert_eq!(locks_of(0x1234, Some("newfs")), Locks::Unknown("newfs".into()));
        assert_eq!(locks_of(0x1234, None), Locks::Unknown("number 0x1234".into()));
        assert_eq!(locks(std::path::Path::new("/proc/self/no/such/folder")), Locks::Kept);
        assert_eq!(locks(std::path::Path::new("/")), Locks::Kept, "a system's own disk");
        let mounts = "29 1 254:0 / / rw,relatime - ext4 /dev/root rw\n\
                      91 29 0:52 / /home/user/far\\040away rw,nosuid shared:9 - fuse.sshfs host:/home rw,user_id=0\n\
                      92 29 0:53 / /mnt/image rw - fuse.odd odd rw\n\
                      93 29 0:54 / /home rw - virtiofs home rw\n\
                      94 29 0:55 / /mnt/disk rw - fuseblk /dev/sdb1 rw\n";
        let of = |device| locks_of(FUSE, kind_of(mounts, device));
        let unknown = |name: &str| Locks::Unknown(name.into());
        assert_eq!([of("0:52"), of("0:54"), of("0:55")], [Locks::Lost("SSHFS"), Locks::Lost("virtiofs"), Locks::Kept]);
        assert_eq!([of("0:53"), of("0:5")], [unknown("fuse.odd"), unknown("number 0x65735546")]);
    }
}
