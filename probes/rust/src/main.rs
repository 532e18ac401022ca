//! The Rust probe of switchcost; PROTOCOL.md says how it is spoken to.

mod mechanisms;
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), path = "vm_elsewhere.rs")]
mod vm;

use kit::Build;
use std::process::ExitCode;

const BUILD: Build = Build {
    probe: "rust",
    version: env!("CARGO_PKG_VERSION"),
    runtime: if cfg!(target_feature = "crt-static") {
        concat!(env!("PROBE_RUNTIME"), ", C library linked statically")
    } else {
        concat!(env!("PROBE_RUNTIME"), ", C library linked dynamically")
    },
    compiler: kit::COMPILER,
    flags: kit::FLAGS,
};

fn main() -> ExitCode {
    kit::probe(BUILD, mechanisms::LIST)
}
