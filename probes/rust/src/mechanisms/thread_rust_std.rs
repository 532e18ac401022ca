//! thread/rust-std: threads of the standard library hand a token round. The main thread is context
//! 0.
//!
//! `handover` says by what: a word that each thread finds its token in, for which it parks and the
//! one before it unparks it; or a channel of std::sync::mpsc with room for one.

use kit::{
    now, pin_this_thread, Claim, Context, Contexts, Done, Mechanism, Parameter, PassToken, Plan, Population, Recorder,
    Refusal, Series, Touch, Units, WorkingSet, Workload,
};
use std::sync::atomic::{
    AtomicI64, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Builder, JoinHandle, Thread};

pub const MECHANISM: Mechanism = Mechanism {
    experiments: &["switch", "create", "footprint"],
    parameters: &[HANDOVER, kit::WORKING_SET],
    pins: true,
    create: |_| Ok(Units::boxed(Creation { refused: None })),
    hold: |_| Ok(Box::<Held>::default()),
    ..Mechanism::new("thread/rust-std", set_up)
};

const HANDOVER: Parameter = Parameter { name: "handover", words: &["park", "channel"] };

fn set_up(plan: &Plan) -> Result<Box<dyn Workload>, Refusal> {
    let contexts = Contexts::new(plan)?;
    match (plan.parameter(HANDOVER.name), contexts.have_sets()) {
        ("park", false) => ring::<(), _>(plan, contexts, places),
        ("park", true) => ring::<WorkingSet, _>(plan, contexts, places),
        (_, false) => ring::<(), _>(plan, contexts, channels),
        (_, true) => ring::<WorkingSet, _>(plan, contexts, channels),
    }
}

/// What a context is handed the token by, as it sees it: it takes its own from there and puts the
/// next one's there. None: a thread of the ring has ended.
trait Link: Send + 'static {
    /// By the thread itself, before the first token.
    fn begin(&self) {}
    fn put(&self, token: i64) -> Option<()>;
    fn take(&self) -> Option<i64>;
}

/// No token, and no command.
const EMPTY: i64 = i64::MIN + 2;

/// In a pair of cache lines of its own.
#[repr(align(128))]
struct Place {
    token: AtomicI64,
    thread: OnceLock<Thread>,
}

/// The places of a context and of the next; they are never freed, as the ring is not.
struct Places {
    mine: &'static Place,
    next: &'static Place,
}

fn places(number: u64) -> Vec<Places> {
    let place = |_| Place { token: AtomicI64::new(EMPTY), thread: OnceLock::new() };
    let all: &'static [Place] = Vec::leak((0..number).map(place).collect());
    all.iter().zip(all.iter().cycle().skip(1)).map(|(mine, next)| Places { mine, next }).collect()
}

impl Link for Places {
    fn begin(&self) {
        self.mine.thread.get_or_init(thread::current);
    }

    #[inline(always)]
    fn put(&self, token: i64) -> Option<()> {
        self.next.token.store(token, Release);
        self.next.thread.get().map(Thread::unpark)
    }

    /// Parking may return for no reason.
    #[inline(always)]
    fn take(&self) -> Option<i64> {
        loop {
            let token = self.mine.token.load(Acquire);
            if token != EMPTY {
                self.mine.token.store(EMPTY, Relaxed);
                return Some(token);
            }
            thread::park();
        }
    }
}

/// The end of a context's own channel, and of the next one's.
struct Channels(Receiver<i64>, SyncSender<i64>);

fn channels(number: u64) -> Vec<Channels> {
    let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..number).map(|_| sync_channel(1)).unzip();
    senders.rotate_left(1);
    receivers.into_iter().zip(senders).map(|(mine, next)| Channels(mine, next)).collect()
}

impl Link for Channels {
    #[inline(always)]
    fn put(&self, token: i64) -> Option<()> {
        self.1.send(token).ok()
    }

    #[inline(always)]
    fn take(&self) -> Option<i64> {
        self.0.recv().ok()
    }
}

/// A thread that lives as long as the process, or as its handle says.
fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>, Refusal> {
    Builder::new().spawn(body).map_err(|error| {
        let detail = format!("the system refuses a thread ({error}); ask for fewer contexts, or raise ulimit -u");
        Refusal::unsupported("limit_reached", detail)
    })
}

/// Context 0, which is also the driver.
struct Threads<S: Touch, L: Link> {
    context: Context<S>,
    link: L,
}

fn ring<S: Touch + Send, L: Link>(
    plan: &Plan,
    contexts: Contexts,
    links: fn(u64) -> Vec<L>,
) -> Result<Box<dyn Workload>, Refusal> {
    let mut links = links(contexts.number).into_iter();
    let Some(link) = links.next() else { return Err(Refusal::refused("bad_value", "a ring has contexts")) };
    link.begin();
    plan.cpu_of(0).map_or(Ok(()), pin_this_thread)?;
    for (number, link) in (1..).zip(links) {
        let (mut context, cpu) = (contexts.context::<S>(number), plan.cpu_of(number));
        let (say, begun) = sync_channel(1);
        spawn(move || {
            link.begin();
            let placed = cpu.map_or(Ok(()), pin_this_thread);
            let fine = placed.is_ok();
            let mut on = say.send(placed).ok().filter(|()| fine);
            while on.is_some() {
                on = link.take().and_then(|token| link.put(context.turn(token)));
            }
        })?;
        begun.recv().unwrap_or_else(|_| std::process::abort())?;
    }
    let context = contexts.context::<S>(0);
    Ok(contexts.ring(Threads { context, link }))
}

impl<S: Touch, L: Link> PassToken for Threads<S, L> {
    const DISTINCT: &'static str = "distinct_frames";

    fn pass(&mut self, mut token: i64, laps: u64) -> (i64, u64) {
        let begin = now();
        self.context.depart();
        for _ in 0..laps {
            let back = self.link.put(token).and_then(|()| self.link.take());
            // The host sees a broken probe.
            token = self.context.turn(back.unwrap_or_else(|| std::process::abort()));
        }
        (token, now() - begin)
    }
}

/// Makes a thread, and joins it.
struct Creation {
    refused: Option<Refusal>,
}

impl Series for Creation {
    fn series<R: Recorder>(&mut self, token: u64, units: u64, recorder: R) -> Done<R> {
        Done::units(token, units, recorder, |token| match spawn(move || token + 1) {
            Ok(thread) => thread.join().unwrap_or(token),
            Err(refusal) => {
                self.refused = Some(refusal);
                token
            }
        })
    }

    fn fault(&self) -> Option<Refusal> {
        self.refused.clone()
    }
}

/// Threads that are parked for good.
#[derive(Default)]
struct Held {
    ran: Arc<AtomicU64>,
}

impl Population for Held {
    fn populate(&mut self, contexts: u64) -> Result<(), Refusal> {
        let all = self.ran.load(Acquire) + contexts;
        for _ in 0..contexts {
            let ran = Arc::clone(&self.ran);
            spawn(move || {
                ran.fetch_add(1, AcqRel);
                loop {
                    thread::park();
                }
            })?;
        }
        while self.ran.load(Acquire) < all {
            thread::yield_now();
        }
        Ok(())
    }

    fn claim(&mut self) -> Claim {
        Claim::of_created(self.ran.swap(0, AcqRel))
    }
}
