//! Patterns, counts, sizes and names as they are typed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use switchcost_catalogue::grammar::{Pattern, command_line, count, did_you_mean, scaled, size, value};

fuzz_target!(|text: &str| {
    if let Ok(pattern) = Pattern::parse(text) {
        let _ = (pattern.is_many(), pattern.names("thread/pipe"), pattern.fits_probe("gcc-12"));
    }
    let _ = (count(text), size(text), scaled(text, 1000.0), value(text, None));
    let _ = did_you_mean(text, ["thread/pipe", "stack/asm"]);
    let _ = command_line(text.split(' '));
});
