//! What runtimes on one thread have in common: tasks that need not be `Send` hand a token round a
//! ring of channels of capacity 1. The loops are those of fiber/tokio. Every context is a spawned
//! task, context 0 too.

use kit::{
    now, Claim, Context, Contexts, Done, PassToken, Plan, Population, Recorder, Refusal, Series, Touch, Units,
    WorkingSet, Workload,
};
use std::cell::{Cell, RefCell};
use std::future::{poll_fn, Future};
use std::rc::Rc;
use std::task::{Poll, Waker};

/// A runtime, or a handle of it that lasts as long as the process.
pub trait Runtime: Copy + 'static {
    /// End of a channel that a task sends to.
    type To: 'static;
    /// The other one.
    type From: 'static;

    /// Makes it.
    ///
    /// # Errors
    /// The system does not give it what it needs.
    fn new() -> Result<Self, Refusal>;
    /// A channel of capacity 1.
    fn channel() -> (Self::To, Self::From);
    /// Sends; false: nobody receives any more.
    fn send(to: &Self::To, token: i64) -> impl Future<Output = bool>;
    /// Receives; None: nobody sends any more.
    fn receive(from: &mut Self::From) -> impl Future<Output = Option<i64>>;
    /// A task of its own, which goes on if nobody waits for it.
    fn detach(self, future: impl Future<Output = ()> + 'static);
    /// A task of its own, for which one waits.
    fn task<T: 'static>(self, future: impl Future<Output = T> + 'static) -> impl Future<Output = T> + 'static;
    /// Runs tasks until this future ends.
    fn block_on<T>(self, future: impl Future<Output = T>) -> T;

    /// A future as a task.
    fn on_a_task<T: 'static>(self, future: impl Future<Output = T> + 'static) -> T {
        self.block_on(async move { self.task(future).await })
    }
}

/// Experiment switch.
pub fn set_up<R: Runtime>(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let (contexts, runtime) = (Contexts::new(plan)?, R::new()?);
    Ok(match contexts.have_sets() {
        false => Tasks::<R, ()>::ring(contexts, runtime),
        true => Tasks::<R, WorkingSet>::ring(contexts, runtime),
    })
}

/// Experiment create.
pub fn create<R: Runtime>(_: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    Ok(Units::boxed(Creation(R::new()?)))
}

/// Experiment footprint.
pub fn hold<R: Runtime>(_: &Plan) -> Result<Box<dyn Population>, Refusal> {
    Ok(Box::new(Held { runtime: R::new()?, ran: Rc::default(), wakers: Rc::default() }))
}

async fn live<R: Runtime, S: Touch>(mut context: Context<S>, mut from: R::From, to: R::To) {
    while let Some(token) = R::receive(&mut from).await {
        if !R::send(&to, context.turn(token)).await {
            return;
        }
    }
}

/// Context 0, which is also the driver: its task lives for one batch and reads the clock.
struct Driver<R: Runtime, S: Touch> {
    context: Context<S>,
    from: R::From,
    to: R::To,
}

impl<R: Runtime, S: Touch> Driver<R, S> {
    async fn drive(mut self, mut token: i64, laps: u64) -> (Self, i64, u64) {
        let begin = now();
        self.context.depart();
        for _ in 0..laps {
            // A channel that is closed means that a task of the ring has panicked; the host sees a
            // broken probe.
            if !R::send(&self.to, token).await {
                std::process::abort();
            }
            let Some(back) = R::receive(&mut self.from).await else { std::process::abort() };
            token = self.context.turn(back);
        }
        let ticks = now() - begin;
        (self, token, ticks)
    }
}

struct Tasks<R: Runtime, S: Touch> {
    runtime: R,
    /// None while it is on its task.
    driver: Option<Driver<R, S>>,
}

impl<R: Runtime, S: Touch + 'static> Tasks<R, S> {
    fn ring(contexts: Contexts, runtime: R) -> Box<dyn Workload> {
        let (to, mut from) = R::channel();
        // Some runtimes spawn from within only.
        let from = runtime.block_on(async {
            for number in 1..contexts.number {
                let (next, receiver) = R::channel();
                runtime.detach(live::<R, S>(contexts.context::<S>(number), from, next));
                from = receiver;
            }
            from
        });
        let driver = Some(Driver { context: contexts.context::<S>(0), from, to });
        contexts.ring(Self { runtime, driver })
    }
}

/// The runtime goes on for as long as the process, and some wake no task from without.
impl<R: Runtime, S: Touch> Drop for Tasks<R, S> {
    fn drop(&mut self) {
        std::mem::forget(self.driver.take());
    }
}

impl<R: Runtime, S: Touch + 'static> PassToken for Tasks<R, S> {
    const DISTINCT: &'static str = "distinct_frames";

    fn pass(&mut self, token: i64, laps: u64) -> (i64, u64) {
        let Some(driver) = self.driver.take() else { std::process::abort() };
        let (driver, token, ticks) = self.runtime.on_a_task(driver.drive(token, laps));
        self.driver = Some(driver);
        (token, ticks)
    }
}

/// A task spawns a task and waits for it.
struct Creation<R>(R);

impl<R: Runtime> Series for Creation<R> {
    fn series<C: Recorder>(&mut self, mut token: u64, units: u64, mut recorder: C) -> Done<C> {
        let runtime = self.0;
        runtime.on_a_task(async move {
            let begin = now();
            for _ in 0..units {
                recorder.depart();
                token = runtime.task(async move { token + 1 }).await;
                recorder.arrive();
            }
            Done { token, ticks: now() - begin, recorder }
        })
    }
}

/// Tasks that wait for what never comes. Some runtimes free a task that nobody can wake.
struct Held<R> {
    runtime: R,
    ran: Rc<Cell<u64>>,
    wakers: Rc<RefCell<Vec<Waker>>>,
}

impl<R: Runtime> Population for Held<R> {
    fn populate(&mut self, contexts: u64) -> Result<(), Refusal> {
        let (runtime, counted, wakers) = (self.runtime, Rc::clone(&self.ran), Rc::clone(&self.wakers));
        wakers.borrow_mut().reserve_exact(contexts as usize);
        // Some runtimes poll the future of block_on again before any task.
        runtime.on_a_task(async move {
            for _ in 0..contexts {
                let (ran, wakers) = (Rc::clone(&counted), Rc::clone(&wakers));
                runtime.detach(async move {
                    ran.set(ran.get() + 1);
                    poll_fn(|context| {
                        wakers.borrow_mut().push(context.waker().clone());
                        Poll::<()>::Pending
                    })
                    .await;
                    ran.set(ran.get() + 1); // So that it keeps something across the await.
                });
            }
            // A queue is first in, first out, or the claim falls short.
            runtime.task(async {}).await;
        });
        Ok(())
    }

    fn claim(&mut self) -> Claim {
        Claim::of_created(self.ran.replace(0))
    }
}
