//! A run file with a fitting checksum: what is read of it can be written, stripped, stored,
//! analysed, compared and shown in every form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};
use switchcost_analysis::Analysis;
use switchcost_catalogue::Catalogue;
use switchcost_report::{Page, Style, html};
use switchcost_store::{Imported, Store, export_jsonl, import_jsonl, strip_personal};

fuzz_target!(|data: &[u8]| {
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
});
