//! The axes along which a run can be swept. An axis is a file here and a line in [`AXES`]; one that is a parameter of mechanisms is the line alone.

mod contexts;
mod cpus;
mod parameter;

use self::parameter::Parameter;
use super::{Range, SweepError};
use std::collections::BTreeMap;
use switchcost_model::{Experiment, Mechanism, Request};

/// What varies.
pub trait Axis: Sync {
    /// Its word on the command line.
    fn name(&self) -> &'static str;
    /// What it varies, in half a line.
    fn purpose(&self) -> &'static str;
    /// What is measured along it unless something else is asked for; None: the first experiment of each mechanism.
    fn usual_experiment(&self, _: &[Mechanism]) -> Option<Experiment> {
        None
    }
    /// A mechanism can be varied along it in this experiment, or in its first.
    fn fits(&self, mechanism: &Mechanism, experiment: Option<Experiment>) -> bool;
    /// What a mechanism has that can be varied along it.
    fn what(&self) -> String;
    /// The flag of a request that fixes what varies.
    fn fixed_by(&self, request: &Request) -> Option<String>;
    /// Puts the points into the request.
    ///
    /// # Errors
    /// A range that means nothing here.
    fn vary(
        &self,
        request: &mut Request,
        range: &Range,
        here: &Here<'_>,
        mechanisms: &[&Mechanism],
    ) -> Result<(), SweepError>;
    /// The parameter of mechanisms that it is.
    fn parameter(&self) -> Option<&'static str> {
        None
    }
}

/// What an axis must know of the machine.
#[derive(Debug, Clone, Copy)]
pub struct Here<'a> {
    /// CPUs that may be used.
    pub cpus: &'a [u32],
    /// Facts of the machine.
    pub facts: &'a BTreeMap<String, String>,
}

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
