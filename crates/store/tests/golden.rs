//! Files of every released version, as they were written then: each must be read for ever.
//!
//! `v1.jsonl` and `v1.sql` hold the same run. A new version of a format adds files; it never changes these.

mod support;

use rusqlite::Connection;
use std::fs;
use std::path::Path;
use support::{export, full_run, import};
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

#[test]
fn stores_of_every_version_are_read() {
    for (version, name) in STORES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.sqlite");
        let raw = Connection::open(&path).unwrap();
        // A dump is in the order of names, not of references.
        raw.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        raw.execute_batch(&golden(name)).unwrap();
        raw.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        raw.pragma_update(None, "user_version", version).unwrap();
        drop(raw);
        // Reading is enough to bring it up to date.
        let store = Store::open_read_only(&path).unwrap();
        assert_eq!(store.load("latest").unwrap(), full_run(), "version {version}");
        store.check().unwrap();
    }
}
