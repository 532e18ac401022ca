//! Numbers of instructions, and their modes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchcost_analysis::{Bounds, ProbeAnswer, judge};
use switchcost_model::{Mechanism, Phase, Plan, ProcessEnd, Transcript, Verdict};

/// Batches further apart than this belong to different modes. A timer's interrupt in a batch is less: some 10,000 instructions in 200,000 to 400,000 would be more,
/// but such batches are fewer than [`LEAST`].
const GAP: f64 = 0.02;

/// A mode with a smaller share of the batches is none: start-up, interrupts.
const LEAST: f64 = 0.12;

/// A mode is a number if no start is further from it.
pub const EXACT: f64 = 0.002;

/// Batches of a start in a mode that say where it lies.
const ENOUGH: usize = 5;

/// Batches around one number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Mode {
    /// Instructions per unit: median of its batches.
    pub instructions: f64,
    /// Share of all batches.
    pub share: f64,
    /// Largest distance of a start's median from that number, as a fraction.
    pub within: f64,
}

/// Kernel switches per unit that a kernel may make for one that the mechanism needs: how many it makes is what is counted here.
const MOST_SWITCHES: f64 = 4.0;

/// What the starts of a row came to in one column.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Count {
    /// Modes, the most frequent first; none: `missing` says why.
    pub modes: Vec<Mode>,
    /// The kernel's switches per unit.
    pub switches: f64,
    /// Of these, the share in which the CPU was taken from the task.
    pub involuntary: f64,
    /// Instructions per unit over all batches, with interrupts.
    pub mean: f64,
    /// Starts of the probe.
    pub starts: usize,
    /// Why there is no number.
    pub missing: Option<String>,
}

impl Count {
    /// One that is not there.
    #[must_use]
    pub fn missing(why: impl Into<String>) -> Self {
        Self { missing: Some(why.into()), ..Self::default() }
    }

    /// Its number, if it has one mode.
    #[must_use]
    pub fn only(&self) -> Option<f64> {
        Some(self.modes.first().filter(|_| self.modes.len() == 1)?.instructions)
    }
}

/// Clock ticks, which are instructions, of the measured batches of a start, per unit.
fn batches(transcript: &Transcript) -> Vec<f64> {
    let measured = transcript.samples.iter().filter(|samples| samples.phase == Phase::Measure);
    measured.flat_map(|samples| samples.ticks.iter().map(|tick| *tick as f64 / samples.units.max(1) as f64)).collect()
}

/// Whether a start did what its plan says; the judge has the evidence alone, since the host does not see into the machine.
///
/// # Errors
/// Why not.
pub fn believed(
    mechanism: &Mechanism,
    plan: &Plan,
    transcript: &Transcript,
    status: Option<i32>,
) -> Result<(), String> {
    let process = status.map_or(ProcessEnd::Unknown, ProcessEnd::Exited);
    let bound = Bounds::default();
    let answer = ProbeAnswer { transcript, process, log: "", seen: None, bound: &bound };
    let mut rule = mechanism.rule(&plan.variant);
    rule.kernel_switches = rule.kernel_switches.map(|(low, high)| (low, high.max(MOST_SWITCHES * low)));
    let judgement = judge(&rule, plan, &answer).judgement;
    match (judgement.verdict, judgement.reason) {
        (Verdict::Verified | Verdict::Unobservable, _) => Ok(()),
        (verdict, Some(reason)) => Err(format!("{verdict}: {reason}")),
        (verdict, None) => Err(verdict.to_string()),
    }
}

/// What these starts come to.
#[must_use]
pub fn count(starts: &[&Transcript]) -> Count {
    let each: Vec<Vec<f64>> = starts.iter().map(|start| batches(start)).collect();
    let mut all: Vec<f64> = each.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let evidence = || starts.iter().filter_map(|start| start.evidence.as_ref());
    let units: u64 = evidence().map(|evidence| evidence.units).sum();
    let kernel = || evidence().filter_map(|evidence| evidence.kernel.as_ref());
    let (voluntary, involuntary) =
        kernel().fold((0, 0), |(v, i), switches| (v + switches.voluntary, i + switches.involuntary));
    let per = |number: u64, of: u64| if of == 0 { 0.0 } else { number as f64 / of as f64 };
    let mut modes: Vec<Mode> = all
        .chunk_by(|low, high| high - low <= GAP * low)
        .filter(|cluster| cluster.len() as f64 >= LEAST * all.len() as f64)
        .map(|cluster| mode(cluster, &each, all.len()))
        .collect();
    modes.sort_by(|a, b| b.share.total_cmp(&a.share));
    Count {
        modes,
        switches: per(voluntary + involuntary, units),
        involuntary: per(involuntary, voluntary + involuntary),
        mean: all.iter().sum::<f64>() / all.len().max(1) as f64,
        starts: starts.len(),
        missing: None,
    }
}

/// A cluster of sorted batches.
fn mode(cluster: &[f64], starts: &[Vec<f64>], all: usize) -> Mode {
    let (low, high) = (cluster[0], cluster[cluster.len() - 1]);
    let instructions = cluster[cluster.len() / 2];
    let away = starts.iter().filter_map(|start| {
        let mut own: Vec<f64> = start.iter().copied().filter(|batch| (low..=high).contains(batch)).collect();
        own.sort_by(f64::total_cmp);
        (own.len() >= ENOUGH).then(|| (own[own.len() / 2] / instructions - 1.0).abs())
    });
    Mode { instructions, share: cluster.len() as f64 / all as f64, within: away.fold(0.0, f64::max) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_model::Samples;

    fn start(ticks: &[i64]) -> Transcript {
        let samples =
            Samples { phase: Phase::Measure, units: 10, quantity: None, ticks: ticks.to_vec(), rulers: [].into() };
        Transcript { samples: vec![samples], ..Transcript::default() }
    }

    #[test]
    fn modes_are_told_apart_and_interrupts_are_none() {
        let steady = start(&[[41_500; 90].as_slice(), &[42_000; 10]].concat());
        let one = count(&[&steady, &steady]);
        assert_eq!((one.modes.len(), one.modes[0].instructions, one.modes[0].within), (1, 4150.0, 0.0));
        let two = count(&[&start(&[[57_480; 80].as_slice(), &[41_500; 20]].concat())]);
        let found: Vec<(f64, f64)> = two.modes.iter().map(|mode| (mode.instructions, mode.share)).collect();
        assert_eq!(found, [(5748.0, 0.8), (4150.0, 0.2)]);
        let struck = count(&[&start(&[[41_500; 95].as_slice(), &[60_000; 5]].concat())]);
        assert_eq!(struck.modes.len(), 1);
        let apart = count(&[&start(&[41_500; 50]), &start(&[41_700; 50])]);
        assert!(apart.modes[0].within > EXACT, "{apart:?}");
    }
}
