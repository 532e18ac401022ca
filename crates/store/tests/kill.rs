//! A host that is killed loses at most the invocation under way.

use crate::support::{header, invocation};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use switchcost_model::EndedBy;
use switchcost_store::Store;

const STORE: &str = "SWITCHCOST_TEST_KILL_STORE";
const RUN: &str = "SWITCHCOST_TEST_KILL_RUN";
const KILLS: usize = 20;

/// The victim: a process of its own (started by the test below) that writes until it is killed.
/// After each commit it appends a byte to a file, which the kernel keeps when the process dies.
#[test]
fn victim() {
    let (Some(store), Ok(run)) = (std::env::var_os(STORE), std::env::var(RUN)) else { return };
    let store = Path::new(&store);
    let mut committed = File::create(store.with_extension("committed")).unwrap();
    let mut store = Store::open(store).unwrap();
    store.begin_run(&header(&run)).unwrap();
    committed.write_all(b"b").unwrap();
    for sequence in 0.. {
        store.add_invocation(&run, &invocation(0, sequence)).unwrap();
        committed.write_all(b"i").unwrap();
    }
}

#[test]
fn killed_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.sqlite");
    let mut stored_in_all = 0;
    for kill in 0..KILLS {
        let run = format!("run-{kill:02}");
        let acknowledged = kill_a_victim(&path, &run, 2 * kill);
        stored_in_all += check_what_is_left(&path, &run, acknowledged);
    }
    assert!(stored_in_all > KILLS);
}

/// Starts a victim, kills it once it has acknowledged so many commits, and gives the number that it
/// had acknowledged by then.
fn kill_a_victim(store: &Path, run: &str, commits: usize) -> usize {
    let acknowledged = store.with_extension("committed");
    let _ = fs::remove_file(&acknowledged);
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::victim", "--nocapture"])
        .env(STORE, store)
        .env(RUN, run)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let acknowledged = || fs::metadata(&acknowledged).map_or(0, |file| file.len() as usize);
    while acknowledged() < commits {
        assert!(victim.try_wait().unwrap().is_none(), "the victim ended by itself");
        std::thread::sleep(Duration::from_micros(100));
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    acknowledged()
}

/// Number of invocations that are stored.
fn check_what_is_left(path: &Path, run: &str, acknowledged: usize) -> usize {
    let store = Store::open(path).unwrap();
    store.check().unwrap();
    let listed = store.list().unwrap();
    let Some(found) = listed.iter().find(|header| header.id == run) else {
        assert_eq!(acknowledged, 0, "a run that was begun is gone");
        return 0;
    };
    assert!(found.partial());
    let loaded = store.load(run).unwrap();
    assert_eq!((loaded.ended_by, loaded.ended_unix_ns), (EndedBy::Unfinished, None));
    let stored = loaded.invocations.len();
    let expected: Vec<_> = (0..stored as u64).map(|sequence| invocation(0, sequence)).collect();
    assert_eq!(loaded.invocations, expected);
    // The commit may be done and its acknowledgement not yet.
    let commits = stored + 1;
    assert!(commits == acknowledged || commits == acknowledged + 1, "{commits} commits, {acknowledged} acknowledged");
    stored
}
