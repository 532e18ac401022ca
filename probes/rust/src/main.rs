//! The Rust probe of switchcost; PROTOCOL.md says how it is spoken to.

mod mechanisms;
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), path = "vm_elsewhere.rs")]
mod vm;

use kit::{Build, Refusal, Stop, Writer};
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

const BUILD: Build = Build {
    probe: "rust",
    version: env!("CARGO_PKG_VERSION"),
    runtime: if cfg!(target_feature = "crt-static") {
        concat!(env!("PROBE_RUNTIME"), ", C library linked statically")
    } else {
        concat!(env!("PROBE_RUNTIME"), ", C library linked dynamically")
    },
    compiler: env!("PROBE_COMPILER"),
    flags: env!("PROBE_FLAGS"),
};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // SAFETY: the descriptor was inherited for this purpose, and nothing else here writes to it: no mechanism prints.
    let mut writer = unsafe { Writer::from_inherited(kit::report_fd(&words)) };
    let told = match unpanicked(|| carry_out(&mut writer, &words)) {
        Ok(()) => Ok(false),
        Err(Stop::Refused(refusal)) => writer.end_refusal(&refusal).map(|()| refusal.is_fault()),
        Err(Stop::Unheard(error)) => Err(error),
    };
    match told {
        Ok(fault) => ExitCode::from(u8::from(fault)),
        Err(error) => {
            eprintln!("cannot write a message: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What a library panics about, as of a thread that the system refuses, is a sentence and no trace.
fn unpanicked(work: impl FnOnce() -> Result<(), Stop>) -> Result<(), Stop> {
    static SAID: Mutex<String> = Mutex::new(String::new());
    std::panic::set_hook(Box::new(|panic| {
        // Another one may follow from the first.
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if said.is_empty() {
            *said = panic.to_string().replace('\n', " ");
        }
    }));
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        Err(Refusal::failed("self_check_failed", format!("the probe could not go on: {said}")).into())
    })
}

fn carry_out(writer: &mut Writer, words: &[String]) -> Result<(), Stop> {
    writer.hello(BUILD)?;
    match words.split_first().map(|(command, rest)| (command.as_str(), rest)) {
        Some(("describe", rest)) => {
            kit::check_describe(rest)?;
            writer.mechanisms(mechanisms::LIST)?;
            Ok(writer.end_ok(0)?)
        }
        Some(("run", rest)) => {
            let (plan, mechanism) = kit::parse(rest, mechanisms::LIST)?;
            kit::measure(writer, &plan, mechanism)
        }
        _ => Err(Refusal::refused("bad_value", "the first word must be `describe` or `run`").into()),
    }
}
