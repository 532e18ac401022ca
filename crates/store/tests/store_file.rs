//! The store as a file: made, opened, listed, refused; each refusal is one sentence with file,
//! reason and cure.

use crate::support::{full_run, header, invocation};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use switchcost_model::{EndedBy, Run};
use switchcost_store::{APPLICATION_ID, Insertion, Store, StoreError};
use tempfile::TempDir;

const ID: &str = "20260102T030405-a1b2";

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/down/runs.sqlite");
    (folder, path)
}

/// The run as it ends.
fn ended(id: &str, ended_by: EndedBy, ended_unix_ns: i64) -> Run {
    Run { ended_by, ended_unix_ns: Some(ended_unix_ns), ..header(id) }
}

/// The error says this, with `PATH` for the store's path.
fn check<T: std::fmt::Debug>(path: &Path, result: Result<T, StoreError>, expected: &str) {
    let said = result.expect_err(expected).to_string().replace(&path.display().to_string(), "PATH");
    assert_eq!(said, expected);
}

#[test]
fn a_store_outlives_its_process_and_makes_its_folders() {
    let (_folder, path) = place();
    assert_eq!(Store::open(&path).unwrap().insert_run(&full_run()).unwrap(), Insertion::Inserted);
    assert_eq!(Store::open(&path).unwrap().load(ID).unwrap(), full_run());
    assert_eq!(Store::open_read_only(&path).unwrap().load("2026").unwrap(), full_run());
    let raw = Connection::open(&path).unwrap();
    let pragma = |name: &str| raw.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!((pragma("application_id"), pragma("user_version")), (i64::from(APPLICATION_ID), 7));
    let mode: String = raw.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[test]
fn a_path_is_a_path_and_no_uri() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file:x?mode=memory&%41 #.sqlite");
    Store::open(&path).unwrap().insert_run(&full_run()).unwrap();
    assert!(path.exists());
    assert_eq!(Store::open_read_only(&path).unwrap().load(ID).unwrap(), full_run());
    // Names that SQLite has of its own, from where one stands.
    for name in [":memory:", "file:y.sqlite", "file:z.sqlite?mode=memory"] {
        let path = std::path::PathBuf::from(format!("./{name}")).strip_prefix(".").unwrap().to_owned();
        Store::open(&path).unwrap().insert_run(&full_run()).unwrap();
        let kept = Store::open_read_only(&path).and_then(|store| store.load(ID));
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{name}{ending}"));
        }
        assert_eq!(kept.unwrap(), full_run(), "{name}");
    }
}

/// Runs hold names and paths of people.
#[cfg(unix)]
#[test]
fn a_store_behind_a_dangling_link_is_private() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (link, target) = (folder.path().join("link"), folder.path().join("target"));
    symlink(&target, &link).unwrap();
    Store::open(&link).unwrap();
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_run_is_unfinished_until_it_ends_and_closed_after_it() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    store.begin_run(&header(ID)).unwrap();
    store.add_invocation(ID, &invocation(0, 0)).unwrap();
    let seen = Store::open_read_only(&path).unwrap();
    assert!(seen.list().unwrap()[0].partial());
    assert_eq!(seen.load(ID).unwrap().invocations, [invocation(0, 0)]);
    let mut end = ended(ID, EndedBy::Budget, 7);
    end.machine.drifting.insert("observer.tracer".into(), "strace (came later)".into());
    store.finish_run(&end).unwrap();
    assert_eq!(seen.load(ID).unwrap().machine, end.machine);
    let found = seen.list().unwrap().pop().unwrap();
    assert_eq!((found.partial(), found.ended_by, found.ended_unix_ns), (false, EndedBy::Budget, Some(7)));
    assert_eq!((found.variants, found.not_run, found.invocations), (3, 1, 1));
    assert_eq!(found.machine_key(), header(ID).machine.key());

    let ended = format!("the run `{ID}` in `PATH` has ended, and an ended run is never changed; begin a new one");
    check(&path, store.add_invocation(ID, &invocation(0, 1)), &ended);
    check(&path, store.finish_run(&end), &ended);
    check(
        &path,
        store.add_invocation("nix", &invocation(0, 1)),
        "no run in `PATH` is called `nix`; it must be begun before it can be added to",
    );
}

#[test]
fn what_does_not_hang_together_is_refused() {
    let mut store = Store::in_memory().unwrap();
    let path = store.path().to_path_buf();
    store.begin_run(&header(ID)).unwrap();
    let fault = "this is a fault of the program that made the run";
    check(
        &path,
        store.add_invocation(ID, &invocation(3, 0)),
        &format!(
            "the run `{ID}` cannot be stored: an invocation refers to variant 3 but there are 3 variants; {fault}"
        ),
    );
    check(
        &path,
        store.finish_run(&ended(ID, EndedBy::Unfinished, 0)),
        &format!("the run `{ID}` cannot be stored: `unfinished` is not a way to end; {fault}"),
    );
    check(
        &path,
        store.begin_run(&full_run()),
        &format!("the run `{ID}` cannot be stored: it begins but already holds invocations; {fault}"),
    );
    let wrong_id = Run { id: "latest".to_owned(), ..full_run() };
    let expected = "the run `latest` cannot be stored: `latest` is not an id of a run (1 to 64 letters, digits, hyphens; not \
                    `latest`); this is a fault of the program that made the run";
    check(&path, store.insert_run(&wrong_id), expected);
    assert_eq!(store.load(ID).unwrap(), header(ID), "nothing of it was stored");
}

#[test]
fn an_id_names_one_run_for_ever() {
    let mut store = Store::in_memory().unwrap();
    let path = store.path().to_path_buf();
    assert_eq!(store.insert_run(&full_run()).unwrap(), Insertion::Inserted);
    assert_eq!(store.insert_run(&full_run()).unwrap(), Insertion::AlreadyThere);
    let mut other = full_run();
    other.invocations[0].transcript.samples[0].ticks[0] += 1;
    let conflict =
        format!("a different run called `{ID}` is already in `PATH` and stays as it is; import into another store");
    check(&path, store.insert_run(&other), &conflict);
    check(&path, store.begin_run(&header(ID)), &conflict);
    assert_eq!(store.load(ID).unwrap(), full_run());
}

#[test]
fn runs_are_listed_as_they_came_and_an_import_is_never_the_latest() {
    let mut store = Store::in_memory().unwrap();
    // What a clock said of their start decides nothing.
    for (id, started) in [("d", i64::MAX), ("y", i64::MAX), ("b", 5), ("z", -3), ("c", -3), ("a", 5), ("x", 9)] {
        let run = Run { started_unix_ns: started, ended_by: EndedBy::Unfinished, ended_unix_ns: None, ..header(id) };
        if id < "x" {
            store.begin_run(&run).unwrap()
        } else {
            assert_eq!(store.insert_run(&run).unwrap(), Insertion::Inserted)
        }
    }
    let listed: Vec<_> = store.list().unwrap().into_iter().map(|header| (header.id, header.imported)).collect();
    let expected = [("a", false), ("c", false), ("b", false), ("d", false), ("x", true), ("z", true), ("y", true)];
    assert_eq!(listed, expected.map(|(id, imported)| (id.to_owned(), imported)));
    assert_eq!(store.load("latest").unwrap().id, "a");
    assert_eq!(store.resolve("latest~3").unwrap(), "d");
    check(
        store.path(),
        store.resolve("latest~4"),
        "no run in `PATH` is called `latest~4`; 4 runs were measured here, and the oldest is `latest~3`",
    );
    assert_eq!(store.resolve("x").unwrap(), "x");
    assert_eq!(store.set_baseline("v1", "latest", false, 0).unwrap(), "a");
}

#[test]
fn equal_introductions_are_stored_once() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    store.begin_run(&header(ID)).unwrap();
    for sequence in 0..10 {
        store.add_invocation(ID, &invocation(0, sequence)).unwrap();
    }
    let raw = Connection::open(&path).unwrap();
    assert_eq!(raw.query_row("SELECT count(*) FROM hello", [], |row| row.get(0)), Ok(1));
    let pids: Vec<u64> =
        store.load(ID).unwrap().invocations.iter().map(|i| i.transcript.hello.as_ref().unwrap().pid).collect();
    assert_eq!(pids, (1000..1010).collect::<Vec<u64>>());
}

#[test]
fn an_empty_store_and_none() {
    let (_folder, path) = place();
    check(
        &path,
        Store::open_read_only(&path),
        "there is no store at `PATH`; measure something first, or name the right file",
    );
    assert!(!path.exists(), "looking does not make a store");
    // What may not be looked at may be there.
    let below = std::path::Path::new("/proc/self/exe/runs.sqlite");
    let Err(StoreError::CannotOpen { reason, .. }) = Store::open_read_only(below) else { panic!() };
    assert_eq!(reason, "not a directory");
    let store = Store::open(&path).unwrap();
    assert_eq!(store.list().unwrap(), []);
    check(
        &path,
        store.load("latest"),
        "the store `PATH` holds no runs yet; measure something first, or import a run file",
    );
}

#[test]
fn foreign_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(
        &text,
        "this is a text of more than a hundred bytes, which no one would take for a database. ".repeat(20),
    )
    .unwrap();
    let sentence =
        "`PATH` is not an SQLite file, so it is not a store; name another file (a run file is read by import)";
    check(&text, Store::open(&text), sentence);
    check(&text, Store::open_read_only(&text), sentence);

    for (name, set_up, id) in [("named", "PRAGMA application_id = 99", 99), ("unnamed", "CREATE TABLE run (x)", 0)] {
        let path = folder.path().join(name);
        Connection::open(&path).unwrap().execute_batch(&format!("{set_up}; CREATE TABLE t (x)")).unwrap();
        let before = fs::read(&path).unwrap();
        let sentence = format!(
            "`PATH` is an SQLite file of another program (application id {id}) and is left alone; name another file"
        );
        check(&path, Store::open(&path), &sentence);
        check(&path, Store::open_read_only(&path), &sentence);
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    check(
        folder.path(),
        Store::open(folder.path()),
        "the store `PATH` cannot be opened: it is a folder; correct the path or its permissions",
    );
    let below_a_file = text.join("runs.sqlite");
    let error = Store::open(&below_a_file).unwrap_err();
    assert!(matches!(error, StoreError::CannotOpen { .. }), "{error}");
}

#[test]
fn a_store_of_another_version_is_refused_and_left_alone() {
    let older = "move it away, write each run of it to a file with the switchcost that made it \
                 (`switchcost export RUN --store OLD -o FILE`), and read that here (`switchcost import FILE`)";
    for (version, cure) in [(1, older), (6, older), (8, "use the newer switchcost for it")] {
        let (_folder, path) = place();
        Store::open(&path).unwrap().insert_run(&full_run()).unwrap();
        Connection::open(&path).unwrap().execute_batch(&format!("PRAGMA user_version = {version}")).unwrap();
        let before = fs::read(&path).unwrap();
        let sentence = format!("the store `PATH` has schema {version} but this switchcost reads schema 7; {cure}");
        check(&path, Store::open(&path), &sentence);
        check(&path, Store::open_read_only(&path), &sentence);
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_store_that_was_only_begun_holds_no_runs() {
    let (_folder, path) = place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    Connection::open(&path).unwrap().execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}")).unwrap();
    let sentence = "the store `PATH` holds no runs yet; measure something first, or import a run file";
    check(&path, Store::open_read_only(&path), sentence);
}

#[test]
fn damage_is_found_and_said() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    store.begin_run(&header(ID)).unwrap();
    for sequence in 0..200 {
        store.add_invocation(ID, &invocation(0, sequence)).unwrap();
    }
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let store = Store::open(&path).unwrap();
    for error in [store.load(ID).unwrap_err(), store.check().unwrap_err()] {
        let said = error.to_string();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{said}");
        assert!(said.ends_with("); move it away and import the runs again from a backup or from run files"), "{said}");
    }
}

#[test]
fn a_changed_record_is_found_by_its_checksum() {
    let (_folder, path) = place();
    for (change, expected) in [
        ("UPDATE run SET seed = seed + 1", "its description is not as it was stored"),
        ("UPDATE variant SET contexts = contexts + 1", "its description is not as it was stored"),
        ("UPDATE invocation SET wall_ns = wall_ns + 1 WHERE position = 2", "invocation 2: it is not as it was stored"),
        ("UPDATE samples SET units = units + 1 WHERE invocation = 1", "invocation 0: it is not as it was stored"),
        ("DELETE FROM invocation WHERE position = 1", "it has 2 invocations where 3 were stored"),
    ] {
        let _ = fs::remove_file(&path);
        Store::open(&path).unwrap().insert_run(&full_run()).unwrap();
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let sentence = format!(
            "the store `PATH` is damaged (run {ID}: {expected}); move it away and import the runs again from a backup or from run files"
        );
        check(&path, Store::open(&path).unwrap().load(ID), &sentence);
    }
}

#[test]
fn a_flipped_bit_never_changes_what_is_read() {
    let (_folder, path) = place();
    let (wanted, listed) = {
        let mut store = Store::open(&path).unwrap();
        store.insert_run(&full_run()).unwrap();
        (full_run(), store.list().unwrap())
    };
    let whole = fs::read(&path).unwrap();
    let mut noticed = 0;
    for (count, at) in (0..whole.len()).step_by(41).enumerate() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (count % 8);
        fs::write(&path, bytes).unwrap();
        let read = Store::open_read_only(&path).and_then(|store| Ok((store.load(ID)?, store.list()?)));
        match read {
            Ok(read) => assert_eq!(read, (wanted.clone(), listed.clone()), "bit {} of byte {at}", count % 8),
            Err(_) => noticed += 1,
        }
    }
    assert!(noticed > 100, "only {noticed} noticed");
}

#[test]
fn a_flipped_bit_in_the_name_of_a_column_is_said() {
    let (_folder, path) = place();
    Store::open(&path).unwrap().insert_run(&full_run()).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let name = b"precision_ppm ";
    // Pages that are no longer used hold it as well.
    let places: Vec<usize> = (0..bytes.len() - name.len()).filter(|at| bytes[*at..].starts_with(name)).collect();
    places.iter().for_each(|at| bytes[at + 3] ^= 0x80);
    fs::write(&path, bytes).unwrap();
    let damaged = "the store `PATH` is damaged (its schema is not text); move it away and import the runs again from a backup or \
                   from run files";
    check(&path, Store::open_read_only(&path).and_then(|store| store.load(ID)), damaged);
    check(&path, Store::open(&path), damaged);
}

#[test]
fn a_store_opened_for_reading_is_not_written() {
    let (_folder, path) = place();
    drop(Store::open(&path).unwrap());
    let mut store = Store::open_read_only(&path).unwrap();
    let error = store.begin_run(&header(ID)).unwrap_err();
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
}

/// Root may write everywhere, so the refusals are only seen when the tests run as an ordinary user.
#[cfg(unix)]
#[test]
fn a_write_protected_store_is_read_and_not_written() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = place();
    Store::open(&path).unwrap().insert_run(&full_run()).unwrap();
    let folder = path.parent().unwrap();
    let permit = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    permit(&path, 0o444);
    permit(folder, 0o555);
    assert_eq!(Store::open_read_only(&path).unwrap().load(ID).unwrap(), full_run());
    if fs::write(folder.join("probe"), "").is_err() {
        permit(&path, 0o644);
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotWritable { .. } | StoreError::CannotOpen { .. }), "{error}");
        permit(&path, 0o444);
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
        permit(folder, 0o755);
        let sentence = "the store `PATH` cannot be written: the file is write-protected; allow writing there or choose \
                        another place";
        check(&path, Store::open(&path), sentence);
        permit(folder, 0o555);
        let error = Store::open(&folder.join("more/runs.sqlite")).unwrap_err().to_string();
        assert!(error.contains("cannot be written: its folder"), "{error}");
    }
    permit(folder, 0o755);
}

#[test]
fn many_hosts_may_make_and_fill_one_new_store() {
    let (_folder, path) = place();
    std::thread::scope(|scope| {
        for host in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let id = format!("host-{host}");
                let mut store = Store::open(path).unwrap();
                store.begin_run(&header(&id)).unwrap();
                for sequence in 0..5 {
                    store.add_invocation(&id, &invocation(0, sequence)).unwrap();
                }
                store.finish_run(&ended(&id, EndedBy::Rounds, 1)).unwrap();
            });
        }
    });
    let store = Store::open(&path).unwrap();
    let all = store.list().unwrap();
    assert_eq!(all.len(), 8);
    assert!(all.iter().all(|header| header.invocations == 5 && !header.partial()));
    store.check().unwrap();
}

#[test]
fn a_run_that_stopped_early_is_reopened_and_one_that_is_complete_is_not() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    store.begin_run(&header(ID)).unwrap();
    store.add_invocation(ID, &invocation(0, 0)).unwrap();
    store.finish_run(&ended(ID, EndedBy::Budget, 9)).unwrap();
    store.reopen_run(ID, 180_000).unwrap();
    let again = store.load(ID).unwrap();
    assert_eq!((again.ended_by, again.ended_unix_ns, again.budget_ms), (EndedBy::Unfinished, None, 180_000));
    assert_eq!(again.invocations.len(), 1);
    let overtaken = store.add_invocation(ID, &invocation(0, 0)).unwrap_err().to_string();
    assert!(overtaken.contains("another process is adding"), "{overtaken}");
    store.add_invocation(ID, &invocation(0, 1)).unwrap();
    store.finish_run(&ended(ID, EndedBy::Precision, 10)).unwrap();
    assert!(matches!(store.reopen_run(ID, 1), Err(StoreError::Ended { .. })));
    assert!(matches!(store.reopen_run("nix", 1), Err(StoreError::UnknownRun { .. })));
}

#[test]
fn baselines_name_runs_until_they_are_gone() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).unwrap();
    store.insert_run(&full_run()).unwrap();
    store.begin_run(&header("20250103T030405-a1b2")).unwrap();
    store.begin_run(&header("20270103T030405-b2c3")).unwrap();
    let full = full_run().id;
    assert_eq!(store.set_baseline("v1.0", "latest~1", false, 5).unwrap(), store.resolve("latest~1").unwrap());
    let first = store.resolve("baseline:v1.0").unwrap();
    assert_eq!(store.set_baseline("v1.0", &first, false, 6).unwrap(), first, "the same again is not a conflict");
    let taken =
        format!("the baseline `v1.0` in `PATH` is already run {first}; say --replace to give the name to another");
    check(&path, store.set_baseline("v1.0", "latest", false, 7), &taken);
    assert_ne!(store.set_baseline("v1.0", "latest", true, 7).unwrap(), first);
    store.set_baseline("full", &full, false, 8).unwrap();
    assert_eq!(store.load("baseline:full").unwrap(), full_run());
    check(&path, store.load("baseline:gone"), "no baseline is called `gone` in `PATH`; there are full, v1.0");
    check(
        &path,
        store.set_baseline("a b", &full, false, 0),
        "`a b` is not a name of a baseline; take 1 to 64 letters, digits, hyphens, underscores and dots",
    );
    // A run that was deleted leaves its name, which says what it was.
    Connection::open(&path).unwrap().execute("DELETE FROM run WHERE id = ?1", [&full]).unwrap();
    assert!(store.baselines().unwrap()[0].gone);
    let gone = format!(
        "the baseline `full` names run {full}, which is gone from `PATH`; import that run again, or set the name anew with --replace"
    );
    check(&path, store.load("baseline:full"), &gone);
    store.set_baseline("full", "latest", true, 9).unwrap();
    store.remove_baseline("full").unwrap();
    check(&path, store.remove_baseline("full"), "no baseline is called `full` in `PATH`; there are v1.0");
}

#[test]
fn a_run_is_read_whole_or_without_its_starts() {
    let store = {
        let mut store = Store::in_memory().unwrap();
        store.insert_run(&full_run()).unwrap();
        store
    };
    let whole = full_run();
    let first = whole.variants[0].clone();
    // What a row costs rests on the other rows of its run: whole or not at all.
    assert_eq!(store.load_if(ID, &|variant| *variant == first).unwrap(), store.load(ID).unwrap());
    let without = store.load_if(ID, &|_| false).unwrap();
    assert_eq!((without.variants, without.invocations.len()), (whole.variants, 0));
}
