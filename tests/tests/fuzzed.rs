//! What the fuzzers feed, with their seeds alone: so it compiles, and holds, in the gate.

use switchcost_e2e::repository;

#[path = "../../fuzz/src/lib.rs"]
mod readers;

type Reader = fn(&[u8]);

#[test]
fn every_seed_of_the_fuzzers_is_read() {
    let text = |data: &[u8]| readers::pattern(&String::from_utf8_lossy(data));
    let readers: [(&str, Reader); 6] = [
        ("arguments", readers::arguments),
        ("page", readers::page),
        ("pattern", text),
        ("probe", readers::probe),
        ("run_file", readers::run_file),
        ("wire", readers::wire),
    ];
    let corpus = repository().join("fuzz/corpus");
    let folders = std::fs::read_dir(&corpus).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut folders: Vec<String> = folders.collect();
    folders.sort();
    assert_eq!(folders, readers.map(|(name, _)| name));
    for (name, read) in readers {
        let mut seeds = 0;
        for seed in std::fs::read_dir(corpus.join(name)).unwrap() {
            read(&std::fs::read(seed.unwrap().path()).unwrap());
            seeds += 1;
        }
        assert!(seeds > 0, "{name} has no seed");
    }
}
