//! Rounds in random order, until precision, rounds, budget or the user end the run.

mod counted;
mod plan;
mod share;

use crate::experiments::acts;
use crate::invoke::{Outcome, invoke};
use crate::needed::cpus_of;
use crate::progress::Progress;
use crate::{KnownProbe, METHOD_VERSION, Selection, Sizes};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use switchcost_analysis::{At, Bounds, Constants, LOOKS, ProbeAnswer, Undisturbed, bounds_of, judge, settled, speeds};
use switchcost_catalogue::Catalogue;
use switchcost_machine::cpus::Cpus;
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::watch::Watch;
use switchcost_model::{
    EndedBy, Experiment, Invocation, Machine, Mechanism, Plan, ProbeInfo, Request, Run, Utc, Variant,
};

/// Largest padding of the environment, bytes: more than a page, so that every alignment of the
/// stack within a page occurs.
const MAX_PADDING: u64 = 4096;

/// Kept from the end of a budget, but no more than a tenth of it: until what a cut start leaves
/// behind is gone.
const TEARDOWN: Duration = Duration::from_millis(150);

/// Watches a run: shows it, stores it.
pub trait Observer {
    /// The run begins; variants are known.
    fn begun(&mut self, run: &Run);
    /// An invocation is about to start.
    fn starting(&mut self, run: &Run, variant: usize, round: u64);
    /// An invocation is done and already part of `run`.
    fn finished(&mut self, run: &Run, invocation: &Invocation);
    /// The run is over; `ended_by` and `ended_unix_ns` are set.
    fn ended(&mut self, run: &Run);
}

/// What a run needs from outside.
pub struct Control<'a> {
    /// When the budget began to run.
    pub started: Instant,
    /// Set once the user wants to stop.
    pub interrupt: Option<&'a Interrupt>,
    /// CPUs that may be used.
    pub cpus: &'a Cpus,
    /// Fingerprint.
    pub machine: Machine,
    /// Version of the tool.
    pub tool_version: String,
    /// The command as typed.
    pub command: Vec<String>,
}

struct Schedule<'a> {
    request: &'a Request,
    catalogue: &'a Catalogue,
    probes: &'a [KnownProbe],
    control: &'a Control<'a>,
    run: Run,
    progress: Vec<Progress>,
    /// Variant and round → positions in `run` of what is measured already and was not yet passed
    /// by.
    earlier: BTreeMap<(usize, u64), VecDeque<usize>>,
    sizes: BTreeMap<usize, Sizes>,
    /// Rows that needed no more at the end of an earlier pass.
    finished: BTreeSet<usize>,
    /// Those in which the first start of a row is for the host's own look.
    looking: BTreeSet<Experiment>,
}

/// Carries out a selection. Always returns what was measured, however the run ended.
pub fn execute(
    request: &Request,
    catalogue: &Catalogue,
    probes: &[KnownProbe],
    selection: Selection,
    control: &Control<'_>,
    observer: &mut dyn Observer,
) -> Run {
    let started = SystemTime::now();
    let run = Run {
        id: run_id(started),
        started_unix_ns: unix_ns(started),
        ended_unix_ns: None,
        seed: request.seed,
        ended_by: EndedBy::Unfinished,
        tool_version: control.tool_version.clone(),
        method_version: METHOD_VERSION,
        command: control.command.clone(),
        request: request.clone(),
        precision_ppm: (request.precision * 1e6).round() as u64,
        budget_ms: request.budget.as_millis() as u64,
        machine: control.machine.clone(),
        variants: selection.variants,
        not_run: selection.not_run,
        invocations: Vec::new(),
    };
    carry_out(request, catalogue, probes, run, selection.sizes, control, observer)
}

/// Goes on with a run that did not come to its end: the same variants in the same order, by the
/// run's own seed. What is measured is not measured again. `request` must be the one that began the
/// run, but for its budget, which counts from `control.started`.
pub fn resume(
    request: &Request,
    catalogue: &Catalogue,
    probes: &[KnownProbe],
    mut run: Run,
    sizes: BTreeMap<usize, Sizes>,
    control: &Control<'_>,
    observer: &mut dyn Observer,
) -> Run {
    (run.ended_by, run.ended_unix_ns) = (EndedBy::Unfinished, None);
    run.budget_ms = run.budget_ms.saturating_add(request.budget.as_millis() as u64);
    carry_out(request, catalogue, probes, run, sizes, control, observer)
}

fn carry_out(
    request: &Request,
    catalogue: &Catalogue,
    probes: &[KnownProbe],
    run: Run,
    sizes: BTreeMap<usize, Sizes>,
    control: &Control<'_>,
    observer: &mut dyn Observer,
) -> Run {
    let mut looking: BTreeSet<Experiment> = run.variants.iter().map(|variant| variant.experiment).collect();
    looking.retain(|experiment| (acts(*experiment).looks_first)(control.cpus.allowed()));
    let mut schedule = Schedule {
        request,
        catalogue,
        probes,
        control,
        run,
        progress: Vec::new(),
        earlier: BTreeMap::new(),
        sizes,
        finished: BTreeSet::new(),
        looking,
    };
    schedule.resolve_placements();
    observer.begun(&schedule.run);
    let ended_by = schedule.rounds(observer);
    let mut run = Run { ended_by, ended_unix_ns: Some(unix_ns(SystemTime::now())), ..schedule.run };
    switchcost_machine::look_again(&mut run.machine, control.started.elapsed());
    observer.ended(&run);
    run
}

impl Schedule<'_> {
    /// Rows whose placement this machine does not have are not run, and say so.
    fn resolve_placements(&mut self) {
        for (index, variant) in self.run.variants.iter().enumerate() {
            if self.run.not_run.contains_key(&index) {
                continue;
            }
            let refused = match cpus_of(variant.placement, self.control.cpus) {
                Ok(cpus) => {
                    let cpus = if cpus.is_empty() { self.control.cpus.allowed().len() } else { cpus.len() };
                    (acts(variant.experiment).refusal)(variant, cpus)
                }
                Err(reason) => Some(reason),
            };
            if let Some(reason) = refused {
                self.run.not_run.insert(index, reason);
            }
        }
    }

    /// Passes through the rounds, again for those given up as long as there turns out to be time
    /// for them after all.
    fn rounds(&mut self, observer: &mut dyn Observer) -> EndedBy {
        loop {
            let before = self.run.invocations.len();
            self.rewind();
            let ended_by = self.pass(observer);
            let waits = |index: &usize| self.progress[*index].given_up && !self.has_modes(*index);
            match ended_by {
                None => {}
                Some(EndedBy::Precision | EndedBy::Rounds | EndedBy::Nothing)
                    if (0..self.progress.len()).any(|index| waits(&index)) =>
                {
                    if self.run.invocations.len() == before {
                        return EndedBy::Budget;
                    }
                    let finished: Vec<usize> = (0..self.progress.len()).filter(|index| !waits(index)).collect();
                    self.finished.extend(finished);
                }
                Some(ended_by) => return ended_by,
            }
        }
    }

    /// Back to the first round, with everything that is measured already ahead.
    fn rewind(&mut self) {
        self.progress = vec![Progress::default(); self.run.variants.len()];
        for (&index, sizes) in &self.sizes {
            self.progress[index].batch_units = sizes.batch_units;
        }
        self.finished.iter().for_each(|&index| self.progress[index].done = true);
        self.earlier.clear();
        for (position, invocation) in self.run.invocations.iter().enumerate() {
            self.progress[invocation.variant].store(invocation);
            self.earlier.entry((invocation.variant, invocation.round)).or_default().push_back(position);
        }
    }

    /// Goes through the rounds. None: first back to rows that were made to wait and can have their
    /// interval after all.
    fn pass(&mut self, observer: &mut dyn Observer) -> Option<EndedBy> {
        let mut round = 0;
        let before = self.run.invocations.len();
        loop {
            let mut order: Vec<usize> = (0..self.run.variants.len())
                .filter(|index| !self.run.not_run.contains_key(index) && !self.progress[*index].done)
                .collect();
            if order.is_empty() {
                return Some(self.nothing_left(round));
            }
            order = order.into_iter().flat_map(|index| (0..self.starts_of(index, round)).map(move |_| index)).collect();
            self.random(round, None, 0).shuffle(&mut order);
            if round == 0 {
                // Every other start is held against these.
                order.sort_by_key(|&index| !self.bounds_others(index));
            }
            let mut disturbed = Vec::new();
            for &variant in &order {
                match self.start(variant, round, observer) {
                    Step::Done { disturbed: true } => disturbed.push(variant),
                    Step::Done { .. } => {}
                    Step::End(ended_by) => return Some(ended_by),
                }
            }
            for variant in disturbed {
                if let Step::End(ended_by) = self.start(variant, round, observer) {
                    return Some(ended_by);
                }
            }
            round += 1;
            self.retire(round);
            self.share_out(round);
            if round == self.fewest() && self.run.invocations.len() > before && self.one_fits() {
                return None;
            }
        }
    }

    /// Is it a control that bounds other rows from below?
    fn bounds_others(&self, index: usize) -> bool {
        let Variant { mechanism, experiment, .. } = &self.run.variants[index];
        let bounds = |other: &Mechanism| other.bound.contains(mechanism) || other.contains.contains(mechanism);
        experiment.bounded() && self.catalogue.mechanisms.iter().any(bounds)
    }

    /// Random numbers of a round, or of one start of a variant in it. A stream of its own each: a
    /// repeated start does not shift the rest, so the same seed gives the same order.
    fn random(&self, round: u64, variant: Option<usize>, start: u64) -> fastrand::Rng {
        let stream = (round << 32) | (start << 24) | variant.map_or(0, |variant| variant as u64 + 1);
        fastrand::Rng::with_seed(fastrand::Rng::with_seed(self.run.seed).u64(..) ^ stream)
    }

    fn nothing_left(&self, rounds: u64) -> EndedBy {
        if rounds == 0 {
            return EndedBy::Nothing;
        }
        if self.request.rounds.is_some() { EndedBy::Rounds } else { EndedBy::Precision }
    }

    /// After a round: which variants need no more?
    fn retire(&mut self, rounds_done: u64) {
        if let Some(wanted) = self.request.rounds {
            if rounds_done >= wanted {
                self.progress.iter_mut().for_each(|progress| progress.done = true);
            }
            return;
        }
        let due: Vec<usize> = (0..self.progress.len()).filter(|&index| self.is_due(index, rounds_done)).collect();
        if due.is_empty() {
            return;
        }
        let precise = self.precise(rounds_done);
        let done = |index: &usize| {
            let starts = rounds_done * self.starts_in_a_round(*index);
            LOOKS.iter().all(|(most, _)| *most <= starts) || precise.get(*index).is_some_and(|precise| *precise)
        };
        let done: Vec<usize> = due.into_iter().filter(done).collect();
        done.into_iter().for_each(|index| self.progress[index].done = true);
    }

    /// Has it reached in this round a number of starts at which it is looked at?
    fn is_due(&self, index: usize, rounds_done: u64) -> bool {
        let each = self.starts_in_a_round(index);
        let (before, now) = (rounds_done.saturating_sub(1) * each, rounds_done * each);
        !self.seeks(index)
            && !self.progress[index].done
            && LOOKS.iter().any(|(starts, _)| (before + 1..=now).contains(starts))
    }

    /// It goes on until it has found what it seeks.
    fn seeks(&self, index: usize) -> bool {
        (acts(self.run.variants[index].experiment).seeks)(&self.run.variants[index])
    }

    fn starts_in_a_round(&self, index: usize) -> u64 {
        if self.request.rounds.is_some() { 1 } else { self.run.variants[index].placement.starts_a_round() }
    }

    /// Those of this round: a control that bounds others is known before they begin, and a start
    /// for the host's own look is in no figure, nor is the last, beside which events are counted.
    fn starts_of(&self, index: usize, round: u64) -> u64 {
        let usual = self.starts_in_a_round(index);
        if round != 0 {
            return usual;
        }
        let looks = u64::from(self.looking.contains(&self.run.variants[index].experiment) && !self.seeks(index));
        let bounding = if self.bounds_others(index) { Constants::OURS.speaking_starts as u64 } else { 0 };
        (usual + looks).max(bounding) + u64::from(self.counts(index))
    }

    /// Of each row: its interval is narrow enough, and enough of its starts have batches beside
    /// which the machine was not slowed.
    fn precise(&self, rounds_done: u64) -> Vec<bool> {
        let mut starts = self.run.starts();
        starts.iter_mut().for_each(|starts| starts.retain(|start| start.round < rounds_done));
        let rows = settled(&self.run.variants, &starts, &speeds(&self.run), Some(self.request.precision), At::Median);
        rows.iter().map(|(row, clear)| row.precise && clear.as_ref().is_none_or(Undisturbed::enough)).collect()
    }

    fn left(&self) -> Duration {
        self.request.budget.saturating_sub(self.control.started.elapsed())
    }

    /// What an earlier session, or an earlier pass, measured of this variant in this round; says
    /// whether it was disturbed.
    fn replay(&mut self, index: usize, round: u64) -> Option<Step> {
        let position = self.earlier.get_mut(&(index, round))?.pop_front()?;
        let invocation = &self.run.invocations[position];
        self.progress[index].add(invocation, self.request.batch);
        Some(Step::Done { disturbed: !invocation.disturbances.is_empty() && !self.progress[index].done })
    }

    /// One invocation of one variant.
    fn start(&mut self, index: usize, round: u64, observer: &mut dyn Observer) -> Step {
        if let Some(step) = self.replay(index, round) {
            return step;
        }
        // What a start that the budget ends leaves behind takes a moment to go.
        let left = self.left().saturating_sub(TEARDOWN.min(self.request.budget / 10));
        let expected = self.progress[index].longest;
        if left < Duration::from_millis(10) {
            return Step::End(EndedBy::Budget);
        }
        if left < expected + expected / 5 {
            self.progress[index].give_up();
            return Step::Done { disturbed: false };
        }
        let variant = self.run.variants[index].clone();
        let Some(probe) = self.probes.iter().find(|probe| probe.info.id == variant.probe) else {
            self.progress[index].done = true; // Cannot be: only probes that answered are selected.
            return Step::Done { disturbed: false };
        };
        observer.starting(&self.run, index, round);
        let patience = self.patience(index, probe.info.start_timeout_ms, expected);
        let limit = patience.min(left).min(self.first_attempt(expected));
        let mut random = self.random(round, Some(index), self.progress[index].starts_of(round));
        let padding = random.u64(0..MAX_PADDING);
        let mechanism = self.catalogue.find(&variant.mechanism);
        let kept = mechanism.map(|page| page.capabilities_of(&probe.info.source, &variant.parameters));
        let info = ProbeInfo { capabilities: kept.unwrap_or_default(), ..probe.info.clone() };
        let first = round == 0 && self.progress[index].starts_of(0) == 0;
        let plan = self.plan(variant, index, random.u32(..), limit);
        let affinity = if plan.cpus.is_empty() { self.control.cpus.allowed().to_vec() } else { plan.cpus.clone() };
        let started = SystemTime::now();
        let watch = Watch::start(&affinity);
        let outcome = match self.is_counted(index, round) {
            true => self.counted(&info, plan.clone(), &affinity, padding, self.progress[index].batch_units),
            false => invoke(&info, &plan, &affinity, padding, first, self.control.interrupt),
        };
        if outcome.interrupted {
            return Step::End(EndedBy::Interrupt);
        }
        let deadline = outcome.process == switchcost_model::ProcessEnd::Deadline && outcome.wall >= limit;
        let out_of_budget = deadline && limit == left;
        // A start that only the budget cut short is not an answer, and may be made good by another
        // session; but a run must not end without any row.
        if out_of_budget && !self.run.invocations.is_empty() {
            return Step::End(EndedBy::Budget);
        }
        if deadline && !out_of_budget && limit < patience {
            self.progress[index].give_up();
            return Step::Done { disturbed: false };
        }
        let invocation = self.conclude(index, round, &plan, padding, started, watch, outcome);
        self.progress[index].store(&invocation);
        self.progress[index].add(&invocation, self.request.batch);
        // A disturbed invocation is repeated once per round; one of a variant that is given up is
        // not.
        let disturbed = !invocation.disturbances.is_empty() && !self.progress[index].done;
        self.run.invocations.push(invocation.clone());
        observer.finished(&self.run, &invocation);
        if out_of_budget {
            return Step::End(EndedBy::Budget);
        }
        Step::Done { disturbed }
    }

    #[expect(clippy::too_many_arguments, reason = "private; gathers the parts of one invocation")]
    fn conclude(
        &self,
        index: usize,
        round: u64,
        plan: &Plan,
        padding: u64,
        started: SystemTime,
        watch: Watch,
        outcome: Outcome,
    ) -> Invocation {
        let variant = &plan.variant;
        let computed = outcome.transcript.hello.as_ref().is_some_and(|hello| hello.clock.is_simulated());
        // Memory does not grow by the CPU time that others use, of which what the kernel does for
        // the ended contexts is a part.
        let timed = variant.experiment.timed() && !computed;
        let mut disturbances = outcome.exit.as_ref().filter(|_| timed).map(|exit| watch.stop(exit)).unwrap_or_default();
        let mechanism = self.catalogue.find(&variant.mechanism);
        let bound = mechanism
            .map_or(Bounds::default(), |mechanism| bounds_of(&Constants::OURS, &self.run, mechanism, &plan.variant));
        let answer = ProbeAnswer {
            transcript: &outcome.transcript,
            process: outcome.process,
            log: &outcome.log,
            seen: outcome.seen.as_ref(),
            bound: &bound,
        };
        let ruling = judge(&mechanism.map(|mechanism| mechanism.rule(variant)).unwrap_or_default(), plan, &answer);
        disturbances.extend(ruling.disturbances);
        // It is in no figure, and need not be repeated.
        if outcome.seen.as_ref().is_some_and(|seen| seen.counters.is_some()) {
            disturbances.clear();
        }
        Invocation {
            variant: index,
            round,
            sequence: self.run.invocations.len() as u64,
            started_unix_ns: unix_ns(started),
            wall_ns: outcome.wall.as_nanos() as u64,
            cpus: plan.cpus.clone(),
            environment_padding: padding,
            peak_rss_bytes: outcome.exit.and_then(|exit| exit.used).map_or(0, |used| used.max_rss),
            process: outcome.process,
            transcript: outcome.transcript,
            seen: outcome.seen,
            judgement: ruling.judgement.in_limits(switchcost_machine::tight_limits),
            disturbances,
            log: outcome.log,
        }
    }
}

enum Step {
    Done { disturbed: bool },
    End(EndedBy),
}

/// Of a clock before 1970 or after 2262 the nearest moment that can be stored.
fn unix_ns(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// `YYYYMMDDTHHMMSS-xxxx` in UTC; the suffix, from time and process id, keeps runs of one second
/// apart.
fn run_id(started: SystemTime) -> String {
    let started = unix_ns(started);
    let suffix = (started as u64 ^ (u64::from(std::process::id()) << 20)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
    let moment = Utc::new(started);
    format!("{}T{}-{suffix:04x}", moment.date().replace('-', ""), moment.clock().replace(':', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_the_moment_that_is_stored_whatever_the_clock_says() {
        let second = Duration::from_secs(1);
        let ages = Duration::from_secs(60 * 60 * 24 * 365 * 9000);
        for (time, stamp) in [
            (UNIX_EPOCH - second, "19700101T000000-"),
            (UNIX_EPOCH + second, "19700101T000001-"),
            (UNIX_EPOCH + ages, "22620411T234716-"),
        ] {
            assert!(run_id(time).starts_with(stamp), "{}", run_id(time));
        }
    }
}
