//! Counters beside the time. Whole starts are counted, from exec to the end of the last task, with
//! equally many batches, of which those of the second have other units. All else that a probe does
//! (start-up, rulers, checks, evidence) is the same in both, so that their difference is of the
//! batches alone.

use super::Schedule;
use super::plan::UNROLLED;
use crate::invoke::{Outcome, invoke};
use std::collections::BTreeMap;
use switchcost_machine::Counters as Open;
use switchcost_model::{CountedStart, Counters, EndStatus, Plan, ProbeInfo, ProcessEnd, Timing, Transcript, Variant};

/// Events of one start: in user mode and in the kernel these make four counters, which every CPU
/// with any has at once.
const AT_ONCE: usize = 2;

impl Schedule<'_> {
    /// Events are counted beside this row.
    pub(super) fn counts(&self, index: usize) -> bool {
        let Variant { timing, experiment, .. } = &self.run.variants[index];
        !self.request.counters.is_empty() && *timing == Timing::Batch && experiment.countable()
    }

    /// The next start of a row is the one that is counted: the last of its first round, when it is
    /// known how many units fill a batch.
    pub(super) fn is_counted(&self, index: usize, round: u64) -> bool {
        round == 0 && self.counts(index) && self.progress[index].starts_of(0) + 1 == self.starts_of(index, 0)
    }

    /// Measures that start and the others that are counted, and gives the first with all counts.
    pub(super) fn counted(&self, info: &ProbeInfo, mut plan: Plan, cpus: &[u32], padding: u64, units: u64) -> Outcome {
        // Calibrating would be counted as well, and its work differs from start to start.
        plan.batch_units = plan.batch_units.max(units);
        let least = plan.variant.contexts.max(1).saturating_mul(UNROLLED);
        let other = if 2 * least <= plan.batch_units { least } else { plan.batch_units.saturating_mul(2) };
        let (mut all, mut first) = (Counters::default(), None::<Outcome>);
        let both = [plan.batch_units, other];
        for (events, batch_units) in self.request.counters.chunks(AT_ONCE).flat_map(|some| both.map(|of| (some, of))) {
            if first.as_ref().is_some_and(|first| first.interrupted || self.left() < 2 * first.wall) {
                break;
            }
            let open = Open::open(events);
            let counted = if first.is_none() || open.any() {
                let deadline_ms = plan.deadline_ms.min(self.left().as_millis() as u64);
                let plan = Plan { batch_units, deadline_ms, ..plan.clone() };
                let outcome = invoke(info, &plan, cpus, padding, false, self.control.interrupt);
                let units = units_of(&outcome);
                first.get_or_insert(outcome);
                units
            } else {
                None
            };
            let mut counts = BTreeMap::new();
            for (name, count) in open.read() {
                match count {
                    Ok(count) => drop(counts.insert(name, count)),
                    Err(why) => drop(all.refused.insert(name, why)),
                }
            }
            all.starts.extend(counted.map(|units| CountedStart { units, counts }));
        }
        let mut outcome = first.unwrap_or_default();
        outcome.seen.iter_mut().for_each(|seen| seen.counters = Some(all.clone()));
        outcome
    }
}

/// Units of a start that came to its end.
fn units_of(outcome: &Outcome) -> Option<u64> {
    let Transcript { end, evidence, .. } = &outcome.transcript;
    let ended = end.as_ref().is_some_and(|end| end.status == EndStatus::Ok) && outcome.process == ProcessEnd::Exited(0);
    evidence.as_ref().filter(|_| ended).map(|evidence| evidence.units)
}
