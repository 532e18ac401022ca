//! executor/tokio-spawn: tasks are spawned on a runtime, as many at once as there are contexts;
//! each counts and ends.
//!
//! from=outside: the main thread spawns a lot, parks until its last task runs, and a unit takes
//! from before the first spawn to the last task. from=within: the last task of a lot spawns the
//! next one.

use kit::{current_cpu, now, Claim, Mechanism, Parameter, Plan, Refusal, Turns, Workload};
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::sync::Arc;
use std::thread::{self, Thread};
use tokio::runtime::{Builder, Handle, Runtime};

pub const MECHANISM: Mechanism = Mechanism {
    experiments: &["submit"],
    parameters: &[FLAVOR, FROM, WORKERS],
    timings: &["batch"],
    ..Mechanism::new("executor/tokio-spawn", set_up)
};

const FLAVOR: Parameter = Parameter { name: "flavor", words: &["multi_thread", "current_thread"] };
const FROM: Parameter = Parameter { name: "from", words: &["outside", "within"] };
const WORKERS: Parameter = Parameter { name: "workers", words: &[] };

fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let workers = plan.number(WORKERS.name);
    let current = plan.parameter(FLAVOR.name) == "current_thread";
    if current && workers != 1 {
        let detail = "flavor=current_thread is a runtime of one thread; ask for workers=1";
        return Err(Refusal::unsupported("unsupported_here", detail));
    }
    let build = || match current {
        true => Builder::new_current_thread().build(),
        false => Builder::new_multi_thread().worker_threads(usize::try_from(workers).unwrap_or(usize::MAX)).build(),
    };
    // It panics where the system refuses a thread.
    let refused =
        |why: String| Refusal::unsupported("limit_reached", format!("no tokio runtime of {workers} threads: {why}"));
    let runtime =
        std::panic::catch_unwind(build).map_err(|_| refused("the system refuses a thread; raise ulimit -u".into()))?;
    let runtime = Arc::new(runtime.map_err(|error| refused(error.to_string()))?);
    let pool = Arc::new(Pool {
        within: plan.parameter(FROM.name) == "within",
        handle: runtime.handle().clone(),
        submitter: thread::current(),
        tasks: (0..plan.contexts).map(|_| Task::default()).collect(),
        left: AtomicU64::new(0),
        at_work: AtomicU64::new(0),
        token: AtomicU64::new(0),
        cpu: AtomicU64::new(u64::MAX),
        ran: AtomicU64::new(0),
        done: AtomicBool::new(false),
    });
    if current {
        let runtime = Arc::clone(&runtime);
        thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    }
    Ok(Box::new(Submit { pool, _runtime: runtime }))
}

/// On a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Task {
    turns: AtomicU64,
    same_cpu: AtomicU64,
}

struct Pool {
    within: bool,
    handle: Handle,
    submitter: Thread,
    tasks: Vec<Task>,
    /// Not handed over yet: of whoever hands over.
    left: AtomicU64,
    at_work: AtomicU64,
    token: AtomicU64,
    /// Of whoever handed over last.
    cpu: AtomicU64,
    /// When the last task of the lot ran.
    ran: AtomicU64,
    done: AtomicBool,
}

fn cpu() -> u64 {
    current_cpu().map_or(u64::MAX, u64::from)
}

impl Pool {
    fn hand_over(self: &Arc<Self>) {
        let left = self.left.load(Relaxed);
        let lot = left.min(self.tasks.len() as u64);
        self.left.store(left - lot, Relaxed);
        self.cpu.store(cpu(), Relaxed);
        self.at_work.store(lot, Release);
        for number in 0..lot {
            let pool = Arc::clone(self);
            drop(self.handle.spawn(async move { pool.run(number) }));
        }
    }

    fn run(self: Arc<Self>, number: u64) {
        let task = &self.tasks[number as usize];
        task.turns.store(task.turns.load(Relaxed) + 1, Relaxed);
        if cpu() == self.cpu.load(Relaxed) {
            task.same_cpu.store(task.same_cpu.load(Relaxed) + 1, Relaxed);
        }
        self.token.fetch_add(1, Relaxed);
        if self.at_work.fetch_sub(1, AcqRel) != 1 {
            return;
        }
        if self.within && self.left.load(Relaxed) != 0 {
            return self.hand_over();
        }
        if !self.within {
            self.ran.store(now(), Relaxed);
        }
        self.done.store(true, Release);
        self.submitter.unpark();
    }

    fn wait(&self) {
        while !self.done.swap(false, Acquire) {
            thread::park();
        }
    }
}

struct Submit {
    pool: Arc<Pool>,
    /// Its workers end with it.
    _runtime: Arc<Runtime>,
}

impl Workload for Submit {
    fn run(&mut self, units: u64) -> u64 {
        self.pool.left.store(units, Relaxed);
        let mut took = 0;
        while self.pool.left.load(Relaxed) != 0 {
            let begin = now();
            self.pool.hand_over();
            self.pool.wait();
            if self.pool.within {
                return now() - begin;
            }
            took += self.pool.ran.load(Relaxed) - begin;
        }
        took
    }

    fn reset(&mut self) {
        self.pool.token.store(0, Relaxed);
        for task in &self.pool.tasks {
            task.turns.store(0, Relaxed);
            task.same_cpu.store(0, Relaxed);
        }
    }

    fn claim(&mut self) -> Claim {
        let mut turns = Turns::default();
        let mut same_cpu = 0;
        for task in &self.pool.tasks {
            turns.count(task.turns.load(Relaxed));
            same_cpu += task.same_cpu.load(Relaxed);
        }
        let mut claim = Claim::new(turns, self.pool.token.load(Relaxed), false);
        claim.counts.insert("on_submitters_cpu", i64::try_from(same_cpu).unwrap_or(i64::MAX));
        claim
    }
}
