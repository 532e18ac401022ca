//! coroutine/rust-async: pinned futures, polled in turn by hand with a waker that does nothing.
//!
//! The contexts are N boxed futures behind `dyn Future`. A switch is: return Pending from one, poll the next. The loop
//! that polls is not a context; it reads the clock. The token lies in a cell, since `poll` passes nothing.

use kit::{
    disjoint, now, read_counter, Claim, Histogram, Mechanism, Plan, Population, Refusal, Touch, Trace, Turns,
    WorkingSet, WorkingSets, Workload,
};
use std::cell::Cell;
use std::future::Future;
use std::hint::black_box;
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
        true => Box::new(Ring::<WorkingSet>::new(plan.contexts, sets)),
        false => Box::new(Ring::<()>::new(plan.contexts, sets)),
    })
}

const COMMAND: i64 = -1;
const NEVER: i64 = i64::MIN;

/// What the futures share; one thread, so no locks.
#[derive(Default)]
struct Shared {
    /// Sequence number of the last switch, or a command.
    token: Cell<i64>,
    /// What a future found that was not the token it was to get: the token, its own count, and where it keeps that.
    found: Cell<i64>,
    due: Cell<i64>,
    place: Cell<usize>,
    /// The count that it goes on with, if it is to change it.
    new_due: Cell<Option<i64>>,
}

impl Shared {
    /// Loads and stores only. A call would have the compiler save registers in each poll, also where it is not reached:
    /// a quarter of a switch.
    #[inline(always)]
    fn irregular(&self, token: i64, due: &mut i64) {
        self.found.set(token);
        self.due.set(*due);
        self.place.set(std::ptr::from_mut(due).addr());
        if let Some(new) = self.new_due.get() {
            *due = new;
        }
    }
}

/// The measured loop. The count of turns is `due`, which every turn advances by one lap.
async fn live<S: Touch>(shared: Rc<Shared>, first: i64, lap: i64, set: S) {
    let mut due = first;
    loop {
        let token = shared.token.get();
        if token == due {
            due += lap;
            set.touch();
            shared.token.set(token + 1);
        } else {
            shared.irregular(token, &mut due);
        }
        Yield(false).await;
    }
}

type Member = Pin<Box<dyn Future<Output = ()>>>;

/// What the poller keeps for a future while others than its own loop count its turns.
struct Record<S> {
    /// Token that comes next, while the future itself waits for one that never comes.
    due: i64,
    due_at_reset: i64,
    set: S,
}

struct Ring<S> {
    members: Vec<Member>,
    records: Vec<Record<S>>,
    shared: Rc<Shared>,
    broken: bool,
    sequence: i64,
    begin: i64,
    plain: bool,
    sets: Option<WorkingSets>,
}

impl<S: Touch> Ring<S> {
    fn new(contexts: u64, sets: Option<WorkingSets>) -> Self {
        let shared = Rc::new(Shared::default());
        let set = |i| S::of(sets.as_ref(), i);
        let live = |i: u64| Box::pin(live::<S>(Rc::clone(&shared), i as i64, contexts as i64, set(i))) as Member;
        let members = (0..contexts).map(live).collect();
        let record = |i| Record { due: i as i64, due_at_reset: i as i64, set: set(i) };
        let records = (0..contexts).map(record).collect();
        Self { members, records, shared, broken: false, sequence: 0, begin: 0, plain: true, sets }
    }

    /// `laps` laps of the token, at the end of which it must be as much further.
    fn pass(&mut self, laps: u64) -> u64 {
        self.count_by_themselves(true);
        let members = black_box(&mut self.members[..]);
        let mut context = Context::from_waker(Waker::noop());
        let mut pending = true;
        self.shared.token.set(self.sequence);
        let begin = now();
        for _ in 0..laps {
            for member in &mut *members {
                pending &= member.as_mut().poll(&mut context).is_pending();
            }
        }
        let ticks = now() - begin;
        self.sequence += (laps * members.len() as u64) as i64;
        self.broken |= !pending || self.shared.token.get() != self.sequence;
        ticks
    }

    /// The same, where each turn is recorded: `depart` is called right before the poll of a context, `arrive` right after
    /// it, with the number of switches so far.
    fn pass_recorded(&mut self, laps: u64, depart: impl Fn(), mut arrive: impl FnMut(u64, u64)) -> u64 {
        self.count_by_themselves(false);
        let mut context = Context::from_waker(Waker::noop());
        let first = self.sequence;
        let begin = now();
        for _ in 0..laps {
            for i in 0..self.members.len() {
                self.shared.token.set(self.sequence);
                depart();
                let pending = self.members[i].as_mut().poll(&mut context).is_pending();
                arrive((self.sequence - first) as u64 + 1, i as u64);
                let due = self.records[i].due;
                self.broken |= !pending || self.shared.found.get() != due;
                self.records[i].due += self.members.len() as i64;
                self.records[i].set.touch(); // Outside the interval.
                self.sequence += 1;
            }
        }
        now() - begin
    }

    /// Has each future tell its count, and gives it another if `new` says so. Its record and where it keeps the count.
    fn ask(
        &mut self,
        mut new: impl FnMut(&Record<S>) -> Option<i64>,
        mut told: impl FnMut(&mut Record<S>, i64, usize),
    ) {
        let mut context = Context::from_waker(Waker::noop());
        self.shared.token.set(COMMAND);
        for (member, record) in self.members.iter_mut().zip(&mut self.records) {
            self.shared.found.set(NEVER);
            self.shared.new_due.set(new(record));
            let pending = member.as_mut().poll(&mut context).is_pending();
            self.broken |= !pending || self.shared.found.get() != COMMAND;
            told(record, self.shared.due.get(), self.shared.place.get());
        }
        self.shared.new_due.set(None);
    }

    /// Whether the futures count their turns, or wait for a token that never comes while `records` counts them.
    fn count_by_themselves(&mut self, plain: bool) {
        if self.plain == plain {
            return;
        }
        self.plain = plain;
        if plain {
            self.ask(|record| Some(record.due), |_, _, _| {});
        } else {
            self.ask(|_| Some(NEVER), |record, due, _| record.due = due);
        }
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

impl<S: Touch> Workload for Ring<S> {
    fn lap(&self) -> u64 {
        self.members.len() as u64
    }

    fn run(&mut self, units: u64) -> u64 {
        self.pass(units / self.lap())
    }

    fn run_each(&mut self, units: u64, mut histogram: Box<Histogram>) -> (u64, Box<Histogram>) {
        let stamp = Cell::new(0);
        let depart = || stamp.set(read_counter());
        let ticks = self.pass_recorded(units / self.lap(), depart, |_, _| histogram.arrive(stamp.get()));
        (ticks, histogram)
    }

    fn reset(&mut self) {
        self.begin = self.sequence;
        self.count_by_themselves(true);
        self.ask(|_| None, |record, due, _| record.due_at_reset = due);
        self.sets.iter_mut().for_each(WorkingSets::reset);
    }

    fn claim(&mut self) -> Claim {
        self.count_by_themselves(true);
        let (mut turns, mut frames, lap) = (Turns::default(), Vec::new(), self.lap() as i64);
        self.ask(
            |_| None,
            |record, due, place| {
                turns.count(((due - record.due_at_reset) / lap) as u64);
                frames.push(place..place + size_of::<i64>());
            },
        );
        let mut claim = Claim::new(turns, (self.sequence - self.begin) as u64, self.broken);
        claim.counts.insert("distinct_frames", disjoint(frames));
        claim.with_touches(self.sets.as_ref())
    }

    fn verify(&mut self, units: u64, mut trace: Box<Trace>) -> Option<Box<Trace>> {
        trace.visit(0, self.lap() - 1); // The token is with the last future, from which the first takes it.
        self.pass_recorded(units / self.lap(), || {}, |hop, context| trace.visit(hop, context));
        Some(trace)
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
