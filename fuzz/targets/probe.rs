//! A `probe.toml`: read, or one sentence.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::write(folder.path().join("probe.toml"), data).unwrap();
    if let Err(reason) = switchcost_catalogue::load_probe(folder.path()) {
        assert!(!reason.chars().any(|c| c.is_control() && c != '\n'), "{reason:?}");
    }
});
