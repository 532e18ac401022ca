//! Controls of fiber/tokio: what one task does alone, of what a switch is made of.

use kit::{now, read_counter, Claim, Histogram, Mechanism, Plan, Refusal, Trace, Turns, Workload};
use std::future::{poll_fn, Future};
use std::pin::Pin;
use std::task::Poll;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::channel;
use tokio::task::unconstrained;

/// A send and a receive that wait for nobody, by one task and a channel of capacity 1.
pub const CHANNEL: Mechanism = control("control/tokio-channel", |_| Alone::boxed(through_channel));

/// A task wakes itself and returns `Pending`: into the scheduler's queue, out of it, polled again.
pub const WAKE: Mechanism = control("control/tokio-wake", |_| Alone::boxed(wake_oneself));

const fn control(id: &'static str, set_up: fn(&Plan) -> Result<Box<dyn Workload>, Refusal>) -> Mechanism {
    Mechanism {
        id,
        experiments: &["switch"],
        parameters: &[],
        timings: kit::ALL_TIMINGS,
        pins: false,
        unavailable: || None,
        set_up,
        hold: None,
    }
}

/// So many units, each recorded if there is a histogram; gives the units done and the ticks.
type Body = fn(u64, Option<Box<Histogram>>) -> Pin<Box<dyn Future<Output = Done> + Send>>;

struct Done {
    units: u64,
    ticks: u64,
    histogram: Option<Box<Histogram>>,
}

fn through_channel(units: u64, mut histogram: Option<Box<Histogram>>) -> Pin<Box<dyn Future<Output = Done> + Send>> {
    // Unconstrained: a task that is never suspended would have to give way now and then.
    Box::pin(unconstrained(async move {
        let (to, mut from) = channel::<i64>(1);
        let mut token = 0;
        let begin = now();
        for _ in 0..units {
            let sent = stamp(histogram.is_some());
            if to.send(token + 1).await.is_err() {
                std::process::abort();
            }
            token = from.recv().await.unwrap_or_default();
            record(&mut histogram, sent);
        }
        Done { units: token as u64, ticks: now() - begin, histogram }
    }))
}

fn wake_oneself(units: u64, mut histogram: Option<Box<Histogram>>) -> Pin<Box<dyn Future<Output = Done> + Send>> {
    Box::pin(async move {
        let (mut polls, mut sent) = (0, 0);
        let begin = now();
        poll_fn(|context| {
            if polls > 0 {
                record(&mut histogram, sent);
            }
            if polls == units {
                return Poll::Ready(());
            }
            polls += 1;
            sent = stamp(histogram.is_some());
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        Done { units: polls, ticks: now() - begin, histogram }
    })
}

#[inline(always)]
fn stamp(each: bool) -> u64 {
    if each {
        read_counter()
    } else {
        0
    }
}

#[inline(always)]
fn record(histogram: &mut Option<Box<Histogram>>, sent: u64) {
    if let Some(histogram) = histogram {
        histogram.arrived(sent, read_counter());
    }
}

struct Alone {
    runtime: Runtime,
    body: Body,
    units: u64,
}

impl Alone {
    fn boxed(body: Body) -> Result<Box<dyn Workload>, Refusal> {
        let runtime = Builder::new_current_thread().build();
        let runtime =
            runtime.map_err(|error| Refusal::failed("set_up_failed", format!("no tokio runtime: {error}")))?;
        Ok(Box::new(Self { runtime, body, units: 0 }))
    }

    fn repeat(&mut self, units: u64, histogram: Option<Box<Histogram>>) -> Done {
        // A task of its own, since the future of block_on is scheduled by other rules.
        let task = self.runtime.spawn((self.body)(units, histogram));
        // The task cannot be cancelled, and a panic of it is one of the probe.
        let Ok(done) = self.runtime.block_on(task) else { std::process::abort() };
        self.units += done.units;
        done
    }
}

impl Workload for Alone {
    fn lap(&self) -> u64 {
        1
    }

    fn run(&mut self, units: u64) -> u64 {
        self.repeat(units, None).ticks
    }

    fn run_each(&mut self, units: u64, histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        let done = self.repeat(units, Some(histogram));
        // It goes through the task and comes back.
        let Some(histogram) = done.histogram else { std::process::abort() };
        (done.ticks, histogram)
    }

    fn reset(&mut self) {
        self.units = 0;
    }

    fn claim(&mut self) -> Claim {
        let mut turns = Turns::default();
        turns.count(self.units);
        Claim::new(turns, self.units, false)
    }

    fn verify(&mut self, _: u64, _: Box<Trace>) -> Option<Box<Trace>> {
        None
    }
}
