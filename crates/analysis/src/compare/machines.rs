//! Whether the machine was the same in two runs: its core as free, its clock as fast.

use super::why::{Side, Why};
use crate::analysis::Analysis;
use crate::clock::SAME;
use crate::rulers::{CLOCK, core, slower_core};
use switchcost_model::{Difference, Run, differences};

/// The runs were measured on one machine, as far as both say.
fn one_machine(a: &Run, b: &Run) -> bool {
    !differences(&a.machine, &b.machine).iter().any(Difference::is_of_machines)
}

/// Why rows of two runs of one machine cannot be compared: in one run the core was never as free as
/// in the other, so that its undisturbed batches are none.
#[must_use]
pub fn slowed_throughout(a: &Analysis<'_>, b: &Analysis<'_>, probe: &str) -> Option<Why> {
    if !one_machine(a.run, b.run) {
        return None;
    }
    let (one, other) = (core(&a.speeds, probe)?, core(&b.speeds, probe)?);
    if one.0 != other.0 {
        return None;
    }
    let slower = |core, best, side| Some((slower_core(core, best)?, side));
    let (times, side) = slower(one.1, other.1, Side::A).or_else(|| slower(other.1, one.1, Side::B))?;
    Some(Why::Slowed { side, times })
}

/// The clock that B's run kept against that of A's, as the logarithm of what its ruler took;
/// positive: B's was slower. None: they are of two machines, of two rulers, or the same.
#[must_use]
pub fn clocks_differ(a: &Analysis<'_>, b: &Analysis<'_>, probe: &str) -> Option<f64> {
    if !one_machine(a.run, b.run) {
        return None;
    }
    let kept = |analysis: &Analysis<'_>| Some(analysis.speeds.get(probe)?.get(CLOCK)?.kept);
    let log = (kept(b)? / kept(a)?).ln();
    (log.abs() > SAME).then_some(log)
}
