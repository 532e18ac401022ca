//! Size of the ring, or number of kept contexts.

use super::{Axis, Here};
use crate::sweep::points::{Numbers, numbers, rounded_decimal};
use crate::sweep::{Range, SweepError};
use switchcost_catalogue::grammar;
use switchcost_model::{Experiment, Mechanism, Request};

/// Default first and last size.
const ENDS: (u64, u64) = (2, 1_000_000);

/// Number of sizes: about one a factor of nine.
const STEPS: u64 = 7;

/// Largest ring that a probe takes.
const MOST: u64 = 10_000_000;

/// Size of the ring.
pub struct Contexts;

impl Axis for Contexts {
    fn name(&self) -> &str {
        "contexts"
    }

    fn purpose(&self) -> &str {
        "Size of the ring: 2 to 1,000,000"
    }

    fn fits(&self, mechanism: &Mechanism, experiment: Option<Experiment>) -> bool {
        let chosen = experiment.unwrap_or(mechanism.experiments[0]);
        !mechanism.control && mechanism.experiments.contains(&chosen) && chosen.many
    }

    fn what(&self) -> String {
        "ring whose size could be varied".into()
    }

    fn fixed_by(&self, _: &Request) -> Option<String> {
        None
    }

    fn vary(
        &self,
        request: &mut Request,
        range: &Range,
        _: &Here<'_>,
        mechanisms: &[&Mechanism],
    ) -> Result<(), SweepError> {
        let ring = |mechanism: &&Mechanism| request.experiment.unwrap_or(mechanism.experiments[0]).ring;
        let (lowest, what) = if mechanisms.iter().any(ring) { (2, "the size of a ring") } else { (1, "their number") };
        let of = Numbers { read: grammar::count, lowest, highest: MOST, what, round: rounded_decimal };
        request.contexts = numbers(range, &of, ENDS, |_, _| STEPS)?;
        Ok(())
    }
}
