//! How fast the CPU ran in all, not only beside its own best: a machine that is slow throughout is at its best all the time.

use crate::rulers::{CLOCK, Speeds};
use switchcost_model::Run;

/// Below this share of the declared clock a run's figures say so first: a turbo that rests is not news, a starved guest is.
const SLOW: f64 = 0.9;

/// The clock of the measured CPU, GHz.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// That the run kept ([`crate::Speed::kept`]): cycles of the ruler `chain` ÷ what it took.
    pub kept: f64,
    /// That the system declares; None: it declares none.
    pub declared: Option<f64>,
}

impl Clock {
    /// How many times slower the CPU ran than is declared, if that is worth a word.
    #[must_use]
    pub fn times_slower(&self) -> Option<f64> {
        let declared = self.declared.filter(|declared| self.kept < SLOW * declared)?;
        Some(declared / self.kept)
    }
}

/// By the first probe that knows how many cycles its chain takes; None: none does.
#[must_use]
pub fn clock(run: &Run, speeds: &Speeds) -> Option<Clock> {
    let hellos = run.invocations.iter().filter_map(|start| Some((start, start.transcript.hello.as_ref()?)));
    let kept = hellos.filter_map(|(start, hello)| {
        let ns = speeds.get(&run.variants[start.variant].probe)?.get(CLOCK)?.kept;
        (ns > 0.0).then_some(hello.chain_cycles? as f64 / ns)
    });
    let declared = run.machine.drifting.get("frequency_mhz_declared").and_then(|mhz| mhz.parse::<f64>().ok());
    Some(Clock { kept: { kept }.next()?, declared: declared.map(|mhz| mhz / 1e3) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_is_slow_throughout_is_slow() {
        let slower = |kept, declared| Clock { kept, declared }.times_slower();
        assert_eq!(slower(0.6, Some(2.4)), Some(4.0));
        assert_eq!([slower(2.3, Some(2.4)), slower(4.1, Some(2.4)), slower(0.6, None)], [None; 3]);
    }
}
