//! What an axis is, and what it knows of the machine.

use crate::sweep::{Range, SweepError};
use std::collections::BTreeMap;
use switchcost_model::{Experiment, Mechanism, Request};

/// What varies.
pub trait Axis: Sync {
    /// Its word on the command line.
    fn name(&self) -> &str;
    /// What it varies, in half a line.
    fn purpose(&self) -> &str;
    /// What is measured along it unless something else is asked for; None: the first experiment of
    /// each mechanism.
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
    fn parameter(&self) -> Option<&str> {
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
