//! What is the same for every mechanism of the Rust probe: plan, messages, clock and counter, calibration, the batch
//! loop, evidence. The mechanisms are in the probe itself; the kit names none.

mod clock;
mod evidence;
mod histogram;
mod measure;
mod memory;
mod plan;
mod wire;

pub use clock::{current_cpu, now, read_counter, COUNTER_NAME};
pub use evidence::{pin_this_thread, Trace, Turns};
pub use histogram::Histogram;
pub use measure::{measure, Claim, Mechanism, Workload, ALL_TIMINGS};
pub use plan::{check_describe, parse, report_fd, Parameter, ParameterKind, Plan, Refusal};
pub use wire::{Build, Writer};
