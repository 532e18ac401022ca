//! Units that are done one after another by one context: those of experiment `create` and of
//! controls.

use crate::clock::{now, read_counter};
use crate::histogram::Histogram;
use crate::mechanism::{Claim, Workload};
use crate::refusal::Refusal;

/// What is done beside each unit: nothing (`()`), which compiles to nothing, or a recording of its
/// interval.
pub trait Recorder: Send + 'static {
    /// Before a unit.
    fn depart(&mut self);

    /// After it.
    fn arrive(&mut self);
}

impl Recorder for () {
    #[inline(always)]
    fn depart(&mut self) {}

    #[inline(always)]
    fn arrive(&mut self) {}
}

/// Records each interval, for `timing=each`.
#[derive(Debug)]
struct Each {
    histogram: Box<Histogram>,
    sent: u64,
}

impl Recorder for Each {
    #[inline(always)]
    fn depart(&mut self) {
        self.sent = read_counter();
    }

    #[inline(always)]
    fn arrive(&mut self) {
        self.histogram.arrive(self.sent);
    }
}

/// A batch that is over.
#[derive(Debug)]
pub struct Done<R> {
    /// The token, which every unit advanced by one.
    pub token: u64,
    /// Between two readings of the clock around the units.
    pub ticks: u64,
    /// The recorder, given back.
    pub recorder: R,
}

impl<R: Recorder> Done<R> {
    /// Does so many units, each of which makes the next token of one, between two readings of the
    /// clock.
    #[inline(always)]
    pub fn units(mut token: u64, units: u64, mut recorder: R, mut unit: impl FnMut(u64) -> u64) -> Self {
        let begin = now();
        for _ in 0..units {
            recorder.depart();
            token = unit(token);
            recorder.arrive();
        }
        Self { token, ticks: now() - begin, recorder }
    }
}

/// What a mechanism adds: how a unit is done.
pub trait Series {
    /// The measured region: `units` units, each of which advances the token by one and is recorded.
    fn series<R: Recorder>(&mut self, token: u64, units: u64, recorder: R) -> Done<R>;

    /// Sets to zero what it counts itself.
    fn reset(&mut self) {}

    /// What the token says of units that advanced it so far: by default that each was a context
    /// created.
    fn claim(&self, token: u64) -> Claim {
        Claim::of_created(token)
    }

    /// As of a workload.
    fn fault(&self) -> Option<Refusal> {
        None
    }
}

/// A workload of such units.
#[derive(Debug)]
pub struct Units<S> {
    series: S,
    token: u64,
}

impl<S: Series + 'static> Units<S> {
    /// The workload.
    pub fn boxed(series: S) -> Box<dyn Workload> {
        Box::new(Self { series, token: 0 })
    }

    fn pass<R: Recorder>(&mut self, units: u64, recorder: R) -> Done<R> {
        let done = self.series.series(self.token, units, recorder);
        self.token = done.token;
        done
    }
}

impl<S: Series + 'static> Workload for Units<S> {
    fn run(&mut self, units: u64) -> u64 {
        self.pass(units, ()).ticks
    }

    fn run_each(&mut self, units: u64, histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        let done = self.pass(units, Each { histogram, sent: 0 });
        (done.ticks, done.recorder.histogram)
    }

    fn reset(&mut self) {
        self.token = 0;
        self.series.reset();
    }

    fn claim(&mut self) -> Claim {
        self.series.claim(self.token)
    }

    fn fault(&self) -> Option<Refusal> {
        self.series.fault()
    }
}
