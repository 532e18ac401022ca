//! Size of the ring, or number of kept contexts.

use super::{Axis, Here};
use crate::sweep::points::{numbers, rounded_decimal};
use crate::sweep::{Range, SweepError};
use switchcost_model::{Experiment, Mechanism, Request};

/// First and last size, unless something else is said.
const ENDS: (u64, u64) = (2, 1_000_000);

/// Number of sizes: about one a factor of nine.
const STEPS: u64 = 7;

/// Largest ring that a probe takes.
const MOST: u64 = 10_000_000;

/// Size of the ring.
pub struct Contexts;

impl Axis for Contexts {
    fn name(&self) -> &'static str {
        "contexts"
    }

    fn purpose(&self) -> &'static str {
        "Size of the ring: 2 to 1000000"
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

    fn vary(&self, request: &mut Request, range: &Range, _: &Here<'_>, _: &[&Mechanism]) -> Result<(), SweepError> {
        request.contexts = numbers(range, ENDS, |_, _| STEPS, rounded_decimal)?;
        match request.contexts.iter().find(|&&n| n == 0 || n > MOST) {
            Some(wrong) => {
                Err(SweepError::OutOfRange { value: wrong.to_string(), reason: format!("a ring has 1 to {MOST}") })
            }
            None => Ok(()),
        }
    }
}
