//! One function for each reader of foreign input. It takes any bytes and asserts what must hold.
//! Fuzzers draw the input; a test of the gate gives the seeds (tests/tests/fuzzed.rs).

use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use switchcost_analysis::Analysis;
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::{Pattern, command_line, count, did_you_mean, scaled, size, value};
use switchcost_protocol::{DescribeReader, RunReader};
use switchcost_report::{Page, Style, html};
use switchcost_store::{Imported, Store, export_jsonl, import_jsonl, strip_personal};

const FAMILIES: &str = "[[family]]\nid = \"thread\"\ntitle = \"Threads\"\n";

/// What a probe reports, in pieces of any size: the same is read of it as in one piece.
pub fn wire(data: &[u8]) {
    let Some((&first, report)) = data.split_first() else { return };
    let mut whole = RunReader::default();
    let at_once = whole.push(report).map_err(|fault| fault.to_string());
    let mut pieces = RunReader::default();
    let read = report.chunks(usize::from(first) + 1).try_for_each(|piece| pieces.push(piece));
    assert_eq!(read.map_err(|fault| fault.to_string()), at_once);
    assert_eq!(pieces.into_transcript(), whole.into_transcript());
    let mut described = DescribeReader::default();
    if described.push(report).is_ok() {
        let _ = described.finish();
    }
}

/// A run file with a fitting checksum: what is read of it can be written, stripped, stored,
/// analysed, compared and shown in every form.
pub fn run_file(data: &[u8]) {
    let lines = data.iter().filter(|byte| **byte == b'\n').count();
    let hash = Sha256::digest(data).iter().fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    let end = format!("{{\"t\":\"end\",\"lines\":{lines},\"sha256\":\"{hash}\"}}\n");
    let Ok(Imported { mut run, .. }) = import_jsonl(&mut [data, end.as_bytes()].concat().as_slice()) else { return };
    let mut written = Vec::new();
    export_jsonl(&run, &mut written).unwrap();
    assert_eq!(import_jsonl(&mut written.as_slice()).unwrap().run, run);
    let mut store = Store::in_memory().unwrap();
    store.insert_run(&run).unwrap();
    assert_eq!(store.load(&run.id).unwrap(), run);
    strip_personal(&mut run);
    let catalogue = Catalogue::default();
    // Twice, so that the page compares its runs with each other.
    let again = switchcost_model::Run { id: format!("{}-again", run.id), ..run.clone() };
    let analyses = [Analysis::new(&run, &catalogue), Analysis::new(&again, &catalogue)];
    for format in switchcost_report::FORMATS {
        let _ = format.write(&analyses[0], Style::PLAIN);
    }
    let sources = [run.id.clone(), again.id.clone()];
    let page = Page { runs: &analyses, sources: &sources, audits: &[], tool: "fuzz", command: "report" };
    let page = html("\"@switchcost-data@\"", &page, &catalogue).unwrap();
    assert!(!page.contains("</script"));
}

/// A page of a mechanism beside sound ones: it costs itself at most.
pub fn page(data: &[u8]) {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let write = |path: &str, text: &[u8]| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("families.toml", FAMILIES.as_bytes());
    write("parameters.toml", include_bytes!("../../mechanisms/parameters.toml"));
    write("thread/any.toml", data);
    let catalogue = switchcost_catalogue::load(folder.path(), &[], &|_: &Path| Ok(())).unwrap();
    assert!(catalogue.broken.len() <= 1);
}

/// A `probe.toml`: read, or one sentence.
pub fn probe(data: &[u8]) {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::write(folder.path().join("probe.toml"), data).unwrap();
    if let Err(reason) = switchcost_catalogue::load_trusted_probe(folder.path(), &[], &|_| Ok(())) {
        assert!(!reason.chars().any(|c| c.is_control() && c != '\n'), "{reason:?}");
    }
}

/// Patterns, counts, sizes and names as they are typed.
pub fn pattern(text: &str) {
    if let Ok(pattern) = Pattern::parse(text) {
        let _ = (pattern.is_many(), pattern.names("thread/pipe"), pattern.fits_probe("gcc-12"));
    }
    let _ = (count(text), size(text), scaled(text, 1000.0), value(text, None));
    let _ = did_you_mean(text, ["thread/pipe", "stack/asm"]);
    let _ = command_line(text.split(' '));
}

/// The words of a command, one between two NULs: parsed, or refused with a usage error.
pub fn arguments(data: &[u8]) {
    let words = data.split(|byte| *byte == 0).map(OsStr::from_bytes);
    if let Err(answer) =
        switchcost::derived::command().try_get_matches_from([OsStr::new("switchcost")].into_iter().chain(words))
    {
        assert!(matches!(answer.exit_code(), 0 | 2), "{answer}");
        let _ = answer.to_string();
    }
}
