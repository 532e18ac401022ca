//! Tells a probe what it was built with, for its `hello` message.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let rustc = Command::new(variable("RUSTC")).arg("--version").output();
    let rustc = rustc.map_or_else(|_| "rustc".to_owned(), |o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    let flags = format!(
        "profile={} opt-level={} target={} {}",
        variable("PROFILE"),
        variable("OPT_LEVEL"),
        variable("TARGET"),
        variable("CARGO_ENCODED_RUSTFLAGS").replace('\x1f', " ")
    );
    println!("cargo::rustc-env=PROBE_COMPILER={rustc}");
    println!("cargo::rustc-env=PROBE_FLAGS={}", flags.trim());
}
