//! A page of a mechanism beside sound ones: it costs itself at most.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;

const FAMILIES: &str = "[[family]]\nid = \"thread\"\ntitle = \"Threads\"\n";

fuzz_target!(|data: &[u8]| {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let write = |path: &str, text: &[u8]| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("families.toml", FAMILIES.as_bytes());
    write("parameters.toml", include_bytes!("../../mechanisms/parameters.toml"));
    write("thread/any.toml", data);
    let catalogue = switchcost_catalogue::load(folder.path(), None, &|_: &Path| Ok(())).unwrap();
    assert!(catalogue.broken.len() <= 1);
});
