//! Tells the probe what it was built with, for its `hello` message.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=Cargo.lock");
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
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    println!("cargo::rustc-env=PROBE_COMPILER={rustc}");
    println!("cargo::rustc-env=PROBE_FLAGS={}", flags.trim());
    let libraries = ["corosensei", "tokio", "kvm-ioctls"].map(|name| locked(&lock, name));
    println!("cargo::rustc-env=PROBE_RUNTIME=Rust std, {}", libraries.join(", "));
}

/// Name and version of a dependency as locked.
fn locked(lock: &str, name: &str) -> String {
    let entry = format!("name = \"{name}\"\nversion = \"");
    let version = lock.split_once(&entry).and_then(|(_, rest)| rest.split('"').next()).unwrap_or("");
    format!("{name} {version}").trim().to_owned()
}
