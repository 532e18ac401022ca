//! How fast the CPU ran in all, not only beside its own best: a machine that is slow throughout is
//! at its best all the time.

use crate::rulers::{CLOCK, Speeds};
use switchcost_model::{CoreClock, Run};

/// The clock that the run kept ([`crate::Speed::kept`]), by the first probe that knows how many
/// cycles its ruler `chain` takes; None: none does.
#[must_use]
pub fn clock(run: &Run, speeds: &Speeds) -> Option<CoreClock> {
    let hellos = run.invocations.iter().filter_map(|start| Some((start, start.transcript.hello.as_ref()?)));
    let mut kept = hellos.filter_map(|(start, hello)| {
        // Between its two readings of the clock lies one reading as well.
        let reading = hello.clock.read_cost_ticks as f64 * 1e9 / hello.clock.ticks_per_second as f64;
        let ns = speeds.get(&run.variants[start.variant].probe)?.get(CLOCK)?.kept - reading;
        (ns > 0.0).then_some(hello.chain_cycles? as f64 / ns)
    });
    Some(CoreClock::of(kept.next()?, &run.machine))
}
