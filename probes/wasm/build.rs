//! Tells the probe which wasmtime it was built with, for its `hello` message.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    let entry = "name = \"wasmtime\"\nversion = \"";
    let version = lock.split_once(entry).and_then(|(_, rest)| rest.split('"').next()).unwrap_or("");
    println!("cargo::rustc-env=PROBE_RUNTIME=wasmtime {version}, Cranelift");
}
