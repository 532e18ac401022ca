//! The WebAssembly probe of switchcost: contexts of guests under wasmtime. PROTOCOL.md says how it
//! is spoken to.

mod async_call;
mod continuation;
mod guest;
mod suspension;

use kit::Build;
use std::process::ExitCode;

const BUILD: Build = Build {
    probe: "wasm",
    version: env!("CARGO_PKG_VERSION"),
    runtime: env!("PROBE_RUNTIME"),
    compiler: kit::COMPILER,
    flags: kit::FLAGS,
};

fn main() -> ExitCode {
    kit::probe(BUILD, &[async_call::MECHANISM, continuation::MECHANISM])
}
