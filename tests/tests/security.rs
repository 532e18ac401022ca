//! What docs/security.md says of rights.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use switchcost_e2e::World;

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

const NOBODY: u32 = 65534;

#[test]
fn root_starts_only_what_nobody_else_may_change() {
    if !std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        eprintln!("not root: not tested");
        return;
    }
    for part in ["", "/fake", "/fake/probe.toml", "/fake/other"] {
        let world = World::new(FAKE);
        world.write("libexec/switchcost/probes/fake/other", "a library");
        let run = || world.run("run thread/honest --rounds 1 --batches 2");
        assert_eq!(run().status, 0);
        let path = world.path(&format!("libexec/switchcost/probes{part}"));
        let mode = std::fs::metadata(&path).unwrap().permissions();
        for (change, reason) in [(0o002, "can be written by others"), (0o020, "can be written by others")] {
            std::fs::set_permissions(&path, Permissions::from_mode(mode.mode() | change)).unwrap();
            let said = run();
            said.refuses(2, &[reason]);
            assert!(world.run("list").out.contains(reason), "{part}");
        }
        std::fs::set_permissions(&path, mode).unwrap();
        chown(&path, Some(NOBODY), None).unwrap();
        run().refuses(2, &["belongs to another user"]);
        assert!(world.run("list").out.contains("belongs to another user"), "{part}");
        chown(&path, Some(0), None).unwrap();
        assert_eq!(run().status, 0, "{part}");
    }
}

#[test]
fn two_runs_at_once_are_told_and_one_can_wait() {
    let world = World::new(FAKE);
    let words = |more: &[&'static str]| {
        [&["run", "thread/honest", "--rounds", "100000", "--batches", "2", "--budget", "4s"], more].concat()
    };
    let first = world
        .command(&words(&["--wait"]))
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let line = "another switchcost measures on CPU";
    // Other tests may measure as well; then the first one waits, too, and who is last is told.
    let told = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        world.run("run thread/honest --rounds 1 --batches 2").err.contains(line)
    });
    assert!(told);
    let second = world.run("run thread/honest --rounds 1 --batches 2 --wait");
    assert!(second.status == 0 && !second.err.contains("panicked"), "{second:?}");
    assert!(first.wait_with_output().unwrap().status.success());
    let said = world.run("run thread/honest --rounds 1 --batches 2 --format json --wait");
    assert!(!said.out.contains("another switchcost measured"), "{said:?}");
}
