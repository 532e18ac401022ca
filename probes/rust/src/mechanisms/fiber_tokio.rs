//! fiber/tokio: tasks hand a token round a ring of mpsc channels of capacity 1.
//!
//! Every context is a spawned task, context 0 too: the future given to `block_on` is scheduled by other rules (on the
//! current-thread runtime it is polled only when the queue is empty, after a park).
//! The token is one word. A token with a pointer beside it, to carry the histogram, costs 11 of 170 ns, because the
//! channel then has something to drop. So commands are negative tokens, and what records is behind a lock that the
//! measured loop never takes.

use kit::{
    disjoint, now, read_counter, Claim, Histogram, Mechanism, Parameter, ParameterKind, Plan, Population, Refusal,
    Touch, Trace, Turns, WorkingSet, WorkingSets, Workload,
};
use std::future::Future;
use std::ops::Range;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{channel, Receiver, Sender};

pub const MECHANISM: Mechanism = Mechanism {
    id: "fiber/tokio",
    experiments: &["switch", "create", "footprint"],
    parameters: &[
        Parameter {
            name: "flavor",
            kind: ParameterKind::Words(&["current_thread", "multi_thread"]),
            default: "current_thread",
        },
        kit::WORKING_SET,
    ],
    timings: kit::ALL_TIMINGS,
    pins: false,
    unavailable: || None,
    set_up,
    hold: Some(hold),
};

fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    if plan.experiment == "switch" && plan.contexts < 2 {
        return Err(Refusal::refused("bad_value", "a ring needs at least two contexts: contexts=2 or more"));
    }
    let runtime = new_runtime(plan)?;
    if plan.experiment == "create" {
        return Ok(Box::new(Creation { runtime, turns: 0, broken: false }));
    }
    Ok(match WorkingSets::new(plan)? {
        None => Box::new(Ring::<()>::new(runtime, plan.contexts, None)),
        sets => Box::new(Ring::<WorkingSet>::new(runtime, plan.contexts, sets)),
    })
}

fn hold(plan: &Plan) -> Result<Box<dyn Population>, Refusal> {
    Ok(Box::new(Held { runtime: new_runtime(plan)?, ran: Arc::default() }))
}

fn new_runtime(plan: &Plan) -> Result<Runtime, Refusal> {
    let runtime = match plan.parameter("flavor") {
        // One worker for each CPU the process may run on.
        "multi_thread" => Builder::new_multi_thread()
            .worker_threads(std::thread::available_parallelism().map_or(1, Into::into))
            .build(),
        _ => Builder::new_current_thread().build(),
    };
    runtime.map_err(|error| Refusal::failed("set_up_failed", format!("no tokio runtime: {error}")))
}

/// Runs a future as a task and waits for it.
fn on_a_task<T: Send + 'static>(runtime: &Runtime, future: impl Future<Output = T> + Send + 'static) -> Option<T> {
    runtime.block_on(runtime.spawn(future)).ok()
}

const RESET: i64 = -1;
const PUBLISH: i64 = -2;
const PLAIN: i64 = -3;
const EACH: i64 = -4;
const VERIFY: i64 = -5;
const NEVER: i64 = i64::MIN;

/// What the tasks share besides the token; touched only by the one that has the token, and never in mode PLAIN.
#[derive(Default)]
struct Shared {
    /// Counter as read by the sender.
    stamp: AtomicU64,
    records: Mutex<Records>,
}

#[derive(Default)]
struct Records {
    turns: Turns,
    /// Where each task keeps its state, as it says itself at PUBLISH.
    frames: Vec<Range<usize>>,
    broken: bool,
    histogram: Option<Box<Histogram>>,
    trace: Option<Box<Trace>>,
    trace_begin: i64,
}

impl Shared {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A context's own variables. The count of turns is `due`, which every turn advances by one lap.
struct Context<S: Touch> {
    shared: Arc<Shared>,
    number: u64,
    lap: i64,
    /// Token that comes next, in mode PLAIN; otherwise one that never comes, so that every turn is a special one.
    due: i64,
    /// Token that comes next, in the other modes.
    due_special: i64,
    mode: i64,
    due_at_reset: i64,
    set: S,
}

impl<S: Touch> Context<S> {
    fn new(shared: &Arc<Shared>, number: u64, contexts: u64, set: S) -> Self {
        // Context 1 is the first to have a turn, context 0 the last of a lap.
        let due = ((number + contexts - 1) % contexts) as i64;
        let shared = Arc::clone(shared);
        Self { shared, number, lap: contexts as i64, due, due_special: NEVER, mode: PLAIN, due_at_reset: due, set }
    }

    /// One turn: takes the token, returns what to send on.
    #[inline(always)]
    fn turn(&mut self, token: i64) -> i64 {
        if token == self.due {
            self.due += self.lap;
            self.set.touch();
            token + 1
        } else {
            self.special(token)
        }
    }

    /// Commands, and turns in the modes that record something.
    #[cold]
    fn special(&mut self, token: i64) -> i64 {
        let arrived = if self.mode == EACH { read_counter() } else { 0 };
        let mut records = self.shared.records();
        let due = if self.mode == PLAIN { self.due } else { self.due_special };
        match token {
            RESET => self.due_at_reset = due,
            PUBLISH => {
                records.turns.count(((due - self.due_at_reset) / self.lap) as u64);
                records.frames.push(super::memory_of(self));
            }
            PLAIN => (self.mode, self.due, self.due_special) = (token, due, NEVER),
            EACH | VERIFY => (self.mode, self.due, self.due_special) = (token, NEVER, due),
            _ if token != self.due_special => records.broken = true,
            _ => {
                let begin = records.trace_begin;
                if self.mode == EACH {
                    let sent = self.shared.stamp.load(Relaxed);
                    records.histogram.iter_mut().for_each(|histogram| histogram.arrived(sent, arrived));
                } else {
                    records.trace.iter_mut().for_each(|trace| trace.visit((token - begin) as u64 + 1, self.number));
                }
                self.due_special += self.lap;
                drop(records);
                self.set.touch(); // Outside the interval.
                self.shared.stamp.store(read_counter(), Relaxed);
                return token + 1;
            }
        }
        token
    }
}

async fn live<S: Touch>(mut context: Context<S>, mut from: Receiver<i64>, to: Sender<i64>) {
    while let Some(token) = from.recv().await {
        if to.send(context.turn(token)).await.is_err() {
            return;
        }
    }
}

/// Context 0, which is also the driver: its task lives for one batch and reads the clock.
struct Driver<S: Touch> {
    context: Context<S>,
    from: Receiver<i64>,
    to: Sender<i64>,
}

impl<S: Touch> Driver<S> {
    /// `laps` laps. Context 0 has its turn when the token comes back. Returns the token, and the ticks.
    async fn drive(mut self, mut token: i64, laps: u64) -> (Self, i64, u64) {
        let begin = now();
        self.context.shared.stamp.store(read_counter(), Relaxed);
        for _ in 0..laps {
            // A channel that is closed means that a task of the ring has panicked; the host sees a broken probe.
            if self.to.send(token).await.is_err() {
                std::process::abort();
            }
            let Some(back) = self.from.recv().await else { std::process::abort() };
            token = self.context.turn(back);
        }
        let ticks = now() - begin;
        (self, token, ticks)
    }
}

struct Ring<S: Touch> {
    runtime: Runtime,
    driver: Option<Driver<S>>,
    shared: Arc<Shared>,
    contexts: u64,
    sequence: i64,
    begin: i64,
    mode: i64,
    sets: Option<WorkingSets>,
}

impl<S: Touch> Ring<S> {
    fn new(runtime: Runtime, contexts: u64, sets: Option<WorkingSets>) -> Self {
        let set = |number| S::of(sets.as_ref(), number);
        let shared = Arc::new(Shared::default());
        let (to, mut from) = channel(1);
        for number in 1..contexts {
            let (next, receiver) = channel(1);
            let context = Context::<S>::new(&shared, number, contexts, set(number));
            runtime.spawn(live(context, from, next));
            from = receiver;
        }
        let driver = Some(Driver { context: Context::new(&shared, 0, contexts, set(0)), from, to });
        Self { runtime, driver, shared, contexts, sequence: 0, begin: 0, mode: PLAIN, sets }
    }

    /// `laps` laps of a token that must come back as `expected`; returns the ticks.
    fn pass(&mut self, token: i64, laps: u64, expected: i64) -> u64 {
        let Some(driver) = self.driver.take() else { return u64::MAX };
        let Some((driver, token, ticks)) = on_a_task(&self.runtime, driver.drive(token, laps)) else { return u64::MAX };
        self.driver = Some(driver);
        if token != expected {
            self.shared.records().broken = true;
        }
        ticks
    }

    fn pass_units(&mut self, units: u64) -> u64 {
        let begin = self.sequence;
        self.sequence += units as i64;
        self.pass(begin, units / self.contexts, self.sequence)
    }

    fn command(&mut self, command: i64) {
        self.pass(command, 1, command);
    }

    fn enter(&mut self, mode: i64) {
        if self.mode != mode {
            self.mode = mode;
            self.command(mode);
        }
    }
}

impl<S: Touch> Workload for Ring<S> {
    fn lap(&self) -> u64 {
        self.contexts
    }

    fn run(&mut self, units: u64) -> u64 {
        self.enter(PLAIN);
        self.pass_units(units)
    }

    fn run_each(&mut self, units: u64, histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        self.enter(EACH);
        self.shared.records().histogram = Some(histogram);
        let ticks = self.pass_units(units);
        let histogram = self.shared.records().histogram.take();
        (ticks, histogram.unwrap_or_else(Histogram::new))
    }

    fn reset(&mut self) {
        self.begin = self.sequence;
        self.command(RESET);
        self.sets.iter_mut().for_each(WorkingSets::reset);
    }

    fn claim(&mut self) -> Claim {
        self.shared.records().turns = Turns::default();
        self.command(PUBLISH);
        let mut records = self.shared.records();
        let token = (self.sequence - self.begin) as u64;
        let mut claim = Claim::new(records.turns.clone(), token, records.broken);
        claim.counts.insert("distinct_frames", disjoint(std::mem::take(&mut records.frames)));
        claim.with_touches(self.sets.as_ref())
    }

    fn verify(&mut self, units: u64, mut trace: Box<Trace>) -> Option<Box<Trace>> {
        self.enter(VERIFY);
        trace.visit(0, 0);
        {
            let mut records = self.shared.records();
            records.trace = Some(trace);
            records.trace_begin = self.sequence;
        }
        self.pass_units(units);
        self.shared.records().trace.take()
    }
}

/// A task spawns a task and waits for it.
struct Creation {
    runtime: Runtime,
    turns: u64,
    broken: bool,
}

async fn create(turns: u64) -> u64 {
    tokio::spawn(async move { turns + 1 }).await.unwrap_or(turns)
}

impl Workload for Creation {
    fn lap(&self) -> u64 {
        1
    }

    fn run(&mut self, units: u64) -> u64 {
        let mut turns = self.turns;
        let batch = async move {
            let begin = now();
            for _ in 0..units {
                turns = create(turns).await;
            }
            (now() - begin, turns)
        };
        let Some((ticks, turns)) = on_a_task(&self.runtime, batch) else {
            self.broken = true;
            return u64::MAX;
        };
        self.turns = turns;
        ticks
    }

    fn run_each(&mut self, units: u64, mut histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        let mut turns = self.turns;
        let batch = async move {
            let begin = now();
            for _ in 0..units {
                let sent = read_counter();
                turns = create(turns).await;
                histogram.arrive(sent);
            }
            (now() - begin, turns, histogram)
        };
        let Some((ticks, turns, histogram)) = on_a_task(&self.runtime, batch) else {
            self.broken = true;
            return (u64::MAX, Histogram::new());
        };
        self.turns = turns;
        (ticks, histogram)
    }

    fn reset(&mut self) {
        self.turns = 0;
    }

    fn claim(&mut self) -> Claim {
        super::claim_of_created(self.turns, self.broken)
    }

    fn verify(&mut self, _: u64, _: Box<Trace>) -> Option<Box<Trace>> {
        None
    }
}

/// Tasks that wait for what never comes; the runtime keeps them.
struct Held {
    runtime: Runtime,
    ran: Arc<AtomicU64>,
}

impl Population for Held {
    fn populate(&mut self, contexts: u64) -> Result<(), Refusal> {
        let all = self.ran.load(Acquire) + contexts;
        for _ in 0..contexts {
            let ran = Arc::clone(&self.ran);
            self.runtime.spawn(async move {
                ran.fetch_add(1, AcqRel);
                std::future::pending::<()>().await;
                ran.fetch_add(1, AcqRel); // So that it keeps something across the await.
            });
        }
        let ran = &self.ran;
        self.runtime.block_on(async {
            while ran.load(Acquire) < all {
                tokio::task::yield_now().await;
            }
        });
        Ok(())
    }

    fn claim(&mut self) -> Claim {
        super::claim_of_held(self.ran.swap(0, AcqRel))
    }
}
