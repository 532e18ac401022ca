#![no_main]
libfuzzer_sys::fuzz_target!(|data: &str| switchcost_fuzz::pattern(data));
