//! Rounds in random order, until precision, rounds, budget or the user end the run.

use crate::invoke::{Outcome, invoke};
use crate::{KnownProbe, METHOD_VERSION, Request, Selection};
use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use switchcost_analysis::{judge, precise_enough, summarise};
use switchcost_catalogue::Catalogue;
use switchcost_machine::cpus::Cpus;
use switchcost_machine::watch::Watch;
use switchcost_model::{EndedBy, Experiment, Invocation, Machine, Placement, Plan, Run, Variant, Verdict};

/// Rounds after which precision is looked at. Looking after each would stop on a lucky streak; the last one gives up.
const LOOKS: [u64; 5] = [10, 15, 20, 30, 40];

/// Time a probe has for itself beyond start-up and batches before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(5);

/// Largest padding of the environment, bytes: more than a page, so that every alignment of the stack within a page occurs.
const MAX_PADDING: u64 = 4096;

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
    /// Readable once the user wants to stop.
    pub interrupt: Option<BorrowedFd<'a>>,
    /// CPUs that may be used.
    pub cpus: &'a Cpus,
    /// Fingerprint.
    pub machine: Machine,
    /// Version of the tool.
    pub tool_version: String,
    /// The command as typed.
    pub command: Vec<String>,
}

/// State of one variant during the run.
#[derive(Default, Clone)]
struct Progress {
    batch_units: u64,
    longest: Duration,
    done: bool,
}

struct Schedule<'a> {
    request: &'a Request,
    catalogue: &'a Catalogue,
    probes: &'a [KnownProbe],
    control: &'a Control<'a>,
    run: Run,
    progress: Vec<Progress>,
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
        precision_ppm: (request.precision * 1e6).round() as u64,
        budget_ms: request.budget.as_millis() as u64,
        machine: control.machine.clone(),
        variants: selection.variants,
        not_run: selection.not_run,
        invocations: Vec::new(),
    };
    let progress = vec![Progress::default(); run.variants.len()];
    let mut schedule = Schedule { request, catalogue, probes, control, run, progress };
    schedule.resolve_placements();
    observer.begun(&schedule.run);
    let ended_by = schedule.rounds(observer);
    let mut run = schedule.run;
    run.ended_by = ended_by;
    run.ended_unix_ns = Some(unix_ns(SystemTime::now()));
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
            if let Err(reason) = self.planned_cpus(variant) {
                self.run.not_run.insert(index, reason);
            }
        }
    }

    /// CPUs named in the plan; empty for `free`.
    fn planned_cpus(&self, variant: &Variant) -> Result<Vec<u32>, String> {
        match variant.placement {
            Placement::OneCpu => Ok(vec![self.control.cpus.measured()]),
            Placement::TwoCpus => self.control.cpus.pair().map(Vec::from),
            Placement::Free => Ok(Vec::new()),
        }
    }

    fn rounds(&mut self, observer: &mut dyn Observer) -> EndedBy {
        let mut round = 0;
        loop {
            let mut order: Vec<usize> = (0..self.run.variants.len())
                .filter(|index| !self.run.not_run.contains_key(index) && !self.progress[*index].done)
                .collect();
            if order.is_empty() {
                return self.nothing_left(round);
            }
            order.shuffle(&mut self.random(round, None));
            let mut disturbed = Vec::new();
            for &variant in &order {
                match self.one(variant, round, observer) {
                    Step::Done { disturbed: true } => disturbed.push(variant),
                    Step::Done { .. } => {}
                    Step::End(ended_by) => return ended_by,
                }
            }
            for variant in disturbed {
                if let Step::End(ended_by) = self.one(variant, round, observer) {
                    return ended_by;
                }
            }
            round += 1;
            self.look(round);
        }
    }

    /// Random numbers of a round, or of one variant in it. A stream of its own each: a repeated invocation does not shift the rest, so the same
    /// seed gives the same order.
    fn random(&self, round: u64, variant: Option<usize>) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.request.seed);
        random.set_stream((round << 32) | variant.map_or(0, |variant| variant as u64 + 1));
        random
    }

    fn nothing_left(&self, rounds: u64) -> EndedBy {
        if rounds == 0 {
            return EndedBy::Nothing;
        }
        if self.request.rounds.is_some() { EndedBy::Rounds } else { EndedBy::Precision }
    }

    /// After a round: which variants need no more?
    fn look(&mut self, rounds_done: u64) {
        if let Some(wanted) = self.request.rounds {
            if rounds_done >= wanted {
                self.progress.iter_mut().for_each(|progress| progress.done = true);
            }
            return;
        }
        if !LOOKS.contains(&rounds_done) {
            return;
        }
        for index in 0..self.run.variants.len() {
            if rounds_done == LOOKS[LOOKS.len() - 1] || self.is_precise(index) {
                self.progress[index].done = true;
            }
        }
    }

    fn is_precise(&self, index: usize) -> bool {
        let mine: Vec<&Invocation> = self.run.invocations.iter().filter(|i| i.variant == index).collect();
        precise_enough(&summarise(&self.run.variants[index], &mine), self.request.precision)
    }

    /// One invocation of one variant.
    fn one(&mut self, index: usize, round: u64, observer: &mut dyn Observer) -> Step {
        let left = self.request.budget.saturating_sub(self.control.started.elapsed());
        let expected = self.progress[index].longest;
        if left < expected + expected / 5 || left < Duration::from_millis(10) {
            return Step::End(EndedBy::Budget);
        }
        let variant = self.run.variants[index].clone();
        let Some(probe) = self.probes.iter().find(|probe| probe.info.id == variant.probe) else {
            self.progress[index].done = true; // Cannot be: only probes that answered are selected.
            return Step::Done { disturbed: false };
        };
        observer.starting(&self.run, index, round);
        let patience = self.patience(&variant, probe.info.start_timeout_ms, expected);
        let plan = self.plan(variant, index, round, patience.min(left));
        let padding = self.random(round, Some(index)).random_range(0..MAX_PADDING);
        let affinity = if plan.cpus.is_empty() { self.control.cpus.allowed().to_vec() } else { plan.cpus.clone() };
        let started = SystemTime::now();
        let watch = Watch::start(&affinity);
        let outcome = invoke(&probe.info, &plan, &affinity, padding, self.control.interrupt);
        if outcome.interrupted {
            return Step::End(EndedBy::Interrupt);
        }
        let out_of_budget = outcome.process == switchcost_model::ProcessEnd::Deadline && left <= patience;
        if out_of_budget && expected > Duration::ZERO {
            return Step::End(EndedBy::Budget);
        }
        let invocation = self.conclude(index, round, &plan, padding, started, watch, outcome);
        // A disturbed invocation is repeated once a round; one of a variant that is given up is not.
        let disturbed = !invocation.disturbances.is_empty() && !self.progress[index].done;
        self.run.invocations.push(invocation.clone());
        observer.finished(&self.run, &invocation);
        if out_of_budget {
            return Step::End(EndedBy::Budget);
        }
        Step::Done { disturbed }
    }

    /// How long an invocation may take before it counts as hanging.
    fn patience(&self, variant: &Variant, start_timeout_ms: u64, expected: Duration) -> Duration {
        let batches = (self.request.batches + warmup_batches(self.request.batches)) as u32;
        PATIENCE
            + Duration::from_millis(start_timeout_ms)
            + self.request.batch * batches * 4
            + Duration::from_millis(variant.contexts)
            + expected * 10
    }

    fn plan(&self, variant: Variant, index: usize, round: u64, deadline: Duration) -> Plan {
        let footprint = variant.experiment == Experiment::Footprint;
        Plan {
            cpus: self.planned_cpus(&variant).unwrap_or_default(), // Rows without CPUs were taken out before the first round.
            batch_units: self.progress[index].batch_units,
            batch_ns: self.request.batch.as_nanos().max(1) as u64,
            batches: if footprint { 1 } else { self.request.batches },
            warmup_batches: if footprint { 0 } else { warmup_batches(self.request.batches) },
            verify_units: 1000,
            seed: u64::from(self.random(round, Some(index)).random::<u32>()),
            deadline_ms: deadline.as_millis() as u64,
            variant,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "private; gathers the parts of one invocation")]
    fn conclude(
        &mut self,
        index: usize,
        round: u64,
        plan: &Plan,
        padding: u64,
        started: SystemTime,
        watch: Watch,
        outcome: Outcome,
    ) -> Invocation {
        let variant = &plan.variant;
        let mut disturbances = outcome.exit.as_ref().map(|exit| watch.stop(exit)).unwrap_or_default();
        let ruling = match self.catalogue.find(&variant.mechanism) {
            Some(concept) => judge(concept.rule(variant), plan, &outcome.transcript, outcome.process, &outcome.log),
            None => judge(&Default::default(), plan, &outcome.transcript, outcome.process, &outcome.log),
        };
        disturbances.extend(ruling.disturbances);
        let progress = &mut self.progress[index];
        progress.longest = progress.longest.max(outcome.wall);
        // A variant that cannot run or broke will not do better in the next round; time is for the others.
        progress.done |= matches!(ruling.judgement.verdict, Verdict::Unsupported | Verdict::Broken);
        if progress.batch_units == 0 {
            progress.batch_units = outcome.transcript.plan.as_ref().map_or(0, |echo| echo.batch_units);
        }
        Invocation {
            variant: index,
            round,
            sequence: self.run.invocations.len() as u64,
            started_unix_ns: unix_ns(started),
            wall_ns: outcome.wall.as_nanos() as u64,
            cpus: plan.cpus.clone(),
            environment_padding: padding,
            peak_rss_bytes: outcome.exit.as_ref().map_or(0, |exit| exit.max_rss),
            process: outcome.process,
            transcript: outcome.transcript,
            judgement: ruling.judgement,
            disturbances,
            log: outcome.log,
        }
    }
}

enum Step {
    Done { disturbed: bool },
    End(EndedBy),
}

/// Planned warm-up: a sixth of the measured batches, at least one.
fn warmup_batches(batches: u64) -> u64 {
    (batches / 6).max(1)
}

fn unix_ns(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// `YYYYMMDDTHHMMSS-xxxx` in UTC; the suffix, from time and process id, keeps runs of one second apart.
fn run_id(started: SystemTime) -> String {
    let stamp = jiff::Timestamp::try_from(started).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let suffix =
        (unix_ns(started) as u64 ^ (u64::from(std::process::id()) << 20)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
    format!("{}-{suffix:04x}", stamp.strftime("%Y%m%dT%H%M%S"))
}
