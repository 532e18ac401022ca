//! fiber/tokio: tasks hand a token round a ring of mpsc channels of capacity 1.
//!
//! Every context is a spawned task, context 0 too: the future given to `block_on` is scheduled by
//! other rules (on the current-thread runtime it is polled only when the queue is empty, after a
//! park). The token is one word. A token with a pointer beside it, to carry the histogram, costs 11
//! of 170 ns, because the channel then has something to drop. So commands are negative tokens, and
//! what records is behind a lock that the measured loop never takes.

use super::depth::{hold as hold_calls, Depth, Entered, DEPTH, FRAMES};
use kit::{
    now, Claim, Context, Contexts, Done, Mechanism, Parameter, PassToken, Plan, Population, Recorder, Refusal, Series,
    Touch, Units, WorkingSet, Workload, RESET,
};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire},
};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{channel, Receiver, Sender};

pub const MECHANISM: Mechanism = Mechanism {
    experiments: &["switch", "create", "footprint"],
    parameters: &[DEPTH, FLAVOR, FRAMES, kit::HEAP_OFFSET, kit::WORKING_SET],
    create: |plan| Ok(Units::boxed(Creation { runtime: new_runtime(plan)? })),
    hold,
    ..Mechanism::new("fiber/tokio", set_up)
};

const FLAVOR: Parameter = Parameter { name: "flavor", words: &["current_thread", "multi_thread"] };

fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let (contexts, runtime, depth) = (Contexts::new(plan)?, new_runtime(plan)?, Depth::new(plan));
    Ok(match contexts.have_sets() {
        false => Tasks::<()>::ring(contexts, runtime, depth),
        true => Tasks::<WorkingSet>::ring(contexts, runtime, depth),
    })
}

fn hold(plan: &Plan) -> Result<Box<dyn Population>, Refusal> {
    Ok(Box::new(Held { runtime: new_runtime(plan)?, ran: Arc::default() }))
}

pub fn new_runtime(plan: &Plan) -> Result<Runtime, Refusal> {
    let build = || match plan.parameter(FLAVOR.name) {
        // One worker for each CPU the process may run on.
        "multi_thread" => Builder::new_multi_thread()
            .worker_threads(std::thread::available_parallelism().map_or(1, Into::into))
            .build(),
        _ => Builder::new_current_thread().build(),
    };
    // It panics where the system refuses a thread.
    let runtime = std::panic::catch_unwind(build).map_err(|_| {
        let detail =
            "the system refuses a thread for one of tokio's workers; raise ulimit -u, or leave flavor=multi_thread out";
        Refusal::unsupported("limit_reached", detail)
    })?;
    made(runtime)
}

/// On one thread, with timers.
pub fn new_timed_runtime() -> Result<Runtime, Refusal> {
    made(Builder::new_current_thread().enable_time().build())
}

fn made(runtime: std::io::Result<Runtime>) -> Result<Runtime, Refusal> {
    runtime.map_err(|error| Refusal::failed("set_up_failed", format!("no tokio runtime: {error}")))
}

/// Runs a future as a task and waits for it. It cannot be cancelled, and a panic of it is one of
/// the probe.
pub fn on_a_task<T: Send + 'static>(runtime: &Runtime, future: impl Future<Output = T> + Send + 'static) -> T {
    let ended = runtime.block_on(runtime.spawn(future));
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

async fn live<S: Touch>(mut context: Context<S>, mut from: Receiver<i64>, to: Sender<i64>) {
    while let Some(token) = from.recv().await {
        if to.send(context.turn(token)).await.is_err() {
            return;
        }
    }
}

/// Hands the token over below so many futures, and waits there for the next one. None: a task of
/// the ring has ended.
fn below<'a>(
    left: u64,
    entered: &'a Entered,
    from: &'a mut Receiver<i64>,
    to: &'a Sender<i64>,
    token: i64,
) -> Pin<Box<dyn Future<Output = Option<i64>> + Send + 'a>> {
    Box::pin(async move {
        entered.count();
        if left > 1 {
            return below(left - 1, entered, from, to, token).await;
        }
        to.send(token).await.ok()?;
        from.recv().await
    })
}

async fn live_unwinding<S: Touch>(
    mut context: Context<S>,
    mut from: Receiver<i64>,
    to: Sender<i64>,
    calls: u64,
    entered: Arc<Entered>,
) -> Option<()> {
    let mut token = from.recv().await?;
    loop {
        let next = context.turn(token);
        // A command is none of the switches.
        if next < 0 {
            to.send(next).await.ok()?;
            token = from.recv().await?;
        } else {
            token = below(calls, &entered, &mut from, &to, next).await?;
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
    /// `laps` laps. Context 0 has its turn when the token comes back. Returns the token, and the
    /// ticks.
    async fn drive(mut self, mut token: i64, laps: u64) -> (Self, i64, u64) {
        let begin = now();
        self.context.depart();
        for _ in 0..laps {
            // A channel that is closed means that a task of the ring has panicked; the host sees a
            // broken probe.
            if self.to.send(token).await.is_err() {
                std::process::abort();
            }
            let Some(back) = self.from.recv().await else { std::process::abort() };
            token = self.context.turn(back);
        }
        let ticks = now() - begin;
        (self, token, ticks)
    }

    /// The same below so many futures, made for each lap.
    async fn drive_unwinding(
        mut self,
        mut token: i64,
        laps: u64,
        calls: u64,
        entered: Arc<Entered>,
    ) -> (Self, i64, u64) {
        let begin = now();
        self.context.depart();
        for _ in 0..laps {
            let Some(back) = below(calls, &entered, &mut self.from, &self.to, token).await else {
                std::process::abort()
            };
            token = self.context.turn(back);
        }
        let ticks = now() - begin;
        (self, token, ticks)
    }
}

struct Tasks<S: Touch> {
    runtime: Runtime,
    /// None while it is on its task.
    driver: Option<Driver<S>>,
    depth: Depth,
}

impl<S: Touch> Tasks<S> {
    fn ring(contexts: Contexts, runtime: Runtime, depth: Depth) -> Box<dyn Workload> {
        let (to, mut from) = channel(1);
        for number in 1..contexts.number {
            let (next, receiver) = channel(1);
            let (context, calls, entered) = (contexts.context::<S>(number), depth.calls, depth.of(number));
            if depth.unwinds() {
                runtime.spawn(live_unwinding(context, from, next, calls, entered));
            } else if depth.held() {
                runtime.spawn(hold_calls(calls, &entered, live(context, from, next)));
            } else {
                runtime.spawn(live(context, from, next));
            }
            from = receiver;
        }
        let driver = Some(Driver { context: contexts.context::<S>(0), from, to });
        contexts.ring(Self { runtime, driver, depth })
    }
}

impl<S: Touch> PassToken for Tasks<S> {
    const DISTINCT: &'static str = "distinct_frames";

    fn pass(&mut self, token: i64, laps: u64) -> (i64, u64) {
        let Some(driver) = self.driver.take() else { std::process::abort() };
        if token == RESET {
            self.depth.reset();
        }
        let (calls, entered) = (self.depth.calls, self.depth.of(0));
        let (driver, token, ticks) = if self.depth.unwinds() && token >= 0 {
            on_a_task(&self.runtime, driver.drive_unwinding(token, laps, calls, entered))
        } else if self.depth.held() {
            on_a_task(&self.runtime, hold_calls(calls, &entered, driver.drive(token, laps)))
        } else {
            on_a_task(&self.runtime, driver.drive(token, laps))
        };
        self.driver = Some(driver);
        (token, ticks)
    }

    fn complete(&mut self, claim: &mut Claim) {
        self.depth.complete(claim, true);
    }
}

/// A task spawns a task and waits for it.
struct Creation {
    runtime: Runtime,
}

async fn create(token: u64) -> u64 {
    tokio::spawn(async move { token + 1 }).await.unwrap_or(token)
}

impl Series for Creation {
    fn series<R: Recorder>(&mut self, mut token: u64, units: u64, mut recorder: R) -> Done<R> {
        on_a_task(&self.runtime, async move {
            let begin = now();
            for _ in 0..units {
                recorder.depart();
                token = create(token).await;
                recorder.arrive();
            }
            Done { token, ticks: now() - begin, recorder }
        })
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
        Claim::of_created(self.ran.swap(0, AcqRel))
    }
}
