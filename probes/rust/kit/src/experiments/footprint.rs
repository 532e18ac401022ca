//! Experiment footprint, section 4 of the protocol: nothing is timed, the ticks are bytes.

use crate::mechanism::{Hold, Population};
use crate::memory::{Kernel, Memory};
use crate::os::current_cpu;
use crate::plan::Plan;
use crate::refusal::{Refusal, Stop};
use crate::wire::{Observations, Writer};
use std::io;
use std::mem::ManuallyDrop;

/// So many contexts at most are made first and kept, so that the pages of code are there and what
/// the allocator had free is used up.
const REHEARSED: u64 = 1000;

pub(crate) fn measure(writer: &mut Writer, plan: &Plan, hold: Hold) -> Result<(), Stop> {
    let mut made = ManuallyDrop::new(hold(plan)?);
    let population = made.as_mut();
    let kernel = if population.lives_in_kernel() { Kernel::WholeSystem } else { Kernel::PageTables };
    Memory::read(kernel).ok_or_else(unread)?;
    writer.plan(plan, plan.contexts)?;
    let gains = cycles(plan, population, kernel)?;
    let mut claim = population.claim();
    let units = gains.len() as u64 * plan.contexts;
    let ran = claim.turns.as_ref().map_or(0, |turns| turns.total);
    if ran != units {
        let detail = format!("{ran} contexts ran where {units} were made");
        return Err(Refusal::failed("self_check_failed", detail).into());
    }
    let samples = report(writer, plan, &gains)?;
    writer.note(kernel.note())?;
    claim.token = None;
    claim.why.insert("token", "no token is passed in this experiment");
    let cpus = current_cpu().into_iter().collect();
    writer.evidence(units, claim, Observations { cpus, ..Observations::default() })?;
    Ok(writer.end_ok(samples)?)
}

fn unread() -> Refusal {
    let detail = "memory in use cannot be read on this system: /proc/self/smaps_rollup or /proc/self/status is missing";
    Refusal::unsupported("unsupported_here", detail)
}

fn cycles(plan: &Plan, population: &mut dyn Population, kernel: Kernel) -> Result<Vec<Memory>, Refusal> {
    if !population.lives_in_kernel() {
        population.populate(plan.contexts.min(REHEARSED))?;
        population.claim(); // Those do not count.
    }
    let cycle = |_| {
        // Contexts that stay give nothing back.
        let read = if population.lives_in_kernel() { Memory::read_settled } else { Memory::read };
        let before = read(kernel).ok_or_else(unread)?;
        population.populate(plan.contexts)?;
        let gain = Memory::read(kernel).ok_or_else(unread)?.since(&before);
        population.depopulate();
        Ok(gain)
    };
    (0..plan.warmup_batches + plan.batches).map(cycle).collect()
}

fn report(writer: &mut Writer, plan: &Plan, gains: &[Memory]) -> io::Result<u64> {
    let (warmup, measure) = gains.split_at(plan.warmup_batches as usize);
    let mut samples = 0;
    for (phase, gains) in [("warmup", warmup), ("measure", measure)] {
        for (quantity, of) in Memory::QUANTITIES {
            let bytes: Vec<i64> = gains.iter().map(of).collect();
            writer.bytes(phase, plan.contexts, &bytes, quantity)?;
            samples += bytes.len() as u64;
        }
    }
    Ok(samples)
}
