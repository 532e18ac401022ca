//! coroutine/rust-async: pinned futures, polled in turn by hand with a waker that does nothing.
//!
//! The contexts are N boxed futures behind `dyn Future`. A hand-off is: return Pending from one, poll the next. The loop
//! that polls is no context; it reads the clock. The token lies in a cell, since `poll` passes nothing.

use kit::{
    disjoint, now, read_counter, Claim, Histogram, Mechanism, Plan, Population, Refusal, Touch, Trace, Turns,
    WorkingSet, WorkingSets, Workload,
};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::hint::black_box;
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

pub const MECHANISM: Mechanism = Mechanism {
    id: "coroutine/rust-async",
    experiments: &["switch", "create", "footprint"],
    parameters: &[kit::WORKING_SET],
    timings: kit::ALL_TIMINGS,
    pins: false,
    unavailable: || None,
    set_up,
    hold: Some(|_| Ok(Box::<Held>::default())),
};

fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    if plan.experiment == "create" {
        return Ok(Box::new(Creation { turns: 0, broken: false }));
    }
    if plan.contexts < 2 {
        return Err(Refusal::refused("bad_value", "a ring needs at least two contexts: contexts=2 or more"));
    }
    let sets = WorkingSets::new(plan)?;
    Ok(match sets.is_some() {
        true => Box::new(Ring::new::<WorkingSet>(plan.contexts, sets)),
        false => Box::new(Ring::new::<()>(plan.contexts, sets)),
    })
}

const RESET: i64 = -1;
const PUBLISH: i64 = -2;
const PLAIN: i64 = -3;
const EACH: i64 = -4;
const VERIFY: i64 = -5;
const NEVER: i64 = i64::MIN;

/// What the futures share; one thread, so no locks.
#[derive(Default)]
struct Shared {
    /// Sequence number of the last hand-off, or a command.
    token: Cell<i64>,
    broken: Cell<bool>,
    turns: RefCell<Turns>,
    /// Where each future keeps its state, as it says itself at PUBLISH.
    frames: RefCell<Vec<Range<usize>>>,
    stamp: Cell<u64>,
    histogram: RefCell<Option<Box<Histogram>>>,
    trace: RefCell<Option<Box<Trace>>>,
    trace_begin: Cell<i64>,
}

type Member = Pin<Box<dyn Future<Output = ()>>>;

struct Ring {
    members: Vec<Member>,
    shared: Rc<Shared>,
    sequence: i64,
    begin: i64,
    mode: i64,
    sets: Option<WorkingSets>,
}

impl Ring {
    fn new<S: Touch>(contexts: u64, sets: Option<WorkingSets>) -> Self {
        let shared = Rc::new(Shared::default());
        let set = |i| S::of(sets.as_ref(), i);
        let live = |i| Box::pin(live::<S>(State::new(&shared, i, contexts, set(i)))) as Member;
        let members = (0..contexts).map(live).collect();
        Self { members, shared, sequence: 0, begin: 0, mode: PLAIN, sets }
    }

    /// One poll of every future.
    #[inline(always)]
    fn poll_all(members: &mut [Member], context: &mut Context<'_>) -> bool {
        let mut pending = true;
        for member in members {
            pending &= member.as_mut().poll(context).is_pending();
        }
        pending
    }

    /// `laps` laps of the token.
    fn pass(&mut self, laps: u64) -> u64 {
        let members = black_box(&mut self.members[..]);
        let mut context = Context::from_waker(Waker::noop());
        let mut pending = true;
        self.shared.token.set(self.sequence);
        let begin = now();
        for _ in 0..laps {
            pending &= Self::poll_all(members, &mut context);
        }
        let ticks = now() - begin;
        self.sequence += (laps * members.len() as u64) as i64;
        if !pending || self.shared.token.get() != self.sequence {
            self.shared.broken.set(true);
        }
        ticks
    }

    fn command(&mut self, command: i64) {
        self.shared.token.set(command);
        Self::poll_all(&mut self.members, &mut Context::from_waker(Waker::noop()));
        if self.shared.token.get() != command {
            self.shared.broken.set(true);
        }
    }

    fn enter(&mut self, mode: i64) {
        if self.mode != mode {
            self.mode = mode;
            self.command(mode);
        }
    }
}

/// A future's own variables. The count of turns is `due`, which every turn advances by one lap.
struct State<S> {
    shared: Rc<Shared>,
    context: u64,
    lap: i64,
    /// Token that comes next, in mode PLAIN; otherwise one that never comes, so that every turn is a special one.
    due: i64,
    /// Token that comes next, in the other modes.
    due_special: i64,
    mode: i64,
    due_at_reset: i64,
    set: S,
}

impl<S: Touch> State<S> {
    fn new(shared: &Rc<Shared>, context: u64, lap: u64, set: S) -> Self {
        let due = context as i64;
        let shared = Rc::clone(shared);
        Self { shared, context, lap: lap as i64, due, due_special: NEVER, mode: PLAIN, due_at_reset: due, set }
    }
}

/// The measured loop.
async fn live<S: Touch>(mut state: State<S>) {
    loop {
        let token = state.shared.token.get();
        if token == state.due {
            state.due += state.lap;
            state.set.touch();
            state.shared.token.set(token + 1);
        } else {
            state.special(token);
        }
        Yield(false).await;
    }
}

impl<S: Touch> State<S> {
    /// Commands, and turns in the modes that record something.
    #[cold]
    fn special(&mut self, token: i64) {
        let due = if self.mode == PLAIN { self.due } else { self.due_special };
        match token {
            RESET => self.due_at_reset = due,
            PUBLISH => {
                self.shared.turns.borrow_mut().count(((due - self.due_at_reset) / self.lap) as u64);
                self.shared.frames.borrow_mut().push(super::memory_of(self));
            }
            PLAIN => (self.mode, self.due, self.due_special) = (token, due, NEVER),
            EACH | VERIFY => (self.mode, self.due, self.due_special) = (token, NEVER, due),
            _ if token == self.due_special => self.recorded_turn(token),
            _ => self.shared.broken.set(true),
        }
    }

    fn recorded_turn(&mut self, token: i64) {
        let shared = &self.shared;
        if self.mode == EACH {
            if let Some(histogram) = shared.histogram.borrow_mut().as_mut() {
                histogram.arrive(shared.stamp.get());
            }
        } else if let Some(trace) = shared.trace.borrow_mut().as_mut() {
            trace.visit((token - shared.trace_begin.get()) as u64 + 1, self.context);
        }
        self.due_special += self.lap;
        self.set.touch(); // Outside the interval.
        shared.token.set(token + 1);
        shared.stamp.set(read_counter());
    }
}

/// Pending once.
struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        Poll::Pending
    }
}

impl Workload for Ring {
    fn lap(&self) -> u64 {
        self.members.len() as u64
    }

    fn run(&mut self, units: u64) -> u64 {
        self.enter(PLAIN);
        self.pass(units / self.lap())
    }

    fn run_each(&mut self, units: u64, histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        self.enter(EACH);
        self.shared.histogram.replace(Some(histogram));
        self.shared.stamp.set(read_counter());
        let ticks = self.pass(units / self.lap());
        (ticks, self.shared.histogram.take().unwrap_or_else(Histogram::new))
    }

    fn reset(&mut self) {
        self.begin = self.sequence;
        self.command(RESET);
        self.sets.iter_mut().for_each(WorkingSets::reset);
    }

    fn claim(&mut self) -> Claim {
        self.shared.turns.replace(Turns::default());
        self.command(PUBLISH);
        let token = (self.sequence - self.begin) as u64;
        let mut claim = Claim::new(self.shared.turns.take(), token, self.shared.broken.get());
        claim.counts.insert("distinct_frames", disjoint(self.shared.frames.take()));
        claim.with_touches(self.sets.as_ref())
    }

    fn verify(&mut self, units: u64, mut trace: Box<Trace>) -> Option<Box<Trace>> {
        self.enter(VERIFY);
        trace.visit(0, self.lap() - 1); // The token is with the last future, from which the first takes it.
        self.shared.trace.replace(Some(trace));
        self.shared.trace_begin.set(self.sequence);
        self.pass(units / self.lap());
        self.shared.trace.take()
    }
}

/// Boxes a future, polls it to its end at once, drops it.
struct Creation {
    turns: u64,
    broken: bool,
}

impl Creation {
    fn one(&mut self, context: &mut Context<'_>) {
        let turn = self.turns;
        // Through black_box, or the compiler sees through the box and removes it.
        let mut created: Pin<Box<dyn Future<Output = u64>>> = black_box(Box::pin(async move { black_box(turn) + 1 }));
        match created.as_mut().poll(context) {
            Poll::Ready(turns) => self.turns = turns,
            Poll::Pending => self.broken = true,
        }
    }
}

impl Workload for Creation {
    fn lap(&self) -> u64 {
        1
    }

    fn run(&mut self, units: u64) -> u64 {
        let mut context = Context::from_waker(Waker::noop());
        let begin = now();
        for _ in 0..units {
            self.one(&mut context);
        }
        now() - begin
    }

    fn run_each(&mut self, units: u64, mut histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        let mut context = Context::from_waker(Waker::noop());
        let begin = now();
        for _ in 0..units {
            let sent = read_counter();
            self.one(&mut context);
            histogram.arrive(sent);
        }
        (now() - begin, histogram)
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

/// Futures at their first await, boxed.
#[derive(Default)]
struct Held {
    members: Vec<Member>,
    ran: Rc<Cell<u64>>,
}

impl Population for Held {
    fn populate(&mut self, contexts: u64) -> Result<(), Refusal> {
        let mut context = Context::from_waker(Waker::noop());
        let begin = self.members.len();
        self.members.reserve_exact(contexts as usize);
        for _ in 0..contexts {
            let ran = Rc::clone(&self.ran);
            self.members.push(Box::pin(async move {
                ran.set(ran.get() + 1);
                Yield(false).await;
                ran.set(ran.get() + 1); // So that it keeps something across the await.
            }));
        }
        let pending = self.members[begin..].iter_mut().all(|member| member.as_mut().poll(&mut context).is_pending());
        pending
            .then_some(())
            .ok_or_else(|| Refusal::failed("self_check_failed", "a future ended that should have been suspended"))
    }

    fn claim(&mut self) -> Claim {
        super::claim_of_held(self.ran.take())
    }
}
