//! What a probe reports, in pieces of any size: the same is read of it as in one piece.
#![no_main]

use libfuzzer_sys::fuzz_target;
use switchcost_protocol::{DescribeReader, RunReader};

fuzz_target!(|data: &[u8]| {
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
});
