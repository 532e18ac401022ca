//! thread/rust-mutex: threads take one lock, again and again, as long as there are units left; each
//! acquisition is one. The main thread is context 0. `lock` says which: that of parking_lot, or the
//! standard library's.
//!
//! Under the lock and after it a context computes for `hold` and `think` steps of a chain that
//! nothing shortens. Threads are woken at the beginning of a batch and sleep at its end.

use kit::{current_cpu, now, pin_this_thread, work, Claim, Mechanism, Parameter, Plan, Refusal, Turns, Workload};
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::sync::{mpsc::sync_channel, Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, Builder, Thread};

pub const MECHANISM: Mechanism = Mechanism {
    experiments: &["contend"],
    parameters: &[HOLD, LOCK, THINK],
    timings: &["batch"],
    pins: true,
    ..Mechanism::new("thread/rust-mutex", set_up)
};

const HOLD: Parameter = Parameter { name: "hold", words: &[] };
const LOCK: Parameter = Parameter { name: "lock", words: &["parking_lot", "std"] };
const THINK: Parameter = Parameter { name: "think", words: &[] };

fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    match plan.parameter(LOCK.name) {
        "std" => contend::<Mutex<Guarded>>(plan),
        _ => contend::<parking_lot::Mutex<Guarded>>(plan),
    }
}

/// What the lock guards.
#[derive(Default)]
struct Guarded {
    left: u64,
    token: u64,
    /// Acquisitions by another context than the one before.
    changes: u64,
    last: u64,
}

trait Lock: Default + Send + Sync + 'static {
    fn with<T>(&self, inside: impl FnOnce(&mut Guarded) -> T) -> T;
}

impl Lock for Mutex<Guarded> {
    #[inline(always)]
    fn with<T>(&self, inside: impl FnOnce(&mut Guarded) -> T) -> T {
        inside(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Lock for parking_lot::Mutex<Guarded> {
    #[inline(always)]
    fn with<T>(&self, inside: impl FnOnce(&mut Guarded) -> T) -> T {
        inside(&mut self.lock())
    }
}

/// In cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// Of one context.
struct Count {
    turns: AtomicU64,
    /// Where it was at the end of a batch; `u32::MAX`: nobody can tell.
    cpu: AtomicU32,
}

struct Shared<L> {
    lock: Apart<L>,
    hold: u64,
    think: u64,
    counts: Vec<Apart<Count>>,
    at_work: Apart<AtomicU64>,
    /// Number of the batch, and what those who wait for the next one sleep at.
    round: Mutex<u64>,
    begun: Condvar,
    driver: Thread,
}

impl<L: Lock> Shared<L> {
    fn take_turns(&self, index: u64) {
        let (mut turns, mut product) = (0, 1);
        while self.lock.0.with(|guarded| {
            if guarded.left == 0 {
                return false;
            }
            product = work(product, self.hold);
            guarded.left -= 1;
            guarded.token += 1;
            if guarded.last != index {
                guarded.last = index;
                guarded.changes += 1;
            }
            true
        }) {
            turns += 1;
            product = work(product, self.think);
        }
        let Apart(count) = &self.counts[index as usize];
        count.turns.store(count.turns.load(Relaxed) + turns, Relaxed);
        count.cpu.store(current_cpu().unwrap_or(u32::MAX), Relaxed);
    }

    fn live(&self, index: u64) {
        for number in 1.. {
            let round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
            drop(self.begun.wait_while(round, |round| *round < number));
            self.take_turns(index);
            if self.at_work.0.fetch_sub(1, AcqRel) == 1 {
                self.driver.unpark();
            }
        }
    }
}

struct Contend<L>(Arc<Shared<L>>);

fn contend<L: Lock>(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let count = |_| Apart(Count { turns: AtomicU64::new(0), cpu: AtomicU32::new(u32::MAX) });
    let shared = Arc::new(Shared {
        lock: Apart(L::default()),
        hold: plan.number(HOLD.name),
        think: plan.number(THINK.name),
        counts: (0..plan.contexts).map(count).collect(),
        at_work: Apart::default(),
        round: Mutex::new(0),
        begun: Condvar::new(),
        driver: thread::current(),
    });
    plan.cpu_of(0).map_or(Ok(()), pin_this_thread)?;
    for index in 1..plan.contexts {
        let (own, cpu) = (Arc::clone(&shared), plan.cpu_of(index));
        let (say, begun) = sync_channel(1);
        let body = move || {
            let placed = cpu.map_or(Ok(()), pin_this_thread);
            let fine = placed.is_ok();
            if say.send(placed).is_ok() && fine {
                own.live(index);
            }
        };
        Builder::new().spawn(body).map_err(|error| {
            let detail = format!("the system refuses a thread ({error}); ask for fewer contexts, or raise ulimit -u");
            Refusal::unsupported("limit_reached", detail)
        })?;
        begun.recv().unwrap_or_else(|_| std::process::abort())?;
    }
    let mut contend = Contend(shared);
    contend.run(0); // Until every thread has come to life.
    Ok(Box::new(contend))
}

impl<L: Lock> Workload for Contend<L> {
    fn run(&mut self, units: u64) -> u64 {
        let shared = &self.0;
        let begin = now();
        shared.lock.0.with(|guarded| (guarded.left, guarded.last) = (units, 0));
        shared.at_work.0.store(shared.counts.len() as u64 - 1, Release);
        *shared.round.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        shared.begun.notify_all();
        shared.take_turns(0);
        while shared.at_work.0.load(Acquire) != 0 {
            thread::park();
        }
        now() - begin
    }

    fn reset(&mut self) {
        self.0.lock.0.with(|guarded| (guarded.token, guarded.changes) = (0, 0));
        self.0.counts.iter().for_each(|Apart(count)| count.turns.store(0, Relaxed));
    }

    fn claim(&mut self) -> Claim {
        let mut turns = Turns::default();
        self.0.counts.iter().for_each(|Apart(count)| turns.count(count.turns.load(Relaxed)));
        let fewest = turns.min;
        let (token, changes) = self.0.lock.0.with(|guarded| (guarded.token, guarded.changes));
        let mut claim = Claim::new(turns, token, false);
        let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        claim.counts.extend([("handed_over", count(changes)), ("fewest_turns", count(fewest))]);
        claim
    }

    fn cpus(&self) -> Vec<u32> {
        let cpus = self.0.counts.iter().map(|Apart(count)| count.cpu.load(Relaxed));
        cpus.filter(|cpu| *cpu != u32::MAX).collect()
    }
}
