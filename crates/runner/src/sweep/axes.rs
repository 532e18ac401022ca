//! The axes along which a run can be swept. An axis is a file here and a line in [`AXES`]. A
//! parameter that a mechanism has is one by its name; a line gives it another name, a purpose or
//! another range.

mod axis;
mod contexts;
mod cpus;
mod parameter;

pub use axis::{Axis, Here};

use self::parameter::Parameter;
use super::SweepError;
use std::collections::BTreeSet;
use std::ops::Deref;
use switchcost_catalogue::grammar::did_you_mean;
use switchcost_model::Mechanism;

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

/// An axis of the list, or a parameter.
pub enum AnyAxis {
    /// It is in the list.
    Listed(&'static dyn Axis),
    /// A parameter of mechanisms, by its name.
    Named(Parameter),
}

impl Deref for AnyAxis {
    type Target = dyn Axis;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Listed(listed) => *listed,
            Self::Named(named) => named,
        }
    }
}

/// The axis of this name in the list, which may also be the name of the parameter that it is.
#[must_use]
pub fn listed_axis(name: &str) -> Option<&'static dyn Axis> {
    AXES.iter().find(|axis| axis.name() == name || axis.parameter() == Some(name)).copied()
}

/// The same, or the parameter of this name that a mechanism has.
///
/// # Errors
/// There is none.
pub fn axis_of(name: &str, mechanisms: &[Mechanism]) -> Result<AnyAxis, SweepError> {
    if let Some(listed) = listed_axis(name) {
        return Ok(AnyAxis::Listed(listed));
    }
    let parameters: BTreeSet<&str> = mechanisms.iter().flat_map(|m| m.parameters.keys().map(String::as_str)).collect();
    if parameters.contains(name) {
        return Ok(AnyAxis::Named(Parameter::named(name)));
    }
    let listed: Vec<&str> = AXES.iter().map(|axis| axis.name()).collect();
    let hint = did_you_mean(name, listed.iter().copied().chain(parameters));
    Err(SweepError::UnknownAxis { listed: listed.join(", "), hint })
}
