//! Tells the probe which libraries it was built with, for its `hello` message.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    let libraries =
        ["corosensei", "may", "minicoro-sys", "monoio", "smol", "tokio", "kvm-ioctls"].map(|name| locked(&lock, name));
    println!("cargo::rustc-env=PROBE_RUNTIME=Rust std, {}", libraries.join(", "));
}

/// Name and version of a dependency as locked.
fn locked(lock: &str, name: &str) -> String {
    let entry = format!("name = \"{name}\"\nversion = \"");
    let version = lock.split_once(&entry).and_then(|(_, rest)| rest.split('"').next()).unwrap_or("");
    format!("{name} {version}").trim().to_owned()
}
