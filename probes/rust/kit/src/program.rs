//! What a probe does when it is started.

use crate::arguments::{check_describe, parse, report_fd};
use crate::experiments;
use crate::mechanism::Mechanism;
use crate::refusal::{Refusal, Stop};
use crate::wire::{Build, Writer};
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// The whole of a probe's `main`, for these mechanisms, sorted by id.
#[must_use]
pub fn probe(build: Build, mechanisms: &[Mechanism]) -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // SAFETY: the descriptor was inherited for this purpose, and nothing else here writes to it: no
    // mechanism prints.
    let mut writer = unsafe { Writer::from_inherited(report_fd(&words)) };
    let told = match unpanicked(|| carry_out(&mut writer, &words, build, mechanisms)) {
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

/// What helps where the system has no memory, or no mapping, for as many contexts.
pub const MORE_ROOM: &str = "ask for fewer contexts, or raise the memory limit or the sysctl vm.max_map_count";

/// What a library panics about, as of a thread that the system refuses, is a sentence and no trace.
fn unpanicked(work: impl FnOnce() -> Result<(), Stop>) -> Result<(), Stop> {
    static SAID: Mutex<Option<String>> = Mutex::new(None);
    std::panic::set_hook(Box::new(|panic| {
        // Another one may follow from the first.
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        said.get_or_insert_with(|| panic.to_string().replace('\n', " "));
    }));
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let said = SAID.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let refusal = match said.contains("Cannot allocate memory") {
            true => Refusal::unsupported("limit_reached", format!("{said}; {MORE_ROOM}")),
            false => Refusal::failed("self_check_failed", format!("the probe could not go on: {said}")),
        };
        Err(refusal.into())
    })
}

fn carry_out(writer: &mut Writer, words: &[String], build: Build, mechanisms: &[Mechanism]) -> Result<(), Stop> {
    writer.hello(build)?;
    match words.split_first().map(|(command, rest)| (command.as_str(), rest)) {
        Some(("describe", rest)) => {
            check_describe(rest)?;
            writer.mechanisms(mechanisms)?;
            Ok(writer.end_ok(0)?)
        }
        Some(("run", rest)) => {
            let (plan, mechanism) = parse(rest, mechanisms)?;
            experiments::carry_out(writer, &plan, mechanism)
        }
        _ => Err(Refusal::refused("bad_value", "the first word must be `describe` or `run`").into()),
    }
}
