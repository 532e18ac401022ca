//! fiber/may: stackful coroutines of may hand a token round a ring of its mpsc channels, on one
//! worker thread.
//!
//! Context 0 is a coroutine too, which lives for one batch: the thread that started the probe only
//! waits for it.

use kit::{
    now, Claim, Context, Contexts, Done, Mechanism, PassToken, Plan, Population, Recorder, Refusal, Series, Touch,
    Units, WorkingSet, Workload,
};
use may::config;
use may::coroutine::{self, JoinHandle};
use may::sync::mpsc::{channel, Receiver, Sender};
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire},
};
use std::sync::Arc;

pub const MECHANISM: Mechanism = Mechanism {
    experiments: &["switch", "create", "footprint"],
    parameters: &[kit::HEAP_OFFSET, kit::WORKING_SET],
    create: |_| Ok(Units::boxed(Creation(one_worker()))),
    hold: |_| Ok(Box::new(Held { may: one_worker(), ran: Arc::default() })),
    ..Mechanism::new("fiber/may", set_up)
};

/// It is configured.
#[derive(Clone, Copy)]
struct May;

/// On one thread, which goes where the host has put the process. The first coroutine makes a pool
/// of a thousand stacks, which takes ten milliseconds.
fn one_worker() -> May {
    config().set_workers(1).set_worker_pin(false);
    May.on_a_coroutine(|| ());
    May
}

impl May {
    fn spawn<T: Send + 'static>(self, body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        // SAFETY: no body looks at variables of a thread, as one worker has all of them, and each
        // needs a small part of may's usual stack of 32 KiB.
        unsafe { coroutine::spawn(body) }
    }

    /// Runs it as a coroutine and waits for it. A panic of it is one of the probe.
    fn on_a_coroutine<T: Send + 'static>(self, body: impl FnOnce() -> T + Send + 'static) -> T {
        self.spawn(body).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let contexts = Contexts::new(plan)?;
    Ok(match contexts.have_sets() {
        false => Coroutines::<()>::ring(contexts),
        true => Coroutines::<WorkingSet>::ring(contexts),
    })
}

fn live<S: Touch>(mut context: Context<S>, from: &Receiver<i64>, to: &Sender<i64>) {
    while let Ok(token) = from.recv() {
        if to.send(context.turn(token)).is_err() {
            return;
        }
    }
}

struct Driver<S: Touch> {
    context: Context<S>,
    from: Receiver<i64>,
    to: Sender<i64>,
}

impl<S: Touch> Driver<S> {
    fn drive(mut self, mut token: i64, laps: u64) -> (Self, i64, u64) {
        let begin = now();
        self.context.depart();
        for _ in 0..laps {
            // A channel that is closed means that a coroutine of the ring has panicked; the host
            // sees a broken probe.
            let (Ok(()), Ok(back)) = (self.to.send(token), self.from.recv()) else { std::process::abort() };
            token = self.context.turn(back);
        }
        let ticks = now() - begin;
        (self, token, ticks)
    }
}

struct Coroutines<S: Touch> {
    may: May,
    /// None while it is in its coroutine.
    driver: Option<Driver<S>>,
}

impl<S: Touch + Send + 'static> Coroutines<S> {
    fn ring(contexts: Contexts) -> Box<dyn Workload> {
        let may = one_worker();
        let (to, mut from) = channel();
        for number in 1..contexts.number {
            let (next, receiver) = channel();
            let context = contexts.context::<S>(number);
            may.spawn(move || live(context, &from, &next));
            from = receiver;
        }
        let driver = Some(Driver { context: contexts.context::<S>(0), from, to });
        contexts.ring(Self { may, driver })
    }
}

impl<S: Touch + Send + 'static> PassToken for Coroutines<S> {
    const DISTINCT: &'static str = "distinct_stacks";

    fn pass(&mut self, token: i64, laps: u64) -> (i64, u64) {
        let Some(driver) = self.driver.take() else { std::process::abort() };
        let (driver, token, ticks) = self.may.on_a_coroutine(move || driver.drive(token, laps));
        self.driver = Some(driver);
        (token, ticks)
    }
}

/// A coroutine spawns a coroutine and waits for it.
struct Creation(May);

impl Series for Creation {
    fn series<R: Recorder>(&mut self, token: u64, units: u64, recorder: R) -> Done<R> {
        let may = self.0;
        let unit = move |token| may.spawn(move || token + 1).join().unwrap_or(token);
        may.on_a_coroutine(move || Done::units(token, units, recorder, unit))
    }
}

/// Coroutines that wait for what never comes.
struct Held {
    may: May,
    ran: Arc<AtomicU64>,
}

impl Population for Held {
    fn populate(&mut self, contexts: u64) -> Result<(), Refusal> {
        let all = self.ran.load(Acquire) + contexts;
        for _ in 0..contexts {
            let ran = Arc::clone(&self.ran);
            self.may.spawn(move || {
                ran.fetch_add(1, AcqRel);
                coroutine::park();
                ran.fetch_add(1, AcqRel);
            });
        }
        while self.ran.load(Acquire) < all {
            std::thread::yield_now();
        }
        Ok(())
    }

    fn claim(&mut self) -> Claim {
        Claim::of_created(self.ran.swap(0, AcqRel))
    }
}
