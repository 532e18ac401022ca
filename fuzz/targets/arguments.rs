//! The words of a command, one between two NULs: parsed, or refused with a usage error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fuzz_target!(|data: &[u8]| {
    let words = data.split(|byte| *byte == 0).map(OsStr::from_bytes);
    if let Err(answer) =
        switchcost::derived::command().try_get_matches_from([OsStr::new("switchcost")].into_iter().chain(words))
    {
        assert!(matches!(answer.exit_code(), 0 | 2), "{answer}");
        let _ = answer.to_string();
    }
});
