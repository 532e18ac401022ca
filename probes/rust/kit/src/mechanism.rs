//! What a mechanism is to the kit.

use crate::evidence::{Trace, Turns};
use crate::histogram::Histogram;
use crate::plan::{Parameter, Plan};
use crate::refusal::Refusal;
use crate::waiter::Waiter;
use serde::Serialize;
use std::collections::BTreeMap;

/// One line of `describe`.
#[derive(Debug)]
pub struct Mechanism {
    /// `family/name`.
    pub id: &'static str,
    /// What the probe can measure of it.
    pub experiments: &'static [&'static str],
    /// What can be varied.
    pub parameters: &'static [Parameter],
    /// In batches, unit by unit.
    pub timings: &'static [&'static str],
    /// Its contexts have threads of their own, which `set_up` moves to the CPUs of the plan one by
    /// one.
    pub pins: bool,
    /// Why it cannot run on this machine at all; quick, because `describe` asks.
    pub unavailable: fn() -> Option<Refusal>,
    /// Everything slow. May answer that the plan cannot be carried out.
    pub set_up: SetUp,
    /// The same for experiment create.
    pub create: SetUp,
    /// The same for experiment footprint.
    pub hold: Hold,
    /// The same for experiment wakeup.
    pub wait: Wait,
}

/// Stands for what a mechanism has not.
pub(crate) fn no<T>(plan: &Plan) -> Result<T, Refusal> {
    Err(Refusal::refused("bad_value", format!("there is no {}", plan.experiment)))
}

/// Makes what is measured in batches.
pub type SetUp = fn(&Plan) -> Result<Box<dyn Workload>, Refusal>;

/// Makes what holds the contexts of experiment footprint.
pub type Hold = fn(&Plan) -> Result<Box<dyn Population>, Refusal>;

/// Makes what takes a waiter through all its times, in a context of the mechanism, and gives it
/// back.
pub type Wait = fn(&Plan) -> Result<Box<dyn FnOnce(Waiter) -> Waiter>, Refusal>;

/// A mechanism that is ready to run.
pub trait Workload {
    /// Smallest number of units after which everything stands where it began; also the length of
    /// the ring.
    fn lap(&self) -> u64 {
        1
    }

    /// The measured region: `units` units between two readings of the clock by context 0; returns
    /// the ticks between. No allocation beyond the mechanism's, no branch on the plan.
    fn run(&mut self, units: u64) -> u64;

    /// The same with every unit recorded, where `timings` of the mechanism has `each`.
    fn run_each(&mut self, units: u64, histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        (self.run(units), histogram)
    }

    /// Sets the counts of turns to zero.
    fn reset(&mut self);

    /// What the contexts counted since.
    fn claim(&mut self) -> Claim;

    /// Passes the token `units` times and records each visit. None where the experiment has no
    /// ring.
    #[expect(clippy::boxed_local, reason = "a ring keeps the box")]
    fn verify(&mut self, _units: u64, _trace: Box<Trace>) -> Option<Box<Trace>> {
        None
    }

    /// Why the last batch came to nothing, if it did. A workload with a fault answers every further
    /// call at once.
    fn fault(&self) -> Option<Refusal> {
        None
    }

    /// What belongs beside the result.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// CPUs on which its contexts were, beside that of context 0.
    fn cpus(&self) -> Vec<u32> {
        Vec::new()
    }
}

/// Contexts that are made, run once, suspend and are kept.
pub trait Population {
    /// Makes this many more.
    fn populate(&mut self, contexts: u64) -> Result<(), Refusal>;

    /// Destroys those of the last `populate`, where the machine has no room for all cycles at once.
    /// Otherwise they stay, so that none is made of what another left.
    fn depopulate(&mut self) {}

    /// What the contexts counted.
    fn claim(&mut self) -> Claim;

    /// A context is an object of the kernel, which has no count of its own for this process.
    fn lives_in_kernel(&self) -> bool {
        false
    }
}

/// What the contexts counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// Turns of each; None where a unit is not a switch between contexts, then `why` says so.
    pub turns: Option<Turns>,
    /// Advance of the token.
    pub token: Option<u64>,
    /// A context saw another token than the one it was due.
    #[serde(skip)]
    pub broken: bool,
    /// Distinct address spaces among the contexts; None where this side cannot know, then `why`
    /// says so.
    pub address_spaces: Option<u64>,
    /// Whatever else the mechanism's rule asks for.
    pub counts: BTreeMap<&'static str, i64>,
    /// Reasons of what is missing in the evidence.
    pub why: BTreeMap<&'static str, &'static str>,
}

impl Claim {
    /// Of contexts that have counted their turns into this process's own memory, which nothing of
    /// another address space can reach.
    #[must_use]
    pub fn new(turns: Turns, token: u64, broken: bool) -> Self {
        let (counts, why) = (BTreeMap::new(), BTreeMap::new());
        Self { turns: Some(turns), token: Some(token), broken, address_spaces: Some(1), counts, why }
    }

    /// Of contexts that were created and had one turn each, in which they advanced the token.
    #[must_use]
    pub fn of_created(created: u64) -> Self {
        Self::new(Turns { total: created, min: 1, max: 1, contexts: created }, created, false)
    }
}
