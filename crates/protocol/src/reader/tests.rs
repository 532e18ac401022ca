use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

fn fixtures(folder: &str) -> Vec<(String, Vec<u8>)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocol").join(folder);
    let mut files: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no fixtures in {}", path.display());
    files
}

fn read(bytes: &[u8]) -> Transcript {
    let mut reader = RunReader::default();
    let _ = reader.push(bytes);
    reader.into_transcript()
}

#[test]
fn good_fixtures_are_read_to_their_end() {
    for (name, bytes) in fixtures("good") {
        if name.starts_with("describe") {
            let mut reader = DescribeReader::default();
            reader.push(&bytes).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            assert!(!reader.finish().unwrap().1.is_empty());
            continue;
        }
        let transcript = read(&bytes);
        assert_eq!(transcript.fault, None, "{name}");
        assert!(transcript.end.is_some(), "{name}");
    }
}

#[test]
fn bad_fixtures_fail_with_their_reason() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocol/bad/reasons.toml");
    let mut reasons: BTreeMap<String, String> = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for (name, bytes) in fixtures("bad") {
        let expected = reasons.remove(&name).unwrap_or_else(|| panic!("reasons.toml does not name {name}"));
        let transcript = read(&bytes);
        let reason = transcript.fault.map(|fault| fault.to_string()).unwrap_or_else(|| match transcript.end {
            None => "no end".into(),
            Some(end) => format!("read as {:?}", end.status),
        });
        assert!(reason.contains(&expected), "{name}: {reason:?} does not contain {expected:?}");
    }
    assert!(reasons.is_empty(), "reasons without a file: {reasons:?}");
}

#[test]
fn bytes_may_arrive_in_any_portions() {
    for (name, bytes) in fixtures("good") {
        if name.starts_with("describe") {
            continue;
        }
        let mut reader = RunReader::default();
        for byte in &bytes {
            reader.push(std::slice::from_ref(byte)).unwrap();
        }
        assert_eq!(reader.into_transcript(), read(&bytes), "{name}");
    }
}

proptest! {
    /// Whatever arrives, the reader answers; it never panics.
    #[test]
    fn garbage_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
    }

    /// A good transcript with one byte changed or cut is read or refused, never a panic.
    #[test]
    fn damaged_transcripts_are_survived(place in 0usize..3000, byte in any::<u8>(), cut in any::<bool>()) {
        for (_, mut bytes) in fixtures("good") {
            let place = place % bytes.len();
            if cut { bytes.truncate(place) } else { bytes[place] = byte }
            let _ = read(&bytes);
        }
    }
}
