//! Every pair of CPUs, also each with itself.

use super::{Axis, Here};
use crate::sweep::points::{MOST_POINTS, words};
use crate::sweep::{Range, SweepError};
use switchcost_model::{Experiment, Mechanism, Placement, Request};

/// Pairs of CPUs.
pub struct Cpus;

impl Axis for Cpus {
    fn name(&self) -> &str {
        "cpus"
    }

    fn purpose(&self) -> &str {
        "Every pair of CPUs"
    }

    fn fits(&self, mechanism: &Mechanism, experiment: Option<Experiment>) -> bool {
        mechanism.experiments.contains(&experiment.unwrap_or(mechanism.experiments[0]))
            && mechanism.placements.iter().any(|placement| placement.on_several_cpus())
    }

    fn what(&self) -> String {
        format!("placement {}", Placement::of_cpus(2))
    }

    fn fixed_by(&self, request: &Request) -> Option<String> {
        (!request.placements.is_empty()).then(|| "--placement".into())
    }

    /// Each CPU with itself and with each later one: who begins makes no difference to a ring.
    fn vary(&self, request: &mut Request, range: &Range, here: &Here<'_>, _: &[&Mechanism]) -> Result<(), SweepError> {
        let every = here.cpus.iter().map(ToString::to_string).collect();
        let number = |word: &String| word.parse().map_err(|_| SweepError::NotNumeric { value: word.clone() });
        let mut chosen: Vec<u32> = words(range, every)?.iter().map(number).collect::<Result<_, _>>()?;
        chosen.sort_unstable();
        chosen.dedup();
        let pairs = chosen.len() * (chosen.len() + 1) / 2;
        if pairs > MOST_POINTS {
            return Err(SweepError::TooManyPairs { cpus: chosen.len(), pairs });
        }
        let pair =
            |(i, &a): (usize, &u32)| chosen[i..].iter().map(move |&b| Placement::on_pair(a, b)).collect::<Vec<_>>();
        request.placements = chosen.iter().enumerate().flat_map(pair).collect();
        Ok(())
    }
}
