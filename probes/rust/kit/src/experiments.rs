//! The experiments: what carries out each, by what the mechanism has for it.

mod count;
mod footprint;
mod wakeup;

use crate::measure::{batches, check_placement, ring};
use crate::mechanism::{no, Mechanism, SetUp};
use crate::plan::Plan;
use crate::refusal::Stop;
use crate::wire::Writer;

/// Of a mechanism of one's own.
pub(crate) const OF_CONTEXTS: &[&str] = &["switch", "create", "footprint", "count"];

impl Mechanism {
    /// Experiment `switch` without parameters, in batches and unit by unit.
    #[must_use]
    pub const fn new(id: &'static str, set_up: SetUp) -> Self {
        Self {
            id,
            experiments: &["switch"],
            parameters: &[],
            timings: &["batch", "each"],
            pins: false,
            unavailable: || None,
            set_up,
            create: no,
            hold: no,
            wait: no,
        }
    }
}

/// Carries out the plan and reports everything but `hello` and what the error says.
pub(crate) fn carry_out(writer: &mut Writer, plan: &Plan, mechanism: &Mechanism) -> Result<(), Stop> {
    (mechanism.unavailable)().map_or(Ok(()), Err)?;
    check_placement(plan, mechanism)?;
    match plan.experiment.as_str() {
        "create" => batches(writer, plan, mechanism.create, None),
        "footprint" => footprint::measure(writer, plan, mechanism.hold),
        "submit" | "contend" => batches(writer, plan, mechanism.set_up, None),
        "wakeup" => wakeup::measure(writer, plan, mechanism.wait),
        "count" => ring(writer, plan, mechanism.set_up, Some(&count::COUNTED)),
        _ => ring(writer, plan, mechanism.set_up, None),
    }
}
