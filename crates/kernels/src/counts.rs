//! Numbers of instructions, and their modes.

use crate::serial::Start;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchcost_analysis::{Bounds, ProbeAnswer, judge};
use switchcost_model::{Mechanism, Phase, Plan, ProcessEnd, Transcript, Verdict};

/// Batches further apart than this belong to different modes. A timer's interrupt in a batch is
/// less: some 10,000 instructions in 200,000 to 400,000 would be more, but such batches are fewer
/// than [`LEAST`].
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

/// Kernel switches per unit that a kernel may make for one that the mechanism needs: how many it
/// makes is what is counted here.
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

/// What the starts of a row come to, each of which must do what the plan says at that depth of
/// control groups.
///
/// # Errors
/// Why they come to nothing. The judge has the evidence alone, since the host does not see into the
/// machine.
pub fn count(mechanism: &Mechanism, plan: &Plan, depth: u8, starts: &[Start]) -> Result<Count, String> {
    for Start { transcript, status, depth: found, .. } in starts {
        if *status == Some(127) && transcript.hello.is_none() {
            return Err("the probe does not start: link it statically".to_owned());
        }
        if *found != Some(usize::from(depth)) {
            let found = found.map_or("nowhere".to_owned(), |depth| depth.to_string());
            return Err(format!("it ran at depth {found}, not {depth}"));
        }
        let process = status.map_or(ProcessEnd::Unknown, ProcessEnd::Exited);
        let answer = ProbeAnswer { transcript, process, log: "", seen: None, bound: &Bounds::default() };
        let mut rule = mechanism.rule(&plan.variant);
        rule.kernel_switches = rule.kernel_switches.map(|(low, high)| (low, high.max(MOST_SWITCHES * low)));
        let judgement = judge(&rule, plan, &answer).judgement;
        let verdict = judgement.verdict;
        if !matches!(verdict, Verdict::Verified | Verdict::Unobservable) {
            return Err(judgement.reason.map_or(verdict.to_string(), |reason| format!("{verdict}: {reason}")));
        }
    }
    Ok(Count::of(starts.iter().map(|start| &start.transcript).collect()))
}

impl Count {
    /// What these starts come to. The clock's ticks are instructions.
    fn of(starts: Vec<&Transcript>) -> Self {
        let batches = |start: &&Transcript| {
            let measured = start.samples.iter().filter(|samples| samples.phase == Phase::Measure);
            measured.flat_map(|some| some.ticks.iter().map(|tick| *tick as f64 / some.units.max(1) as f64)).collect()
        };
        let each: Vec<Vec<f64>> = starts.iter().map(batches).collect();
        let mut all = each.concat();
        all.sort_by(f64::total_cmp);
        let evidence = || starts.iter().filter_map(|start| start.evidence.as_ref());
        let units: u64 = evidence().map(|evidence| evidence.units).sum();
        let kernel = || evidence().filter_map(|evidence| evidence.kernel.as_ref());
        let involuntary: u64 = kernel().map(|switches| switches.involuntary).sum();
        let switches = involuntary + kernel().map(|switches| switches.voluntary).sum::<u64>();
        let clusters = all.chunk_by(|low, high| high - low <= GAP * low);
        let large = clusters.filter(|cluster| cluster.len() as f64 >= LEAST * all.len() as f64);
        let mut modes: Vec<Mode> = large.map(|cluster| mode(cluster, &each, all.len())).collect();
        modes.sort_by(|a, b| b.share.total_cmp(&a.share));
        Self {
            missing: modes.is_empty().then(|| "no number comes often enough".to_owned()),
            modes,
            switches: switches as f64 / units.max(1) as f64,
            involuntary: involuntary as f64 / switches.max(1) as f64,
            mean: all.iter().sum::<f64>() / all.len().max(1) as f64,
            starts: starts.len(),
        }
    }
}

/// A cluster of sorted batches.
fn mode(cluster: &[f64], starts: &[Vec<f64>], all: usize) -> Mode {
    let middle = |batches: &[f64]| switchcost_stats::median(batches).unwrap_or_default();
    let instructions = middle(cluster);
    let own = |start: &Vec<f64>| -> Vec<f64> {
        start.iter().copied().filter(|batch| (cluster[0]..=cluster[cluster.len() - 1]).contains(batch)).collect()
    };
    let lie = starts.iter().map(own).filter(|own| own.len() >= ENOUGH).map(|own| middle(&own));
    let within = lie.map(|middle| (middle / instructions - 1.0).abs()).fold(0.0, f64::max);
    Mode { instructions, share: cluster.len() as f64 / all as f64, within }
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
        let one = Count::of(vec![&steady, &steady]);
        assert_eq!((one.modes.len(), one.modes[0].instructions, one.modes[0].within), (1, 4150.0, 0.0));
        let two = Count::of(vec![&start(&[[57_480; 80].as_slice(), &[41_500; 20]].concat())]);
        let found: Vec<(f64, f64)> = two.modes.iter().map(|mode| (mode.instructions, mode.share)).collect();
        assert_eq!(found, [(5748.0, 0.8), (4150.0, 0.2)]);
        let struck = Count::of(vec![&start(&[[41_500; 95].as_slice(), &[60_000; 5]].concat())]);
        assert_eq!(struck.modes.len(), 1);
        let apart = Count::of(vec![&start(&[41_500; 50]), &start(&[41_700; 50])]);
        assert!(apart.modes[0].within > EXACT, "{apart:?}");
    }
}
