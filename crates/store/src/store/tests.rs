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
