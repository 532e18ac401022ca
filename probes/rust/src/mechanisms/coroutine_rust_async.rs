//! coroutine/rust-async: pinned futures, polled in turn by hand with a waker that does nothing.
//!
//! The contexts are N boxed futures behind `dyn Future`. A switch is: return Pending from one, poll
//! the next. The loop that polls is not a context; it reads the clock. The token lies in a cell,
//! since `poll` passes nothing.

use super::depth::{Depth, Entered, DEPTH, FRAMES};
use kit::{
    now, Claim, Context, Contexts, Done, Mechanism, PassToken, Plan, Population, Recorder, Refusal, Series, Touch,
    Units, WorkingSet, Workload, BROKEN, RESET,
};
use std::cell::Cell;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{self, Poll, Waker};

pub const MECHANISM: Mechanism = Mechanism {
    experiments: &["switch", "create", "footprint", "count"],
    parameters: &[DEPTH, FRAMES, kit::HEAP_OFFSET, kit::WORKING_SET],
    create: |_| Ok(Units::boxed(Creation)),
    hold: |_| Ok(Box::<Held>::default()),
    ..Mechanism::new("coroutine/rust-async", set_up)
};

fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let (contexts, depth) = (Contexts::new(plan)?, Depth::new(plan));
    if depth.calls > 0 && plan.each() {
        let detail = format!("depth={} is measured in batches; leave --timing each out", depth.calls);
        return Err(Refusal::unsupported("unsupported_here", detail));
    }
    Ok(match contexts.have_sets() {
        false => Futures::<()>::ring(contexts, depth),
        true => Futures::<WorkingSet>::ring(contexts, depth),
    })
}

/// Asks a future for its count.
const ASK: i64 = -1;

/// What the futures share; one thread, so no locks.
#[derive(Default)]
struct Shared {
    /// Sequence number of the last switch, or a command.
    token: Cell<i64>,
    /// What a future found that was not the token it was to get: the token, its own count, and
    /// where it keeps that.
    found: Cell<i64>,
    due: Cell<i64>,
    place: Cell<usize>,
    /// The count that it goes on with, if it is to change it.
    new_due: Cell<Option<i64>>,
}

impl Shared {
    /// Loads and stores only. A call would have the compiler save registers in each poll, also
    /// where it is not reached: a quarter of a switch.
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

/// The same, whose switches lie below so many futures, made for each. One function for both, which
/// is given what to await, takes a switch without them from 1.9 to 2.1 ns.
async fn live_unwinding<S: Touch>(shared: Rc<Shared>, first: i64, lap: i64, set: S, calls: u64, entered: Arc<Entered>) {
    let mut due = first;
    loop {
        let token = shared.token.get();
        if token == due {
            due += lap;
            set.touch();
            shared.token.set(token + 1);
            below(calls, &entered).await;
        } else {
            shared.irregular(token, &mut due);
            Yield(false).await;
        }
    }
}

fn below(left: u64, entered: &Entered) -> Pin<Box<dyn Future<Output = ()> + '_>> {
    Box::pin(async move {
        entered.count();
        if left > 1 {
            below(left - 1, entered).await;
        } else {
            Yield(false).await;
        }
    })
}

/// So many futures around a member.
fn held(calls: u64, entered: &Arc<Entered>, mut whole: Member) -> Member {
    for _ in 0..calls {
        let entered = Arc::clone(entered);
        whole = Box::pin(async move {
            entered.count();
            whole.await;
        });
    }
    whole
}

type Member = Pin<Box<dyn Future<Output = ()>>>;

struct Futures<S: Touch> {
    /// In the order of their turns: context 1 first, context 0 last.
    members: Vec<Member>,
    /// Their records, by which the poller counts in the modes that record something. The futures
    /// then wait for a token that never comes.
    contexts: Vec<Context<S>>,
    shared: Rc<Shared>,
    depth: Depth,
}

impl<S: Touch> Futures<S> {
    fn ring(contexts: Contexts, depth: Depth) -> Box<dyn Workload> {
        let shared = Rc::new(Shared::default());
        let lap = contexts.number as i64;
        let record = |i| contexts.context::<S>((i + 1) % contexts.number);
        let live = |own: Context<S>, i: u64| {
            let (shared, entered) = (Rc::clone(&shared), depth.of(i));
            if depth.unwinds() {
                return Box::pin(live_unwinding::<S>(shared, own.due, lap, own.set, depth.calls, entered)) as Member;
            }
            let member = Box::pin(live::<S>(shared, own.due, lap, own.set)) as Member;
            if depth.held() {
                held(depth.calls, &entered, member)
            } else {
                member
            }
        };
        // The futures one behind the other in memory, and their records behind them.
        let members = (0..contexts.number).map(|i| live(record(i), i)).collect();
        let records = (0..contexts.number).map(record).collect();
        contexts.ring(Self { members, contexts: records, shared, depth })
    }
}

/// Polls a future that must not end.
#[inline(always)]
fn pends(member: &mut Member) -> bool {
    member.as_mut().poll(&mut task::Context::from_waker(Waker::noop())).is_pending()
}

/// Has a future tell its count and where it keeps it, and gives it another if there is one.
fn ask(shared: &Shared, member: &mut Member, new_due: Option<i64>) -> bool {
    shared.token.set(ASK);
    shared.new_due.set(new_due);
    let pending = pends(member);
    shared.new_due.set(None);
    pending && shared.found.take() == ASK
}

/// Carries out a command on a future's record, which gets the future's count before and gives it
/// its own after.
fn command<S: Touch>(shared: &Shared, member: &mut Member, context: &mut Context<S>, command: i64) -> i64 {
    let told = ask(shared, member, None);
    let place = shared.place.get();
    context.due = shared.due.get();
    let answer = context.special(command, |_| Some(place..place + size_of::<i64>()));
    match told && ask(shared, member, Some(context.due)) {
        true => answer,
        false => BROKEN,
    }
}

impl<S: Touch> PassToken for Futures<S> {
    const DISTINCT: &'static str = "distinct_frames";

    /// Each turn is recorded: the future finds the token, and its record takes it.
    fn pass(&mut self, mut token: i64, laps: u64) -> (i64, u64) {
        if token == RESET {
            self.depth.reset();
        }
        let begin = now();
        for _ in 0..laps {
            for (member, context) in self.members.iter_mut().zip(&mut self.contexts) {
                if token < 0 {
                    token = command(&self.shared, member, context, token);
                    continue;
                }
                self.shared.token.set(token);
                context.depart();
                let pending = pends(member);
                let next = context.turn(token);
                token = if pending && self.shared.found.get() == token { next } else { BROKEN };
            }
        }
        (token, now() - begin)
    }

    fn complete(&mut self, claim: &mut Claim) {
        self.depth.complete(claim, false);
    }

    fn pass_batch(&mut self, token: i64, laps: u64) -> (i64, u64) {
        let members = black_box(&mut self.members[..]);
        let mut context = task::Context::from_waker(Waker::noop());
        let mut pending = true;
        self.shared.token.set(token);
        let begin = now();
        for _ in 0..laps {
            for member in &mut *members {
                pending &= member.as_mut().poll(&mut context).is_pending();
            }
        }
        let ticks = now() - begin;
        (if pending { self.shared.token.get() } else { BROKEN }, ticks)
    }
}

/// Pending once.
struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut task::Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        Poll::Pending
    }
}

/// Boxes a future, polls it to its end at once, drops it.
struct Creation;

/// A future that did not end leaves the token where it was, which the claim shows.
fn create(token: u64, context: &mut task::Context<'_>) -> u64 {
    // Through black_box, or the compiler sees through the box and removes it.
    let mut created: Pin<Box<dyn Future<Output = u64>>> = black_box(Box::pin(async move { black_box(token) + 1 }));
    match created.as_mut().poll(context) {
        Poll::Ready(token) => token,
        Poll::Pending => token,
    }
}

impl Series for Creation {
    fn series<R: Recorder>(&mut self, token: u64, units: u64, recorder: R) -> Done<R> {
        let mut context = task::Context::from_waker(Waker::noop());
        Done::units(token, units, recorder, |token| create(token, &mut context))
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
        let pending = self.members[begin..].iter_mut().all(pends);
        pending
            .then_some(())
            .ok_or_else(|| Refusal::failed("self_check_failed", "a future ended that should have been suspended"))
    }

    fn claim(&mut self) -> Claim {
        Claim::of_created(self.ran.take())
    }
}
