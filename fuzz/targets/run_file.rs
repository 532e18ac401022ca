#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| switchcost_fuzz::run_file(data));
