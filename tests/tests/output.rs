//! Where results go: what stands there is written as what it is, and a file is whole or untouched.
use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use switchcost_e2e::{Said, World, repository, until};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

/// A world with one run, its export, and a folder to write to.
fn world() -> (World, String) {
    let world = World::new(FAKE);
    assert_eq!(world.run("run thread/honest --rounds 1 --batches 2").status, 0);
    world.write("o/old", "old");
    let text = world.run("export").out;
    assert!(text.len() > 500, "{text}");
    (world, text)
}

fn export(world: &World, to: &str) -> Said {
    world.run(&format!("export -o {}", world.path(to).display()))
}

/// Names in the folder that is written to.
fn names(world: &World) -> Vec<String> {
    let entries = fs::read_dir(world.path("o")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn made(program: &str, arguments: &[&str], path: &Path) -> bool {
    Command::new(program).arg(path).args(arguments).output().is_ok_and(|said| said.status.success())
}

#[test]
fn devices_stay_devices() {
    let (world, _) = world();
    let device = world.path("o/null");
    if !made("mknod", &["c", "1", "3"], &device) || fs::write(&device, "x").is_err() {
        eprintln!("no device may be made here: only /dev/null itself, through a link, is tested");
        let _ = fs::remove_file(&device);
        symlink("/dev/null", &device).unwrap();
    }
    let said = export(&world, "o/null");
    assert_eq!(said.status, 0, "{said:?}");
    assert!(fs::metadata(&device).unwrap().file_type().is_char_device());
    assert_eq!(names(&world), ["null", "old"]);
}

#[test]
fn standard_output_by_name_is_standard_output() {
    let (world, text) = world();
    symlink("/proc/self/fd/1", world.path("o/stdout")).unwrap();
    assert_eq!(export(&world, "o/stdout").out, text);
    assert!(fs::symlink_metadata(world.path("o/stdout")).unwrap().is_symlink());
    // A file that somebody else writes to as well: after what is there.
    let mut file = fs::File::options().append(true).open(world.path("o/old")).unwrap();
    let mut command = world.command(&["export", "-o", world.path("o/stdout").to_str().unwrap()]);
    assert!(command.stdout(file.try_clone().unwrap()).status().unwrap().success());
    std::io::Write::write_all(&mut file, b"new").unwrap();
    assert_eq!(fs::read_to_string(world.path("o/old")).unwrap(), format!("old{text}new"));
    assert_eq!(names(&world), ["old", "stdout"]);
}

#[test]
fn a_fifo_is_written_to() {
    let (world, text) = world();
    let fifo = world.path("o/fifo");
    assert!(made("mkfifo", &[], &fifo), "mkfifo fails");
    let mut host = world.command(&["export", "-o", fifo.to_str().unwrap()]).stdout(Stdio::null()).spawn().unwrap();
    // Opened for both, so that this test does not wait for a writer that never comes.
    let mut reader = fs::File::options().read(true).write(true).open(&fifo).unwrap();
    let mut read = vec![0; text.len()];
    let is_fifo = || fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo();
    until("the end of the host", || host.try_wait().unwrap().is_some() || !is_fifo());
    assert!(is_fifo());
    reader.read_exact(&mut read).unwrap();
    assert_eq!(String::from_utf8(read).unwrap(), text);
    assert!(host.wait().unwrap().success());
}

#[test]
fn links_are_followed_and_modes_kept() {
    let (world, text) = world();
    let (old, link) = (world.path("o/old"), world.path("o/link"));
    symlink("old", &link).unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o604)).unwrap();
    let owned = std::os::unix::fs::chown(&old, Some(65_534), Some(65_534)).is_ok();
    assert_eq!(export(&world, "o/link").status, 0);
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("old"));
    assert_eq!(fs::read_to_string(&old).unwrap(), text);
    let seen = fs::metadata(&old).unwrap();
    assert_eq!(seen.mode() & 0o7777, 0o604);
    assert!(!owned || (seen.uid(), seen.gid()) == (65_534, 65_534), "the owner is lost");

    let dangling = world.path("o/dangling");
    symlink("new", &dangling).unwrap();
    assert_eq!(export(&world, "o/dangling").status, 0);
    assert!(fs::symlink_metadata(&dangling).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(world.path("o/new")).unwrap(), text);
    assert_eq!(fs::metadata(world.path("o/new")).unwrap().mode() & 0o7137, 0, "a new file is for everybody");
    assert_eq!(names(&world), ["dangling", "link", "new", "old"]);

    symlink("circle", world.path("o/circle")).unwrap();
    export(&world, "o/circle").refuses(2, &["cannot write", "circle"]);
}

#[test]
fn a_planted_link_is_not_followed() {
    let (world, text) = world();
    symlink("old", world.path("o/new.partial")).unwrap();
    assert_eq!(export(&world, "o/new").status, 0);
    assert_eq!(fs::read_to_string(world.path("o/old")).unwrap(), "old");
    assert_eq!(fs::read_to_string(world.path("o/new")).unwrap(), text);
    assert!(!fs::symlink_metadata(world.path("o/new")).unwrap().is_symlink());
}

#[test]
fn writers_at_once_leave_one_whole_file() {
    let (world, text) = world();
    let to = world.path("o/new");
    for _ in 0..5 {
        let start = |_| world.command(&["export", "-o", to.to_str().unwrap()]).spawn().unwrap();
        let writers: Vec<_> = (0..6).map(start).collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        assert_eq!(fs::read_to_string(&to).unwrap(), text);
        assert_eq!(names(&world), ["new", "old"]);
    }
}

/// `--store` and `-o` mixed up would cost every run.
#[test]
fn a_store_is_not_replaced() {
    let (world, _) = world();
    let store = world.store();
    symlink(&store, world.path("o/link")).unwrap();
    for to in ["data/switchcost/runs.sqlite", "o/link"] {
        export(&world, to).refuses(2, &["cannot write", "it is a store"]);
    }
    fs::write(world.path("o/runs.sqlite-wal"), [&[0x37, 0x7f, 0x06, 0x82], &[0; 28][..]].concat()).unwrap();
    export(&world, "o/runs.sqlite-wal").refuses(2, &["it is a store"]);
    assert_eq!(world.run("history").status, 0, "the store is as it was");
}

#[test]
fn what_cannot_be_written_is_one_sentence_and_leaves_nothing() {
    let (world, text) = world();
    for to in ["o", "o/old/below", "nowhere/new", "/proc/new"] {
        export(&world, to).refuses(2, &["cannot write", to, "choose another file"]);
    }
    // A disk that is full, for root and others alike; from a file, since the store writes beside
    // itself when it is read.
    fs::write(world.path("run.jsonl"), &text).unwrap();
    let file = world.path("run.jsonl").display().to_string();
    let limited = |to: &str| {
        let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
        world.run_wrapped(&["sh", "-c", script], &["export", &file, "-o", world.path(to).to_str().unwrap()])
    };
    let full = limited("o/old");
    full.refuses(2, &["cannot write", "o/old", "choose another file"]);
    assert_eq!(fs::read_to_string(world.path("o/old")).unwrap(), "old");
    assert_eq!(names(&world), ["old"]);
}

/// As a container mounts one file into another system: it can be written, but not exchanged.
#[test]
fn what_cannot_be_replaced_is_written_in_place() {
    let (world, text) = world();
    let target = world.path("o/old").display().to_string();
    let mounted =
        |script: &str, arguments: &[&str]| world.run_wrapped(&["unshare", "-m", "sh", "-c", script, "sh"], arguments);
    let bind = format!("mount --bind {target} {target} && exec \"$@\"");
    if !mounted(&bind, &["list"]).err.is_empty() {
        return switchcost_e2e::untested("nothing can be mounted here");
    }
    fs::write(&target, "long ".repeat(text.len())).unwrap();
    let inode = fs::metadata(&target).unwrap().ino();
    let said = mounted(&bind, &["export", "-o", &target]);
    assert!(said.status == 0 && said.err.contains("written in place"), "{said:?}");
    assert_eq!((fs::read_to_string(&target).unwrap(), fs::metadata(&target).unwrap().ino()), (text, inode));
    assert_eq!(names(&world), ["old"]);
    // A disk that is full midway: what is there now is not whole, and that is said.
    fs::create_dir_all(world.path("cache")).unwrap();
    let full = format!(
        "mount -t tmpfs -o size=4k tmpfs {0} && echo old >{0}/small && mount --bind {0}/small {target} && exec \"$@\"",
        world.path("cache").display()
    );
    let said = mounted(&full, &["export", "-o", &target]);
    assert!(said.status == 2 && said.err.contains("amidst writing in place"), "{said:?}");
}

/// A file of mine in a folder that is not.
#[test]
fn a_file_in_a_folder_that_may_not_be_written_is_written_in_place() {
    let (world, text) = world();
    for (path, mode) in [("o", 0o555), ("o/old", 0o666)] {
        fs::set_permissions(world.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let open = ["", "data", "data/switchcost", "libexec", "share"];
    open.iter().for_each(|path| fs::set_permissions(world.path(path), fs::Permissions::from_mode(0o755)).unwrap());
    fs::set_permissions(world.store(), fs::Permissions::from_mode(0o644)).unwrap();
    let target = world.path("o/old").display().to_string();
    let said = world.run_wrapped(
        &["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"],
        &["export", "-o", &target],
    );
    if said.err.contains("setpriv:")
        || said.err.contains("Permission denied")
            && said.err.contains("switchcost:")
            && !said.err.contains("cannot write")
    {
        return switchcost_e2e::untested(&format!("no other user can be: {said:?}"));
    }
    assert!(said.status == 0 && said.err.contains("written in place"), "{said:?}");
    assert_eq!(fs::read_to_string(target).unwrap(), text);
}

/// README says what columns and words mean, and the program the same.
#[test]
fn the_legend_is_that_of_the_readme() {
    let said = World::new(FAKE).run("show --legend");
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let section = readme.split("\n## ").find(|section| section.starts_with("How to read a number")).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).count() - 1;
    assert!(rows > 10 && said.out.lines().filter(|line| !line.starts_with(" ")).count() == rows, "{said:?}");
    assert!(said.status == 0 && said.out.contains("(A/A): the row was measured twice"), "{said:?}");
}
