//! Tests that pass without having tested: counted, so that nobody takes them for more.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::{env, thread};

/// What is missing is what the gate builds itself.
pub const OWN: &str = "of its own: ";

/// Says that this test passes untested, and why: to its output, and to the file that
/// `SWITCHCOST_UNTESTED` names, of which the gate reports.
///
/// # Panics
/// When that file cannot be written.
pub fn untested(why: &str) {
    let line = format!("{}: {why}\n", thread::current().name().unwrap_or("a test"));
    eprint!("not tested: {line}");
    if let Some(path) = env::var_os("SWITCHCOST_UNTESTED") {
        let file = OpenOptions::new().create(true).append(true).open(path);
        // One write, so that lines of tests side by side stay whole.
        file.unwrap().write_all(line.as_bytes()).unwrap();
    }
}
