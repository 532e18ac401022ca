//! Files of every released version, as they were written then: each must be read for ever.
//!
//! `v1.jsonl` and `v1.sql` hold the same run. A new version of a format adds files; it never changes these.

use crate::support::{export, full_run, import};
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use switchcost_store::{APPLICATION_ID, Store};

fn golden(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)).unwrap()
}

/// Stores by their version: the text that `sqlite3 FILE .dump` gives.
const STORES: &[(i64, &str)] = &[(1, "v1.sql"), (6, "v6.sql")];

#[test]
fn run_files_of_format_1_stay_as_they_are() {
    let file = golden("v1.jsonl");
    assert_eq!(import(file.as_bytes()).unwrap(), full_run());
    assert_eq!(String::from_utf8(export(&full_run())).unwrap(), file);
}

/// A store from its dump.
fn restored(path: &Path, version: i64, dump: &str) {
    let raw = Connection::open(path).unwrap();
    // A dump is in the order of names, not of references.
    raw.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    raw.execute_batch(dump).unwrap();
    raw.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    raw.pragma_update(None, "user_version", version).unwrap();
}

/// What an older version let in, no figure follows from.
#[test]
fn a_stored_divisor_of_nothing_is_one_sentence() {
    for (from, to, expected) in [
        ("'measure',512,", "'measure',0,", "units of samples is 0"),
        ("\"ticks_per_second\":1000000000", "\"ticks_per_second\":0", "clock.ticks_per_second is 0"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.sqlite");
        let dump = golden("v1.sql");
        assert!(dump.contains(from), "{from}");
        restored(&path, 1, &dump.replace(from, to));
        let error = Store::open_read_only(&path).unwrap().load("latest").unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("invocation 0"), "{error}");
    }
}

#[test]
fn stores_of_every_version_are_read() {
    for (version, name) in STORES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.sqlite");
        restored(&path, *version, &golden(name));
        // Reading is enough to bring it up to date.
        let store = Store::open_read_only(&path).unwrap();
        assert_eq!(store.load("latest").unwrap(), full_run(), "version {version}");
        store.check().unwrap();
    }
}
