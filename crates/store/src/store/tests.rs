//! What only the inside of the store can show.

use super::*;

#[test]
fn a_full_disk_is_said_and_nothing_is_half_stored() {
    let mut store = Store::in_memory().unwrap();
    store.connection.pragma_update(None, "max_page_count", 40).unwrap();
    let fault = store
        .write(|connection| {
            connection.execute_batch("INSERT INTO hello (content) VALUES ('kept?')")?;
            connection.execute_batch("INSERT INTO hello (content) VALUES (hex(zeroblob(1000000)))")?;
            Ok(())
        })
        .unwrap_err();
    assert_eq!(
        fault.to_string(),
        "there is no room left for the store `:memory:`; free some space on its disk and run again"
    );
    assert_eq!(store.connection.query_row("SELECT count(*) FROM hello", [], |row| row.get(0)), Ok(0));
}

#[test]
fn a_locked_store_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.sqlite");
    let mut store = Store::open(&path).unwrap();
    // The time to wait is tested as a setting; nobody needs to sit through it.
    store.connection.busy_timeout(Duration::from_millis(20)).unwrap();
    let mut other = Store::open(&path).unwrap();
    let held = other.connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let write = |store: &mut Store| store.write(|c| Ok(c.execute_batch("INSERT INTO hello (content) VALUES ('')")?));
    let error = write(&mut store).unwrap_err().to_string();
    assert!(error.ends_with("is locked by another process; wait until that is done and try again"), "{error}");
    assert!(error.starts_with(&format!("the store `{}` ", path.display())), "{error}");
    drop(held);
    write(&mut store).unwrap();
}

#[test]
fn the_connection_is_set_up_as_documented() {
    let store = Store::in_memory().unwrap();
    let pragma =
        |name: &str| -> i64 { store.connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).unwrap() };
    assert_eq!((pragma("foreign_keys"), pragma("synchronous"), pragma("trusted_schema")), (1, 1, 0));
    assert_eq!(pragma("busy_timeout"), 5000);
}

/// What reading a stored run says after a change of it, the checksums of which fit.
fn said_of(change: &str) -> String {
    let mut store = Store::in_memory().unwrap();
    let file = include_bytes!("../../tests/golden/run.jsonl");
    store.insert_run(&crate::import_jsonl(&mut &file[..]).unwrap().run).unwrap();
    store.connection.execute_batch(&format!("UPDATE {change}")).unwrap();
    for key in 1..=3 {
        rows::seal_invocation(&store.connection, key).unwrap();
    }
    crate::seal::seal_run(&store.connection, -1).unwrap();
    store.load("2026").unwrap_err().to_string()
}

#[test]
fn a_record_without_meaning_is_found_and_said() {
    for (change, expected) in [
        (
            "samples SET ticks = x'00' WHERE invocation = 2 OR position = 1",
            "invocation 0: column ticks: 1 bytes are not a whole number of ticks",
        ),
        (
            "invocation SET verdict = 'good' WHERE position = 1",
            "invocation 1: column verdict: unknown verdict `good`; expected one of verified, unobservable, unsupported, unmeasured, broken, contradicted",
        ),
        (
            "invocation SET notes = '[1' WHERE position = 2",
            "invocation 2: column notes: invalid type: integer `1`, expected a string (column 2)",
        ),
        ("invocation SET hello = NULL WHERE position = 0", "invocation 0: of `hello` and `pid` one is missing"),
        ("run SET method_version = -1", "column method_version: Value -1 out of range"),
        // Of these the records hang together, but no figure follows.
        (
            "samples SET units = 0 WHERE invocation = 1",
            "invocation 0: units of samples is 0, and no figure follows from it",
        ),
        (
            "hello SET content = replace(content, 'second\":1000000000', 'second\":0')",
            "invocation 0: clock.ticks_per_second is 0, and no figure follows from it",
        ),
    ] {
        let sentence = format!(
            "the store `:memory:` is damaged (run 20260102T030405-a1b2: {expected}); move it away and import the runs again from a backup or from run files"
        );
        assert_eq!(said_of(change), sentence);
    }
}

#[test]
fn a_run_with_a_word_of_a_later_version_is_kept_and_not_called_damaged() {
    for (change, expected) in [
        ("variant SET experiment = 'later' WHERE position = 0", "column experiment: unknown experiment `later`"),
        ("variant SET placement = 'later' WHERE position = 0", "column placement: "),
        ("variant SET timing = 'later' WHERE position = 0", "column timing: unknown timing `later`"),
    ] {
        let said = said_of(change);
        let begin = "run 20260102T030405-a1b2 in the store `:memory:` is of a later version, or of a page of yours that is gone (";
        assert!(said.starts_with(&format!("{begin}{expected}")), "{said}");
        assert!(
            said.ends_with(
                "); it is kept as it is: read it with the switchcost that measured it, or put the page back"
            )
        );
    }
}
