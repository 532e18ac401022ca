//! What is the same for every mechanism of the Rust probe: plan, messages, clock and counter, calibration, the batch
//! loop, evidence. The mechanisms are in the probe itself; the kit names none.

mod clock;
mod evidence;
mod footprint;
mod histogram;
mod measure;
mod memory;
mod os;
mod plan;
mod wire;
mod working_set;

pub use clock::{now, read_counter, COUNTER_NAME};
pub use evidence::{disjoint, Trace, Turns};
pub use footprint::Population;
pub use histogram::Histogram;
pub use measure::{measure, Claim, Mechanism, Workload, ALL_TIMINGS};
pub use memory::{map_pages, require_memory};
pub use os::{current_cpu, pin_this_thread};
pub use plan::{check_describe, parse, report_fd, Parameter, ParameterKind, Plan, Refusal};
pub use wire::{Build, Writer};
pub use working_set::{Touch, WorkingSet, WorkingSets, WORKING_SET};
