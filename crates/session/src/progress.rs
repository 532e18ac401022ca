//! What the user sees while it measures, and what the store gets.

use crate::bar::Progress;
use crate::output;
use crate::stored::opened;
use std::time::{Duration, Instant};
use switchcost_analysis::number::{counted, nanoseconds, percent, roughly};
use switchcost_analysis::{by_itself, label, time_texts};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Invocation, Request, Run, Variant};
use switchcost_runner::Observer;
use switchcost_store::{Store, StoreError};

/// Rounds of a full run; the bar is drawn against them.
const FULL_ROUNDS: u64 = 10;

/// What a start takes, about.
const START: Duration = Duration::from_millis(100);

/// Time that a write waits for another process while there is still something to measure.
const PATIENCE: Duration = Duration::from_millis(50);

/// The same at the end.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// Shows and stores a run as it goes. It draws only between invocations: nothing of the host runs
/// while a probe measures.
pub struct Live<'a> {
    store: Store,
    /// Makes the run's place in the store.
    begin: &'a dyn Fn(&mut Store, &Run) -> Result<(), StoreError>,
    /// What keeps the store from having all of the run so far.
    failure: Option<StoreError>,
    /// The run has its place in the store.
    placed: bool,
    /// Invocations that are in the store.
    stored: usize,
    catalogue: &'a Catalogue,
    request: &'a Request,
    started: Instant,
    progress: Progress,
    /// Interval width and median of each variant, as far as known.
    state: Vec<Option<(f64, Option<f64>)>>,
    /// Of each variant, where its starts stand among the run's.
    places: Vec<Vec<usize>>,
    spent: Duration,
}

impl<'a> Live<'a> {
    /// Shows on standard error: a line that is redrawn on a terminal, plain lines elsewhere.
    pub fn new(
        store: Store,
        begin: &'a dyn Fn(&mut Store, &Run) -> Result<(), StoreError>,
        catalogue: &'a Catalogue,
        request: &'a Request,
        started: Instant,
    ) -> Self {
        let (progress, spent) = (Progress::drawn(), Duration::ZERO);
        let (state, places, failure, placed, stored) = (Vec::new(), Vec::new(), None, false, 0);
        Self { store, begin, failure, placed, stored, catalogue, request, started, progress, state, places, spent }
    }

    /// Takes the line away; says whether everything was stored.
    pub fn finish(self) -> Result<(), StoreError> {
        self.progress.clear();
        self.failure.map_or(Ok(()), Err)
    }

    /// Stores what is not stored yet. If that fails, measuring goes on: what is measured can still
    /// be shown, and the next time it is tried again, for a lock is taken away and a full disk is
    /// cleared.
    fn store_up(&mut self, run: &Run) {
        let placed = if self.placed { Ok(()) } else { self.place(&Run { invocations: Vec::new(), ..run.clone() }) };
        let missing = run.invocations.iter().skip(self.stored);
        let mut all = missing.map(|one| self.store.add_invocation(&run.id, one).map(|()| self.stored += 1));
        self.failure = placed.and_then(|()| all.try_for_each(|stored| stored)).err();
    }

    /// Makes the run's place in the store.
    fn place(&mut self, run: &Run) -> Result<(), StoreError> {
        (self.begin)(&mut self.store, run)?;
        self.placed = true;
        Ok(())
    }

    /// Takes note of how far a variant is known.
    fn note(&mut self, run: &Run, variant: usize) {
        let starts: Vec<&Invocation> = self.places[variant].iter().map(|&place| &run.invocations[place]).collect();
        self.state[variant] = by_itself(&run.variants[variant], &starts).figures.map(|figures| {
            let width = figures.interval.map(|interval| interval.relative_half_width(figures.median));
            (figures.median, width)
        });
    }

    fn runnable(run: &Run) -> u64 {
        (run.variants.len() - run.not_run.len()) as u64 // The A/A twin included: it also takes time.
    }

    fn rows(run: &Run) -> String {
        counted(Self::runnable(run) as usize, "row")
    }

    /// How far precision is reached, and the widest interval.
    fn precision(&self, run: &Run) -> String {
        let widths: Vec<(usize, f64)> =
            self.state.iter().enumerate().filter_map(|(i, state)| Some((i, state.as_ref()?.1?))).collect();
        let done = widths.iter().filter(|(_, width)| *width <= self.request.precision).count();
        let widest = widths.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(String::new(), |(index, width)| {
            format!(", widest ±{}: {}", percent(*width), label(&run.variants[*index], self.catalogue, false))
        });
        format!("{done} of {} within ±{}{widest}", Self::rows(run), percent(self.request.precision))
    }

    /// Time to the end of the planned rounds; behind them, as many follow as precision needs,
    /// within the budget.
    fn left(&self, run: &Run) -> String {
        let done = run.invocations.len().max(1) as u32;
        let planned = self.request.rounds.unwrap_or(FULL_ROUNDS) * Self::runnable(run);
        let left = planned.saturating_sub(run.invocations.len() as u64);
        let estimate = self.spent / done * u32::try_from(left).unwrap_or(u32::MAX);
        let most = self.request.budget.saturating_sub(self.started.elapsed());
        let (word, time) = if left == 0 || estimate > most { ("up to", most) } else { ("about", estimate) };
        format!("{word} {} s left", time.as_secs_f64().ceil() as u64)
    }
}

impl Observer for Live<'_> {
    fn begun(&mut self, run: &Run) {
        self.state = vec![None; run.variants.len()];
        self.stored = run.invocations.len();
        self.failure = self.store.set_patience(PATIENCE).err();
        self.places = vec![Vec::new(); run.variants.len()];
        run.invocations.iter().enumerate().for_each(|(place, start)| self.places[start.variant].push(place));
        (0..run.variants.len()).for_each(|variant| self.note(run, variant));
        self.spent = run.invocations.iter().map(|invocation| Duration::from_nanos(invocation.wall_ns)).sum();
        let planned = self.request.rounds.unwrap_or(FULL_ROUNDS) * Self::runnable(run);
        let absent = match run.not_run.len() {
            0 => String::new(),
            absent => format!(" ({absent} cannot run here)"),
        };
        let most = time_texts(self.request.budget.as_secs_f64())[0].clone();
        // Of rounds without a number nobody knows how many precision takes.
        let missing = planned.saturating_sub(run.invocations.len() as u64) as f64 / planned.max(1) as f64;
        let start = |variant: &Variant| {
            let batches = u32::try_from(self.request.batches_of(variant.experiment)).unwrap_or(u32::MAX);
            START.max(self.request.batch_of(variant.experiment).saturating_mul(batches))
        };
        let able = run.variants.iter().enumerate().filter(|(index, _)| !run.not_run.contains_key(index));
        let round: f64 = able.map(|(_, variant)| start(variant).as_secs_f64()).sum();
        let whole = self.request.rounds.map(|rounds| round * rounds as f64 * missing);
        let time = whole.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let time = match time.filter(|time| *time < self.request.budget) {
            Some(time) => format!("about {}, at most {most}", roughly(time)),
            None => format!("up to {most}"),
        };
        self.progress.set_length(planned);
        self.progress.announce(|| format!("measuring {}{absent}, {time}", Self::rows(run)));
    }

    fn starting(&mut self, run: &Run, variant: usize, round: u64) {
        if !self.progress.listens() {
            return;
        }
        let known = self.state[variant].map_or(String::new(), |(median, width)| {
            let width = width.map_or(String::new(), |width| format!(" ±{}", percent(width)));
            format!(" {} {}{width}", nanoseconds(median), run.variants[variant].experiment.quantity.unit)
        });
        let message = format!(
            "round {} · {}{known} · {} · {}",
            round + 1,
            label(&run.variants[variant], self.catalogue, false),
            self.precision(run),
            self.left(run)
        );
        self.progress.say(|| message);
    }

    fn finished(&mut self, run: &Run, invocation: &Invocation) {
        self.spent += Duration::from_nanos(invocation.wall_ns);
        self.store_up(run);
        self.places[invocation.variant].push(run.invocations.len() - 1);
        self.note(run, invocation.variant);
        self.progress.step();
    }

    fn ended(&mut self, run: &Run) {
        // Nobody asks again for a run of nothing.
        if run.invocations.is_empty() {
            return;
        }
        // Nothing is measured any more.
        let mut patient = self.store.set_patience(LAST_PATIENCE);
        if self.store.is_gone() {
            // Somebody removed the file meanwhile, or put another in its place: all of the run goes
            // into the one that is there.
            let path = self.store.path().to_owned();
            let replaced = path.exists();
            patient = opened(&path).map(|store| self.store = store);
            (self.placed, self.stored) = (false, 0);
            if replaced && patient.is_ok() {
                output::say(&format!("{} was replaced by another store while the run went on", path.display()));
                self.store_up(run);
                if let Some(StoreError::Conflict { id, .. }) = &self.failure {
                    self.failure = Some(StoreError::Replaced { path, id: id.clone() });
                    return;
                }
            }
        }
        if let Err(failure) = patient {
            self.failure = Some(failure);
            return;
        }
        self.store_up(run);
        if self.failure.is_none() {
            self.failure = self.store.finish_run(run).err();
        }
    }
}
