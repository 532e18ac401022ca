//! What the session does to the tool: locks, limits, words and files of the wrong kind. Each is a sentence with a documented status, and nothing is lost.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use switchcost_e2e::{Said, World};

const FAKE: &str = env!("CARGO_BIN_EXE_switchcost-fake");

fn measured() -> World {
    let world = World::new(FAKE);
    let said = world.run("run thread/honest --rounds 1 --batches 2");
    assert_eq!(said.status, 0, "{said:?}");
    world
}

/// The same at the very beginning, when the run has no place in the store yet.
#[test]
fn a_lock_at_the_beginning_loses_nothing() {
    let world = measured();
    let other = rusqlite::Connection::open(world.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut run = world
        .command(&["run", "thread/honest", "--rounds", "100000", "--batches", "2", "--budget", "9s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(7));
    other.execute_batch("COMMIT").unwrap();
    assert!(run.wait().unwrap().success());
    let counts =
        "SELECT count(*), max(sequence) + 1 FROM invocation JOIN run ON run = run.key WHERE ended_by = 'budget'";
    let (stored, all): (i64, i64) = other.query_row(counts, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert!(stored == all && stored > 1, "{stored} of {all}");
}

/// Another process has the store for longer than a write waits: what could not be stored meanwhile is stored later.
#[test]
fn a_lock_amid_a_run_loses_nothing() {
    let world = measured();
    let mut run = world
        .command(&["run", "thread/honest", "--rounds", "100000", "--batches", "2", "--budget", "9s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let other = rusqlite::Connection::open(world.store()).unwrap();
    other.busy_timeout(Duration::from_secs(60)).unwrap();
    let runs = || other.query_row("SELECT count(*) FROM run", [], |row| row.get::<_, i64>(0)).unwrap();
    let begun = Instant::now();
    while runs() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the run never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::sleep(Duration::from_millis(5500));
    other.execute_batch("COMMIT").unwrap();
    assert!(run.wait().unwrap().success());
    let sequences: Vec<i64> = other
        .prepare(
            "SELECT sequence FROM invocation JOIN run ON run = run.key WHERE ended_by = 'budget' ORDER BY sequence",
        )
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(sequences, (0..sequences.len() as i64).collect::<Vec<_>>(), "some are missing");
    assert!(sequences.len() > 10, "{}", sequences.len());
}

#[test]
fn a_store_that_is_none_is_one_sentence() {
    let world = measured();
    let history = |path: &str| world.run(&format!("history --store {}", world.path(path).display()));
    assert!(Command::new("mkfifo").arg(world.path("pipe")).status().unwrap().success());
    std::fs::write(world.path("empty"), "").unwrap();
    history("pipe").refuses(2, &["pipe` cannot be opened", "a device or a pipe"]);
    history("data").refuses(2, &["data` cannot be opened", "a folder"]);
    history("empty").refuses(2, &["empty` holds no runs yet"]);
    let pipe = world.path("pipe").display().to_string();
    world.run(&format!("run thread/honest --rounds 1 --store {pipe}")).refuses(2, &["a device or a pipe"]);
}

/// Commands and host names are in it.
#[test]
fn a_new_store_is_for_its_user_only() {
    let world = measured();
    let mode = std::fs::metadata(world.store()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
}

#[test]
fn words_that_are_not_utf8_are_kept_as_far_as_they_can_be() {
    let world = measured();
    let store = world.path("").into_os_string();
    let store = [store.as_bytes(), b"\xff.sqlite"].concat();
    let mut command = world.command(&["run", "thread/honest", "--rounds", "1", "--batches", "2", "--store"]);
    let said = Said::from(command.arg(OsStr::from_bytes(&store)).output().unwrap());
    assert_eq!(said.status, 0, "{said:?}");
    let said = Said::from(world.command(&["history", "--store"]).arg(OsStr::from_bytes(&store)).output().unwrap());
    assert!(said.status == 0 && said.out.contains("thread/honest"), "{said:?}");
}

/// A file that may not grow is an error of its writer and no signal that ends the process.
#[test]
fn a_limit_on_the_size_of_files_is_one_sentence() {
    let world = measured();
    let limited = |arguments: &str| {
        let plain = world.command(&arguments.split_whitespace().collect::<Vec<_>>());
        let mut command = Command::new("prlimit");
        command.arg("--fsize=4096").arg(plain.get_program()).args(plain.get_args()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Said::from(command.output().unwrap())
    };
    let said = limited("history");
    assert!([0, 2].contains(&said.status), "{said:?}");
    let said = limited("run thread/honest --rounds 1 --batches 2");
    assert!([2, 4].contains(&said.status) && said.err.contains("the store"), "{said:?}");
    let target = world.path("page.html");
    let said = limited(&format!("export --format jsonl -o {}", target.display()));
    assert!([0, 2].contains(&said.status) && (said.status == 0) == target.exists(), "{said:?}");
    assert_eq!(world.run("history").status, 0, "the store is as it was");
}
