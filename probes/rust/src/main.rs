//! The Rust probe of switchcost; PROTOCOL.md says how it is spoken to.

mod mechanisms;
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), path = "vm_elsewhere.rs")]
mod vm;

use kit::{Build, Refusal, Writer};
use std::io;
use std::process::ExitCode;

const BUILD: Build = Build {
    probe: "rust",
    version: env!("CARGO_PKG_VERSION"),
    runtime: env!("PROBE_RUNTIME"),
    compiler: env!("PROBE_COMPILER"),
    flags: env!("PROBE_FLAGS"),
};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // SAFETY: the descriptor was inherited for this purpose, and nothing else here writes to it: no mechanism prints.
    let mut writer = unsafe { Writer::from_inherited(kit::report_fd(&words)) };
    match carry_out(&mut writer, &words) {
        Ok(fault) => ExitCode::from(u8::from(fault)),
        Err(error) => {
            eprintln!("cannot write a message: {error}");
            ExitCode::FAILURE
        }
    }
}

/// True: the exit status must say that something is wrong.
fn carry_out(writer: &mut Writer, words: &[String]) -> io::Result<bool> {
    writer.hello(BUILD)?;
    let outcome = match words.first().map(String::as_str) {
        Some("describe") => match kit::check_describe(&words[1..]) {
            Ok(()) => {
                writer.mechanisms(mechanisms::LIST)?;
                writer.end_ok(0)?;
                Ok(())
            }
            Err(refusal) => Err(refusal),
        },
        Some("run") => match kit::parse(&words[1..], mechanisms::LIST) {
            Ok((plan, mechanism)) => kit::measure(writer, &plan, mechanism)?,
            Err(refusal) => Err(refusal),
        },
        _ => Err(Refusal::refused("bad_value", "the first word must be `describe` or `run`")),
    };
    if let Err(refusal) = &outcome {
        writer.end_refusal(refusal)?;
    }
    Ok(outcome.is_err_and(|refusal| refusal.is_fault()))
}
