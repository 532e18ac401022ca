//! The axes along which a run can be swept. An axis is a file here and a line in [`AXES`]; one that is a parameter of mechanisms is the line alone.

mod axis;
mod contexts;
mod cpus;
mod parameter;

pub use axis::{Axis, Here};

use self::parameter::Parameter;

/// Every axis.
pub const AXES: &[&dyn Axis] = &[
    &contexts::Contexts,
    &Parameter::new(
        "working-set",
        "working_set",
        "Bytes that each context touches between switches: 0 to 4 times the last-level cache",
    )
    .up_to(parameter::four_times_the_cache),
    &Parameter::new("payload", "payload", "Bytes of a message"),
    &Parameter::new("stack-size", "stack_size", "Bytes of a stack"),
    &cpus::Cpus,
    &Parameter::new("sched", "sched", "Scheduling class of the threads: other, fifo, batch"),
];
